package loadtest

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/loadtest-go/loadtest/internal/tally"
)

func TestHistogramEmpty(t *testing.T) {
	for name, h := range map[string]*Histogram{"zero": new(Histogram), "nil": nil} {
		if h.Count() != 0 || h.Min() != 0 || h.Max() != 0 || h.Mean() != 0 || h.StdDev() != 0 || h.Quantile(0.5) != 0 ||
			h.Within(0, time.Hour) != 0 || h.Clamped() != 0 {
			t.Errorf("%s: an empty histogram has values", name)
		}
		for range h.All() {
			t.Errorf("%s: All yields something", name)
		}
		b, err := json.Marshal(h)
		if err != nil || string(b) != "null" {
			t.Errorf("%s: JSON %s, %v; want null", name, b, err)
		}
		var table bytes.Buffer
		if err := h.WritePercentiles(&table); err != nil || strings.Contains(table.String(), "NaN") {
			t.Errorf("%s: WritePercentiles: %v\n%s", name, err, &table)
		}
	}
}

func TestHistogramExactMoments(t *testing.T) {
	for _, tt := range []struct {
		name         string
		values       []time.Duration
		mean, stddev time.Duration
	}{
		{"one", []time.Duration{123456789}, 123456789, 0},
		{"n-1 in the denominator", []time.Duration{2 * time.Second, 4 * time.Second}, 3 * time.Second, 1414213562},
		{"all equal", []time.Duration{777777777, 777777777, 777777777}, 777777777, 0},
		{"far apart", []time.Duration{1, time.Hour}, 1800000000000, 2545584412271},
	} {
		h := recorded(tt.values...)
		if h.Mean() != tt.mean || h.StdDev() != tt.stddev {
			t.Errorf("%s: mean %d, stddev %d; want %d, %d", tt.name, h.Mean(), h.StdDev(), tt.mean, tt.stddev)
		}
		if h.Min() != slices.Min(tt.values) || h.Max() != slices.Max(tt.values) {
			t.Errorf("%s: from %v to %v; want exactly what was recorded", tt.name, h.Min(), h.Max())
		}
	}
}

// TestHistogramMillions is the case in which a kept list of samples would end: count, mean and quantiles come from the same population.
func TestHistogramMillions(t *testing.T) {
	var h Histogram
	for i := range int64(3000) {
		h.RecordN(time.Duration(i+1)*time.Microsecond, 1000)
	}
	if h.Count() != 3_000_000 || h.Mean() != 1500500*time.Nanosecond {
		t.Errorf("Count = %d, Mean = %v; want 3000000, 1.5005ms", h.Count(), h.Mean())
	}
}

// TestHistogramTail: the tail is exact to the bucket, and never longer than the longest.
func TestHistogramTail(t *testing.T) {
	var h Histogram
	h.RecordN(time.Millisecond, 1_000_000-50)
	for i := range 50 {
		h.Record(time.Second + time.Duration(i)*10*time.Millisecond)
	}
	for _, tt := range []struct {
		q    float64
		want time.Duration
	}{{0.9999, time.Millisecond}, {0.99996, 1090 * time.Millisecond}, {0.99999, 1390 * time.Millisecond}, {1, 1490 * time.Millisecond}} {
		if got := h.Quantile(tt.q); got < tt.want || got > tt.want+tt.want/1000 {
			t.Errorf("Quantile(%v) = %v, want %v to +0.1 %%", tt.q, got, tt.want)
		}
	}
}

// TestHistogramOfCoordinatedOmission is the data of HdrHistogram's own test: ten thousand responses of 1 ms and one of 100 s.
func TestHistogramOfCoordinatedOmission(t *testing.T) {
	var h Histogram
	h.RecordN(time.Millisecond, 10000)
	h.Record(100 * time.Second)
	if h.Count() != 10001 || h.Mean() != (10000*time.Millisecond+100*time.Second)/10001 {
		t.Errorf("Count = %d, Mean = %v", h.Count(), h.Mean())
	}
	for q, want := range map[float64]time.Duration{0.3: time.Millisecond, 0.99: time.Millisecond, 0.9999: time.Millisecond, 0.99999: 100 * time.Second} {
		if got := h.Quantile(q); got < want || got > want+want/1000 {
			t.Errorf("Quantile(%v) = %v, want %v", q, got, want)
		}
	}
	if got := h.Within(0, 5*time.Millisecond); math.Abs(got-0.9999) > 1e-5 {
		t.Errorf("Within(0, 5ms) = %v, want 0.9999", got)
	}
}

func TestHistogramClamps(t *testing.T) {
	h := recorded(-time.Second, 0, time.Nanosecond, time.Hour, 2*time.Hour)
	if h.Count() != 5 || h.Clamped() != 3 || h.Min() != 0 || h.Max() != 2*time.Hour {
		t.Errorf("Count %d, Clamped %d, from %v to %v; want 5, 3, 0, 2h", h.Count(), h.Clamped(), h.Min(), h.Max())
	}
	if got := h.Quantile(0.8); got < time.Hour || got > time.Hour+4*time.Second {
		t.Errorf("Quantile(0.8) = %v, want 1h", got)
	}
	h.RecordN(time.Second, 0)
	h.RecordN(time.Second, -3)
	if h.Count() != 5 {
		t.Error("RecordN of nothing has recorded something")
	}
}

func TestHistogramMergeIsRecordingAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var all, a, b Histogram
	var counts tally.Counts
	for i := range 3000 {
		d := time.Duration(r.ExpFloat64() * 1e6)
		all.Record(d)
		if i%2 == 0 {
			a.Record(d)
		} else {
			counts.Record(int64(d))
		}
	}
	b.add(&counts)
	ab, ba := a.clone(), b.clone()
	ab.Merge(&b)
	ba.Merge(&a)
	ab.Merge(nil)
	ab.Merge(new(Histogram))
	want, _ := json.Marshal(&all)
	for name, h := range map[string]*Histogram{"a+b": ab, "b+a": ba} {
		if got, _ := json.Marshal(h); !bytes.Equal(got, want) {
			t.Errorf("%s = %s\nwant %s", name, got, want)
		}
	}
}

// TestHistogramOfOtherTools: what the hdr field holds is what HdrHistogram libraries of any language read.
func TestHistogramOfOtherTools(t *testing.T) {
	h := recorded(time.Millisecond, 2*time.Millisecond, 2*time.Millisecond, time.Second)
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var w struct{ HDR string }
	if err := json.Unmarshal(b, &w); err != nil {
		t.Fatal(err)
	}
	other, err := hdrhistogram.Decode([]byte(w.HDR))
	if err != nil {
		t.Fatal(err)
	}
	if other.TotalCount() != 4 || other.SignificantFigures() != 3 || !other.ValuesAreEquivalent(other.ValueAtQuantile(50), 2e6) || !other.ValuesAreEquivalent(other.Max(), 1e9) {
		t.Errorf("read back: %d values, p50 %d, max %d", other.TotalCount(), other.ValueAtQuantile(50), other.Max())
	}
}

func TestHistogramRefusesContradictions(t *testing.T) {
	good, _ := json.Marshal(recorded(time.Millisecond, 3*time.Millisecond))
	for _, tt := range []struct{ field, value string }{
		{`"count":2`, `"count":3`}, {`"min_ns":1000000`, `"min_ns":-1`}, {`"min_ns":1000000`, `"min_ns":5`}, {`"max_ns":3000000`, `"max_ns":1`},
		{`"max_ns":3000000`, `"max_ns":9000000000`}, {`"sum_ns":4000000`, `"sum_ns":0`}, {`"sum_ns":4000000`, `"sum_ns":1e400`},
		{`"sum_ns":4000000`, `"sum_ns":340282366920938463463374607431768211455`},
		{`"sum_of_squares_ns2":10000000000000`, `"sum_of_squares_ns2":0`}, {`"hdr":"`, `"hdr":"x`}, {`"hdr":"`, `"hdr":"","x":"`},
		{`"count":2`, `"count":2,"clamped":3`},
	} {
		bad := strings.Replace(string(good), tt.field, tt.value, 1)
		if bad == string(good) {
			t.Fatalf("%s is not in %s", tt.field, good)
		}
		if err := json.Unmarshal([]byte(bad), new(Histogram)); err == nil {
			t.Errorf("%s for %s: read without an error", tt.value, tt.field)
		}
	}
}

func TestHistogramWritePercentiles(t *testing.T) {
	var h Histogram
	for i := range 1000 {
		h.Record(time.Duration(i+1) * time.Millisecond)
	}
	var b bytes.Buffer
	if err := h.WritePercentiles(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "percentiles.hgrm", b.Bytes())
}

// FuzzHistogram compares quantiles with those of the sorted samples, and a merge of two halves with the whole.
func FuzzHistogram(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, 0.5)
	f.Add([]byte{0}, 0.99)
	f.Add(bytes.Repeat([]byte{255, 0, 17}, 40), 0.999)
	f.Fuzz(func(t *testing.T, data []byte, q float64) {
		var values []time.Duration
		var whole, left, right Histogram
		for i := 0; i+1 < len(data) && len(values) < 500; i += 2 {
			// A byte of magnitude, and one of detail.
			d := time.Duration(data[i+1])<<(data[i]%42) + time.Duration(data[i])
			values = append(values, d)
			whole.Record(d)
			if i%4 == 0 {
				left.Record(d)
			} else {
				right.Record(d)
			}
		}
		if len(values) == 0 {
			return
		}
		slices.Sort(values)
		got, want := whole.Quantile(q), values[tally.Rank(q, int64(len(values)))-1]
		clamped := min(want, time.Hour)
		if got < clamped && got < want || float64(got) > float64(want)*(1+1.0/1024)+1 {
			t.Errorf("Quantile(%v) = %d, want %d to +1/1024", q, got, want)
		}
		left.Merge(&right)
		a, errA := json.Marshal(&left)
		b, errB := json.Marshal(&whole)
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("merged %s\nwhole  %s (%v, %v)", a, b, errA, errB)
		}
		var back Histogram
		if err := json.Unmarshal(a, &back); err != nil {
			t.Errorf("read back: %v", err)
		}
	})
}

func recorded(ds ...time.Duration) *Histogram {
	h := new(Histogram)
	for _, d := range ds {
		h.Record(d)
	}
	return h
}
