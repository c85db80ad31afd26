package loadtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// WriteWrk writes r in the layout of wrk 4 with --latency, line for line, so that what reads the output of wrk reads this. Labels,
// units, columns and definitions are wrk's: "+/- Stdev" is the share of samples within one standard deviation of the mean, and a
// percentage takes the sample after the one it falls on. Where wrk prints nan, for want of samples, this prints 0.
//
// What wrk counts in another way than [Result]:
//
//   - Latency is Result.Latency, of successes. wrk has all responses in it, whatever their status, and then repairs coordinated omission
//     by inventing samples: for each far above the average, a row of shorter ones. We never invent samples. An open loop
//     (Options.Rate) measures from when requests were due instead, and there is nothing to repair.
//   - Req/Sec, per thread, is derived from Intervals, divided by the number of threads. wrk takes a sample per thread every 100 ms: its
//     Stdev and Max are larger, since threads differ, and so do short slices. As in wrk, a slice without a response is joined to the next.
//   - Threads is Options.Threads; if 0, the number of Options.CPUs, and at least 1.
//   - The number of requests, and Requests/sec, is that of whole responses: Requests without what is under Socket errors.
//   - Socket errors: connect is the kinds "connect", "address", "descriptors" and "tls"; timeout is "timeout"; read is "reset", "eof",
//     "parse", "body-too-large" and "error". write is always 0: failures to write have kinds of their own in no Result.
//   - "Non-2xx or 3xx responses" are the statuses from 400 on, accepted or not.
//   - Failures that wrk has no line for (of kind "check", and unexpected statuses below 400) add a line "Other failures". Warnings come
//     last, where the output of wrk scripts is.
//
// A nil r is an error.
func WriteWrk(w io.Writer, r *Result) error {
	if r == nil {
		return errors.New("loadtest: WriteWrk: the result must not be nil")
	}
	b := bufio.NewWriter(w)
	wrkHead(b, r)
	wrkCounts(b, r)
	for _, warning := range r.Warnings {
		fmt.Fprintf(b, "Warning: %s\n", warning)
	}
	return b.Flush()
}

func wrkHead(b *bufio.Writer, r *Result) {
	where := r.Target
	if _, u := splitTarget(where); u != nil {
		where = strings.Fields(where)[1]
	}
	length := r.Options.Duration
	if length <= 0 {
		length = max(r.Elapsed, 0)
	}
	threads := wrkThreads(r.Options)
	fmt.Fprintf(b, "Running %s test @ %s\n", wrkSeconds(length), printable(where, 2000))
	fmt.Fprintf(b, "  %d threads and %d connections\n", threads, r.Options.Concurrency)

	us := func(d time.Duration) float64 { return float64(d) / 1e3 }
	h := r.Latency
	mean, sd := h.Mean(), h.StdDev()
	fmt.Fprintf(b, "  Thread Stats%6s%11s%8s%12s\n", "Avg", "Stdev", "Max", "+/- Stdev")
	wrkRow(b, "Latency", wrkMicros, wrkSummary{us(mean), us(sd), us(h.Max()), h.Within(mean-sd, mean+sd)})
	wrkRow(b, "Req/Sec", wrkMetric, wrkSummarize(wrkRates(r, threads)))
	fmt.Fprintf(b, "  Latency Distribution\n")
	for _, percent := range []int64{50, 75, 90, 99} {
		fmt.Fprintf(b, "%7d%%%s\n", percent, wrkColumn(wrkMicros(us(h.atRank(rankAbove(h.Count(), percent)))), 10))
	}
}

func wrkThreads(o Options) int {
	if o.Threads > 0 {
		return o.Threads
	}
	return max(len(o.CPUs), 1)
}

// A wrkSummary is what a row of Thread Stats shows; within is the share of samples within one standard deviation of the mean.
type wrkSummary struct{ mean, sd, max, within float64 }

func wrkRow(b *bufio.Writer, label string, format func(float64) string, s wrkSummary) {
	fmt.Fprintf(b, "    %-10s%s%s%s%8.2f%%\n", label,
		wrkColumn(format(s.mean), 8), wrkColumn(format(s.sd), 10), wrkColumn(format(s.max), 9), 100*s.within)
}

