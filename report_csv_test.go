package loadtest

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"strconv"
	"testing"
	"time"
)

func readCSV(t *testing.T, rs ...*Result) (header []string, rows []map[string]string) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteCSV(&b, rs...); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range line {
			row[lines[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return lines[0], rows
}

func TestCSVHeader(t *testing.T) {
	header, rows := readCSV(t)
	if len(rows) != 0 {
		t.Errorf("%d rows without a result", len(rows))
	}
	seen := map[string]bool{}
	for _, name := range header {
		if seen[name] || !regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(name) {
			t.Errorf("column %q", name)
		}
		seen[name] = true
	}
	// What the published sweep calls them.
	for _, name := range []string{"concurrency", "requests", "succeeded", "requests_per_second", "ms_per_request", "ms_per_request_across_concurrent"} {
		if !seen[name] {
			t.Errorf("no column %s", name)
		}
	}
}

// TestCSVOfAPublishedPoint makes one line of the published sweep again: 1000 requests at 13 connections, 810.1 per second.
func TestCSVOfAPublishedPoint(t *testing.T) {
	_, rows := readCSV(t, &Result{Options: Options{Concurrency: 13}, Requests: 1000, Elapsed: 1234415504 * time.Nanosecond})
	for name, want := range map[string]string{
		"concurrency": "13", "requests": "1000", "succeeded": "1000",
		"requests_per_second": "810.1", "ms_per_request": "16.0474", "ms_per_request_across_concurrent": "1.234416",
	} {
		if got := rows[0][name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestCSVCells(t *testing.T) {
	all := append(stored(t, "single.json"), stored(t, "failed.json")...)
	all = append(all, &Result{}, &Result{Options: Options{Name: "a,\"b\"\nc"}, Requests: 5, Elapsed: 1, Latency: histogramOf(1, 2, 3, 4, 5)})
	_, rows := readCSV(t, all...)
	check := func(row int, name, want string) {
		t.Helper()
		if got := rows[row][name]; got != want {
			t.Errorf("row %d: %s is %q, want %q", row, name, got, want)
		}
	}
	check(0, "failures", "timeout:4 reset:2 status:1")
	check(0, "warnings", "generator-saturated abandoned")
	check(0, "started", "2026-03-04T05:06:07Z")
	check(1, "requests_per_second", "0")
	check(1, "ms_per_request", "")
	check(1, "latency_p50_us", "")
	check(1, "latency_max_us", "")
	check(2, "requests_per_second", "")
	check(2, "started", "")
	check(3, "name", "a,\"b\"\nc")
	check(3, "latency_p50_us", "") // five are too few
	check(3, "latency_max_us", "5")
	check(3, "latency_mean_us", "3")
	for _, name := range []string{"elapsed_s", "requests_per_second", "latency_p99_us", "generator_cpus_busy"} {
		if _, err := strconv.ParseFloat(rows[0][name], 64); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
