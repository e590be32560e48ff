package wiring

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/holdfast/holdfast/events"
	"github.com/holdfast/holdfast/events/fifo"
	"github.com/holdfast/holdfast/ledger/dynamo"
)

// connections is how many idle connections are kept to each of SQS and
// DynamoDB: the default of two would open one per call in an opening minute.
const connections = 256

// openAWS makes the clients of the queue and the table. Region, credentials and
// endpoints come from the SDK's own variables (AWS_ENDPOINT_URL and the like),
// so the same code reaches AWS, LocalStack and the local cloud.
func (h *House) openAWS(ctx context.Context) error {
	client := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 2*connections, connections
	})
	cfg, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithHTTPClient(client))
	if err != nil {
		return fmt.Errorf("read the AWS configuration: %w", err)
	}
	cfg.HTTPClient = wholeBody{cfg.HTTPClient}
	if cfg.Region == "" {
		return fmt.Errorf("AWS_REGION is not set: say where the queue and the table are")
	}
	h.onClose(func(context.Context) error {
		client.GetTransport().CloseIdleConnections()
		return nil
	})
	if err := h.openLedger(ctx, cfg); err != nil {
		return err
	}
	return h.openQueue(ctx, cfg)
}

func (h *House) openLedger(ctx context.Context, cfg aws.Config) error {
	client := dynamodb.NewFromConfig(cfg)
	table := h.Config.AWS.Table
	if h.Config.AWS.Create {
		if err := dynamo.EnsureTable(ctx, client, table); err != nil {
			return fmt.Errorf("create the table %s: %w", table, err)
		}
	}
	store := dynamo.New(client, table, h.Now)
	h.Store, h.purger, h.dynamo = store, store, client
	return nil
}

func (h *House) openQueue(ctx context.Context, cfg aws.Config) error {
	client := sqs.NewFromConfig(cfg)
	names := fifo.Names{Queue: h.Config.AWS.Queue, Dead: h.Config.AWS.DeadLetterQueue}
	find := fifo.FindQueues
	if h.Config.AWS.Create {
		find = fifo.EnsureQueues
	}
	queues, err := find(ctx, client, names)
	if err != nil {
		return fmt.Errorf("find the queues %s and %s: %w", names.Queue, names.Dead, err)
	}
	h.Queue = &Queue{
		Admin: fifo.NewAdmin(client, queues), Queues: queues,
		Consumer: fifo.NewConsumer(client, queues.URL, events.Visibility), Parker: fifo.NewParker(client, queues.DeadURL),
	}
	// The publisher outlives the context of the start; Close ends it.
	publisher := fifo.NewPublisher(context.WithoutCancel(ctx), client, fifo.PublisherConfig{QueueURL: queues.URL})
	h.Publish = publisher
	h.onClose(publisher.Close)
	return nil
}

func tlsOf(on bool) *tls.Config {
	if !on {
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12}
}
