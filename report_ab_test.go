package loadtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// histogramOf counts durations given in microseconds.
func histogramOf(micros ...int64) *Histogram {
	h := new(Histogram)
	for _, us := range micros {
		h.Record(time.Duration(us) * time.Microsecond)
	}
	return h
}

// abResult is a run of n requests, of 4 clients, that took 1.5 ms, 2.5 ms and so on, the first of each connection 600 us more.
func abResult(n, connections int64) *Result {
	r := &Result{
		Options: Options{Concurrency: 4, Requests: n, Threads: 2},
		Target:  "GET http://127.0.0.1:8080/t?q=1", Engine: "net",
		Elapsed:  1234567 * time.Microsecond,
		Requests: n, BytesRead: 146 * n, BytesWritten: 82 * n, BodyBytes: 4 * n,
		Connections: connections,
		Statuses:    map[int]int64{200: n},
		Sample:      Sample{Status: 200, Server: "nginx/1.22.1", BodyBytes: 4},
		ServiceTime: new(Histogram), TotalTime: new(Histogram), Connect: new(Histogram), FirstByte: new(Histogram),
	}
	for i := range n {
		service := time.Duration(i)*time.Millisecond + 1500*time.Microsecond
		total := service
		if i < connections {
			r.Connect.Record(600 * time.Microsecond)
			total += 600 * time.Microsecond
		}
		r.ServiceTime.Record(service)
		r.TotalTime.Record(total)
		r.FirstByte.Record(service - 200*time.Microsecond)
	}
	r.Latency = r.ServiceTime.clone()
	return r
}

// fail turns n of the requests of r, without changing its distributions, into failures.
func fail(r *Result, kind string, n int64) {
	if r.Errors == nil {
		r.Errors = map[string]ErrorCount{}
	}
	r.Errors[kind] = ErrorCount{Count: n, Sample: kind}
	r.Requests += n
	r.Failed += n
}

func TestWriteAB(t *testing.T) {
	post := abResult(101, 4)
	post.Target = "POST https://example.com/form"
	post.Sample.TLS = "TLS 1.3,TLS_AES_128_GCM_SHA256,http/1.1"
	post.BodyBytes++

	failed := abResult(40, 44)
	fail(failed, "connect", 3)
	fail(failed, "timeout", 2)
	fail(failed, "eof", 1)
	fail(failed, "parse", 4)
	fail(failed, "status", 6)
	failed.Statuses[404], failed.Statuses[500], failed.Statuses[204] = 3, 2, 1
	failed.Warnings = []Warning{{"few-samples", "too few for a p99"}}

	down := &Result{Options: Options{Concurrency: 4}, Target: "GET http://[::1]/", Elapsed: time.Second}
	fail(down, "connect", 20)

	for name, r := range map[string]*Result{
		"ab.txt":           abResult(101, 101),
		"ab_keepalive.txt": abResult(100, 6),
		"ab_post.txt":      post,
		"ab_failures.txt":  failed,
		"ab_down.txt":      down,
		"ab_one.txt":       abResult(1, 1),
		"ab_empty.txt":     {},
		"ab_handler.txt":   {Options: Options{Concurrency: 1}, Target: "POST /p?q=1 (handler)", Requests: 1, Elapsed: 5e8},
		"ab_func.txt":      {Options: Options{Concurrency: 2}, Target: "func f", Requests: 2, Elapsed: 5e8, TotalTime: histogramOf(900, 9e6)},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := WriteAB(&b, r); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
			if bad := regexp.MustCompile(`(?i)\bnan\b|\binf\b|%!`).Find(b.Bytes()); bad != nil {
				t.Errorf("found %q", bad)
			}
		})
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteABErrors(t *testing.T) {
	if err := WriteAB(&bytes.Buffer{}, nil); err == nil {
		t.Error("no error for a nil result")
	}
	if err := WriteAB(brokenWriter{}, abResult(2, 2)); !errors.Is(err, errBroken) {
		t.Errorf("WriteAB to a broken writer = %v, want %v", err, errBroken)
	}
}

