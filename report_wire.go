package loadtest

import (
	"errors"
	"fmt"
	"time"
)

// The structs here are the JSON form of a Result, format 1. Their keys are a promise; Result's own names are free to differ. Pointers
// are keys that must be there.

type wireResult struct {
	Format  int          `json:"format,omitempty"` // of a result that stands by itself
	Options *wireOptions `json:"options"`
	Target  string       `json:"target"`
	Engine  string       `json:"engine"`
	Host    wireHost     `json:"host"`
	Start   *time.Time   `json:"start"`
	Elapsed *int64       `json:"elapsed_ns"`

	Requests   *int64  `json:"requests"`
	Succeeded  int64   `json:"succeeded"` // derived, as the next two
	Throughput float64 `json:"throughput_per_second"`
	ErrorRate  float64 `json:"error_rate"`
	Failed     *int64  `json:"failed"`
	Drained    int64   `json:"drained"`
	Abandoned  int64   `json:"abandoned"`
	Unsent     int64   `json:"unsent"`
	Warmup     int64   `json:"warmup_requests"`
	WarmFailed int64   `json:"warmup_failed"`
	Resent     int64   `json:"resent"`
	Unwritten  int64   `json:"unwritten"`
	Oldest     int64   `json:"oldest_abandoned_ns"`

	BytesRead    int64                `json:"bytes_read"`
	BytesWritten int64                `json:"bytes_written"`
	BodyBytes    int64                `json:"body_bytes"`
	Connections  int64                `json:"connections"`
	Statuses     map[int]int64        `json:"statuses,omitempty"`
	Errors       map[string]wireError `json:"errors,omitempty"`

	Latency       *Histogram `json:"latency"`
	ServiceTime   *Histogram `json:"service_time"`
	TotalTime     *Histogram `json:"total_time"`
	FailedLatency *Histogram `json:"failed_latency"`
	Connect       *Histogram `json:"connect"`
	FirstByte     *Histogram `json:"first_byte"`
	SendLag       *Histogram `json:"send_lag"`
	QueueWait     *Histogram `json:"queue_wait"`

	Intervals []wireInterval `json:"intervals,omitempty"`
	Clients   wireSpread     `json:"requests_per_client"`
	Sample    *Sample        `json:"sample,omitempty"`
	Generator wireUsage      `json:"generator"`
	Server    *wireUsage     `json:"server,omitempty"`
	Warnings  []wireWarning  `json:"warnings,omitempty"`
}

type wireOptions struct {
	Name        string      `json:"name,omitempty"`
	Concurrency int         `json:"concurrency"`
	Rate        float64     `json:"rate_per_second,omitempty"`
	Poisson     bool        `json:"poisson,omitempty"`
	Stages      []wireStage `json:"stages,omitempty"`
	ThinkTime   int64       `json:"think_time_ns,omitempty"`
	Requests    int64       `json:"requests,omitempty"`
	Duration    int64       `json:"duration_ns,omitempty"`
	Warmup      int64       `json:"warmup_ns,omitempty"`
	Timeout     int64       `json:"timeout_ns,omitempty"`
	Drain       int64       `json:"drain_ns,omitempty"`
	CPUs        CPUSet      `json:"cpus,omitempty"`
	Threads     int         `json:"threads,omitempty"`
	Poll        bool        `json:"poll,omitempty"`
	Seed        uint64      `json:"seed,omitempty"`
}

type wireStage struct {
	Rate     float64 `json:"rate_per_second"`
	Duration int64   `json:"duration_ns"`
}

type wireHost struct {
	OS        string `json:"os,omitempty"`
	Arch      string `json:"arch,omitempty"`
	CPU       string `json:"cpu,omitempty"`
	Kernel    string `json:"kernel,omitempty"`
	GoVersion string `json:"go_version,omitempty"`
	CPUs      int    `json:"cpus,omitempty"`
	Race      bool   `json:"race,omitempty"`
}

type wireError struct {
	Count  int64  `json:"count"`
	Sample string `json:"sample,omitempty"`
	First  int64  `json:"first_ns"`
	Last   int64  `json:"last_ns"`
}

type wireInterval struct {
	Offset   int64 `json:"offset_ns"`
	Length   int64 `json:"length_ns"`
	Requests int64 `json:"requests"`
	Failed   int64 `json:"failed"`
	P50      int64 `json:"p50_ns"`
	P99      int64 `json:"p99_ns"`
	Max      int64 `json:"max_ns"`
}

