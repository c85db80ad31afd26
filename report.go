package loadtest

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/loadtest-go/loadtest/internal/stat"
)

// reportConfidence is that of every interval in a report, and of the quantiles that it dares to print.
const reportConfidence = 0.95

const pageWidth = 80

// WriteText writes rs for people to read. One result is a page: what was loaded and how, the reasons to doubt the numbers, and then the
// numbers. Several are a table, a line each, with the doubts and the failures below it.
//
// A quantile that the sample is too small for is "n/a": it would be the maximum, or a little less, under another name. Layout and wording
// may change from one version to the next; programs read [WriteCSV] or [WriteJSON].
//
// The table has, beside what the names say: ms/request, concurrency / throughput, the time that a client spends on a request; and
// ms/request (all), 1 / throughput, the time between two responses of all clients together.
//
// A nil result is an error, for this and all other writers; a result without a single success, or without requests, is not.
func WriteText(w io.Writer, rs ...*Result) error {
	if err := checkResults("WriteText", rs); err != nil {
		return err
	}
	var b bytes.Buffer
	switch len(rs) {
	case 0:
		b.WriteString("no results\n")
	case 1:
		writePage(&b, rs[0])
	default:
		writeTable(&b, rs)
	}
	_, err := b.WriteTo(w)
	return err
}

// checkResults reports the first of rs that is nil.
func checkResults(verb string, rs []*Result) error {
	if i := slices.Index(rs, nil); i >= 0 {
		return fmt.Errorf("loadtest: %s: result %d of %d is nil", verb, i+1, len(rs))
	}
	return nil
}

// supported reports whether h has enough samples to say anything of the q-quantile.
func supported(h *Histogram, q float64) bool {
	return h.Count() >= stat.MinSamples(q, reportConfidence)
}

// kindsByCount returns the kinds of failures, the most frequent first.
func kindsByCount(errs map[string]ErrorCount) []string {
	return slices.SortedFunc(maps.Keys(errs), func(a, b string) int {
		return cmp.Or(cmp.Compare(errs[b].Count, errs[a].Count), cmp.Compare(a, b))
	})
}

// writeNote writes text that is marked and indented by the mark.
func writeNote(b *bytes.Buffer, mark, text string) {
	for _, line := range wrap(printable(text, 2000), pageWidth-len(mark)-2) {
		fmt.Fprintf(b, "%s  %s\n", mark, line)
		mark = strings.Repeat(" ", len(mark))
	}
}
