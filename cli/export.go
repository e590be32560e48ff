package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/operator"
)

func (a *app) exportCommand() *cobra.Command {
	var rosterPath, outPath string
	bom := false
	cmd := &cobra.Command{
		Use: "export SALE", Short: "Write the list of bookings as CSV", Args: saleFirst(),
		Long: `Writes every booking of the sale, released ones too, as CSV that opens clean in a
spreadsheet: times in the sale's zone and in UTC, formulas escaped. It comes from
the ledger. Codes and e-mails are not kept; with --roster they are joined back
from the file that was imported.

The file begins with its first column's name. --bom puts a byte order mark before
it, for spreadsheets that would misread e-mails beyond ASCII.`,
		Example: "  holdfast export spring > spring.csv\n  holdfast export spring --roster roster.csv --out spring.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.desk(cmd, func(ctx context.Context, d *operator.Desk) error {
				return a.export(ctx, d, args[0], rosterPath, outPath, bom)
			})
		},
	}
	cmd.Flags().StringVar(&rosterPath, "roster", "", "the roster's file, to have codes and e-mails in the list")
	cmd.Flags().StringVarP(&outPath, "out", "o", "", "a file, instead of standard output; it appears only when it is complete")
	cmd.Flags().BoolVar(&bom, "bom", false, "begin with a byte order mark")
	return cmd
}

func (a *app) export(ctx context.Context, d *operator.Desk, saleID, rosterPath, outPath string, bom bool) error {
	o := operator.ExportOptions{BOM: bom}
	if rosterPath != "" {
		plan, err := d.Plan(ctx, saleID)
		if err != nil {
			return err
		}
		file, err := a.rosterFile(ctx, rosterPath, plan.LevelNames())
		if err != nil {
			return err
		}
		if o.Roster, err = file.rows(); err != nil {
			return err
		}
	}
	if outPath == "" {
		_, err := d.Export(ctx, saleID, a.stdout, o)
		return err
	}
	n := 0
	err := whole(outPath, func(out io.Writer) (err error) {
		n, err = d.Export(ctx, saleID, out, o)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "%d bookings written to %s\n", n, outPath)
	return nil
}

// whole writes a file that appears under its name only when it is complete. It
// has codes in it, so it is the writer's alone.
func whole(path string, write func(io.Writer) error) error {
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, path)
}
