package wire

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/holdfast/holdfast/localstack/fifo"
)

type receiveIn struct {
	QueueURL                    string   `json:"QueueUrl"`
	AttributeNames              []string // the older name of the next
	MessageSystemAttributeNames []string
	MessageAttributeNames       []string
	MaxNumberOfMessages         *int
	VisibilityTimeout           *int32
	WaitTimeSeconds             *int32
	ReceiveRequestAttemptID     string `json:"ReceiveRequestAttemptId"`
}

func (in *receiveIn) input() fifo.ReceiveInput {
	out := fifo.ReceiveInput{Max: 1, AttemptID: in.ReceiveRequestAttemptID, Visibility: inSeconds(in.VisibilityTimeout), Wait: inSeconds(in.WaitTimeSeconds)}
	if in.MaxNumberOfMessages != nil {
		out.Max = *in.MaxNumberOfMessages
	}
	return out
}

func inSeconds(n *int32) *time.Duration {
	if n == nil {
		return nil
	}
	d := time.Duration(*n) * time.Second
	return &d
}

type messageOut struct {
	MessageID              string `json:"MessageId"`
	ReceiptHandle          string
	Body                   string
	MD5OfBody              string
	Attributes             map[string]string           `json:",omitempty"`
	MessageAttributes      map[string]messageAttribute `json:",omitempty"`
	MD5OfMessageAttributes string                      `json:",omitempty"`
}

type receiveOut struct {
	Messages []messageOut `json:",omitempty"`
}

func (s *SQS) receiveMessage(r *http.Request, in *receiveIn) (any, error) {
	name, err := queueOf(in.QueueURL)
	if err != nil {
		return nil, err
	}
	system := append(in.AttributeNames, in.MessageSystemAttributeNames...)
	if err := checkSystemNames(system); err != nil {
		return nil, err
	}
	p := s.cloud.Receive(name, in.input())
	select {
	case <-p.Done():
	case <-r.Context().Done():
		p.Cancel() // a message must not go to somebody who has left
	}
	messages, err := p.Answer()
	if err != nil {
		return nil, err
	}
	var out receiveOut
	for _, m := range messages {
		out.Messages = append(out.Messages, formatMessage(m, system, in.MessageAttributeNames))
	}
	return out, nil
}

func formatMessage(m fifo.Message, system, names []string) messageOut {
	attrs := selectAttributes(m.Attributes, names)
	return messageOut{
		MessageID: m.ID, ReceiptHandle: m.Receipt, Body: m.Body, MD5OfBody: md5Hex(m.Body),
		Attributes:        formatSystem(m, system),
		MessageAttributes: formatMessageAttributes(attrs), MD5OfMessageAttributes: md5OfAttributes(attrs),
	}
}

var systemAttributes = map[string]func(m fifo.Message) string{
	"SenderId":                         func(fifo.Message) string { return "LOCAL" },
	"SentTimestamp":                    func(m fifo.Message) string { return millis(m.Sent) },
	"ApproximateReceiveCount":          func(m fifo.Message) string { return strconv.Itoa(m.Receives) },
	"ApproximateFirstReceiveTimestamp": func(m fifo.Message) string { return millis(m.FirstReceived) },
	"SequenceNumber":                   func(m fifo.Message) string { return sequenceNumber(m.Sequence) },
	"MessageDeduplicationId":           func(m fifo.Message) string { return m.DedupID },
	"MessageGroupId":                   func(m fifo.Message) string { return m.Group },
	"AWSTraceHeader":                   func(fifo.Message) string { return "" },
	"DeadLetterQueueSourceArn": func(m fifo.Message) string {
		if m.Source == "" {
			return ""
		}
		return arnPrefix + m.Source
	},
}

func millis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

func checkSystemNames(names []string) error {
	for _, name := range names {
		if systemAttributes[name] == nil && name != "All" {
			return fmt.Errorf("%w of messages: %s", errAttributeName, quoted(name))
		}
	}
	return nil
}

func formatSystem(m fifo.Message, names []string) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		for each, get := range systemAttributes {
			if v := get(m); v != "" && (name == "All" || name == each) {
				out[each] = v
			}
		}
	}
	return out
}
