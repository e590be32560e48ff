package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/config"
)

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Check the configuration", Args: cobra.ArbitraryArgs, RunE: group,
		Long: "The configuration comes from HOLDFAST_... and AWS_... variables.\n\n  holdfast config check",
	}
	cmd.AddCommand(&cobra.Command{
		Use: "check", Short: "Name every fault of the configuration, and show what is set", Args: exactly(),
		Long: "Reads the configuration and names every fault at once. Secrets are not shown. It\nconnects to nothing; \"holdfast sale check SALE\" does.",
		RunE: func(*cobra.Command, []string) error {
			c, err := config.Load(a.env)
			if err != nil {
				return fmt.Errorf("the configuration has faults:\n%w", err)
			}
			return a.showConfig(c)
		},
	})
	return cmd
}

func (a *app) showConfig(c config.Config) error {
	t := newTable(a.stdout)
	t.row("HOLDFAST_SECRET", fmt.Sprintf("set, %d bytes", len(c.Secret)))
	t.row("HOLDFAST_REDIS_MODE", c.Redis.Mode)
	t.row("HOLDFAST_REDIS_ADDRS", strings.Join(c.Redis.Addrs, ","))
	t.row("HOLDFAST_REDIS_REPLICAS", c.Redis.Replicas)
	t.row("HOLDFAST_TABLE", c.AWS.Table)
	t.row("HOLDFAST_QUEUE", c.AWS.Queue)
	t.row("HOLDFAST_DEAD_LETTER_QUEUE", c.AWS.DeadLetterQueue)
	t.row("AWS_REGION", orNot(a.env("AWS_REGION")))
	t.row("AWS_ENDPOINT_URL", orNot(a.env("AWS_ENDPOINT_URL")))
	t.row("HOLDFAST_LISTEN", c.Listen)
	t.row("HOLDFAST_OPERATOR_LISTEN", c.OperatorListen)
	t.row("HOLDFAST_OPERATOR_TOKEN", "set")
	t.row("HOLDFAST_CONSOLE_ALB", orNot(c.ConsoleALB))
	t.row("HOLDFAST_REPORT_KEY", orNot(map[bool]string{true: "set"}[c.ReportKey != ""]))
	t.row("HOLDFAST_PUBLIC_URL", c.PublicURL)
	t.row("HOLDFAST_TRUSTED_PROXIES", fmt.Sprint(c.TrustedProxies))
	t.row("HOLDFAST_GATEWAY", c.Gateway)
	t.row("HOLDFAST_SANDBOX_URL", orNot(c.Sandbox.URL))
	t.row("HOLDFAST_LOG_LEVEL", c.LogLevel)
	t.row("HOLDFAST_WORKERS", c.Workers)
	t.row("HOLDFAST_SWEEP_EVERY", c.SweepEvery)
	t.row("HOLDFAST_DIFF_EVERY", c.DiffEvery)
	t.row("HOLDFAST_RATE_PER_CLIENT", c.RatePerClient)
	t.row("HOLDFAST_RATE_PER_CODE", c.RatePerCode)
	if err := t.end(); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout, "\nthe configuration has no faults")
	return nil
}

func orNot(v string) string {
	if v == "" {
		return "not set"
	}
	return v
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Say which build this is", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.stdout, version())
			return err
		},
	}
}

// stamp is the version that a build without its repository is given (see
// Dockerfile); a build in the repository knows it by itself.
var stamp string

// version is what the build says of itself.
func version() string {
	words := []string{"holdfast", cmp.Or(stamp, "unknown"), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	ok = ok && stamp == ""
	if !ok {
		return strings.Join(words, " ")
	}
	if info.Main.Version != "" {
		words[1] = info.Main.Version
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			words = append(words, s.Value[:min(12, len(s.Value))])
		case s.Key == "vcs.modified" && s.Value == "true":
			words = append(words, "modified")
		}
	}
	return strings.Join(words, " ")
}
