package table

import "github.com/holdfast/holdfast/localstack/fault"

// call runs one API call under the fault plan: it may refuse the call, delay
// it, run it twice (as a client's own retry would) or swallow its answer, in
// which case the error is fault.ErrAnswerLost. actions is the number of actions
// of a transaction, else 0. run gets the verdict for the sake of batches, which
// leave entries undone under fault.Partial.
func call[Out any](db *DB, op, resource string, actions int, run func(fault.Verdict) (Out, error)) (Out, error) {
	var none Out
	point := fault.Point{Service: "dynamodb", Op: op, Resource: resource}
	verdict := db.options.Faults.Decide(point)
	switch verdict.Kind {
	case fault.Throttle:
		return none, throttled()
	case fault.FailBefore:
		return none, failed()
	case fault.Conflict:
		return none, conflict(op, actions)
	case fault.Slow:
		db.options.Sleep(point, verdict.Delay)
	case fault.Duplicate:
		_, _ = run(verdict) // the answer is the second one's, as a retrying client gets it
	}
	out, err := run(verdict)
	if verdict.Kind == fault.LoseAnswer {
		return none, fault.ErrAnswerLost
	}
	return out, err
}

func throttled() *Error {
	return &Error{
		Code:    CodeThroughput,
		Message: "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.",
		cause:   fault.ErrThrottled,
	}
}

func failed() *Error {
	return &Error{Code: CodeInternal, Message: "Internal server error", cause: fault.ErrFailed}
}

// conflict is what an operation says when another transaction holds its item.
// A cancelled transaction blames its first action. Operations that are never
// disturbed by a transaction fail instead.
func conflict(op string, actions int) *Error {
	const ongoing = "Transaction is ongoing for the item"
	switch {
	case actions > 0:
		reasons := make([]Reason, actions)
		for i := range reasons {
			reasons[i].Code = ReasonNone
		}
		reasons[0] = Reason{Code: ReasonConflict, Message: ongoing}
		refusal := canceled(reasons)
		refusal.cause = fault.ErrConflict
		return refusal
	case op == "PutItem" || op == "UpdateItem" || op == "DeleteItem":
		return &Error{Code: CodeTransactionConflict, Message: ongoing, cause: fault.ErrConflict}
	}
	return failed()
}
