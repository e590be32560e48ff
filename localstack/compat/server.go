package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/holdfast/holdfast/localstack/port"
)

// server is one that somebody else wrote.
type server struct {
	name, install string
	command       []string // "{port}" in it, and in env, is a free one
	env           []string
	dynamo        bool // speaks DynamoDB, too
}

var servers = []server{
	{name: "localstack", install: "pip install 'localstack-core[runtime]==4.14.0' 'cbor2<6' 'pyopenssl<25' 'cryptography<45' 'service_identity<25', and LOCALSTACK_PYTHON=its python",
		command: []string{os.Getenv("LOCALSTACK_PYTHON"), "-m", "localstack.runtime.main"},
		env:     []string{"GATEWAY_LISTEN=127.0.0.1:{port}", "SERVICES=sqs", "SKIP_SSL_CERT_DOWNLOAD=1", "DISABLE_EVENTS=1", "DNS_ADDRESS=0", "FILESYSTEM_ROOT=" + os.TempDir() + "/holdfast-localstack", "DEBUG=0"}},
	{name: "elasticmq", install: "mvn dependency:copy-dependencies of org.elasticmq:elasticmq-server_2.13:1.6.12, and ELASTICMQ_LIB=the folder of the jars",
		command: []string{javaFor("ELASTICMQ_LIB"), "-Dnode-address.port={port}", "-Drest-sqs.bind-port={port}", "-Drest-sqs.bind-hostname=127.0.0.1", "-Drest-stats.enabled=false",
			"-cp", os.Getenv("ELASTICMQ_LIB") + "/*", "org.elasticmq.server.Main"}},
	{name: "moto", install: "pip install 'moto[server]==5.2.5'", command: []string{"moto_server", "-H", "127.0.0.1", "-p", "{port}"}, dynamo: true},
	{name: "ministack", install: "pip install ministack==1.5.33", command: []string{"ministack"}, env: []string{"GATEWAY_PORT={port}"}, dynamo: true},
	{name: "fauxqs", install: "npm install -g fauxqs@1.9.2", command: []string{"fauxqs"}, env: []string{"FAUXQS_PORT={port}"}},
}

// javaFor is java where the variable names a folder of jars, else nothing that
// can be started.
func javaFor(variable string) string {
	if os.Getenv(variable) == "" {
		return ""
	}
	return "java"
}

// patience is how long a server may take to start on a busy machine.
const patience = 2 * time.Minute

// judged starts the server, judges it and stops it.
func (s server) judged(ctx context.Context) (_ verdicts, err error) {
	listen, err := port.Free()
	if err != nil {
		return nil, err
	}
	at := func(text string) string { return strings.ReplaceAll(text, "{port}", strconv.Itoa(listen)) }
	args := make([]string, len(s.command)-1)
	for i, a := range s.command[1:] {
		args[i] = at(a)
	}
	cmd := exec.Command(s.command[0], args...)
	cmd.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "LOG_LEVEL=ERROR")
	for _, v := range s.env {
		cmd.Env = append(cmd.Env, at(v))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() {
		err = errors.Join(err, syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
		<-ended
	}()
	if err := answers(ctx, listen, ended); err != nil {
		return nil, err
	}
	endpoint, dynamo := fmt.Sprintf("http://127.0.0.1:%d", listen), ""
	if s.dynamo {
		dynamo = endpoint
	}
	return judge(ctx, endpoint, dynamo)
}

func answers(ctx context.Context, listen int, ended <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", listen))
		if err == nil {
			return c.Close()
		}
		select {
		case e := <-ended:
			return fmt.Errorf("it ended before it answered: %w", e)
		case <-ctx.Done():
			return fmt.Errorf("it did not listen on port %d: %w", listen, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
