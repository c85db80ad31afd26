package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMoments(t *testing.T) {
	r := summarise([]float64{2, 4, 4, 4, 5, 5, 7, 9})
	if r.mean != 5 || r.sse != 32 {
		t.Errorf("summarise = %+v, want mean 5, sse 32", r)
	}
	check := func(name string, got, want float64) {
		t.Helper()
		if !near(got, want, 1e-14) {
			t.Errorf("%s = %g, want %g", name, got, want)
		}
	}
	check("mean of none", mean(nil), 0)
	check("median of none", median(nil), 0)
	check("odd median", median([]float64{9, 1, 5}), 5)
	check("even median", median([]float64{9, 1, 5, 3}), 4)
	check("lag 1 of none", lag1(nil), 0)
	check("lag 1 of one", lag1([]float64{3}), 0)
	check("lag 1 of equals", lag1([]float64{3, 3, 3}), 0)
	check("lag 1 of 1 2 3 4", lag1([]float64{1, 2, 3, 4}), 0.25)
	check("relative", relative(50, 60), 0.2)
	check("relative, negative", relative(-50, -60), -0.2)
	check("relative from zero", relative(0, 3), 1e6)
	check("relative from zero down", relative(0, -3), -1e6)
	check("relative of zeros", relative(0, 0), 0)
	check("correlationFactor", correlationFactor(0.5), 3)
	check("correlationFactor of negative", correlationFactor(-0.5), 1)
	check("correlationFactor of one", correlationFactor(1), 19)

	x := []float64{1, 2, 3, 4, 5, 6, 7}
	if got := batchMeans(x, 3, true); !slices.Equal(got, []float64{3, 6}) {
		t.Errorf("batchMeans, front = %v, want [3 6]", got)
	}
	if got := batchMeans(x, 3, false); !slices.Equal(got, []float64{2, 5}) {
		t.Errorf("batchMeans, back = %v, want [2 5]", got)
	}
}

// Nothing exported returns NaN or an infinity, or changes its argument,
// however extreme the values.
func TestFinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 13))
	palette := []float64{
		0, math.Copysign(0, -1), 1, -1, 0.1, 1e-300, 1e300,
		math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1e-17, 3,
	}
	finite := func(what string, x []float64, vs ...float64) {
		t.Helper()
		for _, v := range vs {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%s of %v = %v", what, x, vs)
			}
		}
	}
	for range 3_000 {
		x := make([]float64, rng.IntN(120))
		kinds := 1 + rng.IntN(len(palette)) // few kinds give long runs of equals
		for i := range x {
			x[i] = palette[rng.IntN(kinds)]
			if rng.IntN(3) == 0 {
				x[i] *= rng.Float64()
			}
		}
		before := slices.Clone(x)

		b, _ := BatchMean(x, rng.Float64())
		finite("BatchMean", x, b.Mean, b.Low, b.High, b.Lag1)
		if b.Low > b.Mean || b.Mean > b.High {
			t.Fatalf("BatchMean of %v = %+v, out of order", x, b)
		}
		s := Steady(x)
		finite("Steady", x, s.Rho, s.P, s.Drift, s.Change.Before, s.Change.After, s.Change.Shift())
		c, ok := ChangePoint(x)
		finite("ChangePoint", x, c.Before, c.After, c.Shift())
		if ok && (c.At < minSegment || c.At > len(x)-minSegment) {
			t.Fatalf("ChangePoint of %v = %+v", x, c)
		}
		rho, p := Spearman(x, x[len(x)/3:])
		finite("Spearman", x, rho, p)
		if rho < -1 || rho > 1 || p < 0 || p > 1 {
			t.Fatalf("Spearman of %v = %g, %g", x, rho, p)
		}

		p = palette[rng.IntN(len(palette))]
		df := palette[rng.IntN(len(palette))]
		finite("distributions", []float64{p, df},
			NormalQuantile(p), StudentCDF(p, df), StudentQuantile(rng.Float64(), df), BinomialCDF(3, 10, p))
		if !slices.EqualFunc(x, before, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
			t.Fatalf("argument was changed: %v to %v", before, x)
		}
	}
}
