package dynamo_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/holdfast/holdfast/ledger/dynamo"
	"github.com/holdfast/holdfast/localstack/table"
)

// backups answers for what the local engine does not know.
type backups struct {
	*dynamodb.Client
	status types.PointInTimeRecoveryStatus
	err    error
}

func (b backups) DescribeContinuousBackups(context.Context, *dynamodb.DescribeContinuousBackupsInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeContinuousBackupsOutput, error) {
	return &dynamodb.DescribeContinuousBackupsOutput{ContinuousBackupsDescription: &types.ContinuousBackupsDescription{
		PointInTimeRecoveryDescription: &types.PointInTimeRecoveryDescription{PointInTimeRecoveryStatus: b.status}}}, b.err
}

func TestInspect(t *testing.T) {
	client := dial(t, serve(t, table.Options{}), plain, true)
	if err := dynamo.EnsureTable(t.Context(), client, "inspected"); err != nil {
		t.Fatal(err)
	}
	denied := errors.New("not authorized")
	for name, c := range map[string]struct {
		client dynamo.InspectClient
		want   bool
		hidden bool
	}{
		"on": {backups{client, types.PointInTimeRecoveryStatusEnabled, nil}, true, false}, "off": {backups{client, types.PointInTimeRecoveryStatusDisabled, nil}, false, false},
		"denied": {backups{client, "", denied}, false, true}, "a server without backups": {client, false, true},
	} {
		i, err := dynamo.Inspect(t.Context(), c.client, "inspected")
		if err != nil || !i.Active || i.Recoverable != c.want || (i.Hidden != nil) != c.hidden {
			t.Errorf("%s: %+v, %v", name, i, err)
		}
		if since := time.Since(i.Now); since < -time.Minute || since > time.Minute {
			t.Errorf("%s: the server's time is %v from ours", name, since)
		}
	}
	if _, err := dynamo.Inspect(t.Context(), client, "nowhere"); err == nil {
		t.Error("a table that is not there has an inspection")
	}
}
