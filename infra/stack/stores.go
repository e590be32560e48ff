package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awselasticache"
	"github.com/aws/jsii-runtime-go"
)

// TableName and the rest are the ledger's; the root module's test holds them to
// ledger/dynamo.
const (
	TableName       = "holdfast"
	partitionKey    = "pk"
	sortKey         = "sk"
	dueIndex        = "due"
	duePartitionKey = "due_pk"
	dueSortKey      = "due_sk"

	redisID = "holdfast"
)

type stores struct {
	table awsdynamodb.CfnTable
	redis awselasticache.CfnReplicationGroup
}

// addTable makes the ledger: on demand, because a sale is an hour of load in a
// month of none; recoverable to any second of 35 days; not to be deleted with
// the stack. It has no TTL: no item of the ledger is garbage (protocol.md 3.8).
func (s *Stack) addTable() {
	attribute := func(name string) any {
		return &awsdynamodb.CfnTable_AttributeDefinitionProperty{AttributeName: str(name), AttributeType: str("S")}
	}
	keys := func(hash, sort string) *[]any {
		return &[]any{&awsdynamodb.CfnTable_KeySchemaProperty{AttributeName: str(hash), KeyType: str("HASH")}, &awsdynamodb.CfnTable_KeySchemaProperty{AttributeName: str(sort), KeyType: str("RANGE")}}
	}
	s.table = awsdynamodb.NewCfnTable(s.Stack, str("Table"), &awsdynamodb.CfnTableProps{
		TableName: str(TableName), BillingMode: str("PAY_PER_REQUEST"),
		AttributeDefinitions: &[]any{attribute(partitionKey), attribute(sortKey), attribute(duePartitionKey), attribute(dueSortKey)},
		KeySchema:            keys(partitionKey, sortKey),
		GlobalSecondaryIndexes: &[]any{&awsdynamodb.CfnTable_GlobalSecondaryIndexProperty{
			IndexName: str(dueIndex), KeySchema: keys(duePartitionKey, dueSortKey), Projection: &awsdynamodb.CfnTable_ProjectionProperty{ProjectionType: str("KEYS_ONLY")},
		}},
		PointInTimeRecoverySpecification: &awsdynamodb.CfnTable_PointInTimeRecoverySpecificationProperty{PointInTimeRecoveryEnabled: jsii.Bool(true)},
		SseSpecification:                 &awsdynamodb.CfnTable_SSESpecificationProperty{SseEnabled: jsii.Bool(true), SseType: str("KMS"), KmsMasterKeyId: s.key.AttrArn()},
		DeletionProtectionEnabled:        jsii.Bool(true),
	})
	s.table.ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN, nil)
}

// ledgerName is the table that the processes use.
func (s *Stack) ledgerName() *string {
	return when(s.restored, *s.ledgerTable.ValueAsString(), *s.table.Ref())
}

// addRedis makes the primary and its one replica in another zone. With replica
// durability every admission waits for the replica; with durable Valkey the
// service writes to two zones before it answers, and needs cluster mode, which
// one shard is enough for.
func (s *Stack) addRedis() {
	subnets := awselasticache.NewCfnSubnetGroup(s.Stack, str("RedisSubnets"), &awselasticache.CfnSubnetGroupProps{Description: str("Holdfast's private subnets"), SubnetIds: anys(s.privateSubnets)})
	none := awscdk.Fn_Ref(str("AWS::NoValue"))
	// An evicted booking is a seat sold twice. A primary that frees its backlog (after
	// an hour without a replica, by default) takes a new replication id and forgets
	// the old one: the reaper would take it for a stranger and freeze its sales.
	policy := map[string]*string{"maxmemory-policy": str("noeviction"), "repl-backlog-ttl": str("0")}
	plain := awselasticache.NewCfnParameterGroup(s.Stack, str("RedisParameters"), &awselasticache.CfnParameterGroupProps{CacheParameterGroupFamily: str("valkey8"), Description: str("Holdfast: nothing is evicted"), Properties: policy})
	clustered := map[string]*string{"maxmemory-policy": str("noeviction"), "repl-backlog-ttl": str("0"), "cluster-enabled": str("yes")}
	durable := awselasticache.NewCfnParameterGroup(s.Stack, str("DurableRedisParameters"), &awselasticache.CfnParameterGroupProps{CacheParameterGroupFamily: str("valkey9"), Description: str("Holdfast: nothing is evicted, cluster mode"), Properties: clustered})
	s.redis = awselasticache.NewCfnReplicationGroup(s.Stack, str("Redis"), &awselasticache.CfnReplicationGroupProps{
		ReplicationGroupId: str(redisID), ReplicationGroupDescription: str("Holdfast's admissions"),
		Engine: str("valkey"), EngineVersion: when(s.durable, "9.0", "8.1"), CacheNodeType: s.nodeType.ValueAsString(),
		CacheParameterGroupName: when(s.durable, *durable.Ref(), *plain.Ref()),
		ClusterMode:             when(s.durable, "enabled", "disabled"),
		Durability:              when(s.durable, "sync", *none),
		NumNodeGroups:           num(1), ReplicasPerNodeGroup: num(1),
		AutomaticFailoverEnabled: jsii.Bool(true), MultiAzEnabled: jsii.Bool(true),
		TransitEncryptionEnabled: jsii.Bool(true), AtRestEncryptionEnabled: jsii.Bool(true), KmsKeyId: s.key.AttrArn(),
		AuthToken: s.secretValue(s.redisToken.Ref(), ""), Port: num(redisPort),
		CacheSubnetGroupName: subnets.Ref(), SecurityGroupIds: &[]*string{s.redisGroup.AttrGroupId()},
		// A snapshot forks; during a sale that doubles latency. The ledger is the
		// backup (holdfast rebuild), so Redis has none.
		SnapshotRetentionLimit: num(0), AutoMinorVersionUpgrade: jsii.Bool(false), PreferredMaintenanceWindow: str("tue:20:00-tue:21:00"),
	})
}

// secretValue is resolved by CloudFormation at deployment; the template holds
// no secret.
func (s *Stack) secretValue(arn *string, field string) *string {
	tail := ":SecretString}}"
	if field != "" {
		tail = ":SecretString:" + field + "}}"
	}
	return awscdk.Fn_Join(str(""), &[]*string{str("{{resolve:secretsmanager:"), arn, &tail})
}
