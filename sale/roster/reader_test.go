package roster_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/sale"
	"github.com/holdfast/holdfast/sale/roster"
)

// verdicts reads a roster and describes each row: line, verdict, and the candidate of an imported one.
func verdicts(t *testing.T, text string) []string {
	t.Helper()
	rd, err := roster.NewReader(strings.NewReader(text), springLevels, roster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for {
		e, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		s := fmt.Sprintf("%d %v", e.Line, e.Verdict)
		if e.Verdict == roster.Imported {
			s += fmt.Sprintf(" %s %s %v", e.Row.Code, e.Row.Email, e.Row.Levels)
		}
		list = append(list, s)
	}
}

func TestReaderAcceptsWhatOfficesSend(t *testing.T) {
	want := []string{"2 imported AB-12 a@x.org [N1 N2]", "3 imported CD34 b@x.org []"}
	for name, text := range map[string]string{
		"commas":             "code,email,levels\nAB-12,a@x.org,N1|N2\nCD34,b@x.org,\n",
		"no last line break": "code,email,levels\nAB-12,a@x.org,N1|N2\nCD34,b@x.org,",
		"semicolons, CRLF":   "Code;E-Mail;Level(s)\r\nAB-12;a@x.org;N1,N2\r\nCD34;b@x.org;\r\n",
		"tabs, CR":           "CODE\tE-mail address\tAllowed levels\rAB-12\ta@x.org\tN2 N1\rCD34\tb@x.org\t\r",
		"byte order mark":    "\ufeff\"candidate_code\",email,level\nAB-12,a@x.org,N1;N2\nCD34,b@x.org,\n",
		"quotes":             "\"code\",\"email\",\"levels\"\n\"AB-12\",\"a@x.org\",\"N1,N2\"\n \"CD34\" ,\"b@x.org\",\"\"\n",
		"other columns":      "name,email,level,code\n\"O\"\"Hara, Ann\",a@x.org,N1 / N2,AB-12\n\xff,b@x.org,,CD34\n",
		"order of columns":   "levels;mail;registration no\nn1|N2|N1;a@x.org;ab-12\n;b@x.org;cd34\n",
		"extra empty fields": "code,email,levels\nAB-12,a@x.org,N1|N2,,\nCD34,b@x.org,,\n",
		"look-alikes":        "code,email,levels\n\u200b\u00a0ａｂ\u201112\u3000,a@x.org,Ｎ１\u00a0N2\ncd৩৪,b＠x.org,\u200b\n",
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, verdicts(t, text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReaderFindsTheHeaderBehindWhatSpreadsheetsPutThere(t *testing.T) {
	got := verdicts(t, "\ufeffsep=;\n\r\n\r\ncode;email\r\nAB12;a@x.org\r\n")
	if diff := cmp.Diff([]string{"5 imported AB12 a@x.org []"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReaderJudgesEachRow(t *testing.T) {
	long := strings.Repeat("x", 20<<10)
	for name, c := range map[string]struct{ rows, want string }{
		"identical in another spelling":   {"AB12,a@x.org,N1|N2\nab12 ,A@X.ORG,n2|N1|N2", "2 imported AB12 a@x.org [N1 N2]; 3 repeated_identical"},
		"same mailbox, other tag":         {"AB12,a.b@gmail.com,\nAB12,ab+exam@googlemail.com,", "2 imported AB12 a.b@gmail.com []; 3 repeated_identical"},
		"other e-mail":                    {"AB12,a@x.org,N1\nAB12,b@x.org,N1", "2 imported AB12 a@x.org [N1]; 3 conflicting_email"},
		"other levels":                    {"AB12,a@x.org,N1\nAB12,a@x.org,N2\nAB12,a@x.org,", "2 imported AB12 a@x.org [N1]; 3 conflicting_levels; 4 conflicting_levels"},
		"a bad row claims no code":        {"AB12,nobody,N1\nAB12,b@x.org,N1", "2 invalid_email; 3 imported AB12 b@x.org [N1]"},
		"missing":                         {",a@x.org,N1\nAB12, ,N1", "2 missing_code; 3 missing_email"},
		"code before e-mail before level": {"A,b,N9\n,b,N9\nAB12,b,N9", "2 invalid_code; 3 missing_code; 4 invalid_email"},
		"unknown level":                   {"AB12,a@x.org,N1|N9", "2 unknown_level"},
		"separators are no level":         {"AB12,a@x.org,|", "2 unknown_level"},
		"blank":                           {"\n,,\n \u00a0,\t,\nAB12,a@x.org,", "2 blank; 3 blank; 4 blank; 5 imported AB12 a@x.org []"},
		"short row is not any level":      {"AB12,a@x.org\nAB12", "2 malformed; 3 malformed"},
		"unquoted delimiter":              {"AB12,a@x.org,N1,N2", "2 malformed"},
		"not UTF-8":                       {"AB12,a@x.org,N1\xa0", "2 malformed"},
		"text after a quote":              {"\"AB12\"x,a@x.org,N1\nCD34,b@x.org,N1", "2 malformed; 3 imported CD34 b@x.org [N1]"},
		"open quote costs one line":       {"\"AB12,a@x.org,N1\nCD34,b@x.org,N1\nEF56,c@x.org,", "2 malformed; 3 imported CD34 b@x.org [N1]; 4 imported EF56 c@x.org []"},
		"open quote meets another":        {"\"AB12,a@x.org,N1\n\"CD34\",b@x.org,N1", "2 malformed; 3 imported CD34 b@x.org [N1]"},
		"line break in quotes":            {"AB12,a@x.org,\"N1\r\nN2\"\nCD34,b@x.org,", "2 imported AB12 a@x.org [N1 N2]; 4 imported CD34 b@x.org []"},
		"many line breaks":                {"\"AB12" + strings.Repeat("\n", 21) + "\",a@x.org,\nCD34,b@x.org,N1", "2 malformed; " + blanks(3, 20) + "23 malformed; 24 imported CD34 b@x.org [N1]"},
		"and in two fields":               {"\"AB12\",\"" + strings.Repeat("\n", 11) + "\",\"" + strings.Repeat("\n", 11) + "\"\nCD34,b@x.org,N1", "2 malformed; " + blanks(3, 10) + "13 malformed; " + blanks(14, 10) + "24 malformed; 25 imported CD34 b@x.org [N1]"},
		"huge line":                       {long + long + long + long + long + long + long + long + "\r\nCD34,b@x.org,N1", "2 malformed; 3 imported CD34 b@x.org [N1]"},
		"huge line in quotes":             {"\"" + long + "\"\nCD34,b@x.org,N1", "2 malformed; 3 imported CD34 b@x.org [N1]"},
		"too many fields":                 {strings.Repeat(",", 300) + "\nCD34,b@x.org,N1", "2 malformed; 3 imported CD34 b@x.org [N1]"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(verdicts(t, "code,email,levels\n"+c.rows), "; ")
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// blanks describes n blank lines from the given one.
func blanks(line, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d blank; ", line+i)
	}
	return b.String()
}

func TestReaderRefusesWhatIsNoRoster(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":        {"", "is missing, the file is empty"},
		"only blanks":  {"\n\n", "is missing, the file is empty"},
		"no header":    {"AB12,a@x.org,N1\n", "names neither a code nor an e-mail column"},
		"no code":      {"name;email\n", "names no code column"},
		"no e-mail":    {"code,levels\n", "names no e-mail column"},
		"two e-mails":  {"code,email,mail\n", "names two columns that could be the email, 2 and 3"},
		"UTF-16":       {"\xff\xfec\x00", "is UTF-16"},
		"long":         {strings.Repeat("x", 40<<10), "is longer than"},
		"binary":       {"\x00\x01\x02\x03", "names neither"},
		"quote faults": {"\"code\"x,email\n", "has text after a closing quote"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := roster.NewReader(strings.NewReader(c.text), springLevels, roster.Options{})
			var header *roster.HeaderError
			if !errors.As(err, &header) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want a HeaderError with %q", err, c.want)
			}
		})
	}
}

// A record may end anywhere in the window, and the stream may come in any pieces: the answer is the same.
func TestReaderDoesNotDependOnWhereItsWindowEnds(t *testing.T) {
	var text strings.Builder
	text.WriteString("code,email,levels,note\r\n")
	for i := range 3000 {
		fmt.Fprintf(&text, "AB%05d,a%d@x.org,N1,\"%s\"\r\n", i, i, strings.Repeat("x", i%150))
	}
	for name, r := range map[string]io.Reader{
		"whole":    strings.NewReader(text.String()),
		"halves":   iotest.HalfReader(strings.NewReader(text.String())),
		"bytes":    iotest.OneByteReader(strings.NewReader(text.String())),
		"data+EOF": iotest.DataErrReader(strings.NewReader(text.String())),
	} {
		rows, report := readAll(t, r)
		if len(rows) != 3000 || report.Rows != 3000 {
			t.Errorf("%s: %d imported of %d rows, want 3000", name, len(rows), report.Rows)
		}
	}
}

// A line break of two bytes may straddle any bound: the end of the longest record, the end of the window.
func TestReaderCountsLinesAcrossItsBounds(t *testing.T) {
	for _, bound := range []int{16 << 10, 128 << 10} {
		for size := bound - 100; size < bound+10; size++ {
			row := "AB12,a@x.org,N1,"
			got := verdicts(t, "code,email,levels,note\r\n"+row+strings.Repeat("x", size-len(row))+"\r\nCD34,b@x.org,N1,\r\n")
			first := "2 malformed"
			if size < 16<<10 {
				first = "2 imported AB12 a@x.org [N1]"
			}
			if diff := cmp.Diff([]string{first, "3 imported CD34 b@x.org [N1]"}, got); diff != "" {
				t.Fatalf("a row of %d bytes (-want +got):\n%s", size, diff)
			}
		}
	}
}

func TestReaderReportsAFailingStream(t *testing.T) {
	broken := errors.New("cable pulled")
	r := io.MultiReader(strings.NewReader("code,email,levels\nAB12,a@x.org,N1\nCD34,b@x.org,N1"), iotest.ErrReader(broken))
	rd, err := roster.NewReader(r, springLevels, roster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := rd.Next(); err != nil || e.Verdict != roster.Imported {
		t.Fatalf("first row: %v, %v", e.Verdict, err)
	}
	if _, err := rd.Next(); !errors.Is(err, broken) {
		t.Errorf("the cut row gave %v, want the stream's failure", err)
	}
	if _, err := roster.NewReader(iotest.ErrReader(broken), springLevels, roster.Options{}); !errors.Is(err, broken) {
		t.Errorf("a dead stream gave %v, want its failure", err)
	}
}

func TestReaderBoundsProblemsAndCandidates(t *testing.T) {
	text := "code,email\n" + strings.Repeat("A,a@x.org\n", 10) + "AB12,a@x.org\nCD34,a@x.org\nEF56,a@x.org\n"
	rd, err := roster.NewReader(strings.NewReader(text), springLevels, roster.Options{MaxProblems: 3, MaxCandidates: 2})
	if err != nil {
		t.Fatal(err)
	}
	imported := 0
	for _, err = range rd.Rows() {
		if err == nil {
			imported++
		}
	}
	if imported != 2 || err == nil || !strings.Contains(err.Error(), "more than 2 candidates") {
		t.Errorf("%d imported, ended with %v; want 2 and the limit", imported, err)
	}
	if r := rd.Report(); len(r.Problems) != 3 || r.Omitted != 7 {
		t.Errorf("%d problems kept, %d omitted; want 3 and 7", len(r.Problems), r.Omitted)
	}
}

// No report or log may hand out a code or an e-mail (cases K06 wants the line and the reason).
func TestReportsAndLogsMaskCandidates(t *testing.T) {
	text := "code,email\nSECRET77,hidden.person@x.org\nSECRET77,other.person@x.org\nSECRET 88,a@x.org\nAB12,sp ace.person@x.org\n"
	rd, err := roster.NewReader(strings.NewReader(text), springLevels, roster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	for row, err := range rd.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		logger.Info("row", "code", row.Code, "email", row.Email)
	}
	for _, p := range rd.Report().Problems {
		logger.Warn("row", "problem", p)
		if strings.Contains(log.String(), "***") {
			t.Errorf("a log holds a masked value: %s", log.String())
		}
	}
	shown, err := json.Marshal(rd.Report())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"SECRET", "person"} {
		if strings.Contains(string(shown), secret) || strings.Contains(log.String(), secret) {
			t.Errorf("%q is in the report or the log:\n%s\n%s", secret, shown, log.String())
		}
	}
	if !strings.Contains(string(shown), `"first_line":2`) || !strings.Contains(log.String(), `"line":3`) {
		t.Errorf("lines are missing:\n%s\n%s", shown, log.String())
	}
}

func TestMaskedValuesAreFitForATerminal(t *testing.T) {
	rd, err := roster.NewReader(strings.NewReader("code,email,levels\n\x1b[2Jxxxxxx,a@x.org,\nAB12,a@x.org,\x1b]0;x\n"), springLevels, roster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range rd.Rows() {
		t.Fatal("nothing in the file is a candidate")
	}
	for _, p := range rd.Report().Problems {
		if strings.ContainsRune(p.String(), '\x1b') {
			t.Errorf("problem %q would move the cursor", p)
		}
	}
}

// FuzzReader holds for any file: reading ends, each row has one verdict, a code is imported once, and what was imported is in its normal form.
func FuzzReader(f *testing.F) {
	f.Add([]byte("code,email,levels\nAB12,a@x.org,N1|N2\n"))
	f.Add([]byte("\xef\xbb\xbfCode;E-mail;Level(s)\r\n\"AB12;a@x.org\r\n\";;\r\r\n"))
	f.Add([]byte("sep=\t\ncode\tmail\n\"\"\"\"\t\"a@x.org\" \n"))
	var archive bytes.Buffer
	zip := gzip.NewWriter(&archive)
	zip.Write([]byte("code,email\nAB12,a@x.org\n"))
	zip.Close()
	f.Add(archive.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		rd, err := roster.NewReader(bytes.NewReader(data), springLevels, roster.Options{MaxProblems: 5, MaxCandidates: 1000})
		if err != nil {
			return
		}
		seen, entries, line := make(map[sale.Code]bool), 0, 0
		for {
			e, err := rd.Next()
			if err != nil {
				break
			}
			entries++
			if e.Line <= line {
				t.Fatalf("line %d comes after line %d", e.Line, line)
			}
			line = e.Line
			if e.Verdict != roster.Imported {
				continue
			}
			if again, err := sale.NormaliseCode(string(e.Row.Code)); err != nil || again != e.Row.Code || seen[again] {
				t.Fatalf("imported code %q (normal form %q, %v, before: %v)", e.Row.Code, again, err, seen[again])
			}
			seen[e.Row.Code] = true
		}
		report, sum := rd.Report(), 0
		for _, v := range roster.Verdicts() {
			sum += report.ByVerdict.Of(v)
		}
		if sum != entries || report.Rows != entries-report.ByVerdict.Of(roster.Blank) || report.ByVerdict.Of(roster.Imported) != len(seen) {
			t.Fatalf("%d entries, %d imported, but the report is %+v", entries, len(seen), report)
		}
	})
}