type wireSpread struct {
	Min    int64 `json:"min"`
	Median int64 `json:"median"`
	Max    int64 `json:"max"`
}

type wireUsage struct {
	User      int64  `json:"user_ns"`
	System    int64  `json:"system_ns"`
	CPUs      CPUSet `json:"cpus,omitempty"`
	MaxRSS    int64  `json:"max_rss_bytes,omitempty"`
	Processes int    `json:"processes,omitempty"`
}

type wireWarning struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

func toWire(r *Result) *wireResult {
	start, elapsed := r.Start.Round(0).UTC(), int64(r.Elapsed)
	requests, failed := r.Requests, r.Failed
	w := &wireResult{
		Options: toWireOptions(r.Options), Target: r.Target, Engine: r.Engine, Host: wireHost(r.Host), Start: &start, Elapsed: &elapsed,
		Requests: &requests, Succeeded: r.Succeeded(), Throughput: r.Throughput(), ErrorRate: r.ErrorRate(), Failed: &failed,
		Drained: r.Drained, Abandoned: r.Abandoned, Unsent: r.Unsent, Warmup: r.WarmupRequests, WarmFailed: r.WarmupFailed,
		Resent: r.Resent, Unwritten: r.Unwritten, Oldest: int64(r.OldestAbandoned),
		BytesRead: r.BytesRead, BytesWritten: r.BytesWritten, BodyBytes: r.BodyBytes, Connections: r.Connections, Statuses: r.Statuses,
		Latency: r.Latency, ServiceTime: r.ServiceTime, TotalTime: r.TotalTime, FailedLatency: r.FailedLatency,
		Connect: r.Connect, FirstByte: r.FirstByte, SendLag: r.SendLag, QueueWait: r.QueueWait,
		Clients: wireSpread(r.Clients), Generator: toWireUsage(r.Generator),
	}
	if r.Sample != (Sample{}) {
		sample := r.Sample
		w.Sample = &sample
	}
	if s := r.Server; s.User != 0 || s.System != 0 || len(s.CPUs) > 0 || s.MaxRSS != 0 || s.Processes != 0 {
		usage := toWireUsage(s)
		w.Server = &usage
	}
	for kind, e := range r.Errors {
		if w.Errors == nil {
			w.Errors = make(map[string]wireError, len(r.Errors))
		}
		w.Errors[kind] = wireError{e.Count, e.Sample, int64(e.First), int64(e.Last)}
	}
	for _, iv := range r.Intervals {
		w.Intervals = append(w.Intervals, wireInterval{int64(iv.Offset), int64(iv.Length), iv.Requests, iv.Failed,
			int64(iv.P50), int64(iv.P99), int64(iv.Max)})
	}
	for _, warning := range r.Warnings {
		w.Warnings = append(w.Warnings, wireWarning(warning))
	}
	return w
}

func toWireOptions(o Options) *wireOptions {
	w := &wireOptions{
		Name: o.Name, Concurrency: o.Concurrency, Rate: finite(o.Rate), Poisson: o.Poisson, ThinkTime: int64(o.ThinkTime),
		Requests: o.Requests, Duration: int64(o.Duration), Warmup: int64(o.Warmup), Timeout: int64(o.Timeout), Drain: int64(o.Drain),
		CPUs: o.CPUs, Threads: o.Threads, Poll: o.Poll, Seed: o.Seed,
	}
	for _, s := range o.Stages {
		w.Stages = append(w.Stages, wireStage{finite(s.Rate), int64(s.Duration)})
	}
	return w
}

func toWireUsage(u Usage) wireUsage {
	return wireUsage{int64(u.User), int64(u.System), u.CPUs, u.MaxRSS, u.Processes}
}

