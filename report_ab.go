package loadtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"
)

// WriteAB writes r in the layout of ApacheBench (ab) 2.3, line for line from "Server Software:" on, so that what reads the output of ab
// reads this. Labels, units, columns and rounding are ab's, and so are the definitions: the median and the percentages take the sample
// after the one they fall on, and times are rounded to whole milliseconds. Warnings come first, above what scripts read.
//
// Lines that ab leaves out are left out: the second line of failures, "Non-2xx responses" and so on when there are none, rates when no
// time passed, and "Percentage of the requests" of a single request.
//
// What ab counts in another way than [Result]:
//
//   - Complete requests is Requests, failed ones included, and so are the rates. [Result.Throughput] is of successes.
//   - Failed requests leaves out responses that are on the line Non-2xx responses. Connect is the kinds "connect", "address",
//     "descriptors" and "tls"; Receive is "timeout" and "reset"; Length is "eof", "body-too-large" and "check"; Exceptions is the rest,
//     an unexpected 2xx too.
//   - Document Length is that of the first accepted response, or "Variable", as with ab -l, if no request failed and the lengths
//     can't all be equal. A response of another length is not a failure.
//   - Keep-Alive requests is derived: the responses after which the connection stayed open. Each connection beyond one per client is
//     taken for one that was closed. The line is there if connections were used again, whether or not that was asked for.
//   - Total body sent is BytesWritten, heads included, as in ab. It is there for the methods POST, PUT and PATCH.
//   - Connection Times are those of successes. Connect has the connections opened, and a zero for every request that needed none, in the
//     warm-up too. Waiting begins with the first byte of the request written, in ab with the last.
//   - SSL/TLS Protocol has Go's names, and not the sizes of the keys; ab's line "Server Temp Key" is left out.
//
// In an open loop no time includes the wait for an idle client: that is in Result.Latency alone. Without a network the host is "-". A nil r
// is an error.
func WriteAB(w io.Writer, r *Result) error {
	if r == nil {
		return errors.New("loadtest: WriteAB: the result must not be nil")
	}
	b := bufio.NewWriter(w)
	abServer(b, r)
	abCounts(b, r)
	abTimes(b, r)
	return b.Flush()
}

func abServer(b *bufio.Writer, r *Result) {
	host, port, path := "-", "0", r.Target
	_, u := splitTarget(r.Target)
	if u != nil {
		path = u.RequestURI()
	}
	secure := u != nil && u.Scheme == "https"
	if u != nil && u.Host != "" {
		host, port = u.Hostname(), u.Port()
		if port == "" && secure {
			port = "443"
		} else if port == "" {
			port = "80"
		}
	}

	fmt.Fprintf(b, "This is loadtest, laid out as ApacheBench 2.3 does\n")
	for _, warning := range r.Warnings {
		fmt.Fprintf(b, "Warning: %s\n", warning)
	}
	fmt.Fprintf(b, "\nBenchmarking %s (be patient).....done\n\n\n", host)
	fmt.Fprintf(b, "Server Software:        %s\n", printable(r.Sample.Server, 200))
	fmt.Fprintf(b, "Server Hostname:        %s\n", host)
	fmt.Fprintf(b, "Server Port:            %s\n", port)
	if secure && r.Sample.TLS != "" {
		fmt.Fprintf(b, "SSL/TLS Protocol:       %s\n", abProtocol(r.Sample.TLS))
	}
	if secure && net.ParseIP(host) == nil {
		fmt.Fprintf(b, "TLS Server Name:        %s\n", host)
	}
	fmt.Fprintf(b, "\nDocument Path:          %s\n", path)
	if r.Failed == 0 && r.Abandoned == 0 && r.BodyBytes != r.Requests*r.Sample.BodyBytes {
		fmt.Fprintf(b, "Document Length:        Variable\n\n")
	} else {
		fmt.Fprintf(b, "Document Length:        %d bytes\n\n", r.Sample.BodyBytes)
	}
}

