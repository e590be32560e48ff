// Command holdfast runs Holdfast's roles and its operators' tools.
package main

import (
	"os"

	"github.com/holdfast/holdfast/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}
