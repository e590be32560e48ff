package wire

import (
	"net/http"

	"github.com/holdfast/holdfast/localstack/fifo"
)

type deleteIn struct {
	QueueURL      string `json:"QueueUrl"`
	ReceiptHandle string
}

func (s *SQS) deleteMessage(_ *http.Request, in *deleteIn) (any, error) {
	name, err := queueOf(in.QueueURL)
	if err != nil {
		return nil, err
	}
	return nil, s.cloud.Delete(name, in.ReceiptHandle)
}

type visibilityIn struct {
	QueueURL          string `json:"QueueUrl"`
	ReceiptHandle     string
	VisibilityTimeout *int32
}

func (s *SQS) changeMessageVisibility(_ *http.Request, in *visibilityIn) (any, error) {
	name, err := queueOf(in.QueueURL)
	if err != nil {
		return nil, err
	}
	if in.VisibilityTimeout == nil {
		return nil, missing("VisibilityTimeout")
	}
	return nil, s.cloud.ChangeVisibility(name, in.ReceiptHandle, *inSeconds(in.VisibilityTimeout))
}

type receiptEntry struct {
	ID                string `json:"Id"`
	ReceiptHandle     string
	VisibilityTimeout int32 // SDKs leave out a zero in batches
}

type deleteBatchIn struct {
	QueueURL string `json:"QueueUrl"`
	Entries  []struct {
		ID            string `json:"Id"`
		ReceiptHandle string
	}
}

func (s *SQS) deleteMessageBatch(_ *http.Request, in *deleteBatchIn) (any, error) {
	ids, receipts := make([]string, len(in.Entries)), make([]string, len(in.Entries))
	for i, e := range in.Entries {
		ids[i], receipts[i] = e.ID, e.ReceiptHandle
	}
	return receiptBatch(in.QueueURL, ids, func(name string) ([]error, error) {
		return s.cloud.DeleteBatch(name, receipts)
	})
}

type visibilityBatchIn struct {
	QueueURL string `json:"QueueUrl"`
	Entries  []receiptEntry
}

func (s *SQS) changeMessageVisibilityBatch(_ *http.Request, in *visibilityBatchIn) (any, error) {
	ids, changes := make([]string, len(in.Entries)), make([]fifo.VisibilityChange, len(in.Entries))
	for i, e := range in.Entries {
		ids[i], changes[i] = e.ID, fifo.VisibilityChange{Receipt: e.ReceiptHandle, Timeout: *inSeconds(&e.VisibilityTimeout)}
	}
	return receiptBatch(in.QueueURL, ids, func(name string) ([]error, error) {
		return s.cloud.ChangeVisibilityBatch(name, changes)
	})
}

// receiptBatch runs a batch over receipt handles and words its answer.
func receiptBatch(url string, ids []string, run func(name string) ([]error, error)) (any, error) {
	name, err := queueOf(url)
	if err != nil {
		return nil, err
	}
	if err := checkBatchIDs(ids); err != nil {
		return nil, err
	}
	errs, err := run(name)
	if err != nil {
		return nil, err
	}
	out := newBatchOut()
	for i, id := range ids {
		if errs[i] != nil {
			out.fail(id, errs[i])
			continue
		}
		out.Successful = append(out.Successful, struct {
			ID string `json:"Id"`
		}{id})
	}
	return out, nil
}
