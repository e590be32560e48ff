package main

import (
	"context"
	"fmt"
	"io"

	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// weight is what the stores hold.
type weight struct {
	act               string // after which
	items             int64  // of the table
	table, redisBytes int64  // the table's as DynamoDB counts them, Redis' as it reports them
}

// weigh asks both stores. The emulated table counts at once; DynamoDB itself
// would be hours behind.
func (w *world) weigh(ctx context.Context, act string) (weight, error) {
	cfg, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return weight{}, err
	}
	t, err := dynamodb.NewFromConfig(cfg).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &w.Config.AWS.Table})
	if err != nil {
		return weight{}, err
	}
	held := weight{act: act, items: *t.Table.ItemCount, table: *t.Table.TableSizeBytes}
	err = w.info(ctx, "memory", "used_memory", &held.redisBytes)
	return held, err
}

// showWeights prints what the stores hold, and what a strongly consistent scan of
// the table reads: a unit for each 4 KiB.
func showWeights(out io.Writer, runs []measured) {
	fmt.Fprintf(out, "\n| candidates | after | items of the table | MB of the table | read units of a scan | MB of Redis |\n|--:|---|--:|--:|--:|--:|\n")
	for _, r := range runs {
		for _, h := range r.holds {
			fmt.Fprintf(out, "| %d | %s | %d | %.1f | %d | %.1f |\n", r.candidates, h.act, h.items, mega(h.table), h.table/4096, mega(h.redisBytes))
		}
	}
}

func mega(bytes int64) float64 { return float64(bytes) / 1e6 }
