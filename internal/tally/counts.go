// Package tally holds the counters that the load path records into: the bucket layout of an HdrHistogram with three significant
// digits, without its locks, errors and fixed memory. A Counts belongs to one goroutine; what it has counted is merged into another
// Counts, or read bucket by bucket, at the border of a slice or after the run, never per request.
package tally

import (
	"iter"
	"math/bits"
)

// The layout is that of HdrHistogram for values from 1 ns to MaxValue with three significant digits: 2048 buckets of 1 ns, then 1024
// for each further power of two, so that a bucket is never wider than 1/1024 of its values. (HdrHistogram, AbstractHistogram.java:
// subBucketCount = 2^ceil(log2(2·10^3)), countsArrayIndex.)
const (
	MinValue = 1
	MaxValue = 3_600_000_000_000 // ns: 1 hour

	halfBits  = 10 // log2 of the buckets per power of two
	chunkBits = 8
	chunkLen  = 1 << chunkBits
	buckets   = (41-halfBits)<<halfBits + 2<<halfBits // MaxValue has 42 bits
	chunks    = buckets / chunkLen
)

// Counts counts durations in nanoseconds. The zero value is empty and ready to use. Memory is taken as buckets are first touched, 2 KiB
// for 256 neighbours: a client whose responses take about the same time needs a few of them, where the whole layout has 264 KiB.
type Counts struct {
	N        int64
	Clamped  int64 // of N: outside of [MinValue, MaxValue], counted in the first or last bucket
	Min, Max int64 // exact, also of clamped values; 0 if N is 0
	Sum      Uint128
	Squares  Uint128 // sum of the squares
	chunk    [chunks]*[chunkLen]int64
}

// Record counts one value. Negative ones, which no monotonic clock gives, count as 0.
func (c *Counts) Record(ns int64) {
	ns = max(ns, 0)
	if c.N == 0 || ns < c.Min {
		c.Min = ns
	}
	c.Max = max(c.Max, ns)
	c.N++
	c.Sum.Add(uint64(ns))
	c.Squares.AddSquare(uint64(ns))
	clamped := min(max(ns, MinValue), MaxValue)
	if clamped != ns {
		c.Clamped++
	}
	i := index(clamped)
	p := c.chunk[i>>chunkBits]
	if p == nil {
		p = new([chunkLen]int64)
		c.chunk[i>>chunkBits] = p
	}
	p[i&(chunkLen-1)]++
}

// Merge adds what other has counted to c.
func (c *Counts) Merge(other *Counts) {
	if other.N == 0 {
		return
	}
	if c.N == 0 || other.Min < c.Min {
		c.Min = other.Min
	}
	c.Max = max(c.Max, other.Max)
	c.N += other.N
	c.Clamped += other.Clamped
	c.Sum.AddUint128(other.Sum)
	c.Squares.AddUint128(other.Squares)
	for i, from := range &other.chunk {
		if from == nil {
			continue
		}
		to := c.chunk[i]
		if to == nil {
			to = new([chunkLen]int64)
			c.chunk[i] = to
		}
		for j, n := range from {
			to[j] += n
		}
	}
}

// Reset empties c and keeps its memory, for the next slice will touch the same buckets.
func (c *Counts) Reset() {
	if c.N == 0 {
		return
	}
	for _, p := range &c.chunk {
		if p != nil {
			clear(p[:])
		}
	}
	chunk := c.chunk
	*c = Counts{chunk: chunk}
}

// Quantile returns the q-quantile of what c has counted, as AtRank does; 0 if it is empty.
func (c *Counts) Quantile(q float64) int64 {
	if c.N == 0 {
		return 0
	}
	return AtRank(c.All(), Rank(q, c.N), c.N, c.Min, c.Max)
}

// AtRank returns the value of a rank, 1 <= rank <= n, among n values from lo to hi in buckets: the upper end of the bucket that holds
// it, within [lo, hi], and exactly hi for the last.
func AtRank(buckets iter.Seq2[int64, int64], rank, n, lo, hi int64) int64 {
	if rank >= n { // the last bucket may hold several values, of which the greatest is known
		return hi
	}
	var seen int64
	for low, count := range buckets {
		if seen += count; seen >= rank {
			return min(max(low+Width(low)-1, lo), hi)
		}
	}
	return hi
}

// All ranges over the buckets that are not empty, from low to high: the smallest value of the bucket, and its count.
func (c *Counts) All() iter.Seq2[int64, int64] {
	return func(yield func(low, n int64) bool) {
		for i, p := range &c.chunk {
			if p == nil {
				continue
			}
			for j, n := range p {
				if n != 0 && !yield(lowest(i<<chunkBits+j), n) {
					return
				}
			}
		}
	}
}

// Rank returns the 1-based rank of the q-quantile among n > 0 sorted values: ceil(q·n), at least 1 and at most n. A q outside of [0,1],
// or NaN, counts as the nearer end.
func Rank(q float64, n int64) int64 {
	if !(q > 0) {
		return 1
	}
	if q >= 1 {
		return n
	}
	x := q * float64(n)
	rank := int64(x)
	// 0.07·100 is 7.000000000000001 in binary: a product that misses an integer by rounding alone is that integer.
	if x-float64(rank) > 1e-9*x {
		rank++
	}
	return min(max(rank, 1), n)
}

// Width returns how many values share the bucket of ns.
func Width(ns int64) int64 { return 1 << shift(ns) }

func shift(ns int64) int { return bits.Len64(uint64(ns)|(2<<halfBits-1)) - (halfBits + 1) }

func index(ns int64) int {
	s := shift(ns)
	return s<<halfBits + int(ns>>s)
}

// lowest is the inverse of index: the smallest value of bucket i.
func lowest(i int) int64 {
	if i < 2<<halfBits {
		return int64(i)
	}
	s := i>>halfBits - 1
	return int64(i-s<<halfBits) << s
}
