package loadtest

import (
	"bytes"
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"
)

// WriteCSV writes rs as comma-separated values: a header, always, and a line for each result. Names and order of the columns stay;
// new ones are added at the end. Numbers are plain, with a point and without an exponent; a cell is empty where there is nothing to
// tell. The columns:
//
//	name                               Options.Name
//	target, engine                     as in Result
//	concurrency                        clients
//	requests                           completed in the measured interval
//	succeeded, failed                  of those
//	abandoned                          that had no outcome when the run ended
//	elapsed_s                          the measured interval, seconds
//	requests_per_second                successes per second
//	requests_per_second_low, …_high    its 95 % interval
//	ms_per_request                     concurrency / requests_per_second
//	ms_per_request_across_concurrent   1 / requests_per_second
//	latency_mean_us                    of successes, microseconds, as all latencies
//	latency_p50_us, …_p90_us, …_p99_us, …_p999_us
//	                                   empty if the sample is too small to tell (95 %)
//	latency_max_us                     of successes
//	offered_per_second                 Options.Rate, of an open loop
//	bytes_read, bytes_written          as in Result
//	connections                        opened
//	resent                             requests sent again
//	generator_cpu_us_per_request       CPU time of the generator / requests
//	generator_cpus_busy                CPU time of the generator / elapsed
//	server_cpu_us_per_request, server_cpus_busy, server_max_rss_bytes
//	                                   the same of Options.Server, and its memory
//	failures                           kinds with their counts: "reset:2 timeout:10"
//	warnings                           their kinds: "few-samples unsteady"
//	started                            RFC 3339, UTC
//	go_version, os, arch, cpu          of the generator
func WriteCSV(w io.Writer, rs ...*Result) error {
	if err := checkResults("WriteCSV", rs); err != nil {
		return err
	}
	var b bytes.Buffer
	c := csv.NewWriter(&b)
	line := make([]string, len(csvColumns))
	for i, col := range csvColumns {
		line[i] = col.name
	}
	c.Write(line) // to memory: no error is possible before Flush, nor then
	for _, r := range rs {
		for i, col := range csvColumns {
			line[i] = col.cell(r)
		}
		c.Write(line)
	}
	c.Flush()
	_, err := b.WriteTo(w)
	return err
}

var csvColumns = []struct {
	name string
	cell func(*Result) string
}{
	{"name", func(r *Result) string { return r.Options.Name }},
	{"target", func(r *Result) string { return r.Target }},
	{"engine", func(r *Result) string { return r.Engine }},
	{"concurrency", func(r *Result) string { return strconv.Itoa(r.Options.Concurrency) }},
	{"requests", func(r *Result) string { return csvCount(r.Requests) }},
	{"succeeded", func(r *Result) string { return csvCount(r.Succeeded()) }},
	{"failed", func(r *Result) string { return csvCount(r.Failed) }},
	{"abandoned", func(r *Result) string { return csvCount(r.Abandoned) }},
	{"elapsed_s", func(r *Result) string { return formatPlain(r.Elapsed.Seconds(), 15) }},
	{"requests_per_second", func(r *Result) string {
		if r.Elapsed <= 0 {
			return ""
		}
		return formatPlain(r.Throughput(), 7)
	}},
	{"requests_per_second_low", func(r *Result) string { return csvInterval(r, func(e Estimate) float64 { return e.Lo }) }},
	{"requests_per_second_high", func(r *Result) string { return csvInterval(r, func(e Estimate) float64 { return e.Hi }) }},
	{"ms_per_request", func(r *Result) string { return csvPositive(r.msPerRequest()) }},
	{"ms_per_request_across_concurrent", func(r *Result) string { return csvPositive(r.msAcrossAll()) }},
	{"latency_mean_us", func(r *Result) string { return csvMicros(r.Latency.Mean(), r.Latency.Count() > 0) }},
	{"latency_p50_us", func(r *Result) string { return csvQuantile(r.Latency, 0.5) }},
	{"latency_p90_us", func(r *Result) string { return csvQuantile(r.Latency, 0.9) }},
	{"latency_p99_us", func(r *Result) string { return csvQuantile(r.Latency, 0.99) }},
	{"latency_p999_us", func(r *Result) string { return csvQuantile(r.Latency, 0.999) }},
	{"latency_max_us", func(r *Result) string { return csvMicros(r.Latency.Max(), r.Latency.Count() > 0) }},
	{"offered_per_second", func(r *Result) string { return csvPositive(r.offered()) }},
	{"bytes_read", func(r *Result) string { return csvCount(r.BytesRead) }},
	{"bytes_written", func(r *Result) string { return csvCount(r.BytesWritten) }},
	{"connections", func(r *Result) string { return csvCount(r.Connections) }},
	{"resent", func(r *Result) string { return csvCount(r.Resent) }},
	{"generator_cpu_us_per_request", func(r *Result) string { return csvPerRequest(r, r.Generator) }},
	{"generator_cpus_busy", func(r *Result) string { return csvPositive(r.busyCPUs(r.Generator)) }},
	{"server_cpu_us_per_request", func(r *Result) string { return csvPerRequest(r, r.Server) }},
	{"server_cpus_busy", func(r *Result) string { return csvPositive(r.busyCPUs(r.Server)) }},
	{"server_max_rss_bytes", func(r *Result) string { return csvPositive(float64(r.Server.MaxRSS)) }},
	{"failures", func(r *Result) string {
		var kinds []string
		for _, kind := range kindsByCount(r.Errors) {
			kinds = append(kinds, kind+":"+csvCount(r.Errors[kind].Count))
		}
		return strings.Join(kinds, " ")
	}},
	{"warnings", func(r *Result) string {
		var kinds []string
		for _, w := range r.Warnings {
			kinds = append(kinds, w.Kind)
		}
		return strings.Join(kinds, " ")
	}},
	{"started", func(r *Result) string {
		if r.Start.IsZero() {
			return ""
		}
		return r.Start.UTC().Format(time.RFC3339)
	}},
	{"go_version", func(r *Result) string { return r.Host.GoVersion }},
	{"os", func(r *Result) string { return r.Host.OS }},
	{"arch", func(r *Result) string { return r.Host.Arch }},
	{"cpu", func(r *Result) string { return r.Host.CPU }},
}

func csvCount(n int64) string { return strconv.FormatInt(n, 10) }

// csvPositive leaves out what is 0, and with it what was not measured.
func csvPositive(f float64) string {
	if f = finite(f); f <= 0 {
		return ""
	}
	return formatPlain(f, 7)
}

func csvMicros(d time.Duration, ok bool) string {
	if !ok {
		return ""
	}
	return formatPlain(float64(d)/1e3, 15)
}

func csvQuantile(h *Histogram, q float64) string { return csvMicros(h.Quantile(q), supported(h, q)) }

func csvInterval(r *Result, end func(Estimate) float64) string {
	ci := r.ThroughputCI(reportConfidence)
	if ci.Confidence == 0 {
		return ""
	}
	return formatPlain(end(ci), 7)
}

func csvPerRequest(r *Result, u Usage) string {
	if r.Requests <= 0 {
		return ""
	}
	return csvPositive(float64(u.User+u.System) / 1e3 / float64(r.Requests))
}
