package wire

import (
	"crypto/rand"
	"errors"
	"net/http"

	"github.com/holdfast/holdfast/localstack/fifo"
)

type createQueueIn struct {
	QueueName  string
	Attributes map[string]string
}

type queueURLOut struct {
	QueueURL string `json:"QueueUrl"`
}

func (s *SQS) createQueue(r *http.Request, in *createQueueIn) (any, error) {
	if in.Attributes["FifoQueue"] != "true" {
		return nil, unsupported("queues that are not FIFO; create them with the attribute FifoQueue=true and a name that ends in .fifo")
	}
	change, err := parseAttributes(in.Attributes)
	if err != nil {
		return nil, err
	}
	if err := s.cloud.CreateQueue(in.QueueName, change); err != nil {
		return nil, err
	}
	return queueURLOut{queueURL(r, in.QueueName)}, nil
}

type queueNameIn struct{ QueueName string }

func (s *SQS) getQueueURL(r *http.Request, in *queueNameIn) (any, error) {
	if err := s.cloud.Find(in.QueueName); err != nil {
		return nil, err
	}
	return queueURLOut{queueURL(r, in.QueueName)}, nil
}

type queuePrefixIn struct{ QueueNamePrefix string }

func (s *SQS) listQueues(r *http.Request, in *queuePrefixIn) (any, error) {
	names, err := s.cloud.Queues(in.QueueNamePrefix)
	if err != nil {
		return nil, err
	}
	return struct {
		QueueURLs []string `json:"QueueUrls,omitempty"`
	}{queueURLs(r, names)}, nil
}

func queueURLs(r *http.Request, names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = queueURL(r, name)
	}
	return out
}

type queueURLIn struct {
	QueueURL string `json:"QueueUrl"`
}

func (s *SQS) deleteQueue(_ *http.Request, in *queueURLIn) (any, error) {
	name, err := queueOf(in.QueueURL)
	if err != nil {
		return nil, err
	}
	return nil, s.cloud.DeleteQueue(name)
}

func (s *SQS) purgeQueue(_ *http.Request, in *queueURLIn) (any, error) {
	name, err := queueOf(in.QueueURL)
	if err != nil {
		return nil, err
	}
	return nil, s.cloud.Purge(name)
}

type getAttributesIn struct {
	QueueURL       string `json:"QueueUrl"`
	AttributeNames []string
}

func (s *SQS) getQueueAttributes(_ *http.Request, in *getAttributesIn) (any, error) {
	name, err := queueOf(in.QueueURL)
	if err != nil {
		return nil, err
	}
	st, err := s.cloud.Stats(name)
	if err != nil {
		return nil, err
	}
	attrs, err := formatAttributes(name, st, in.AttributeNames)
	if err != nil {
		return nil, err
	}
	return struct {
		Attributes map[string]string `json:",omitempty"`
	}{attrs}, nil
}

type setAttributesIn struct {
	QueueURL   string `json:"QueueUrl"`
	Attributes map[string]string
}

func (s *SQS) setQueueAttributes(_ *http.Request, in *setAttributesIn) (any, error) {
	name, err := queueOf(in.QueueURL)
	if err != nil {
		return nil, err
	}
	change, err := parseAttributes(in.Attributes)
	if err != nil {
		return nil, err
	}
	return nil, s.cloud.Configure(name, change)
}

func (s *SQS) listDeadLetterSourceQueues(r *http.Request, in *queueURLIn) (any, error) {
	name, err := queueOf(in.QueueURL)
	if err != nil {
		return nil, err
	}
	names, err := s.cloud.DeadLetterSources(name)
	if err != nil {
		return nil, err
	}
	return struct {
		QueueURLs []string `json:"queueUrls"` // lower case, unlike everywhere else in SQS
	}{queueURLs(r, names)}, nil
}

type moveTaskIn struct {
	SourceARN      string `json:"SourceArn"`
	DestinationARN string `json:"DestinationArn"`
}

// startMessageMoveTask moves everything at once: the task is finished when its handle is returned.
func (s *SQS) startMessageMoveTask(_ *http.Request, in *moveTaskIn) (any, error) {
	source, err := queueOfARN(in.SourceARN)
	if err != nil {
		return nil, err
	}
	destination := ""
	if in.DestinationARN != "" {
		if destination, err = queueOfARN(in.DestinationARN); err != nil {
			return nil, err
		}
	}
	_, err = s.cloud.Redrive(source, destination)
	if errors.Is(err, fifo.ErrNoQueue) {
		return nil, &sqsError{http.StatusNotFound, "ResourceNotFoundException", "ResourceNotFoundException", err.Error()}
	}
	if err != nil {
		return nil, err
	}
	return struct{ TaskHandle string }{rand.Text()}, nil
}