// splitTarget takes Result.Target apart: the method and the URL, of a Handler perhaps without a host. u is nil if there is none.
func splitTarget(target string) (method string, u *url.URL) {
	words := strings.Fields(target)
	if len(words) < 2 {
		return "", nil
	}
	u, err := url.Parse(words[1])
	if err != nil {
		return "", nil
	}
	remote := u.Hostname() != "" && (u.Scheme == "http" || u.Scheme == "https")
	local := u.Host == "" && u.Scheme == "" && strings.HasPrefix(u.Path, "/")
	if !remote && !local {
		return "", nil
	}
	return words[0], u
}

// abProtocol writes version and cipher suite as OpenSSL does: "TLSv1.3,TLS_AES_128_GCM_SHA256".
func abProtocol(tls string) string {
	words := strings.FieldsFunc(strings.ReplaceAll(tls, "TLS 1.", "TLSv1."), func(c rune) bool { return c == ' ' || c == ',' })
	return strings.Join(words[:min(len(words), 2)], ",")
}

func abCounts(b *bufio.Writer, r *Result) {
	method, _ := splitTarget(r.Target)
	body := method == "POST" || method == "PUT" || method == "PATCH"
	seconds := max(r.Elapsed, 0).Seconds()

	fmt.Fprintf(b, "Concurrency Level:      %d\n", r.Options.Concurrency)
	fmt.Fprintf(b, "Time taken for tests:   %.3f seconds\n", seconds)
	fmt.Fprintf(b, "Complete requests:      %d\n", r.Requests)
	f := abFailuresOf(r)
	failed := f.connect + f.receive + f.length + f.exceptions
	fmt.Fprintf(b, "Failed requests:        %d\n", failed)
	if failed > 0 {
		fmt.Fprintf(b, "   (Connect: %d, Receive: %d, Length: %d, Exceptions: %d)\n", f.connect, f.receive, f.length, f.exceptions)
	}
	if n := countStatuses(r, abNon2xx); n > 0 {
		fmt.Fprintf(b, "Non-2xx responses:      %d\n", n)
	}
	if n, ok := abKeptAlive(r, f.connect); ok {
		fmt.Fprintf(b, "Keep-Alive requests:    %d\n", n)
	}
	fmt.Fprintf(b, "Total transferred:      %d bytes\n", r.BytesRead)
	if body {
		fmt.Fprintf(b, "Total body sent:        %d\n", r.BytesWritten)
	}
	fmt.Fprintf(b, "HTML transferred:       %d bytes\n", r.BodyBytes)

	if seconds == 0 || r.Requests == 0 {
		return
	}
	done := float64(r.Requests)
	kib := func(bytes int64) float64 { return float64(bytes) / 1024 / seconds }
	fmt.Fprintf(b, "Requests per second:    %.2f [#/sec] (mean)\n", done/seconds)
	fmt.Fprintf(b, "Time per request:       %.3f [ms] (mean)\n", float64(r.Options.Concurrency)*seconds*1000/done)
	fmt.Fprintf(b, "Time per request:       %.3f [ms] (mean, across all concurrent requests)\n", seconds*1000/done)
	fmt.Fprintf(b, "Transfer rate:          %.2f [Kbytes/sec] received\n", kib(r.BytesRead))
	if body {
		fmt.Fprintf(b, "                        %.2f kb/s sent\n", kib(r.BytesWritten))
		fmt.Fprintf(b, "                        %.2f kb/s total\n", kib(r.BytesRead+r.BytesWritten))
	}
}

// abFailures are failures under the names that ab has for them.
type abFailures struct{ connect, receive, length, exceptions int64 }

func abFailuresOf(r *Result) abFailures {
	var f abFailures
	f.exceptions = r.Failed
	for kind, e := range r.Errors {
		switch kind {
		case "connect", "address", "descriptors", "tls":
			f.connect += e.Count
		case "timeout", "reset":
			f.receive += e.Count
		case "eof", "body-too-large", "check": // what came differs from what was to come
			f.length += e.Count
		case "status":
			f.exceptions -= e.Count - unlistedStatuses(r, abNon2xx)
			continue
		default:
			continue
		}
		f.exceptions -= e.Count
	}
	f.exceptions = max(f.exceptions, 0)
	return f
}

func abNon2xx(status int) bool { return status/100 != 2 }

func countStatuses(r *Result, listed func(status int) bool) int64 {
	var n int64
	for status, count := range r.Statuses {
		if listed(status) {
			n += count
		}
	}
	return n
}

