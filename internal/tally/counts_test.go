package tally

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// values returns durations as a load test sees them and as it does not: uniform, exponential, bimodal, powers of two and their neighbours.
func values(r *rand.Rand, n int) []int64 {
	vs := make([]int64, n)
	for i := range vs {
		switch i % 4 {
		case 0:
			vs[i] = r.Int64N(5_000_000)
		case 1:
			vs[i] = int64(r.ExpFloat64() * 1e6)
		case 2:
			vs[i] = []int64{1_000_000, 1_000_000_000}[r.IntN(2)]
		default:
			vs[i] = int64(1)<<r.IntN(42) + r.Int64N(3) - 1
		}
	}
	return vs
}

func TestCountsLayoutIsThatOfHDR(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, v := range append(values(r, 20000), MinValue, 2047, 2048, 2049, MaxValue) {
		v = min(max(v, MinValue), MaxValue)
		h := hdrhistogram.NewPacked(MinValue, MaxValue, 3)
		if err := h.RecordValue(v); err != nil {
			t.Fatalf("RecordValue(%d): %v", v, err)
		}
		var c Counts
		c.Record(v)
		var low int64 = -1
		for l := range c.All() {
			low = l
		}
		for want := range h.ForEachBucket {
			if low != want || low+Width(low)-1 != h.Max() {
				t.Fatalf("%d is counted in [%d, %d], in an HdrHistogram in [%d, %d]", v, low, low+Width(low)-1, want, h.Max())
			}
		}
	}
}

func TestCountsQuantiles(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 3, 10, 99, 1000, 40000} {
		vs := values(r, n)
		var c Counts
		for _, v := range vs {
			c.Record(v)
		}
		slices.Sort(vs)
		for _, q := range []float64{-1, 0, 0.001, 0.01, 0.07, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1, 2, math.NaN()} {
			want := vs[Rank(q, int64(n))-1]
			got := c.Quantile(q)
			if got < want && want > 0 || float64(got-want) > float64(want)/1024+1 {
				t.Errorf("n=%d: Quantile(%v) = %d, want %d to +1/1024", n, q, got, want)
			}
			if got < vs[0] || got > vs[n-1] {
				t.Errorf("n=%d: Quantile(%v) = %d, outside of [%d, %d]", n, q, got, vs[0], vs[n-1])
			}
		}
	}
}

func TestRank(t *testing.T) {
	for _, tt := range []struct {
		q    float64
		n    int64
		want int64
	}{
		{0, 10, 1}, {1, 10, 10}, {0.5, 1, 1}, {0.5, 2, 1}, {0.5, 3, 2}, {0.99, 100, 99}, {0.99, 101, 100}, {0.07, 100, 7},
		{0.999, 1000, 999}, {0.9, 10, 9}, {0.29, 100, 29}, {0.57, 100, 57}, {math.Inf(1), 5, 5}, {math.NaN(), 5, 1}, {0.5, 1e12, 5e11},
	} {
		if got := Rank(tt.q, tt.n); got != tt.want {
			t.Errorf("Rank(%v, %d) = %d, want %d", tt.q, tt.n, got, tt.want)
		}
	}
}

func TestCountsMergeIsRecordingAll(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var all, a, b Counts
	for i, v := range values(r, 5000) {
		v -= 2 // some negative
		all.Record(v)
		if i%3 == 0 {
			a.Record(v)
		} else {
			b.Record(v)
		}
	}
	a.Merge(&b)
	a.Merge(new(Counts))
	checkEqual(t, &a, &all)

	b.Reset()
	if b.N != 0 || b.Max != 0 || b.Quantile(0.5) != 0 {
		t.Errorf("after Reset: N = %d, Max = %d", b.N, b.Max)
	}
	for low, n := range b.All() {
		t.Errorf("after Reset: %d in the bucket of %d", n, low)
	}
	b.Merge(&all)
	checkEqual(t, &b, &all)
}

func checkEqual(t *testing.T, got, want *Counts) {
	t.Helper()
	if got.N != want.N || got.Min != want.Min || got.Max != want.Max || got.Clamped != want.Clamped || got.Sum != want.Sum || got.Squares != want.Squares {
		t.Errorf("got N %d, from %d to %d; want %d, %d, %d", got.N, got.Min, got.Max, want.N, want.Min, want.Max)
	}
	type bucket struct{ low, n int64 }
	list := func(c *Counts) (bs []bucket) {
		for low, n := range c.All() {
			bs = append(bs, bucket{low, n})
		}
		return bs
	}
	if !slices.Equal(list(got), list(want)) {
		t.Error("buckets differ")
	}
}

func TestCountsClamp(t *testing.T) {
	var c Counts
	for _, v := range []int64{-5, 0, 1, MaxValue, MaxValue + 1, math.MaxInt64} {
		c.Record(v)
	}
	if c.N != 6 || c.Clamped != 4 || c.Min != 0 || c.Max != math.MaxInt64 {
		t.Errorf("N = %d, Clamped = %d, from %d to %d; want 6, 4, 0, the greatest", c.N, c.Clamped, c.Min, c.Max)
	}
}

func TestCountsAllocateOnlyForNewBuckets(t *testing.T) {
	var c Counts
	c.Record(1000)
	if n := testing.AllocsPerRun(1000, func() { c.Record(1000); c.Record(1003) }); n != 0 {
		t.Errorf("%v allocations per Record, want 0", n)
	}
}

func TestUint128(t *testing.T) {
	var u Uint128
	want := new(big.Int)
	for range 1000 {
		u.AddSquare(MaxValue)
		want.Add(want, new(big.Int).Mul(big.NewInt(MaxValue), big.NewInt(MaxValue)))
	}
	u.Add(math.MaxUint64)
	want.Add(want, new(big.Int).SetUint64(math.MaxUint64))
	if got := u.Big(); got.Cmp(want) != 0 {
		t.Errorf("sum = %v, want %v", got, want)
	}
	if back, ok := FromBig(want); !ok || back != u {
		t.Errorf("FromBig(%v) = %v, %v", want, back, ok)
	}
	if got := u.Times(7).Big(); got.Cmp(want.Mul(want, big.NewInt(7))) != 0 {
		t.Errorf("times 7 = %v, want %v", got, want)
	}
	for _, bad := range []*big.Int{big.NewInt(-1), new(big.Int).Lsh(big.NewInt(1), 128)} {
		if _, ok := FromBig(bad); ok {
			t.Errorf("FromBig(%v) is ok", bad)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	vs := values(rand.New(rand.NewPCG(7, 8)), 4096)
	b.Run("into=counts", func(b *testing.B) {
		var c Counts
		i := 0
		for b.Loop() {
			c.Record(vs[i&4095])
			i++
		}
	})
	b.Run("into=hdrhistogram", func(b *testing.B) {
		h := hdrhistogram.New(MinValue, MaxValue, 3)
		i := 0
		for b.Loop() {
			_ = h.RecordValue(min(max(vs[i&4095], MinValue), MaxValue))
			i++
		}
	})
}