// wrkRates returns responses per second and thread of each slice of the measured interval, whole numbers as in wrk. The shorter slice at
// the end is left out if there are others.
func wrkRates(r *Result, threads int) []float64 {
	slices := r.Intervals
	if n := len(slices); n > 1 && slices[n-1].Length < slices[0].Length {
		slices = slices[:n-1]
	}
	if len(slices) == 0 {
		slices = []Interval{{Length: r.Elapsed, Requests: r.Requests, Failed: r.Failed}}
	}
	// Of the failures of a slice the kinds are not known: the share of those without a response is taken to be that of the whole run.
	lost := 0.0
	if r.Failed > 0 {
		lost = min(float64(wrkErrorsOf(r).socket())/float64(r.Failed), 1)
	}
	var rates []float64
	var length time.Duration
	for _, s := range slices {
		length += s.Length
		if n := float64(s.Requests) - lost*float64(s.Failed); n > 0 && length > 0 {
			rates = append(rates, math.Floor(n/length.Seconds()/float64(threads)))
			length = 0
		}
	}
	return rates
}

func wrkSummarize(samples []float64) wrkSummary {
	if len(samples) == 0 {
		return wrkSummary{}
	}
	n := float64(len(samples))
	var s wrkSummary
	for _, x := range samples {
		s.mean += x / n
		s.max = max(s.max, x)
	}
	for _, x := range samples {
		s.sd += (x - s.mean) * (x - s.mean)
	}
	s.sd = math.Sqrt(s.sd / max(n-1, 1))
	slack := 1e-9 * s.mean // for rounding: equal samples are within a deviation of 0
	for _, x := range samples {
		if math.Abs(x-s.mean) <= s.sd+slack {
			s.within += 1 / n
		}
	}
	return s
}

func wrkCounts(b *bufio.Writer, r *Result) {
	e := wrkErrorsOf(r)
	responses := max(r.Requests-e.socket(), 0)
	elapsed := max(r.Elapsed, 0)
	fmt.Fprintf(b, "  %d requests in %s, %sB read\n", responses, wrkMicros(float64(elapsed)/1e3), wrkBinary(float64(r.BytesRead)))
	if e.socket() > 0 {
		fmt.Fprintf(b, "  Socket errors: connect %d, read %d, write %d, timeout %d\n", e.connect, e.read, 0, e.timeout)
	}
	if n := countStatuses(r, wrkIsError); n > 0 {
		fmt.Fprintf(b, "  Non-2xx or 3xx responses: %d\n", n)
	}
	if e.other > 0 {
		fmt.Fprintf(b, "  Other failures: %d\n", e.other)
	}
	fmt.Fprintf(b, "Requests/sec: %9.2f\n", perSecond(responses, elapsed))
	fmt.Fprintf(b, "Transfer/sec: %10sB\n", wrkBinary(perSecond(r.BytesRead, elapsed)))
}

// wrkErrors are failures under the names that wrk has for them, and those that it has none for.
type wrkErrors struct{ connect, read, timeout, other int64 }

func (e wrkErrors) socket() int64 { return e.connect + e.read + e.timeout }

func wrkErrorsOf(r *Result) wrkErrors {
	var e wrkErrors
	for kind, c := range r.Errors {
		switch kind {
		case "connect", "address", "descriptors", "tls":
			e.connect += c.Count
		case "timeout":
			e.timeout += c.Count
		case "status":
			e.other += unlistedStatuses(r, wrkIsError)
		case "check":
			e.other += c.Count
		default:
			e.read += c.Count
		}
	}
	return e
}

func wrkIsError(status int) bool { return status >= 400 }

// wrkColumn aligns a number on its digits: it is followed by as many blanks as its unit is shorter than two letters.
func wrkColumn(s string, width int) string {
	blanks := 2
	for i := 1; i <= 2 && i <= len(s); i++ {
		if c := s[len(s)-i] | 0x20; c >= 'a' && c <= 'z' {
			blanks--
		}
	}
	return fmt.Sprintf("%*s%s", width-blanks, s, "  "[:blanks])
}

// wrkUnits writes n in the first unit in which it is below 0.85 of the next, or in the last one.
func wrkUnits(n float64, decimals int, scale float64, units ...string) string {
	i := 0
	for ; i < len(units)-1 && n >= 0.85*scale; i++ {
		n /= scale
	}
	return fmt.Sprintf("%.*f%s", decimals, n, units[i])
}

func wrkMetric(n float64) string { return wrkUnits(n, 2, 1000, "", "k", "M", "G", "T") }
func wrkBinary(n float64) string { return wrkUnits(n, 2, 1024, "", "K", "M", "G", "T") }

func wrkSeconds(d time.Duration) string { return wrkUnits(d.Seconds(), 0, 60, "s", "m") }

// wrkMicros writes microseconds. There are no hours, and no seconds below 1.
func wrkMicros(us float64) string {
	if us >= 1e6 {
		return wrkUnits(us/1e6, 2, 60, "s", "m")
	}
	return wrkUnits(us, 2, 1000, "us", "ms")
}
