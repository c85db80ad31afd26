package loadtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stored reads the results in testdata/name, which nobody has measured: they are made to have something of everything.
func stored(t testing.TB, name string) []*Result {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rs, err := ReadJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

type reportWriter struct {
	name  string
	write func(io.Writer, ...*Result) error
}

var reportWriters = []reportWriter{
	{"WriteText", WriteText}, {"WriteMarkdown", WriteMarkdown}, {"WriteCSV", WriteCSV}, {"WriteBench", WriteBench}, {"WriteJSON", WriteJSON},
}

func TestReportsGolden(t *testing.T) {
	single, failed, sweep := stored(t, "single.json"), stored(t, "failed.json"), stored(t, "sweep.json")
	all := append(append(append([]*Result{}, single...), failed...), sweep...)
	for _, c := range []struct {
		file  string
		write func(io.Writer, ...*Result) error
		rs    []*Result
	}{
		{"single.txt", WriteText, single},
		{"failed.txt", WriteText, failed},
		{"open.txt", WriteText, []*Result{openLoopResult(t)}},
		{"empty.txt", WriteText, []*Result{{}}},
		{"table.txt", WriteText, sweep},
		{"table_names.txt", WriteText, all[:3]},
		{"table.md", WriteMarkdown, sweep},
		{"table_names.md", WriteMarkdown, all[:3]},
		{"results.csv", WriteCSV, all},
		{"bench.txt", WriteBench, all},
		{"results.json", WriteJSON, all},
	} {
		t.Run(c.file, func(t *testing.T) {
			var b bytes.Buffer
			if err := c.write(&b, c.rs...); err != nil {
				t.Fatal(err)
			}
			golden(t, c.file, b.Bytes())
		})
	}
}

// openLoopResult is what the page has to say of an open loop, whose server was watched.
func openLoopResult(t *testing.T) *Result {
	r := stored(t, "single.json")[0]
	r.Options.Name, r.Options.Rate, r.Options.Poisson, r.Options.ThinkTime = "checkout", 18500, true, 0
	r.Errors, r.Failed, r.Requests, r.Warnings = nil, 0, r.Succeeded(), nil
	r.Unsent = 12
	r.FailedLatency = new(Histogram)
	r.SendLag.RecordN(3*time.Microsecond, 900)
	r.QueueWait.RecordN(40*time.Microsecond, 5)
	r.Server = Usage{User: 6 * time.Second, System: 3 * time.Second, CPUs: CPUSet{0, 1}, MaxRSS: 45 << 20, Processes: 2}
	return r
}

// TestReportsSurvive holds all writers to results that a run cannot have, or hardly: no text has NaN or an infinity, nothing panics.
func TestReportsSurvive(t *testing.T) {
	huge := &Result{
		Options: Options{Concurrency: math.MaxInt, Rate: math.Inf(1), Requests: math.MaxInt64, Duration: math.MinInt64, CPUs: CPUSet{0, 0}},
		Elapsed: 1, Requests: math.MaxInt64, Generator: Usage{User: math.MaxInt64, MaxRSS: math.MaxInt64}, BytesRead: math.MaxInt64,
		Latency: histogramOf(1, 1<<50), Clients: Spread{Max: math.MaxInt64}, Connections: math.MaxInt64,
		Intervals: []Interval{{Length: -1, Requests: 5}, {Length: math.MaxInt64}},
	}
	for name, r := range map[string]*Result{
		"zero":            {},
		"no elapsed time": {Requests: 5, Latency: histogramOf(1, 2, 3, 4, 5)},
		"all failed":      {Requests: 3, Failed: 3, Elapsed: time.Second},
		"NaN rate":        {Options: Options{Rate: math.NaN(), Stages: []Stage{{Rate: math.NaN()}}}, Requests: 1, Elapsed: 1},
		"huge":            huge,
		"negative":        {Requests: -5, Failed: 7, Elapsed: -1, Generator: Usage{User: -3}, BytesRead: -7, Options: Options{Concurrency: -1}},
		"control bytes": {Target: "GET /\x1b[2J\r\n\x00\xff|*", Engine: "\x1b", Requests: 1, Failed: 1,
			Errors: map[string]ErrorCount{"e\nvil": {Count: 1, Sample: "\x1b]0;\a\n\nBenchmarkX 1 1 ns/op"}}},
	} {
		for _, w := range reportWriters {
			t.Run(fmt.Sprintf("%s/%s", w.name, name), func(t *testing.T) {
				for _, rs := range [][]*Result{{r}, {r, r}, {r, {}}} {
					var b bytes.Buffer
					if err := w.write(&b, rs...); err != nil {
						t.Fatal(err)
					}
					if s := b.String(); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") || strings.ContainsAny(s, "\x1b\x00\a\b\r") && w.name != "WriteCSV" {
						t.Errorf("NaN, an infinity or control bytes in:\n%s", s)
					}
				}
			})
		}
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write(p []byte) (int, error) { return 0, w.err }

func TestReportsErrors(t *testing.T) {
	broken := errors.New("disk full")
	for _, w := range reportWriters {
		if err := w.write(failingWriter{broken}, &Result{}); !errors.Is(err, broken) {
			t.Errorf("%s on a broken writer: %v", w.name, err)
		}
		var b bytes.Buffer
		err := w.write(&b, &Result{}, nil)
		if want := "loadtest: " + w.name + ": result 2 of 2 is nil"; err == nil || err.Error() != want || b.Len() > 0 {
			t.Errorf("%s of nil: %v, %d bytes written; want %s", w.name, err, b.Len(), want)
		}
		if err := w.write(&b); err != nil {
			t.Errorf("%s of nothing: %v", w.name, err)
		}
	}
}

func TestTextNeverPassesTheMaximumOffAsAQuantile(t *testing.T) {
	for n, want := range map[int]string{
		5:    "  p50                    n/a (needs 6 successes, has 5)\n",
		367:  "  p99                    n/a (needs 368 successes, has 367)\n",
		3687: "  p99.9                  n/a (needs 3,688 successes, has 3,687)\n",
	} {
		r := &Result{Requests: int64(n), Elapsed: time.Second, Latency: new(Histogram)}
		r.Latency.RecordN(time.Millisecond, int64(n))
		var b strings.Builder
		if err := WriteText(&b, r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%d successes: want %q in\n%s", n, want, b.String())
		}
		r.Latency.Record(time.Millisecond)
		b.Reset()
		WriteText(&b, r)
		label, _, _ := strings.Cut(strings.TrimSpace(want), " ")
		if strings.Contains(b.String(), "\n  "+label+"                    n/a") {
			t.Errorf("%d successes: %s is still n/a in\n%s", n+1, label, b.String())
		}
	}
}

func TestTextFitsItsWidth(t *testing.T) {
	for _, name := range []string{"single.json", "failed.json"} {
		var b bytes.Buffer
		if err := WriteText(&b, stored(t, name)...); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(line)) - 1; n > pageWidth || strings.HasSuffix(line, " \n") {
				t.Errorf("%s: line of %d characters, or with blanks at its end: %q", name, n, line)
			}
		}
	}
}

func TestMarkdownEscapes(t *testing.T) {
	r := &Result{Options: Options{Name: "a|b *c* <img> [x](y) `z`"}, Requests: 1, Elapsed: 1}
	var b strings.Builder
	if err := WriteMarkdown(&b, r, &Result{}); err != nil {
		t.Fatal(err)
	}
	if want := "| a\\|b \\*c\\* &lt;img&gt; \\[x\\](y) \\`z\\` "; !strings.Contains(b.String(), want) {
		t.Errorf("want %q in\n%s", want, b.String())
	}
}
