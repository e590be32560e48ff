#!/bin/sh
# Makes the queues and the table as the stack makes them on AWS. LocalStack runs
# it when it is ready; safe to run again.
set -eu

queue() { # name, further attributes as JSON members
	awslocal sqs create-queue --queue-name "$1" --attributes "{\"FifoQueue\":\"true\",\"DeduplicationScope\":\"messageGroup\",\"FifoThroughputLimit\":\"perMessageGroupId\",\"MessageRetentionPeriod\":\"1209600\",\"VisibilityTimeout\":\"30\"$2}" >/dev/null
}

queue holdfast-events-dead.fifo ''
dead=$(awslocal sqs get-queue-attributes --queue-url "$(awslocal sqs get-queue-url --queue-name holdfast-events-dead.fifo --query QueueUrl --output text)" --attribute-names QueueArn --query Attributes.QueueArn --output text)
queue holdfast-events.fifo ",\"RedrivePolicy\":\"{\\\"deadLetterTargetArn\\\":\\\"$dead\\\",\\\"maxReceiveCount\\\":\\\"20\\\"}\""

awslocal dynamodb describe-table --table-name holdfast >/dev/null 2>&1 ||
	awslocal dynamodb create-table --table-name holdfast --billing-mode PAY_PER_REQUEST \
		--attribute-definitions AttributeName=pk,AttributeType=S AttributeName=sk,AttributeType=S AttributeName=due_pk,AttributeType=S AttributeName=due_sk,AttributeType=S \
		--key-schema AttributeName=pk,KeyType=HASH AttributeName=sk,KeyType=RANGE \
		--global-secondary-indexes 'IndexName=due,KeySchema=[{AttributeName=due_pk,KeyType=HASH},{AttributeName=due_sk,KeyType=RANGE}],Projection={ProjectionType=KEYS_ONLY}' >/dev/null