// result checks w and makes a Result of it, with no histogram nil.
func (w *wireResult) result() (*Result, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	histogram := func(h *Histogram) *Histogram {
		if h == nil {
			h = new(Histogram)
		}
		return h
	}
	r := &Result{
		Options: w.Options.options(), Target: w.Target, Engine: w.Engine, Host: Host(w.Host), Start: *w.Start,
		Elapsed: time.Duration(*w.Elapsed), Requests: *w.Requests, Failed: *w.Failed,
		Drained: w.Drained, Abandoned: w.Abandoned, Unsent: w.Unsent, WarmupRequests: w.Warmup, WarmupFailed: w.WarmFailed,
		Resent: w.Resent, Unwritten: w.Unwritten, OldestAbandoned: time.Duration(w.Oldest),
		BytesRead: w.BytesRead, BytesWritten: w.BytesWritten, BodyBytes: w.BodyBytes, Connections: w.Connections,
		Latency: histogram(w.Latency), ServiceTime: histogram(w.ServiceTime), TotalTime: histogram(w.TotalTime),
		FailedLatency: histogram(w.FailedLatency), Connect: histogram(w.Connect), FirstByte: histogram(w.FirstByte),
		SendLag: histogram(w.SendLag), QueueWait: histogram(w.QueueWait),
		Clients: Spread(w.Clients), Generator: w.Generator.usage(),
	}
	if len(w.Statuses) > 0 {
		r.Statuses = w.Statuses
	}
	if w.Sample != nil {
		r.Sample = *w.Sample
	}
	if w.Server != nil {
		r.Server = w.Server.usage()
	}
	for kind, e := range w.Errors {
		if r.Errors == nil {
			r.Errors = make(map[string]ErrorCount, len(w.Errors))
		}
		r.Errors[kind] = ErrorCount{e.Count, e.Sample, time.Duration(e.First), time.Duration(e.Last)}
	}
	for _, iv := range w.Intervals {
		r.Intervals = append(r.Intervals, Interval{time.Duration(iv.Offset), time.Duration(iv.Length), iv.Requests, iv.Failed,
			time.Duration(iv.P50), time.Duration(iv.P99), time.Duration(iv.Max)})
	}
	for _, warning := range w.Warnings {
		r.Warnings = append(r.Warnings, Warning(warning))
	}
	return r, nil
}

// check reports what every result has and w lacks, and counts that cannot be.
func (w *wireResult) check() error {
	var errs []error
	for _, k := range []struct {
		key     string
		missing bool
	}{
		{"options", w.Options == nil}, {"start", w.Start == nil}, {"elapsed_ns", w.Elapsed == nil},
		{"requests", w.Requests == nil}, {"failed", w.Failed == nil},
	} {
		if k.missing {
			errs = append(errs, fmt.Errorf("the key %q is missing", k.key))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if y := w.Start.UTC().Year(); y < 0 || y > 9999 { // which JSON has no form for
		errs = append(errs, fmt.Errorf("start must be in a year from 0 to 9999 (got %d)", y))
	}
	negative := func(key string, n int64) {
		if n < 0 {
			errs = append(errs, fmt.Errorf("%s must not be negative (got %d)", key, n))
		}
	}
	negative("elapsed_ns", *w.Elapsed)
	negative("requests", *w.Requests)
	negative("failed", *w.Failed)
	negative("drained", w.Drained)
	negative("abandoned", w.Abandoned)
	negative("unsent", w.Unsent)
	negative("warmup_requests", w.Warmup)
	negative("warmup_failed", w.WarmFailed)
	negative("resent", w.Resent)
	negative("unwritten", w.Unwritten)
	negative("oldest_abandoned_ns", w.Oldest)
	negative("bytes_read", w.BytesRead)
	negative("bytes_written", w.BytesWritten)
	negative("body_bytes", w.BodyBytes)
	negative("connections", w.Connections)
	negative("options.concurrency", int64(w.Options.Concurrency))
	for status, n := range w.Statuses {
		negative(fmt.Sprintf("statuses.%d", status), n)
	}
	for kind, e := range w.Errors {
		negative(fmt.Sprintf("errors.%s.count", kind), e.Count)
	}
	if *w.Failed > *w.Requests {
		errs = append(errs, fmt.Errorf("failed must not exceed requests (got %d of %d)", *w.Failed, *w.Requests))
	}
	return errors.Join(errs...)
}

func (w *wireOptions) options() Options {
	o := Options{
		Name: w.Name, Concurrency: w.Concurrency, Rate: w.Rate, Poisson: w.Poisson, ThinkTime: time.Duration(w.ThinkTime),
		Requests: w.Requests, Duration: time.Duration(w.Duration), Warmup: time.Duration(w.Warmup),
		Timeout: time.Duration(w.Timeout), Drain: time.Duration(w.Drain), CPUs: w.CPUs, Threads: w.Threads, Poll: w.Poll, Seed: w.Seed,
	}
	for _, s := range w.Stages {
		o.Stages = append(o.Stages, Stage{s.Rate, time.Duration(s.Duration)})
	}
	return o
}

func (w wireUsage) usage() Usage {
	return Usage{time.Duration(w.User), time.Duration(w.System), w.CPUs, w.MaxRSS, w.Processes}
}
