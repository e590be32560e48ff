package awscontract

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// sqsRow is one fact about SQS FIFO.
type sqsRow struct {
	id, title string
	run       func(*sqsKit)
	minutes   bool // waits for longer than anybody does in real time
}

// sqsRows are in the order of their ids, which documents and records of measurements cite.
var sqsRows = []sqsRow{
	{id: "S01", title: "attributes of a new queue", run: sqsAttributes},
	{id: "S02", title: "a group is blocked by its message in flight", run: sqsGroupBlocking},
	{id: "S03", title: "one receive takes a group's messages in order", run: sqsGroupBatch},
	{id: "S04", title: "order after the visibility time-out of a batch", run: sqsOrderAfterTimeout},
	{id: "S05", title: "order after a partial delete", run: sqsOrderAfterPartialDelete},
	{id: "S06", title: "visibility 0 gives a message back", run: sqsGiveBack},
	{id: "S06b", title: "visibility 0 for a batch, backwards", run: sqsGiveBackBatch},
	{id: "S07", title: "visibility extended", run: sqsExtend},
	{id: "S08", title: "repeat with the same body", run: sqsRepeat},
	{id: "S09", title: "repeat with another body", run: sqsRepeatOtherBody},
	{id: "S10", title: "deduplication by content", run: sqsContentDedup},
	{id: "S11", title: "repeat while in flight and after the delete", run: sqsRepeatLater},
	{id: "S12", title: "deduplication scope messageGroup", run: sqsGroupScope},
	{id: "S13", title: "messages that are refused", run: sqsRefusedMessages},
	{id: "S14", title: "a batch with bad entries", run: sqsBatchBadEntries},
	{id: "S15", title: "limits of a batch", run: sqsBatchLimits},
	{id: "S16", title: "delete with a receipt that expired", run: sqsExpiredReceipt},
	{id: "S17", title: "delete twice", run: sqsDeleteTwice},
	{id: "S19", title: "a long poll wakes on a send", run: sqsPollSend},
	{id: "S20", title: "a long poll wakes on a delete that unblocks", run: sqsPollDelete},
	{id: "S21", title: "a long poll wakes on an expiry", run: sqsPollExpiry},
	{id: "S22", title: "a long poll wakes on visibility 0", run: sqsPollGiveBack},
	{id: "S23", title: "an empty long poll lasts as long as it should", run: sqsPollEmpty},
	{id: "S24", title: "a dead letter keeps its facts", run: sqsDeadLetter},
	{id: "S24b", title: "dead letters keep their order", run: sqsDeadLetterOrder},
	{id: "S24c", title: "redrive", run: sqsRedrive},
	{id: "S25", title: "approximate counts", run: sqsCounts},
	{id: "S26", title: "system and message attributes", run: sqsMessageAttributes},
	{id: "S27", title: "sequence numbers increase", run: sqsSequence},
	{id: "S28", title: "a receive is repeated by its attempt id", run: sqsAttempt},
	{id: "S29", title: "typed errors", run: sqsErrors},
	{id: "S34", title: "visibility of one receive", run: sqsReceiveVisibility},
	{id: "S40", title: "a group held for long does not block others", run: sqsHeldGroup},
	{id: "S41", title: "a message is back on time", run: sqsTimely},
	{id: "S42", title: "part of a batch extended (recorded on AWS)", run: sqsPartExtended},
	{id: "S43", title: "the first given back while the second is held (recorded on AWS)", run: sqsFirstGivenBack},
	{id: "S44", title: "purge clears the deduplication window (recorded on AWS)", run: sqsPurge},
	{id: "S45", title: "visibility 0 of the queue (recorded on AWS)", run: sqsZeroVisibility},
	{id: "S50", title: "the deduplication window ends after five minutes", run: sqsWindowEnds, minutes: true},
	{id: "S51", title: "retention of 14 days", run: sqsRetention, minutes: true},
}

// rowTimeout is far above what any row takes; it only turns a call that hangs into a failure.
const rowTimeout = 2 * time.Minute

// SQS runs every row against the endpoint as a subtest. The rows make queues of their own, one run does not disturb another.
func SQS(t *testing.T, endpoint string, caps Capabilities) {
	client := newSQSClient(t, endpoint)
	known := map[string]bool{}
	for _, row := range sqsRows {
		known[row.id] = true
		t.Run(row.id+" "+row.title, func(t *testing.T) {
			if caps.lacks(t, row.id, row.minutes) {
				return
			}
			ctx, cancel := context.WithTimeout(t.Context(), rowTimeout)
			defer cancel()
			row.run(&sqsKit{T: t, client: client, caps: caps, ctx: ctx})
		})
	}
	for id := range caps.Lacks {
		if id[:1] == "S" && !known[id] {
			t.Errorf("the capabilities name %s, and there is no such row", id)
		}
	}
}

// newSQSClient returns a client that shows every failure: it never retries.
func newSQSClient(t *testing.T, endpoint string) *sqs.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	return sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(endpoint), HTTPClient: &http.Client{Transport: transport},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""), Retryer: aws.NopRetryer{},
	})
}

// sqsKit is what a row works with. Its methods end the row when the endpoint fails a call that must succeed.
type sqsKit struct {
	*testing.T
	client *sqs.Client
	caps   Capabilities
	ctx    context.Context // of this subtest
}
