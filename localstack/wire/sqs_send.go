package wire

import (
	"crypto/md5" // SQS checks bodies by it
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"

	"github.com/holdfast/holdfast/localstack/fifo"
)

// outgoing is a message to send, alone or in a batch.
type outgoing struct {
	MessageBody             string
	MessageGroupID          string `json:"MessageGroupId"`
	MessageDeduplicationID  string `json:"MessageDeduplicationId"`
	DelaySeconds            int
	MessageAttributes       map[string]messageAttribute
	MessageSystemAttributes map[string]messageAttribute
}

func (m outgoing) input() (fifo.SendInput, error) {
	if m.DelaySeconds != 0 {
		return fifo.SendInput{}, invalid("value %d for parameter DelaySeconds: a FIFO queue has no delay per message; set it on the queue", m.DelaySeconds)
	}
	if len(m.MessageSystemAttributes) > 0 {
		return fifo.SendInput{}, unsupported("MessageSystemAttributes")
	}
	attrs, err := parseMessageAttributes(m.MessageAttributes)
	return fifo.SendInput{Group: m.MessageGroupID, DedupID: m.MessageDeduplicationID, Body: m.MessageBody, Attributes: attrs}, err
}

type sendIn struct {
	QueueURL string `json:"QueueUrl"`
	outgoing
}

type sendOut struct {
	ID                     string `json:"Id,omitempty"` // of the batch entry
	MessageID              string `json:"MessageId"`
	MD5OfMessageBody       string
	MD5OfMessageAttributes string `json:",omitempty"`
	SequenceNumber         string
}

func sentOut(id string, in fifo.SendInput, sent fifo.Sent) sendOut {
	return sendOut{id, sent.ID, md5Hex(in.Body), md5OfAttributes(in.Attributes), sequenceNumber(sent.Sequence)}
}

func md5Hex(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// sequenceNumber has the 20 digits of AWS's, so that it also sorts as text.
func sequenceNumber(n uint64) string { return fmt.Sprintf("%020d", n) }

func (s *SQS) sendMessage(_ *http.Request, in *sendIn) (any, error) {
	name, err := queueOf(in.QueueURL)
	if err != nil {
		return nil, err
	}
	m, err := in.input()
	if err != nil {
		return nil, err
	}
	sent, err := s.cloud.Send(name, m)
	if err != nil {
		return nil, err
	}
	return sentOut("", m, sent), nil
}

type sendEntry struct {
	ID string `json:"Id"`
	outgoing
}

type sendBatchIn struct {
	QueueURL string `json:"QueueUrl"`
	Entries  []sendEntry
}

// sendMessageBatch sends the entries that can be read in one engine call and reports the others with those that it refuses.
func (s *SQS) sendMessageBatch(_ *http.Request, in *sendBatchIn) (any, error) {
	name, err := queueOf(in.QueueURL)
	if err != nil {
		return nil, err
	}
	ids, out := make([]string, len(in.Entries)), newBatchOut()
	for i, e := range in.Entries {
		ids[i] = e.ID
	}
	if err := checkBatchIDs(ids); err != nil {
		return nil, err
	}
	var good []fifo.SendInput
	var goodIDs []string
	for _, e := range in.Entries {
		m, err := e.input()
		if err != nil {
			out.fail(e.ID, err)
			continue
		}
		good, goodIDs = append(good, m), append(goodIDs, e.ID)
	}
	if len(good) == 0 && len(ids) > 0 {
		return out, nil
	}
	results, err := s.cloud.SendBatch(name, good)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		if r.Err != nil {
			out.fail(goodIDs[i], r.Err)
			continue
		}
		out.Successful = append(out.Successful, sentOut(goodIDs[i], good[i], r.Sent))
	}
	return out, nil
}

// batchOut is the answer of every batch call.
type batchOut struct {
	Successful []any
	Failed     []batchFailure
}

type batchFailure struct {
	ID          string `json:"Id"`
	Code        string
	Message     string
	SenderFault bool
}

func newBatchOut() *batchOut { return &batchOut{Successful: []any{}, Failed: []batchFailure{}} }

func (o *batchOut) fail(id string, err error) {
	e := asSQSError(err)
	o.Failed = append(o.Failed, batchFailure{id, e.shape, e.msg, e.status < http.StatusInternalServerError})
}

var batchID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// checkBatchIDs refuses a batch whose answer could not be told apart.
func checkBatchIDs(ids []string) error {
	switch {
	case len(ids) == 0:
		return fifo.ErrBatchEmpty
	case len(ids) > fifo.MaxBatch:
		return fmt.Errorf("%w: %d", fifo.ErrBatchTooMany, len(ids))
	}
	seen := map[string]bool{}
	for _, id := range ids {
		if !batchID.MatchString(id) {
			return errBatchID
		}
		if seen[id] {
			return fmt.Errorf("%w: %s", errBatchIDs, id)
		}
		seen[id] = true
	}
	return nil
}
