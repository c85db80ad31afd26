package loadtest

import (
	"math"
	"sync"
	"time"

	"github.com/loadtest-go/loadtest/internal/tally"
)

// sliceCounts is what is counted of the requests that began in one slice of the measured interval.
type sliceCounts struct {
	requests, failed int64
	latency          tally.Counts // of successes
}

func (s *sliceCounts) merge(other *sliceCounts) {
	s.requests += other.requests
	s.failed += other.failed
	s.latency.Merge(&other.latency)
}

// A sliceBuffer is what one worker has counted of the current slice. One of hundreds of clients sees a few dozen responses in a slice, of
// which a list is handed over for less than the merging of two histograms costs; what goes beyond the list is counted.
type sliceBuffer struct {
	requests, failed int64
	n                int
	latencies        [128]int64 // the last n
	latency          tally.Counts
}

// success adds the latency of a success.
func (b *sliceBuffer) success(ns int64) {
	if b.n == len(b.latencies) {
		for _, ns := range b.latencies {
			b.latency.Record(ns)
		}
		b.n = 0
	}
	b.latencies[b.n] = ns
	b.n++
}

// addTo adds the latencies to c.
func (b *sliceBuffer) addTo(c *tally.Counts) {
	for _, ns := range b.latencies[:b.n] {
		c.Record(ns)
	}
	c.Merge(&b.latency)
}

func (b *sliceBuffer) reset() {
	b.requests, b.failed, b.n = 0, 0, 0
	b.latency.Reset()
}

const (
	maxSlices  = 100 // of a run of unknown length; of known length half as many
	minSlice   = 10 * time.Millisecond
	maxPublish = 500 * time.Millisecond // a worker hands over at least this often, for the sake of progress
)

// A timeline is the measured interval cut into equal slices. Each worker counts the current slice for itself, and hands it over here when
// its next request begins in another: a lock per worker and slice, never one per request.
//
// The length of a run bounded by Requests is not known in advance. Its slices begin at 10 ms, and double whenever there are more
// than a hundred.
type timeline struct {
	start, end time.Duration // of the measured interval; end math.MaxInt64: unknown
	watched    bool          // recent will be called

	mu     sync.Mutex // guards all below
	width  time.Duration
	fixed  bool
	slices []*sliceCounts
	fresh  tally.Counts // latencies since the last call of recent
}

func newTimeline(start, end time.Duration, watched bool) *timeline {
	t := &timeline{start: start, end: end, watched: watched, width: minSlice}
	if end != math.MaxInt64 {
		n := min(max((end-start)/minSlice, 1), maxSlices/2)
		t.width, t.fixed = (end-start+n-1)/n, true
	}
	return t
}

// handOver adds what a worker has counted of the slice that at lies in, empties b, and returns the slice that now lies in: when a request
// begins at or after until, it is time to hand over again.
func (t *timeline) handOver(b *sliceBuffer, at, now time.Duration) (until time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b.requests > 0 {
		i := t.index(at)
		for len(t.slices) <= i {
			t.slices = append(t.slices, nil)
		}
		if t.slices[i] == nil {
			t.slices[i] = new(sliceCounts)
		}
		s := t.slices[i]
		s.requests += b.requests
		s.failed += b.failed
		b.addTo(&s.latency)
		if t.watched {
			b.addTo(&t.fresh)
		}
		b.reset()
	}
	for !t.fixed && t.index(now) >= maxSlices {
		t.double()
	}
	sliceEnd := t.start + time.Duration(t.index(now)+1)*t.width
	return min(sliceEnd, now+maxPublish)
}

func (t *timeline) index(at time.Duration) int { return int((at - t.start) / t.width) }

// double merges each pair of neighbours.
func (t *timeline) double() {
	t.width *= 2
	n := (len(t.slices) + 1) / 2
	for i := range n {
		s := t.slices[2*i]
		if 2*i+1 < len(t.slices) && t.slices[2*i+1] != nil {
			if s == nil {
				s = t.slices[2*i+1]
			} else {
				s.merge(t.slices[2*i+1])
			}
		}
		t.slices[i] = s
	}
	clear(t.slices[n:])
	t.slices = t.slices[:n]
}

// recent returns quantiles of the latencies handed over since the last call; 0 if there were none.
func (t *timeline) recent() (p50, p99 time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p50, p99 = time.Duration(t.fresh.Quantile(0.5)), time.Duration(t.fresh.Quantile(0.99))
	t.fresh.Reset()
	return p50, p99
}

// intervals returns the slices of a measured interval that turned out to be elapsed long, and adds their latencies to h. All workers have
// handed over.
func (t *timeline) intervals(elapsed time.Duration, h *Histogram) []Interval {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all tally.Counts
	var ivs []Interval
	for i := 0; time.Duration(i)*t.width < elapsed || i < len(t.slices); i++ {
		offset := time.Duration(i) * t.width
		iv := Interval{Offset: offset, Length: max(min(t.width, elapsed-offset), 0)}
		if i < len(t.slices) && t.slices[i] != nil {
			s := t.slices[i]
			iv.Requests, iv.Failed = s.requests, s.failed
			iv.P50, iv.P99 = time.Duration(s.latency.Quantile(0.5)), time.Duration(s.latency.Quantile(0.99))
			iv.Max = time.Duration(s.latency.Max)
			all.Merge(&s.latency)
		}
		ivs = append(ivs, iv)
	}
	h.add(&all)
	return ivs
}
