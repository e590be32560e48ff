package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// server is one that somebody else wrote.
type server struct {
	name, install string
	command       []string
	portFlag      string // "" if the port comes by portEnv
	portEnv       string
	dynamo        bool // speaks DynamoDB, too
}

var servers = []server{
	{name: "moto", install: "pip install 'moto[server]==5.2.5'", command: []string{"moto_server", "-H", "127.0.0.1"}, portFlag: "-p", dynamo: true},
	{name: "ministack", install: "pip install ministack==1.5.33", command: []string{"ministack"}, portEnv: "GATEWAY_PORT", dynamo: true},
	{name: "fauxqs", install: "npm install -g fauxqs@1.9.2", command: []string{"fauxqs"}, portEnv: "FAUXQS_PORT"},
}

// patience is how long a server may take to start on a busy machine.
const patience = 2 * time.Minute

// judged starts the server, judges it and stops it.
func (s server) judged(ctx context.Context) (_ verdicts, err error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	args := s.command[1:]
	if s.portFlag != "" {
		args = append(args[:len(args):len(args)], s.portFlag, strconv.Itoa(port))
	}
	cmd := exec.Command(s.command[0], args...)
	cmd.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "LOG_LEVEL=ERROR")
	if s.portEnv != "" {
		cmd.Env = append(cmd.Env, s.portEnv+"="+strconv.Itoa(port))
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
	if err := answers(ctx, port, ended); err != nil {
		return nil, err
	}
	endpoint, dynamo := fmt.Sprintf("http://127.0.0.1:%d", port), ""
	if s.dynamo {
		dynamo = endpoint
	}
	return judge(ctx, endpoint, dynamo)
}

func answers(ctx context.Context, port int, ended <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return c.Close()
		}
		select {
		case e := <-ended:
			return fmt.Errorf("it ended before it answered: %w", e)
		case <-ctx.Done():
			return fmt.Errorf("it did not listen on port %d: %w", port, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
