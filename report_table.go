package loadtest

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/loadtest-go/loadtest/internal/stat"
)

// A table is several results, a line each. The writers of text and of Markdown lay out the same one.
type table struct {
	title string // what all of them loaded; "" if they have different labels, which are then the first column
	cols  []column
	notes []note
}

type column struct {
	head  string
	left  bool // names, unlike numbers, are aligned at their beginning
	cells []string
}

// A note belongs to some rows, or to none in particular.
type note struct {
	mark string // "WARNING", "FAILED", ""
	text string
	rows []int
}

func newTable(rs []*Result) table {
	var t table
	add := func(head string, cell func(*Result) string) {
		c := column{head: head}
		for _, r := range rs {
			c.cells = append(c.cells, cell(r))
		}
		t.cols = append(t.cols, c)
	}
	t.notes = tableNotes(rs)
	row := 0
	if len(rs) > 1 && slices.ContainsFunc(t.notes, func(n note) bool { return len(n.rows) > 0 }) {
		add("row", func(*Result) string { row++; return formatCount(int64(row)) })
	}
	if slices.ContainsFunc(rs, func(r *Result) bool { return r.label() != rs[0].label() }) {
		add("name", func(r *Result) string { return printable(r.label(), 60) })
		t.cols[len(t.cols)-1].left = true
	} else {
		t.title = printable(cmp.Or(rs[0].label(), "unnamed"), 500)
	}
	add("concurrency", func(r *Result) string { return formatCount(int64(r.Options.Concurrency)) })
	if slices.ContainsFunc(rs, func(r *Result) bool { return r.offered() > 0 }) {
		add("offered/s", func(r *Result) string { return orNA(r.offered() > 0, formatRate(r.offered())) })
	}
	addFloats := func(head string, unit string, size float64, lo, hi int, value func(*Result) float64) {
		values := make([]float64, len(rs))
		for i, r := range rs {
			values[i] = value(r)
		}
		s := newScale(unit, size, lo, hi, values...)
		add(head, func(r *Result) string { v := value(r); return orNA(v > 0, s.format(v)) })
	}
	addFloats("req/s", "", 1, 0, 2, (*Result).Throughput)
	t.cols[len(t.cols)-1].zeroFor(rs)
	addFloats("ms/request", "ms", 1, 2, 5, (*Result).msPerRequest)
	addFloats("ms/request (all)", "ms", 1, 2, 5, (*Result).msAcrossAll)
	add("succeeded (total)", func(r *Result) string { return formatCount(r.Succeeded()) + " (" + formatCount(r.Requests) + ")" })
	t.addQuantiles(rs, add)
	return t
}

// zeroFor writes 0 for the results that were measured and had no success: their throughput is known.
func (c *column) zeroFor(rs []*Result) {
	for i, r := range rs {
		if r.Elapsed > 0 && r.Succeeded() == 0 {
			c.cells[i] = "0"
		}
	}
}

// msPerRequest returns the time in milliseconds that a client spends on a successful request, concurrency / throughput; 0 if there is none.
func (r *Result) msPerRequest() float64 { return r.msAcrossAll() * float64(r.Options.Concurrency) }

// msAcrossAll returns the time in milliseconds from one success to the next of all clients together, 1 / throughput; 0 if there is none.
func (r *Result) msAcrossAll() float64 {
	if r.Throughput() <= 0 {
		return 0
	}
	return 1e3 / r.Throughput()
}

// addQuantiles adds p50 and p99 in one unit, so that rows and columns compare.
func (t *table) addQuantiles(rs []*Result, add func(string, func(*Result) string)) {
	var all []time.Duration
	missing := false
	for _, r := range rs {
		for _, q := range []float64{0.5, 0.99} {
			if supported(r.Latency, q) {
				all = append(all, r.Latency.Quantile(q))
			} else {
				missing = true
			}
		}
	}
	s := durationScale(all...)
	for _, q := range []struct {
		label string
		q     float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		add(q.label+" "+s.unit, func(r *Result) string {
			return orNA(supported(r.Latency, q.q), s.format(float64(r.Latency.Quantile(q.q))))
		})
	}
	if missing {
		t.notes = append(t.notes, note{text: fmt.Sprintf("n/a: too few successes to tell; p50 needs %s, p99 needs %s.",
			formatCount(stat.MinSamples(0.5, reportConfidence)), formatCount(stat.MinSamples(0.99, reportConfidence)))})
	}
}

