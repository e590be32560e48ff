package dynamo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// InspectClient is what Inspect calls; *dynamodb.Client is one.
type InspectClient interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	DescribeContinuousBackups(context.Context, *dynamodb.DescribeContinuousBackupsInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeContinuousBackupsOutput, error)
}

// Inspection is what a table says about itself.
type Inspection struct {
	Active      bool // the table, and the index of what is due
	Recoverable bool // point-in-time recovery is on
	// Hidden is why Recoverable could not be read: a role that may not ask, or a
	// server that knows no backups.
	Hidden error
	Now    time.Time // by the server, in whole seconds
}

// Inspect looks at the table. A table that is not there, or has another shape,
// is an error.
func Inspect(ctx context.Context, client InspectClient, table string) (Inspection, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return Inspection{}, fmt.Errorf("look at table %s: %w", table, err)
	}
	active, err := ready(out.Table)
	if err != nil {
		return Inspection{}, err
	}
	i := Inspection{Active: active}
	i.Now, _ = middleware.GetServerTime(out.ResultMetadata) // zero where the server says none
	backups, err := client.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: aws.String(table)})
	if err != nil {
		i.Hidden = err
		return i, nil
	}
	if d := backups.ContinuousBackupsDescription; d != nil && d.PointInTimeRecoveryDescription != nil {
		i.Recoverable = d.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus == types.PointInTimeRecoveryStatusEnabled
	}
	return i, nil
}
