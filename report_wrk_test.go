package loadtest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func wrkResult() *Result {
	r := &Result{
		Options: Options{Concurrency: 64, Threads: 2, Duration: 10 * time.Second},
		Target:  "GET http://127.0.0.1:8080/index.html",
		Elapsed: 10 * time.Second, Requests: 1108229, BytesRead: 223 << 20,
		Statuses: map[int]int64{200: 1108229},
		Latency:  new(Histogram),
	}
	for i := range int64(100) {
		r.Latency.RecordN(time.Duration(200+20*i)*time.Microsecond, 11082)
	}
	r.Latency.Record(218940 * time.Microsecond)
	for i := range int64(50) {
		r.Intervals = append(r.Intervals, Interval{Length: 200 * time.Millisecond, Requests: 20000 + 100*i})
	}
	r.Intervals = append(r.Intervals, Interval{Length: 100 * time.Millisecond, Requests: 1})
	return r
}

func TestWriteWrk(t *testing.T) {
	failures := wrkResult()
	failures.Options.Threads, failures.Options.CPUs = 0, CPUSet{1, 2, 3}
	fail(failures, "connect", 1)
	fail(failures, "address", 2)
	fail(failures, "eof", 3)
	fail(failures, "timeout", 4)
	fail(failures, "status", 12)
	fail(failures, "check", 6)
	failures.Statuses[302], failures.Statuses[503] = 5, 7
	failures.Warnings = []Warning{{"generator-saturated", "one CPU was busy all the time"}}

	down := &Result{Options: Options{Concurrency: 4, Requests: 20}, Target: "GET http://[::1]/", Elapsed: 1e8}
	fail(down, "connect", 20)

	one := &Result{
		Options: Options{Concurrency: 1, Requests: 1}, Target: "func", Elapsed: 70 * time.Second, Requests: 1,
		Latency: histogramOf(70e6),
	}
	for name, r := range map[string]*Result{
		"wrk.txt":          wrkResult(),
		"wrk_failures.txt": failures,
		"wrk_down.txt":     down,
		"wrk_one.txt":      one,
		"wrk_empty.txt":    {},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := WriteWrk(&b, r); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
			if bad := regexp.MustCompile(`(?i)\bnan\b|\binf\b|%!`).Find(b.Bytes()); bad != nil {
				t.Errorf("found %q", bad)
			}
		})
	}
}

func TestWriteWrkErrors(t *testing.T) {
	if err := WriteWrk(&bytes.Buffer{}, nil); err == nil {
		t.Error("no error for a nil result")
	}
	if err := WriteWrk(brokenWriter{}, wrkResult()); !errors.Is(err, errBroken) {
		t.Errorf("WriteWrk to a broken writer = %v, want %v", err, errBroken)
	}
}

func TestWrkUnits(t *testing.T) {
	check := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	check(wrkMicros(0), "0.00us")
	check(wrkMicros(849.99), "849.99us")
	check(wrkMicros(850), "0.85ms")
	check(wrkMicros(999999), "1000.00ms")
	check(wrkMicros(1e6), "1.00s")
	check(wrkMicros(51e6), "0.85m")
	check(wrkMicros(7200e6), "120.00m")
	check(wrkSeconds(10*time.Second), "10s")
	check(wrkSeconds(2*time.Minute), "2m")
	check(wrkMetric(849), "849.00")
	check(wrkMetric(850), "0.85k")
	check(wrkMetric(94.98e3), "94.98k")
	check(wrkMetric(1.5e6), "1.50M")
	check(wrkBinary(870), "870.00")
	check(wrkBinary(871), "0.85K")
	check(wrkBinary(223<<20), "223.00M")
	check(wrkColumn("127.26us", 10), "  127.26us")
	check(wrkColumn("68.28k", 10), "   68.28k ")
	check(wrkColumn("12.00", 10), "   12.00  ")
}

