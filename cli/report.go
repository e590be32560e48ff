package cli

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/report"
)

// maxReport bounds what verify reads: a report has tens of kilobytes.
const maxReport = 16 << 20

func (a *app) reportCommand() *cobra.Command {
	outPath, asJSON := "", false
	cmd := &cobra.Command{
		Use: "report SALE", Short: "Write what became of a sale, signed", Args: saleFirst(),
		Long: `Writes one HTML file that needs nothing from elsewhere: seats and money that add
up, refusals by reason, how long it took, failovers and times of 503, the
invariants that were checked, and what operators did. It is made for after the
sale; before that it is a picture of the moment.

It is signed with the key in HOLDFAST_REPORT_KEY. "report keygen" makes one:
keep the seed secret, and give the public half to whoever shall verify.

  holdfast report keygen
  holdfast report spring --out spring.html
  holdfast report verify spring.html --key PUBLIC

Exit code 1 if something does not hold; the file is written all the same.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			by, err := a.by(cmd)
			if err != nil {
				return err
			}
			return a.with(cmd, a.quietLog, func(ctx context.Context, h *house) error {
				d, err := h.report(ctx, args[0], strings.TrimPrefix(string(by.Actor), "operator:"))
				if err != nil {
					return err
				}
				return a.writeReport(h, d, outPath, asJSON)
			})
		},
	}
	cmd.Flags().StringVarP(&outPath, "out", "o", "", "a file, instead of standard output; it appears only when it is complete")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the data alone, for machines; not signed")
	cmd.AddCommand(a.reportKeygenCommand(), a.reportKeyCommand(), a.reportVerifyCommand())
	return cmd
}

func (a *app) writeReport(h *house, d report.Document, outPath string, asJSON bool) error {
	write := func(out io.Writer) error { return writeJSON(out, d) }
	if !asJSON {
		key, err := h.reportKey()
		if err != nil {
			return fmt.Errorf("HOLDFAST_REPORT_KEY: %w", err)
		}
		if key == nil {
			fmt.Fprintln(a.stderr, "the report is not signed: set HOLDFAST_REPORT_KEY (make one with holdfast report keygen)")
		}
		page, err := report.Page(d, key)
		if err != nil {
			return err
		}
		write = func(out io.Writer) error { _, err := out.Write(page); return err }
	}
	if outPath == "" {
		if err := write(a.stdout); err != nil {
			return err
		}
	} else if err := whole(outPath, write); err != nil {
		return err
	}
	if !d.Holds() {
		fmt.Fprintf(a.stderr, "sale %s: not everything holds, see the report\n", d.Sale)
		return errShown
	}
	return nil
}

func (a *app) reportKeygenCommand() *cobra.Command {
	return &cobra.Command{
		Use: "keygen", Short: "Make a key that signs reports", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			seed, public, err := report.NewKey()
			if err != nil {
				return err
			}
			t := newTable(a.stdout)
			t.row("HOLDFAST_REPORT_KEY", seed, "secret: the deployment's, in its configuration")
			t.row("public", public, "for auditors: --key of holdfast report verify")
			return t.end()
		},
	}
}

func (a *app) reportKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "key", Short: "Show the public half of the deployment's key", Args: exactly(),
		Long: "Shows the public half of the key in HOLDFAST_REPORT_KEY, for auditors: --key of\nholdfast report verify.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			public, err := a.verifyingKey(cmd, "")
			if err != nil {
				return err
			}
			fmt.Fprintln(a.stdout, report.PublicText(public))
			return nil
		},
	}
}

func (a *app) reportVerifyCommand() *cobra.Command {
	keyText := ""
	cmd := &cobra.Command{
		Use: "verify FILE", Short: "Check that a report is as it was signed", Args: exactly("FILE"),
		Long: `Checks the signature over every byte of the file, and that the page shows its own
data: it is drawn again and compared. --key is the public key as you got it from
the organiser, or file: and a path; without it the key of this deployment
(HOLDFAST_REPORT_KEY) is taken. "-" reads standard input. Exit code 0 only if the
report is genuine; whether everything holds is said, too.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := a.verifyingKey(cmd, keyText)
			if err != nil {
				return err
			}
			page, err := a.readReport(args[0])
			if err != nil {
				return err
			}
			d, err := report.Verify(page, key)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			holds := "everything holds"
			if !d.Holds() {
				holds = "NOT EVERYTHING HOLDS"
			}
			fmt.Fprintf(a.stdout, "genuine: sale %s, made %s by %s; %d seats paid; %s\n", d.Sale, d.MadeAt.Format("2006-01-02 15:04:05 MST"), d.MadeBy, d.Seats.Paid, holds)
			return nil
		},
	}
	cmd.Flags().StringVar(&keyText, "key", "", "the public key in base64, or file: and the path of a file with it")
	return cmd
}

func (a *app) verifyingKey(cmd *cobra.Command, text string) (ed25519.PublicKey, error) {
	if text != "" {
		return report.ReadPublicKey(text)
	}
	own := a.env("HOLDFAST_REPORT_KEY")
	if own == "" {
		return nil, usage(cmd, "there is no key: HOLDFAST_REPORT_KEY is not set, and --key is missing: the public key of the deployment that made the report")
	}
	key, err := report.ReadKey(own)
	if err != nil {
		return nil, fmt.Errorf("HOLDFAST_REPORT_KEY: %w", err)
	}
	return key.Public().(ed25519.PublicKey), nil
}

func (a *app) readReport(path string) ([]byte, error) {
	in := a.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	page, err := io.ReadAll(io.LimitReader(in, maxReport+1))
	if err == nil && len(page) > maxReport {
		err = errors.New("this is no report: it is far too large")
	}
	return page, err
}
