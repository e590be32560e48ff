//go:build compat

package main

import (
	"os"
	"testing"

	"github.com/holdfast/holdfast/localstack/awscontract"
)

// TestEndpoint judges one server in real time, by the addresses that the
// command put into the environment. It is a test only because the contract is
// written as one; a row that fails is a finding about the server.
func TestEndpoint(t *testing.T) {
	sqs, dynamo := os.Getenv(envSQS), os.Getenv(envDynamoDB)
	if sqs == "" && dynamo == "" {
		t.Fatalf("set %s or %s to the address of a server, or run the command", envSQS, envDynamoDB)
	}
	if sqs != "" {
		awscontract.SQS(t, sqs, awscontract.Capabilities{})
	}
	if dynamo != "" {
		awscontract.DynamoDB(t, dynamo, awscontract.Capabilities{})
	}
}