func TestSplitTarget(t *testing.T) {
	check := func(target, wantMethod, wantURL string) {
		t.Helper()
		got := ""
		method, u := splitTarget(target)
		if u != nil {
			got = u.String()
		}
		if method != wantMethod || got != wantURL {
			t.Errorf("splitTarget(%q) = %q, %q, want %q, %q", target, method, got, wantMethod, wantURL)
		}
	}
	check("GET http://h:80/p?q", "GET", "http://h:80/p?q")
	check("PUT https://[::1]", "PUT", "https://[::1]")
	check("GET /p (handler)", "GET", "/p")
	check("GET http://h/p (handler)", "GET", "http://h/p")
	check("func f", "", "")
	check("func", "", "")
	check("", "", "")
	check("GET http://h:port/", "", "")
	check("GET redis://h/", "", "")
}

// A status can be listed as Non-2xx because it was accepted, or because it was not.
func TestUnlistedStatuses(t *testing.T) {
	check := func(reason string, sample int, failures int64, statuses map[int]int64, want int64) {
		t.Helper()
		r := &Result{Statuses: statuses, Errors: map[string]ErrorCount{"status": {Count: failures}}, Sample: Sample{Status: sample}}
		if got := unlistedStatuses(r, abNon2xx); got != want {
			t.Errorf("%s: unlistedStatuses = %d, want %d", reason, got, want)
		}
	}
	check("no failure", 200, 0, map[int]int64{200: 9}, 0)
	check("any 2xx expected, 404 came", 200, 3, map[int]int64{200: 9, 404: 3}, 0)
	check("200 expected, 204 and 500 came", 200, 5, map[int]int64{200: 9, 204: 3, 500: 2}, 3)
	check("200 expected, 204 alone came", 0, 3, map[int]int64{204: 3}, 3)
	check("404 expected, 200 came too", 404, 4, map[int]int64{404: 9, 200: 4}, 4)
}

func TestABKeptAlive(t *testing.T) {
	check := func(reason string, r *Result, want int64, wantOK bool) {
		t.Helper()
		r.Options.Concurrency = 4
		if got, ok := abKeptAlive(r, r.Errors["connect"].Count); got != want || ok != wantOK {
			t.Errorf("%s: abKeptAlive = %d, %v, want %d, %v", reason, got, ok, want, wantOK)
		}
	}
	check("no HTTP", &Result{Requests: 100}, 0, false)
	check("a connection each", &Result{Requests: 100, Connections: 100}, 0, false)
	refused := map[string]ErrorCount{"connect": {Count: 10}}
	check("a connection each, or none", &Result{Requests: 100, Connections: 90, Failed: 10, Errors: refused}, 0, false)
	check("none closed", &Result{Requests: 100, Connections: 4}, 100, true)
	check("closed every 10", &Result{Requests: 100, Connections: 10}, 94, true)
	check("closed while idle", &Result{Requests: 100, Connections: 10, Resent: 6}, 100, true)
	check("two requests", &Result{Requests: 2, WarmupRequests: 1, Connections: 2}, 2, true)
}

// abTestServer answers after 1 to 10 ms, with four bytes or 404.
func abTestServer(t *testing.T, secure bool) *httptest.Server {
	t.Helper()
	var n atomic.Int64
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Duration(1+n.Add(1)*7%10) * time.Millisecond)
		w.Header().Set("Server", "test/1.0")
		if r.URL.Path == "/missing" {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, "test")
	})
	s := httptest.NewUnstartedServer(h)
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// runTool runs another load generator, and skips the test if there is none.
func runTool(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed: nothing to compare with", name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr.Bytes())
	}
	return string(out)
}

var (
	numberPattern  = regexp.MustCompile(`\d+(\.\d+)?`)
	abTablePattern = regexp.MustCompile(`^(Connect|Processing|Waiting|Total):|^ +\d+%`)
	abDoubtPattern = regexp.MustCompile(`(?m)^(ERROR|WARNING): .*\n.*\n`)
)

