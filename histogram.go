package loadtest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/big"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/loadtest-go/loadtest/internal/tally"
)

// A Histogram counts durations from 1 ns to 1 hour with three significant digits; minimum, maximum, count, mean and standard deviation
// are exact. What is out of range is counted in the first or last bucket and in [Histogram.Clamped]; minimum, maximum and mean still
// take it at its true value. Recording and merging never fail.
//
// The zero value is empty and ready to use, and so is a nil *Histogram for reading. A Histogram must not be copied, nor used by several
// goroutines at once if one of them records. Memory grows with the number of distinct values, to 400 KiB at most.
//
// It is an [HdrHistogram]: its JSON has the V2 compressed form that the other tools of that family read.
//
// [HdrHistogram]: https://github.com/HdrHistogram/HdrHistogram
type Histogram struct {
	packed   *hdrhistogram.PackedHistogram // nil: empty
	clamped  int64
	min, max int64 // ns
	sum      tally.Uint128
	squares  tally.Uint128
}

const significantDigits = 3

// Record counts one duration.
func (h *Histogram) Record(d time.Duration) { h.RecordN(d, 1) }

// RecordN counts n durations of d. An n below 1 counts nothing.
func (h *Histogram) RecordN(d time.Duration, n int64) {
	if n < 1 {
		return
	}
	ns := max(int64(d), 0)
	clamped := min(max(ns, tally.MinValue), tally.MaxValue)
	var sum, squares tally.Uint128
	sum.Add(uint64(ns))
	squares.AddSquare(uint64(ns))
	if !h.addBucket(clamped, n) {
		return
	}
	if clamped != ns {
		h.clamped += n
	}
	h.addMoments(ns, ns, sum.Times(uint64(n)), squares.Times(uint64(n)), h.Count() == n)
}

// addBucket counts n in the bucket of ns. False: the sum of all counts would exceed an int64, and n has not been counted.
func (h *Histogram) addBucket(ns, n int64) bool {
	if h.packed == nil {
		h.packed = hdrhistogram.NewPacked(tally.MinValue, tally.MaxValue, significantDigits)
	}
	return h.packed.RecordValues(ns, n) == nil
}

func (h *Histogram) addMoments(lo, hi int64, sum, squares tally.Uint128, first bool) {
	if first || lo < h.min {
		h.min = lo
	}
	h.max = max(h.max, hi)
	h.sum.AddUint128(sum)
	h.squares.AddUint128(squares)
}

// Merge adds what other has counted to h. A nil other counts nothing.
func (h *Histogram) Merge(other *Histogram) {
	if other.Count() == 0 {
		return
	}
	first := h.Count() == 0
	if h.packed == nil {
		h.packed = hdrhistogram.NewPacked(tally.MinValue, tally.MaxValue, significantDigits)
	}
	h.clamped += other.clamped
	h.addMoments(other.min, other.max, other.sum, other.squares, first)
	h.packed.Merge(other.packed)
}

// add counts what a load thread has counted.
func (h *Histogram) add(c *tally.Counts) {
	if c.N == 0 {
		return
	}
	first := h.Count() == 0
	for low, n := range c.All() {
		h.addBucket(low, n)
	}
	h.clamped += c.Clamped
	h.addMoments(c.Min, c.Max, c.Sum, c.Squares, first)
}

// Count returns how many durations were recorded.
func (h *Histogram) Count() int64 {
	if h == nil || h.packed == nil {
		return 0
	}
	return h.packed.TotalCount()
}

// Clamped returns how many of them were shorter than 1 ns or longer than 1 hour.
func (h *Histogram) Clamped() int64 {
	if h == nil {
		return 0
	}
	return h.clamped
}

// Min returns the shortest duration recorded, exactly; 0 if there was none.
func (h *Histogram) Min() time.Duration {
	if h == nil {
		return 0
	}
	return time.Duration(h.min)
}

// Max returns the longest duration recorded, exactly; 0 if there was none.
func (h *Histogram) Max() time.Duration {
	if h == nil {
		return 0
	}
	return time.Duration(h.max)
}

// Mean returns the sum of all durations divided by their count, rounded down to a nanosecond; 0 if there was none.
func (h *Histogram) Mean() time.Duration {
	n := h.Count()
	if n == 0 {
		return 0
	}
	return bigDuration(new(big.Int).Div(h.sum.Big(), big.NewInt(n)))
}

