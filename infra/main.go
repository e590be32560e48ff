// Command infra writes the CloudFormation template of a Holdfast deployment to
// template.json in the current folder. The template is checked in, so that
// deploying needs neither this module nor Node.
package main

import (
	"fmt"
	"os"

	"github.com/holdfast/holdfast/infra/stack"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "infra:", err)
		os.Exit(1)
	}
}

func run() error {
	body, err := stack.Synth()
	if err != nil {
		return err
	}
	return os.WriteFile("template.json", body, 0o644)
}
