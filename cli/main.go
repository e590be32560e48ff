// Package cli is the command line of Holdfast: the long-running roles, and the
// operators' tools around package operator.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/operator"
	"github.com/holdfast/holdfast/sale"
)

// The exit codes.
const (
	exitDone    = 0
	exitRefused = 1 // refused, failed, or an audit that found something
	exitUsage   = 2 // not a command line
)

// app is one run of the command line.
type app struct {
	env            func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
	open           opener
	now            func() time.Time
	web            *http.Client // for files that are given by address
	terminal       bool         // stderr is one: progress is drawn over itself

	as     string // --as
	reason string // --reason
}

// Main runs one command and returns its exit code: 0 done, 1 refused or failed,
// 2 not a command line. env is os.Getenv in a main; extra are commands that other
// packages add. The first SIGINT or SIGTERM ends the command in order: a role
// finishes what it took. The second one kills the process.
func Main(args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer, extra ...*cobra.Command) int {
	a := &app{env: env, stdin: stdin, stdout: stdout, stderr: stderr, open: openHouse, now: time.Now, web: http.DefaultClient, terminal: isTerminal(stderr)}
	return a.main(args, extra...)
}

// main runs one command under the signals of the process.
func (a *app) main(args []string, extra ...*cobra.Command) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // gives the second signal back to the system
	return a.run(ctx, args, extra...)
}

func (a *app) run(ctx context.Context, args []string, extra ...*cobra.Command) int {
	root := a.root()
	root.AddCommand(extra...)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	var usage *usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(a.stderr, "holdfast: %v\n", usage)
		if usage.help != "" {
			fmt.Fprintf(a.stderr, "See: %s --help\n", usage.help)
		}
		return exitUsage
	}
	if !errors.Is(err, errShown) {
		fmt.Fprintf(a.stderr, "holdfast: %v\n", err)
	}
	return exitRefused
}

// errShown ends a command whose output says already why it did not succeed.
var errShown = errors.New("not everything holds")

// usageError is a command line that can't be understood.
type usageError struct {
	text string
	help string // the command whose help would have
}

func (e *usageError) Error() string { return e.text }

func usage(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...), cmd.CommandPath()}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "holdfast",
		Short: "Sell a fixed number of seats, each exactly once",
		Long: `Holdfast sells a fixed number of seats, each exactly once, to a crowd that
arrives in the same second.

A sale, from the file to the list:

  export HOLDFAST_REASON='the spring sale'      why, for the trail of each act
  holdfast sale apply spring.yaml               say what is sold
  holdfast roster import spring roster.csv      and to whom
  holdfast sale check spring                    is everything right?
  holdfast preflight spring                     and around it, just before it opens?
  holdfast sale open spring                     let it sell from its opening time on
  holdfast sale status spring --watch           look
  holdfast audit spring                         do all promises hold?
  holdfast export spring > spring.csv           the list
  holdfast report spring --out spring.html      what became of it, signed

Each command that changes something insists on a reason, --reason '...' or
HOLDFAST_REASON, and keeps it in the sale's trail with who did it (--as).
Configuration comes from HOLDFAST_... variables: see "holdfast config check".
Exit codes: 0 done, 1 refused or failed, 2 not a command line.`,
		SilenceUsage: true, SilenceErrors: true,
		Args: cobra.ArbitraryArgs,
		RunE: group,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(cmd, "%v", err) })
	root.CompletionOptions.HiddenDefaultCmd = true
	flags := root.PersistentFlags()
	flags.StringVar(&a.as, "as", "", "who acts, for the audit trail (default: $HOLDFAST_OPERATOR, else $USER)")
	flags.StringVar(&a.reason, "reason", "", "why, for the audit trail; every command that changes something wants it (default: $HOLDFAST_REASON)")
	root.AddCommand(a.roles()...)
	root.AddCommand(a.saleCommand(), a.rosterCommand(), a.holdCommand(), a.bookingCommand(), a.exportCommand(), a.inboxCommand())
	root.AddCommand(a.auditCommand(), a.reportCommand(), a.repairCommand(), a.rebuildCommand(), a.dlqCommand(), a.configCommand(), a.versionCommand(), a.preflightCommand(), a.capacityCommand(), a.purgeCommand())
	root.AddCommand(a.loadCommand(), a.rehearseCommand())
	return root
}

// group is what a command does that has only commands under it.
func group(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usage(cmd, "there is no command %q; did you mean %q?", args[0], near[0])
	}
	return usage(cmd, "there is no command %q", args[0])
}

// exactly wants these arguments, by their names.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usage(cmd, "%s is missing", names[len(args)])
		}
		if len(args) > len(names) {
			return usage(cmd, "%q is one argument too many", args[len(names)])
		}
		return nil
	}
}

// saleFirst wants the id of a sale, then these arguments.
func saleFirst(names ...string) cobra.PositionalArgs {
	all := exactly(append([]string{"SALE"}, names...)...)
	return func(cmd *cobra.Command, args []string) error {
		if err := all(cmd, args); err != nil {
			return err
		}
		if !sale.ValidName(args[0]) {
			return usage(cmd, "%q is no id of a sale: 1 to %d of A-Z a-z 0-9 _ -", args[0], sale.MaxName)
		}
		return nil
	}
}

// by is who acts.
func (a *app) by(cmd *cobra.Command) (operator.By, error) {
	name := a.as
	for _, v := range []string{"HOLDFAST_OPERATOR", "USER"} {
		if name == "" {
			name = a.env(v)
		}
	}
	if name == "" {
		name = "unknown"
	}
	if !sale.ValidName(name) {
		return operator.By{}, usage(cmd, "%q can't stand in an audit trail: say who acts with --as NAME (A-Z a-z 0-9 _ -)", name)
	}
	return operatorBy(name, a.reason), nil
}

func isCode(err error, code operator.Code) bool {
	var refused *operator.RefusedError
	return errors.As(err, &refused) && refused.Kind == code
}