func orNA(ok bool, s string) string {
	if !ok {
		return "n/a"
	}
	return s
}

// tableNotes returns the warnings, each once with the rows that have it, and what failed in each row.
func tableNotes(rs []*Result) []note {
	var notes []note
	seen := map[Warning]int{}
	for i, r := range rs {
		for _, w := range r.Warnings {
			k, ok := seen[w]
			if !ok {
				k = len(notes)
				seen[w] = k
				notes = append(notes, note{mark: "WARNING", text: w.String()})
			}
			if rows := notes[k].rows; len(rows) == 0 || rows[len(rows)-1] != i+1 {
				notes[k].rows = append(rows, i+1)
			}
		}
	}
	for i, r := range rs {
		if r.hasFailed() {
			sample := ""
			if kinds := kindsByCount(r.Errors); len(kinds) > 0 {
				sample = r.Errors[kinds[0]].Sample
			}
			notes = append(notes, note{mark: "FAILED", text: failureNote(r, sample), rows: []int{i + 1}})
		}
	}
	return notes
}

// hasFailed reports whether there is more to r than successes; a run without any request is no success.
func (r *Result) hasFailed() bool { return r.Failed > 0 || r.Requests == 0 }

// failureNote says how many failed, and of what kinds, and gives the sample if there is one.
func failureNote(r *Result, sample string) string {
	if r.Requests == 0 {
		return "no request completed"
	}
	s := fmt.Sprintf("%s of %s (%s)", formatCount(r.Failed), plural(r.Requests, "request"), formatShare(r.ErrorRate()))
	var kinds []string
	for _, kind := range kindsByCount(r.Errors) {
		kinds = append(kinds, printable(kind, 50)+" "+formatCount(r.Errors[kind].Count))
	}
	if len(kinds) > 0 {
		s += ": " + strings.Join(kinds, ", ")
	}
	if sample != "" {
		s += "; " + printable(sample, 200)
	}
	return s
}

// where names the rows of n, of all there are.
func (n note) where(all int) string {
	switch {
	case all == 1 || len(n.rows) == 0:
		return ""
	case len(n.rows) == all:
		return "all rows: "
	case len(n.rows) == 1:
		return "row " + formatCount(int64(n.rows[0])) + ": "
	}
	var numbers []string
	for _, row := range n.rows {
		numbers = append(numbers, formatCount(int64(row)))
	}
	return "rows " + strings.Join(numbers, ", ") + ": "
}

// writeTable writes several results as text.
func writeTable(b *bytes.Buffer, rs []*Result) {
	t := newTable(rs)
	if t.title != "" {
		b.WriteString(t.title + "\n\n")
	}
	for i := -1; i < len(rs); i++ {
		var line string
		for k, c := range t.cols {
			if k > 0 {
				line += "  "
			}
			cell := c.head
			if i >= 0 {
				cell = c.cells[i]
			}
			line += pad(cell, c.width(), !c.left)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if len(t.notes) > 0 {
		b.WriteByte('\n')
	}
	for _, n := range t.notes {
		if n.mark == "" {
			b.WriteString(n.text + "\n")
			continue
		}
		writeNote(b, pad(n.mark, len("WARNING"), false), n.where(len(rs))+n.text)
	}
	for _, line := range commonLines(rs) {
		b.WriteString(line)
	}
}

func (c column) width() int {
	width := utf8.RuneCountInString(c.head)
	for _, cell := range c.cells {
		width = max(width, utf8.RuneCountInString(cell))
	}
	return width
}

// commonLines returns what is the same for all results and worth knowing: what generated the load, and on which machine.
func commonLines(rs []*Result) []string {
	var b bytes.Buffer
	for _, f := range []struct {
		label    string
		describe func(*Result) string
	}{
		{"Load", loopName},
		{"Generator", describeGenerator},
		{"Environment", func(r *Result) string { return describeHost(r.Host) }},
	} {
		text := f.describe(rs[0])
		if !slices.ContainsFunc(rs, func(r *Result) bool { return f.describe(r) != text }) {
			writeField(&b, f.label, text)
		}
	}
	if b.Len() == 0 {
		return nil
	}
	return []string{"\n", b.String()}
}