// StdDev returns the standard deviation of a sample (n-1 in the denominator), from the exact sums; 0 for fewer than two durations.
func (h *Histogram) StdDev() time.Duration {
	n := h.Count()
	if n < 2 {
		return 0
	}
	// n·Σx² − (Σx)², in integers: in floating point the difference of two nearly equal numbers would be lost for steady latencies.
	sum := h.sum.Big()
	d := new(big.Int).Mul(h.squares.Big(), big.NewInt(n))
	d.Sub(d, sum.Mul(sum, sum))
	if d.Sign() < 0 { // sums beyond 128 bits, of durations that no clock gives
		return 0
	}
	f, _ := new(big.Float).SetInt(d).Float64()
	return time.Duration(math.Round(math.Sqrt(f / float64(n) / float64(n-1))))
}

// Quantile returns the duration that a share q of all recorded ones does not exceed: q = 0.99 gives what is called p99. It is the upper
// end of the bucket of rank ceil(q·Count()), at most 1/1024 above the true value and never outside of [Min, Max]; q <= 0 gives Min, q >= 1
// gives Max, exactly. 0 if nothing was recorded.
func (h *Histogram) Quantile(q float64) time.Duration {
	n := h.Count()
	if n == 0 {
		return 0
	}
	if !(q > 0) {
		return h.Min()
	}
	return h.atRank(tally.Rank(q, n))
}

// atRank returns the rank-th shortest duration, 1 <= rank <= Count(); 0 if h is empty.
func (h *Histogram) atRank(rank int64) time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(tally.AtRank(h.packed.ForEachBucket, rank, h.Count(), h.min, h.max))
}

func (h *Histogram) within(ns int64) time.Duration {
	return time.Duration(min(max(ns, h.min), h.max))
}

// Within returns the share of durations in [lo, hi], in [0,1]; 0 if nothing was recorded. A bucket that lies across a border counts as a
// whole, by its middle.
func (h *Histogram) Within(lo, hi time.Duration) float64 {
	n := h.Count()
	if n == 0 {
		return 0
	}
	var in int64
	for low, count := range h.packed.ForEachBucket {
		if mid := h.within(low + tally.Width(low)/2); lo <= mid && mid <= hi {
			in += count
		}
	}
	return float64(in) / float64(n)
}

// All ranges over the buckets that are not empty, from short to long: the upper end of the bucket, kept within [Min, Max], and the count.
func (h *Histogram) All() iter.Seq2[time.Duration, int64] {
	return func(yield func(time.Duration, int64) bool) {
		if h.Count() == 0 {
			return
		}
		for low, n := range h.packed.ForEachBucket {
			if !yield(h.within(low+tally.Width(low)-1), n) {
				return
			}
		}
	}
}

// clone returns an independent copy.
func (h *Histogram) clone() *Histogram {
	c := new(Histogram)
	c.Merge(h)
	return c
}

// bigDuration is b as a duration; what does not fit, which only durations beyond any clock could add up to, is the longest one.
func bigDuration(b *big.Int) time.Duration {
	if !b.IsInt64() {
		return math.MaxInt64
	}
	return time.Duration(b.Int64())
}

// histogramJSON is the form of a Histogram in JSON: a summary for people and scripts, which reading ignores, and the whole of it: the
// exact moments, and the counts in the HdrHistogram V2 compressed form (base64), whose values are nanoseconds.
type histogramJSON struct {
	Count   int64       `json:"count"`
	Clamped int64       `json:"clamped,omitempty"`
	Min     int64       `json:"min_ns"`
	Mean    int64       `json:"mean_ns"`
	StdDev  int64       `json:"stddev_ns"`
	P50     int64       `json:"p50_ns"`
	P90     int64       `json:"p90_ns"`
	P99     int64       `json:"p99_ns"`
	P999    int64       `json:"p999_ns"`
	Max     int64       `json:"max_ns"`
	Sum     json.Number `json:"sum_ns"`
	Squares json.Number `json:"sum_of_squares_ns2"`
	HDR     string      `json:"hdr"`
}

// MarshalJSON writes a summary, in nanoseconds, and the histogram without loss: UnmarshalJSON gives back one that answers every question
// alike. An empty histogram is null, so that nobody takes its zeros for measurements.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	if h.Count() == 0 {
		return []byte("null"), nil
	}
	hdr, err := h.packed.EncodeV2()
	if err != nil {
		return nil, fmt.Errorf("loadtest: encode histogram: %w", err)
	}
	return json.Marshal(histogramJSON{
		Count: h.Count(), Clamped: h.clamped,
		Min: h.min, Mean: int64(h.Mean()), StdDev: int64(h.StdDev()),
		P50: int64(h.Quantile(0.5)), P90: int64(h.Quantile(0.9)), P99: int64(h.Quantile(0.99)), P999: int64(h.Quantile(0.999)),
		Max: h.max, Sum: json.Number(h.sum.Big().String()), Squares: json.Number(h.squares.Big().String()), HDR: string(hdr),
	})
}

