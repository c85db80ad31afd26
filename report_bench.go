package loadtest

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// WriteBench writes rs in the Go benchmark format, a line each, for benchstat and whatever else reads it. Repeated results of one name
// are what benchstat wants: ten on each side.
//
// The number of iterations is that of successes, and ns/op the measured interval divided by it, as in a benchmark that ran them in
// parallel. The other units are req/s, p50-ns, p90-ns, p99-ns and p999-ns (each if the sample is large enough to tell), failed/req (the
// share of requests that failed), and generator-cpu-ns/op and server-cpu-ns/op, CPU time per success. Lines of unit metadata say which
// way is better. A result without a success has no ns/op. Warnings are comments.
//
// The name is Options.Name or, without one, the target; blanks become underscores. The concurrency follows as a key, then the rate of
// an open loop. The engine is a configuration key: benchstat does not compare what different engines have measured.
func WriteBench(w io.Writer, rs ...*Result) error {
	if err := checkResults("WriteBench", rs); err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString(benchUnits)
	config := map[string]string{}
	for _, r := range rs {
		writeBenchConfig(&b, config, r)
		for _, warning := range r.Warnings {
			fmt.Fprintf(&b, "# warning: %s\n", printable(warning.String(), 2000))
		}
		writeBenchLine(&b, r)
	}
	_, err := b.WriteTo(w)
	return err
}

const benchUnits = `Unit ns/op better=lower
Unit req/s better=higher
Unit p50-ns better=lower
Unit p90-ns better=lower
Unit p99-ns better=lower
Unit p999-ns better=lower
Unit failed/req better=lower
Unit generator-cpu-ns/op better=lower
Unit server-cpu-ns/op better=lower
`

// writeBenchConfig writes what differs from the result before: a key without a value takes it back.
func writeBenchConfig(b *bytes.Buffer, config map[string]string, r *Result) {
	race := ""
	if r.Host.Race {
		race = "on"
	}
	for _, c := range []struct{ key, value string }{
		{"goos", r.Host.OS}, {"goarch", r.Host.Arch}, {"cpu", r.Host.CPU}, {"engine", r.Engine}, {"race", race},
	} {
		value := printable(strings.TrimSpace(c.value), 500)
		if value != config[c.key] {
			b.WriteString(strings.TrimRight(c.key+": "+value, " ") + "\n")
			config[c.key] = value
		}
	}
}

func writeBenchLine(b *bytes.Buffer, r *Result) {
	fmt.Fprintf(b, "Benchmark%s\t%d", benchName(r), r.Succeeded())
	metric := func(ok bool, value float64, unit string) {
		if ok {
			fmt.Fprintf(b, "\t%s %s", formatPlain(value, 7), unit)
		}
	}
	n := float64(r.Succeeded())
	cpu := func(u Usage) float64 { return float64(u.User+u.System) / max(n, 1) }
	metric(n > 0 && r.Elapsed > 0, float64(r.Elapsed)/max(n, 1), "ns/op")
	metric(true, r.Throughput(), "req/s")
	for _, q := range []struct {
		q    float64
		unit string
	}{{0.5, "p50-ns"}, {0.9, "p90-ns"}, {0.99, "p99-ns"}, {0.999, "p999-ns"}} {
		metric(supported(r.Latency, q.q), float64(r.Latency.Quantile(q.q)/time.Nanosecond), q.unit)
	}
	metric(true, r.ErrorRate(), "failed/req")
	metric(n > 0 && cpu(r.Generator) > 0, cpu(r.Generator), "generator-cpu-ns/op")
	metric(n > 0 && cpu(r.Server) > 0, cpu(r.Server), "server-cpu-ns/op")
	b.WriteByte('\n')
}

// benchName makes a benchmark's name of r's label: one word that begins with a capital letter. In a given name slashes keep their
// meaning, which is to divide it; in a target they are not meant so.
func benchName(r *Result) string {
	label := r.label()
	if r.Options.Name == "" {
		label = strings.TrimRight(strings.ReplaceAll(label, "/", "_"), "_")
	}
	words := strings.FieldsFunc(label, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) })
	name := strings.ToValidUTF8(strings.Join(words, "_"), "_")
	name = strings.Join(slices.DeleteFunc(strings.Split(name, "/"), func(s string) bool { return s == "" }), "/")
	name = strings.TrimPrefix(name, "Benchmark")
	if name == "" {
		name = "Load"
	}
	first, size := utf8.DecodeRuneInString(name)
	name = string(unicode.ToUpper(first)) + name[size:]
	name += fmt.Sprintf("/concurrency=%d", r.Options.Concurrency)
	if rate := r.offered(); rate > 0 {
		name += "/rate=" + formatPlain(rate, 7)
	}
	return name
}
