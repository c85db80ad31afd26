package loadtest

import (
	"bytes"
	"math"
	"reflect"
	"regexp"
	"testing"
	"time"
)

// notANumber finds what no report may hold; histograms in base64 may hold the letters.
var notANumber = regexp.MustCompile(`(?i)[^a-z0-9+/](nan|[+-]?inf)[^a-z0-9+/=]`)

// checkInvariants holds r to what is true after every run, whatever happened in it.
func checkInvariants(t *testing.T, r *Result) {
	t.Helper()
	if r == nil {
		t.Fatal("no result")
	}
	var failed int64
	for kind, e := range r.Errors {
		failed += e.Count
		if e.Count < 1 || e.Sample == "" || e.First > e.Last || e.First < 0 {
			t.Errorf("Errors[%q] = %+v: want a count, a sample and times in order", kind, e)
		}
	}
	if failed != r.Failed {
		t.Errorf("kinds of errors add up to %d, Failed is %d", failed, r.Failed)
	}
	ok := r.Requests - r.Failed
	for name, h := range map[string]*Histogram{"Latency": r.Latency, "ServiceTime": r.ServiceTime, "TotalTime": r.TotalTime} {
		if h.Count() != ok {
			t.Errorf("%s.Count() = %d, want the %d that succeeded", name, h.Count(), ok)
		}
		checkQuantiles(t, name, h)
	}
	if r.FailedLatency.Count() != r.Failed {
		t.Errorf("FailedLatency.Count() = %d, want %d", r.FailedLatency.Count(), r.Failed)
	}
	if r.FirstByte.Count() > ok {
		t.Errorf("FirstByte.Count() = %d of %d successes", r.FirstByte.Count(), ok)
	}
	var responses int64
	for _, n := range r.Statuses {
		responses += n
	}
	if judged := ok + r.Errors["status"].Count + r.Errors["check"].Count; len(r.Statuses) > 0 && (responses < judged || responses > judged+r.Errors["parse"].Count) {
		t.Errorf("Statuses add up to %d, want %d: successes and wrong statuses and failed checks", responses, judged)
	}
	var inSlices, failedInSlices int64
	var at time.Duration
	for i, iv := range r.Intervals {
		inSlices += iv.Requests
		failedInSlices += iv.Failed
		if iv.Offset != at || iv.Length <= 0 {
			t.Errorf("Intervals[%d] = %+v, want Offset %v and a length", i, iv, at)
		}
		at += iv.Length
	}
	if inSlices != r.Requests || failedInSlices != r.Failed {
		t.Errorf("Intervals hold %d requests, %d failed; want %d, %d", inSlices, failedInSlices, r.Requests, r.Failed)
	}
	if at != r.Elapsed && len(r.Intervals) > 0 {
		t.Errorf("Intervals are %v long, want %v", at, r.Elapsed)
	}
	if r.Options.Duration > 0 && r.Elapsed > r.Options.Duration {
		t.Errorf("Elapsed = %v, more than Duration %v", r.Elapsed, r.Options.Duration)
	}
	if got := r.Throughput() * r.Elapsed.Seconds(); math.Abs(got-float64(ok)) > 1e-6*float64(ok)+1e-6 && r.Elapsed > 0 {
		t.Errorf("Throughput·Elapsed = %v, want %d", got, ok)
	}
	if r.WarmupFailed > r.WarmupRequests || r.Unwritten > r.Failed+r.WarmupFailed || r.OldestAbandoned > 0 && r.Abandoned == 0 {
		t.Errorf("%d of %d warm-up requests failed, %d unwritten, %d abandoned for %v: impossible",
			r.WarmupFailed, r.WarmupRequests, r.Unwritten, r.Abandoned, r.OldestAbandoned)
	}
	if n := r.Options.Requests; n > 0 && r.Options.Warmup == 0 && r.Requests+r.Abandoned > n {
		t.Errorf("%d requests and %d abandoned, more than the %d asked for", r.Requests, r.Abandoned, n)
	}
	if c := r.Clients; c.Min < 0 || c.Min > c.Median || c.Median > c.Max || c.Max > r.Requests {
		t.Errorf("Clients = %+v of %d requests", c, r.Requests)
	}
	checkFinite(t, reflect.ValueOf(r).Elem(), "Result")
	for _, f := range []float64{r.Throughput(), r.ThroughputPerCore(), r.Goodput(time.Second), r.ErrorRate()} {
		if math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
			t.Errorf("a rate is %v", f)
		}
	}
	ci := r.ThroughputCI(0.95)
	if !(ci.Lo <= ci.Value && ci.Value <= ci.Hi) {
		t.Errorf("ThroughputCI = %+v: does not hold its value", ci)
	}
	var b bytes.Buffer
	for name, write := range map[string]func() error{
		"WriteText": func() error { return WriteText(&b, r) }, "WriteAB": func() error { return WriteAB(&b, r) },
		"WriteWrk": func() error { return WriteWrk(&b, r) }, "WriteMarkdown": func() error { return WriteMarkdown(&b, r) },
		"WriteCSV": func() error { return WriteCSV(&b, r) }, "WriteBench": func() error { return WriteBench(&b, r) },
		"WriteJSON": func() error { return WriteJSON(&b, r) },
	} {
		b.Reset()
		if err := write(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s := b.String(); notANumber.MatchString(s) {
			t.Errorf("%s wrote NaN or Inf:\n%s", name, s)
		}
	}
	checkRoundTrip(t, r)
}

func checkRoundTrip(t *testing.T, r *Result) {
	t.Helper()
	var first, second bytes.Buffer
	if err := WriteJSON(&first, r); err != nil {
		t.Fatalf("WriteJSON: %v", err)
	}
	back, err := ReadJSON(bytes.NewReader(first.Bytes()))
	if err != nil || len(back) != 1 {
		t.Fatalf("ReadJSON: %d results, %v", len(back), err)
	}
	if err := WriteJSON(&second, back[0]); err != nil {
		t.Fatalf("WriteJSON again: %v", err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("JSON changes in a round trip:\n%s\n%s", first.Bytes(), second.Bytes())
	}
}

func checkQuantiles(t *testing.T, name string, h *Histogram) {
	t.Helper()
	last := h.Min()
	for _, q := range []float64{0, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.99999, 1} {
		v := h.Quantile(q)
		if v < last || v > h.Max() {
			t.Errorf("%s.Quantile(%v) = %v, want from %v to %v", name, q, v, last, h.Max())
		}
		last = v
	}
	if h.Count() > 0 && last != h.Max() {
		t.Errorf("%s.Quantile(1) = %v, want Max %v", name, last, h.Max())
	}
}

// checkFinite looks for NaN and Inf in everything exported.
func checkFinite(t *testing.T, v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			t.Errorf("%s is %v", path, f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				checkFinite(t, v.Field(i), path+"."+v.Type().Field(i).Name)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			checkFinite(t, v.Index(i), path)
		}
	}
}