func TestWrkRates(t *testing.T) {
	check := func(reason string, r *Result, threads int, want ...float64) {
		t.Helper()
		if diff := cmp.Diff(want, wrkRates(r, threads)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	const tenth = 100 * time.Millisecond
	check("nothing", &Result{}, 1)
	check("no intervals", &Result{Requests: 10, Elapsed: time.Second}, 2, 5)
	check("a shorter one last", &Result{Intervals: []Interval{{Length: tenth, Requests: 10}, {Length: tenth / 2, Requests: 90}}}, 1, 100)
	check("whole numbers", &Result{Intervals: []Interval{{Length: tenth, Requests: 1}}}, 3, 3)
	check("a stall", &Result{Intervals: []Interval{
		{Length: tenth, Requests: 10}, {Length: tenth}, {Length: tenth, Requests: 10}, {Length: tenth},
	}}, 1, 100, 50)
	check("refused", &Result{
		Requests: 20, Failed: 10, Errors: map[string]ErrorCount{"connect": {Count: 10}},
		Intervals: []Interval{{Length: tenth, Requests: 10, Failed: 5}, {Length: tenth, Requests: 10, Failed: 5}},
	}, 1, 50, 50)
}

// wrkShape reduces the output of wrk to labels and to the columns where numbers or lines end. What a script has added is left out.
func wrkShape(out string) []string {
	var shape []string
	for line := range strings.Lines(out) {
		s := regexp.MustCompile(`\d+(\.\d+)?(us|ms|s|m|k|M|G|K)?`).ReplaceAllString(line, "#")
		s = strings.Join(strings.Fields(s), " ")
		if regexp.MustCompile(`^    |%`).MatchString(line) {
			for _, at := range numberPattern.FindAllStringIndex(line, -1) {
				s += fmt.Sprintf(" @%d", at[1])
			}
		}
		total := strings.HasPrefix(line, "Transfer/sec:")
		if total || strings.HasPrefix(line, "Requests/sec:") {
			s += fmt.Sprintf(" @%d", len(line))
		}
		shape = append(shape, s)
		if total {
			break
		}
	}
	return shape
}

var wrkPatterns = []string{
	`(?m)^Running (\d+)([sm]) test @ (\S+)$`, `(?m)^  (\d+) threads and (\d+) connections$`,
	`(?m)^    Latency\s+([\d.]+)([mu]?s)\s+([\d.]+)([mu]?s)\s+([\d.]+)([mu]?s)\s+([\d.]+)%$`,
	`(?m)^    Req/Sec\s+([\d.]+)([kM]?)\s+([\d.]+)([kM]?)\s+([\d.]+)([kM]?)\s+([\d.]+)%$`,
	`(?m)^\s+50%\s+([\d.]+)([mu]?s)$`, `(?m)^\s+75%\s+([\d.]+)([mu]?s)$`, `(?m)^\s+90%\s+([\d.]+)([mu]?s)$`,
	`(?m)^\s+99%\s+([\d.]+)([mu]?s)$`, `(?m)^\s+(\d+) requests in ([\d.]+)([mu]?s), ([\d.]+)([KMG]?B) read$`,
	`(?m)^  Non-2xx or 3xx responses: (\d+)$`,
	`(?m)^Requests/sec:\s+([\d.]+)$`, `(?m)^Transfer/sec:\s+([\d.]+)([KMG]?B)$`,
}

// wrkScript makes wrk print the samples that its tables are computed from.
const wrkScript = `done = function(summary, latency, requests)
  for i = 1, #latency do local v, n = latency(i); io.write("latency ", v, " ", n, "\n") end
  for i = 1, #requests do local v, n = requests(i); io.write("rate ", v, " ", n, "\n") end
end
`

// The same server under wrk and under Run: the two reports have the same lines and columns. And from the same samples WriteWrk computes
// the same tables.
func TestWriteWrkBesideWrk(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: takes two seconds")
	}
	script := filepath.Join(t.TempDir(), "samples.lua")
	if err := os.WriteFile(script, []byte(wrkScript), 0o644); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	want := runTool(t, "wrk", "-t2", "-c4", "-d1s", "--latency", "-s", script, server.URL+"/")

	r, err := Run(t.Context(), &HTTP{URL: server.URL + "/", Status: 404}, Options{Concurrency: 4, Threads: 2, Duration: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteWrk(&b, r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wrkShape(want), wrkShape(b.String())); diff != "" {
		t.Errorf("shape (-wrk +loadtest):\n%s\nwrk:\n%s\nloadtest:\n%s", diff, want, b.String())
	}
	for _, pattern := range wrkPatterns {
		re := regexp.MustCompile(pattern)
		if theirs, ours := re.FindStringSubmatch(want), re.FindStringSubmatch(b.String()); theirs == nil || ours == nil {
			t.Errorf("%s finds %q in wrk's output, %q in ours", pattern, theirs, ours)
		}
	}

	same := &Result{Options: Options{Threads: 2}, Latency: new(Histogram)}
	for _, m := range regexp.MustCompile(`(?m)^(latency|rate) (\d+) (\d+)$`).FindAllStringSubmatch(want, -1) {
		value, _ := strconv.ParseInt(m[2], 10, 64)
		count, _ := strconv.ParseInt(m[3], 10, 64)
		if m[1] == "latency" {
			same.Latency.RecordN(time.Duration(value)*time.Microsecond, count)
			continue
		}
		for range count {
			same.Intervals = append(same.Intervals, Interval{Length: time.Second, Requests: 2 * value})
		}
	}
	b.Reset()
	if err := WriteWrk(&b, same); err != nil {
		t.Fatal(err)
	}
	theirs, ours := wrkTable(want), wrkTable(b.String())
	if len(theirs) != 12 || len(ours) != 12 {
		t.Fatalf("%d and %d numbers in the tables, want 12", len(theirs), len(ours))
	}
	for i, x := range theirs {
		slack := 0.002*x.value + 0.011*x.unit // three digits in a Histogram, two decimals here
		if i == 3 || i == 7 {
			slack = 1 // a bucket on the border of the deviation counts as a whole
		}
		if y := ours[i]; math.Abs(x.value-y.value) > slack {
			t.Errorf("number %d is %v for wrk, %v for us\n%s\n%s", i, x.value, y.value, want, b.String())
		}
	}
}

type wrkNumber struct{ value, unit float64 }

// wrkTable returns the numbers of Thread Stats and of Latency Distribution, in microseconds, responses per second, and percent.
func wrkTable(out string) []wrkNumber {
	units := map[string]float64{"": 1, "%": 1, "us": 1, "ms": 1e3, "s": 1e6, "k": 1e3, "M": 1e6}
	var numbers []wrkNumber
	for _, line := range regexp.MustCompile(`(?m)^(?:    (?:Latency|Req/Sec)|     \d\d%) .*$`).FindAllString(out, -1) {
		for _, m := range regexp.MustCompile(` (\d+\.\d+)(us|ms|s|k|M|%|)`).FindAllStringSubmatch(line, -1) {
			f, _ := strconv.ParseFloat(m[1], 64)
			numbers = append(numbers, wrkNumber{f * units[m[2]], units[m[2]]})
		}
	}
	return numbers
}