// abShape reduces the output of ab to what a parser depends on: labels, the column where a value begins or, in a table, ends, units, and
// the number of decimals.
func abShape(out string) []string {
	_, out, _ = strings.Cut(out, "\nServer Software:")
	out = abDoubtPattern.ReplaceAllString(out, "")
	var shape []string
	for line := range strings.Lines("Server Software:" + out) {
		mask := func(number string) string {
			_, decimals, _ := strings.Cut(number, ".")
			return "#" + strings.Repeat("#", len(decimals))
		}
		s := numberPattern.ReplaceAllStringFunc(line, mask)
		if abTablePattern.MatchString(line) {
			s = strings.Join(strings.Fields(s), " ")
			for _, at := range numberPattern.FindAllStringIndex(line, -1) {
				s += fmt.Sprintf(" @%d", at[1])
			}
		}
		shape = append(shape, s)
	}
	return shape
}

// What scrapers of ab's output look for.
var abPatterns = []string{
	`(?m)^Server Software:\s+(\S+)`, `(?m)^Server Hostname:\s+(\S+)`, `(?m)^Server Port:\s+(\d+)`,
	`(?m)^Document Path:\s+(\S+)`, `(?m)^Document Length:\s+(\d+) bytes`, `(?m)^Concurrency Level:\s+(\d+)`,
	`(?m)^Complete requests:\s+(\d+)`, `(?m)^Failed requests:\s+(\d+)`, `(?m)^HTML transferred:\s+(\d+) bytes`,
	`(?m)^Keep-Alive requests:\s+(\d+)$`, `(?m)^Non-2xx responses:\s+(\d+)$`,
	// From here on the values differ from run to run.
	`(?m)^Time taken for tests:\s+([\d.]+) seconds`, `(?m)^Total transferred:\s+(\d+) bytes`, `(?m)^Total body sent:\s+(\d+)`,
	`Requests per second:\s*(\d+\.\d+)\s*\[#/sec\]\s*\(mean\)`, `Time per request:\s+([\d.]+) \[ms\] \(mean\)`,
	`Time per request:\s+([\d.]+) \[ms\] \(mean, across all concurrent requests\)`,
	`Transfer rate:\s+([\d.]+) \[Kbytes/sec\] received`, `(?m)^\s+([\d.]+) kb/s sent`, `(?m)^\s+([\d.]+) kb/s total`,
	`(?m)^Connect:\s+(\d+)\s+(\d+)\s+(\d+\.\d)\s+(\d+)\s+(\d+)$`, `(?m)^Processing:\s+(\d+)\s+(\d+)\s+(\d+\.\d)\s+(\d+)\s+(\d+)$`,
	`(?m)^Waiting:\s+(\d+)\s+(\d+)\s+(\d+\.\d)\s+(\d+)\s+(\d+)$`, `(?m)^Total:\s+(\d+)\s+(\d+)\s+(\d+\.\d)\s+(\d+)\s+(\d+)$`,
	`(?m)^\s+50%\s+(\d+)$`, `(?m)^\s+99%\s+(\d+)$`, `(?m)^\s*100%\s+(\d+) \(longest request\)$`,
}

const abSameValue = 11 // the first so many of abPatterns