// unlistedStatuses returns how many failures of kind "status" are not among the statuses that listed holds for: ab and wrk have a line
// for some statuses, and only for these, while [HTTP.Status] may expect any other.
func unlistedStatuses(r *Result, listed func(status int) bool) int64 {
	failed := r.Errors["status"].Count
	if status := r.Sample.Status; status != 0 && listed(status) {
		return failed // those on the line are the accepted ones
	}
	return max(failed-countStatuses(r, listed), 0)
}

// abKeptAlive derives how many responses left their connection open. ok is false if no connection was used twice.
func abKeptAlive(r *Result, unconnected int64) (n int64, ok bool) {
	all := r.Requests + r.WarmupRequests
	if r.Connections == 0 || all-unconnected <= r.Connections {
		return 0, false
	}
	closed := r.Connections - min(int64(r.Options.Concurrency), all) - r.Resent
	return max(r.Requests-unconnected-max(closed, 0), 0), true
}

func abTimes(b *bufio.Writer, r *Result) {
	n := r.TotalTime.Count()
	if n == 0 {
		return // zeros would be taken for times
	}
	connect := r.Connect.clone()
	connect.RecordN(0, r.Requests+r.WarmupRequests-connect.Count())
	rows := []struct {
		label, words string
		h            *Histogram
	}{
		{"Connect:", "initial connection time", connect},
		{"Processing:", "processing time", r.ServiceTime},
		{"Waiting:", "waiting time", r.FirstByte},
		{"Total:", "total time", r.TotalTime},
	}
	fmt.Fprintf(b, "\nConnection Times (ms)\n")
	fmt.Fprintf(b, "              min  mean[+/-sd] median   max\n")
	for _, row := range rows {
		h := row.h
		fmt.Fprintf(b, "%-12s%5d %4d %5.1f %6d %7d\n", row.label,
			abMillis(h.Min()), abMillis(h.Mean()), abStdDev(h), abMillis(abMedian(h)), abMillis(h.Max()))
	}
	for _, row := range rows {
		abDoubt(b, row.words, row.h)
	}
	if n < 2 {
		return
	}
	fmt.Fprintf(b, "\nPercentage of the requests served within a certain time (ms)\n")
	for _, percent := range []int64{50, 66, 75, 80, 90, 95, 98, 99} {
		fmt.Fprintf(b, "  %d%%  %5d\n", percent, abMillis(r.TotalTime.atRank(rankAbove(n, percent))))
	}
	fmt.Fprintf(b, " 100%%  %5d (longest request)\n", abMillis(r.TotalTime.Max()))
}

// abDoubt writes the remark that ab makes if mean and median, in whole milliseconds, are far apart.
func abDoubt(b *bufio.Writer, words string, h *Histogram) {
	apart := float64(abMillis(h.Mean()) - abMillis(abMedian(h)))
	sd := abStdDev(h)
	switch apart = max(apart, -apart); {
	case apart > 2*sd:
		fmt.Fprintf(b, "ERROR: The median and mean for the %s are more than twice the standard\n", words)
		fmt.Fprintf(b, "       deviation apart. These results are NOT reliable.\n")
	case apart > sd:
		fmt.Fprintf(b, "WARNING: The median and mean for the %s are not within a normal deviation\n", words)
		fmt.Fprintf(b, "        These results are probably not that reliable.\n")
	}
}

// abMillis rounds whole microseconds to milliseconds, half up.
func abMillis(d time.Duration) int64 { return (d.Microseconds() + 500) / 1000 }

func abStdDev(h *Histogram) float64 { return float64(h.StdDev()) / 1e6 }

// abMedian is the upper one of the middle two of an even number of samples, and between the middle one and the next of an odd number.
func abMedian(h *Histogram) time.Duration {
	n := h.Count()
	median := h.atRank(n/2 + 1)
	if n > 1 && n%2 == 1 {
		median = (median + h.atRank(n/2+2)) / 2
	}
	return median
}

// rankAbove is the rank that both ab and wrk take for a percentage below 100 of n samples: the one after floor(n·percent/100).
func rankAbove(n, percent int64) int64 { return n*percent/100 + 1 }
