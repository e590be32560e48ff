package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast/holdfast/localstack/fifo"
)

// queueAttribute is one attribute of a queue: how it is shown, and how it is set if it can be.
type queueAttribute struct {
	get func(name string, st fifo.Stats) string // "": not shown
	set func(cfg *fifo.Config, value string) error
}

var queueAttributes = map[string]queueAttribute{
	"VisibilityTimeout":             seconds(func(c *fifo.Config) *time.Duration { return &c.VisibilityTimeout }),
	"DelaySeconds":                  seconds(func(c *fifo.Config) *time.Duration { return &c.Delay }),
	"MessageRetentionPeriod":        seconds(func(c *fifo.Config) *time.Duration { return &c.Retention }),
	"ReceiveMessageWaitTimeSeconds": seconds(func(c *fifo.Config) *time.Duration { return &c.ReceiveWait }),
	"ContentBasedDeduplication":     choice("false", "true", func(c *fifo.Config) *bool { return &c.ContentDedup }),
	"DeduplicationScope":            choice("queue", "messageGroup", func(c *fifo.Config) *bool { return &c.GroupScope }),
	"FifoThroughputLimit":           choice("perQueue", "perMessageGroupId", func(c *fifo.Config) *bool { return &c.GroupThroughput }),
	"MaximumMessageSize": {
		func(_ string, st fifo.Stats) string { return strconv.Itoa(st.Config.MaxMessageBytes) },
		func(c *fifo.Config, v string) (err error) { c.MaxMessageBytes, err = strconv.Atoi(v); return err },
	},
	"FifoQueue": {
		func(string, fifo.Stats) string { return "true" },
		func(_ *fifo.Config, v string) error {
			if v != "true" {
				return unsupported("queues that are not FIFO")
			}
			return nil
		},
	},
	"RedrivePolicy": {func(_ string, st fifo.Stats) string { return formatRedrive(st.Config.Redrive) }, parseRedrive},

	"QueueArn":                              {get: func(name string, _ fifo.Stats) string { return arnPrefix + name }},
	"CreatedTimestamp":                      {get: func(_ string, st fifo.Stats) string { return strconv.FormatInt(st.Created.Unix(), 10) }},
	"LastModifiedTimestamp":                 {get: func(_ string, st fifo.Stats) string { return strconv.FormatInt(st.Modified.Unix(), 10) }},
	"ApproximateNumberOfMessages":           {get: func(_ string, st fifo.Stats) string { return strconv.Itoa(st.Visible) }},
	"ApproximateNumberOfMessagesNotVisible": {get: func(_ string, st fifo.Stats) string { return strconv.Itoa(st.InFlight) }},
	"ApproximateNumberOfMessagesDelayed":    {get: func(_ string, st fifo.Stats) string { return strconv.Itoa(st.Delayed) }},
}

// unsetAttributes exist in SQS, and never have a value here.
var unsetAttributes = []string{"Policy", "KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds", "SqsManagedSseEnabled", "RedriveAllowPolicy"}

func seconds(field func(*fifo.Config) *time.Duration) queueAttribute {
	return queueAttribute{
		get: func(_ string, st fifo.Stats) string {
			return strconv.FormatInt(int64(*field(&st.Config)/time.Second), 10)
		},
		set: func(c *fifo.Config, v string) error {
			n, err := strconv.ParseInt(v, 10, 32) // the engine checks the range; 32 bits keep the product exact
			*field(c) = time.Duration(n) * time.Second
			return err
		},
	}
}

func choice(no, yes string, field func(*fifo.Config) *bool) queueAttribute {
	return queueAttribute{
		get: func(_ string, st fifo.Stats) string {
			if *field(&st.Config) {
				return yes
			}
			return no
		},
		set: func(c *fifo.Config, v string) error {
			if v != yes && v != no {
				return fmt.Errorf("want %s or %s", no, yes)
			}
			*field(c) = v == yes
			return nil
		},
	}
}

type redriveJSON struct {
	Target string      `json:"deadLetterTargetArn"`
	Max    json.Number `json:"maxReceiveCount"` // SDKs and consoles send a number or a string
}

func formatRedrive(p fifo.RedrivePolicy) string {
	if p.Target == "" {
		return ""
	}
	return fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, arnPrefix+p.Target, p.MaxReceives)
}

func parseRedrive(c *fifo.Config, v string) error {
	c.Redrive = fifo.RedrivePolicy{}
	if v == "" { // removes the policy
		return nil
	}
	var in redriveJSON
	if err := json.Unmarshal([]byte(v), &in); err != nil {
		return err
	}
	target, err := queueOfARN(in.Target)
	if err != nil {
		return err
	}
	most, err := in.Max.Int64()
	if err != nil {
		return err
	}
	c.Redrive = fifo.RedrivePolicy{Target: target, MaxReceives: int(most)}
	return nil
}

// parseAttributes returns the change that the attributes ask for. What the local cloud can't do is refused: a queue that silently lacks a policy would test something else.
func parseAttributes(attrs map[string]string) (func(*fifo.Config), error) {
	var probe fifo.Config
	for _, name := range slices.Sorted(maps.Keys(attrs)) { // of several faults always the same one is reported
		a, known := queueAttributes[name]
		switch {
		case slices.Contains(unsetAttributes, name):
			return nil, unsupported("the queue attribute %s", name)
		case !known || a.set == nil:
			return nil, fmt.Errorf("%w that can be set: %s", errAttributeName, quoted(name))
		}
		if err := a.set(&probe, attrs[name]); err != nil {
			return nil, fmt.Errorf("%w: value %s for parameter %s: %w", fifo.ErrInvalid, quoted(attrs[name]), name, err)
		}
	}
	return func(c *fifo.Config) {
		for name, value := range attrs {
			_ = queueAttributes[name].set(c, value) // it worked on the probe, and attributes don't depend on each other
		}
	}, nil
}

func formatAttributes(queue string, st fifo.Stats, names []string) (map[string]string, error) {
	out := map[string]string{}
	show := func(name string) {
		if v := queueAttributes[name].get(queue, st); v != "" {
			out[name] = v
		}
	}
	for _, name := range names {
		switch _, known := queueAttributes[name]; {
		case strings.EqualFold(name, "All"):
			for each := range queueAttributes {
				show(each)
			}
		case known:
			show(name)
		case !slices.Contains(unsetAttributes, name):
			return nil, fmt.Errorf("%w: %s", errAttributeName, quoted(name))
		}
	}
	return out, nil
}