// The same server under ab and under Run: the two reports have the same lines, columns and counts.
func TestWriteABBesideAB(t *testing.T) {
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, []byte("a=1"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		path   string
		args   []string
		http   HTTP
		n      int64
		secure bool
	}{
		{name: "close", path: "/t?q=1", http: HTTP{DisableKeepAlive: true}, n: 200},
		{name: "keep-alive", path: "/", args: []string{"-k"}, n: 200},
		{name: "fewer than clients", path: "/", http: HTTP{DisableKeepAlive: true}, n: 4},
		{name: "post", path: "/f", args: []string{"-k", "-p", body, "-T", "a/b"}, http: HTTP{Method: "POST", Body: []byte("a=1")}, n: 41},
		{name: "missing", path: "/missing", args: []string{"-k"}, http: HTTP{Status: 404}, n: 40},
		{name: "https", path: "/", http: HTTP{DisableKeepAlive: true}, n: 20, secure: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := abTestServer(t, test.secure)
			url := server.URL + test.path
			n := strconv.FormatInt(test.n, 10)
			want := runTool(t, "ab", append(test.args, "-q", "-n", n, "-c", "4", url)...)

			target := test.http
			target.URL = url
			if test.secure {
				target.TLS = server.Client().Transport.(*http.Transport).TLSClientConfig
			}
			r, err := Run(t.Context(), &target, Options{Concurrency: 4, Requests: test.n})
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := WriteAB(&b, r); err != nil {
				t.Fatal(err)
			}
			got := b.String()

			gotShape, wantShape := abShape(got), abShape(want)
			if test.secure { // known differences: no sizes of keys, no line "Server Temp Key", another choice of protocol
				protocol := func(s string) bool { return strings.HasPrefix(s, "SSL/TLS Protocol:       TLSv#") }
				if !slices.ContainsFunc(gotShape, protocol) || !slices.ContainsFunc(wantShape, protocol) {
					t.Errorf("no line with the protocol in %q or in %q", gotShape, wantShape)
				}
				ours := func(s string) bool { return protocol(s) || strings.HasPrefix(s, "Server Temp Key:") }
				gotShape, wantShape = slices.DeleteFunc(gotShape, ours), slices.DeleteFunc(wantShape, ours)
			}
			if diff := cmp.Diff(wantShape, gotShape); diff != "" {
				t.Errorf("shape (-ab +loadtest):\n%s\nab:\n%s\nloadtest:\n%s", diff, want, got)
			}
			for i, pattern := range abPatterns {
				re := regexp.MustCompile(pattern)
				theirs, ours := re.FindStringSubmatch(want), re.FindStringSubmatch(got)
				if len(theirs) != len(ours) {
					t.Errorf("%s finds %q in ab's output, %q in ours", pattern, theirs, ours)
				} else if i < abSameValue && !slices.Equal(theirs, ours) {
					t.Errorf("ab has %q, we have %q", theirs, ours)
				}
			}
		})
	}
}

// ab -g writes what every single request took: from the same samples WriteAB computes the same tables.
func TestWriteABTables(t *testing.T) {
	for _, n := range []int{2, 60, 101} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "samples")
			want := runTool(t, "ab", "-q", "-n", strconv.Itoa(n), "-c", "2", "-g", file, abTestServer(t, false).URL+"/")
			samples, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r := &Result{
				Requests: int64(n), Elapsed: time.Second,
				Connect: new(Histogram), ServiceTime: new(Histogram), FirstByte: new(Histogram), TotalTime: new(Histogram),
			}
			for line := range strings.Lines(string(samples)) {
				cells := strings.Split(strings.TrimSpace(line), "\t")
				for i, h := range []*Histogram{r.Connect, r.ServiceTime, r.TotalTime, r.FirstByte} {
					if ms, err := strconv.Atoi(cells[2+i]); err == nil { // not the heading
						h.Record(time.Duration(ms) * time.Millisecond)
					}
				}
			}
			var b bytes.Buffer
			if err := WriteAB(&b, r); err != nil {
				t.Fatal(err)
			}

			// The samples are whole milliseconds, so mean, deviation, and the median of an odd number may come out up to 1 ms apart.
			slack := []float64{0, 1, 1, float64(n % 2), 0}
			table := regexp.MustCompile(`(?m)^(?:Connect|Processing|Waiting|Total):\s+(\d+)\s+(\d+)\s+([\d.]+)\s+(\d+)\s+(\d+)$`)
			theirs, ours := table.FindAllStringSubmatch(want, -1), table.FindAllStringSubmatch(b.String(), -1)
			if len(theirs) != 4 || len(ours) != 4 {
				t.Fatalf("%d and %d rows, want 4", len(theirs), len(ours))
			}
			for row := range theirs {
				for i, s := range slack {
					x, _ := strconv.ParseFloat(theirs[row][1+i], 64)
					y, _ := strconv.ParseFloat(ours[row][1+i], 64)
					if max(x-y, y-x) > s+1e-9 {
						t.Errorf("ab has %q, we have %q", theirs[row][0], ours[row][0])
					}
				}
			}
			percentages := regexp.MustCompile(`(?m)^ +\d+% .*$`)
			if diff := cmp.Diff(percentages.FindAllString(want, -1), percentages.FindAllString(b.String(), -1)); diff != "" {
				t.Errorf("percentages (-ab +loadtest):\n%s", diff)
			}
		})
	}
}
