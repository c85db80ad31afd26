package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestQuantileRanks(t *testing.T) {
	check := func(n int64, q, confidence float64, lo, hi int64, ok bool) {
		t.Helper()
		l, h, o := QuantileRanks(n, q, confidence)
		if l != lo || h != hi || o != ok {
			t.Errorf("QuantileRanks(%d, %g, %g) = %d, %d, %t, want %d, %d, %t",
				n, q, confidence, l, h, o, lo, hi, ok)
		}
	}
	check(1_000, 0.99, 0.95, 983, 997, true)
	check(10_000, 0.99, 0.95, 9_880, 9_920, true)
	check(10_000, 0.999, 0.95, 9_983, 9_997, true)
	check(100_000, 0.99, 0.95, 98_938, 99_062, true)
	check(100_000, 0.999, 0.95, 99_880, 99_920, true)
	// Medians, as golang.org/x/perf/benchmath gives them.
	check(10, 0.5, 0.95, 2, 9, true)
	check(6, 0.5, 0.95, 1, 6, true)
	check(8, 0.5, 0.99, 1, 8, true)

	check(0, 0.5, 0.95, 0, 0, false)
	check(-1, 0.5, 0.95, 0, 0, false)
	check(1, 0.5, 0.95, 0, 0, false)
	check(2, 0.5, 0.95, 0, 0, false)
	check(2, 0.5, 0.5, 1, 2, true)
	check(1_000, 0, 0.95, 0, 0, false)
	check(1_000, 1, 0.95, 0, 0, false)
	check(1_000, 0.5, 0, 0, 0, false)
	check(1_000, 0.5, 1, 0, 0, false)
	check(1<<53+1, 0.5, 0.95, 0, 0, false)
	check(math.MaxInt64, 0.5, 0.95, 0, 0, false)
	// No upper end yet; the lower bound stands: .99^197 > .025 ≥ P(B ≤ 195).
	check(200, 0.99, 0.95, 195, 0, false)
	check(200, 0.01, 0.95, 0, 6, false)

	coverage := func(n, lo, hi int64, q float64) float64 {
		return BinomialCDF(hi-1, n, q) - BinomialCDF(lo-1, n, q)
	}
	if got := coverage(10, 2, 9, 0.5); !near(got, 0.978515625, 1e-12) {
		t.Errorf("coverage of (2, 9) in 10 = %g, want 0.978515625", got)
	}
	if got := coverage(6, 1, 6, 0.5); !near(got, 0.96875, 1e-12) {
		t.Errorf("coverage of (1, 6) in 6 = %g, want 0.96875", got)
	}
}

// The ranks are the narrowest that keep both tails, at every size up to the
// largest; this is the definition, so it needs no table.
func TestQuantileRanksDefinition(t *testing.T) {
	for _, n := range []int64{6, 7, 40, 368, 5_000, 1e6, 1e9, 1e12} {
		for _, q := range []float64{1e-4, 0.01, 0.5, 0.9, 0.99, 0.999, 0.9999} {
			for _, c := range []float64{0.5, 0.9, 0.95, 0.99, 0.999} {
				lo, hi, ok := QuantileRanks(n, q, c)
				half := (1 - c) / 2 * tailSlack
				if ok != (n >= MinSamples(q, c)) {
					t.Errorf("QuantileRanks(%d, %g, %g): ok = %t, MinSamples %d", n, q, c, ok, MinSamples(q, c))
				}
				below := func(j int64) float64 { return BinomialCDF(j-1, n, q) }
				above := func(k int64) float64 { return binomialAtMost(n-k, n, 1-q, q) }
				if lo > 0 && below(lo) > half || below(lo+1) <= half {
					t.Errorf("QuantileRanks(%d, %g, %g): lo = %d with tails %g, %g", n, q, c, lo, below(lo), below(lo+1))
				}
				if hi > 0 && (above(hi) > half || above(hi-1) <= half) {
					t.Errorf("QuantileRanks(%d, %g, %g): hi = %d with tails %g, %g", n, q, c, hi, above(hi), above(hi-1))
				}
				if hi == 0 && above(n) <= half {
					t.Errorf("QuantileRanks(%d, %g, %g): no hi though P(B = n) = %g", n, q, c, above(n))
				}
				if !ok {
					continue
				}
				// Turning the order of the values round exchanges the ends.
				if q == 0.5 && lo+hi != n+1 {
					t.Errorf("QuantileRanks(%d, %g, %g) = %d, %d, not symmetric", n, q, c, lo, hi)
				}
				if wlo, whi, wok := QuantileRanks(n, q, 1-(1-c)/2); wok && (wlo > lo || whi < hi) {
					t.Errorf("QuantileRanks(%d, %g): wider confidence gives %d, %d inside %d, %d", n, q, wlo, whi, lo, hi)
				}
			}
		}
	}
}

func TestQuantileRanksCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	const runs, n, q = 2_000, 1_000, 0.99
	lo, hi, _ := QuantileRanks(n, q, 0.95)
	truth := -math.Log(1 - q)
	hit := 0
	x := make([]float64, n)
	for range runs {
		for i := range x {
			x[i] = rng.ExpFloat64()
		}
		slices.Sort(x)
		if x[lo-1] <= truth && truth <= x[hi-1] {
			hit++
		}
	}
	if got := float64(hit) / runs; got < 0.94 {
		t.Errorf("95 %% interval of the 0.99-quantile covers %.3f", got)
	}
}

func TestMinSamples(t *testing.T) {
	check := func(q, confidence float64, want int64) {
		t.Helper()
		if got := MinSamples(q, confidence); got != want {
			t.Errorf("MinSamples(%g, %g) = %d, want %d", q, confidence, got, want)
		}
	}
	for i, q := range []float64{0.5, 0.9, 0.95, 0.99, 0.999, 0.9999} {
		check(q, 0.95, []int64{6, 36, 72, 368, 3_688, 36_887}[i])
		check(q, 0.90, []int64{5, 29, 59, 299, 2_995, 29_956}[i]) // one-sided 95 %
		check(q, 0.98, []int64{7, 44, 90, 459, 4_603, 46_050}[i]) // one-sided 99 %
	}
	check(0.01, 0.95, 368)
	check(0.5, 0.99, 8)
	check(0.5, 0, 1)
	check(0.5, -1, 1)
	check(0.5, 0.1, 2)
	check(0.5, 1, math.MaxInt64)
	check(0, 0.95, math.MaxInt64)
	check(1, 0.95, math.MaxInt64)
	check(1e-300, 0.95, math.MaxInt64)
}