// UnmarshalJSON reads what MarshalJSON wrote. null gives an empty histogram.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	var w *histogramJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*h = Histogram{}
	if w == nil {
		return nil
	}
	packed, err := hdrhistogram.DecodePacked([]byte(w.HDR))
	if err != nil {
		return fmt.Errorf("loadtest: decode histogram: %w", err)
	}
	if packed.LowestTrackableValue() != tally.MinValue || packed.HighestTrackableValue() != tally.MaxValue {
		return errors.New("loadtest: decode histogram: hdr does not count nanoseconds from 1 ns to 1 hour")
	}
	back := Histogram{packed: packed, clamped: w.Clamped, min: w.Min, max: w.Max}
	if back.Count() != w.Count || !back.setSums(w.Sum, w.Squares) || !back.consistent() {
		return errors.New("loadtest: decode histogram: hdr and the summary beside it contradict each other")
	}
	*h = back
	return nil
}

func (h *Histogram) setSums(sum, squares json.Number) bool {
	var ok1, ok2 bool
	h.sum, ok1 = parseSum(sum)
	h.squares, ok2 = parseSum(squares)
	return ok1 && ok2
}

func parseSum(n json.Number) (tally.Uint128, bool) {
	const maxDigits = 39 // of 128 bits; converting a million digits takes seconds
	b, ok := new(big.Int), len(n) > 0 && len(n) <= maxDigits
	if ok {
		_, ok = b.SetString(string(n), 10)
	}
	if !ok {
		return tally.Uint128{}, false
	}
	return tally.FromBig(b)
}

// consistent reports whether the exact figures of h can be those of its buckets: what is read from a file may be anything.
func (h *Histogram) consistent() bool {
	n := big.NewInt(h.Count())
	if n.Sign() < 1 || h.clamped < 0 || h.clamped > h.Count() || h.min < 0 || h.max < h.min {
		return false
	}
	within := func(x *big.Int, lo, hi int64) bool { return x.Cmp(big.NewInt(lo)) >= 0 && x.Cmp(big.NewInt(hi)) <= 0 }
	mean, sum := new(big.Int).Div(h.sum.Big(), n), h.sum.Big()
	spread := new(big.Int).Sub(new(big.Int).Mul(n, h.squares.Big()), new(big.Int).Mul(sum, sum))
	sameBucket := func(exact, inBucket int64) bool {
		exact = min(max(exact, tally.MinValue), tally.MaxValue)
		return exact/tally.Width(inBucket) == inBucket/tally.Width(inBucket)
	}
	first, last := int64(-1), int64(-1)
	for low := range h.packed.ForEachBucket {
		if first < 0 {
			first = low
		}
		last = low
	}
	return within(mean, h.min, h.max) && spread.Sign() >= 0 && sameBucket(h.min, first) && sameBucket(h.max, last)
}

// WritePercentiles writes the table that HdrHistogram plotters read (.hgrm): values in milliseconds over quantiles that come closer to 1
// the further the data reach, five to each halving of the distance. An empty histogram has a table without rows.
func (h *Histogram) WritePercentiles(w io.Writer) error {
	b := bufio.NewWriter(w)
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	fmt.Fprintf(b, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	n := h.Count()
	for _, q := range quantileLadder(n) {
		rank := tally.Rank(q, n)
		value := h.Quantile(q)
		if q < 1 {
			fmt.Fprintf(b, "%12.6f %14.12f %10d %14.2f\n", ms(value), q, rank, 1/(1-q))
		} else {
			fmt.Fprintf(b, "%12.6f %14.12f %10d\n", ms(value), q, rank)
		}
	}
	fmt.Fprintf(b, "#[Mean    = %12.6f, StdDeviation   = %12.6f]\n", ms(h.Mean()), ms(h.StdDev()))
	fmt.Fprintf(b, "#[Max     = %12.6f, Total count    = %12d]\n", ms(h.Max()), n)
	fmt.Fprintf(b, "#[Buckets = %12d, SubBuckets     = %12d]\n", 32, 2048)
	return b.Flush()
}

// quantileLadder returns quantiles from 0 to 1, five to each halving of the distance to 1, as far as n samples tell them apart.
func quantileLadder(n int64) []float64 {
	if n == 0 {
		return nil
	}
	const ticks = 5
	var qs []float64
	for base, span := 0.0, 0.5; ; base, span = base+span, span/2 {
		for i := range ticks {
			q := base + span*float64(i)/ticks
			if i > 0 && (1-q)*float64(n) < 1 {
				return append(qs, 1)
			}
			qs = append(qs, q)
		}
		if span*float64(n) < 1 {
			return append(qs, 1)
		}
	}
}
