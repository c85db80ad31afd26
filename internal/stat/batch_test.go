package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// autoregressive returns n values about 10 of a stationary AR(1) series whose
// innovations have variance 1.
func autoregressive(rng *rand.Rand, n int, phi float64) []float64 {
	x := make([]float64, n)
	v := rng.NormFloat64() / math.Sqrt(1-phi*phi)
	for i := range x {
		x[i] = 10 + v
		v = phi*v + rng.NormFloat64()
	}
	return x
}

func TestBatchMeanCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	const runs = 2_000
	for _, c := range []struct {
		n           int
		phi         float64
		least, most float64
	}{
		{10, 0, 0.94, 0.98},
		{30, 0, 0.94, 0.98},
		{100, 0, 0.94, 0.98},
		{1_000, 0, 0.94, 0.98},
		{10, 0.5, 0.84, 0.90}, // as the doc comment admits
		{30, 0.5, 0.90, 0.98},
		{60, 0.5, 0.90, 0.98},
		{100, 0.5, 0.90, 0.98},
		{1_000, 0.5, 0.94, 0.98},
		{30, 0.8, 0.82, 0.90},
		{100, 0.8, 0.90, 0.96},
		{1_000, 0.8, 0.94, 0.98},
	} {
		hit := 0
		for range runs {
			b, ok := BatchMean(autoregressive(rng, c.n, c.phi), 0.95)
			if ok && b.Low <= 10 && 10 <= b.High {
				hit++
			}
		}
		if got := float64(hit) / runs; got < c.least || got > c.most {
			t.Errorf("95 %% interval of %d values with φ = %g covers %.3f, want %g to %g",
				c.n, c.phi, got, c.least, c.most)
		}
	}
}

func TestBatchMeanFormula(t *testing.T) {
	// Ten values with s = 10 and a negative lag-1 autocorrelation, so that no
	// factor applies.
	x := make([]float64, 10)
	for i := range x {
		x[i] = 100 + 10*math.Sqrt(0.9)*float64(1-i%2*2)
	}
	b, ok := BatchMean(x, 0.95)
	half := 2.2621571627982055 * 10 / math.Sqrt(10)
	if !ok || !near(b.Mean, 100, 1e-12) || !near(b.High-b.Mean, half, 1e-12) || !near(b.Mean-b.Low, half, 1e-12) {
		t.Errorf("BatchMean(alternating) = %+v, %t, want 100 ± %g", b, ok, half)
	}
	if b.Batches != 10 || b.Size != 1 || b.Lag1 > 0 {
		t.Errorf("BatchMean(alternating) = %+v, want 10 batches of 1, lag 1 below 0", b)
	}
}

func TestBatchMeanBatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for n := MinBatchSlices; n < 500; n++ {
		for _, phi := range []float64{0, 0.9} {
			b, ok := BatchMean(autoregressive(rng, n, phi), 0.95)
			if !ok || b.Batches < MinBatchSlices || b.Batches > 39 || n >= 40 && b.Batches > 29 {
				t.Errorf("n = %d: %d batches, ok = %t", n, b.Batches, ok)
			}
			if rest := n - b.Batches*b.Size; rest < 0 || rest >= b.Size {
				t.Errorf("n = %d: %d batches of %d leave %d", n, b.Batches, b.Size, rest)
			}
			if merged := b.Size > max(1, n/wantBatches); b.Lag1 > maxBatchLag && !merged && n >= 40 {
				t.Errorf("n = %d: lag 1 is %g, yet nothing was merged", n, b.Lag1)
			}
		}
	}
}

// The values that fill no batch are the first ones, and only Mean knows them.
func TestBatchMeanRemainder(t *testing.T) {
	x := make([]float64, 43)
	for i := range x {
		x[i] = 7
	}
	x[0] = 50 // 43 = 1 + 21 batches of 2
	b, ok := BatchMean(x, 0.95)
	want := 7 + 43.0/43
	if !ok || b.Size != 2 || b.Batches != 21 || !near(b.Mean, want, 1e-15) || b.Low != b.Mean || b.High != b.Mean {
		t.Errorf("BatchMean = %+v, %t, want mean %g, no width", b, ok, want)
	}
}

func TestBatchMeanFew(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for n := range MinBatchSlices {
		if b, ok := BatchMean(x[:n], 0.95); ok || b != (BatchInterval{}) {
			t.Errorf("BatchMean of %d values = %+v, %t, want nothing", n, b, ok)
		}
	}
	for _, c := range []float64{-1, 0, 1, 2} {
		if b, ok := BatchMean(x, c); ok || b != (BatchInterval{}) {
			t.Errorf("BatchMean at confidence %g = %+v, %t, want nothing", c, b, ok)
		}
	}
}

func TestBatchMeanEqual(t *testing.T) {
	for _, v := range []float64{0, 0.1, -812.7, 1e300, 5e-324} {
		for _, n := range []int{10, 33, 101} {
			x := make([]float64, n)
			for i := range x {
				x[i] = v
			}
			b, ok := BatchMean(x, 0.95)
			if !ok || b.Mean != v || b.Low != v || b.High != v || b.Lag1 != 0 {
				t.Errorf("BatchMean of %d times %g = %+v, %t", n, v, b, ok)
			}
		}
	}
}

// A change of unit changes nothing but the unit.
func TestBatchMeanScale(t *testing.T) {
	x := autoregressive(rand.New(rand.NewPCG(1, 6)), 64, 0.5)
	a, _ := BatchMean(x, 0.95)
	for _, exp := range []int{-900, -3, 40, 1000} {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = math.Ldexp(v, exp)
		}
		b, _ := BatchMean(y, 0.95)
		if b.Low != math.Ldexp(a.Low, exp) || b.High != math.Ldexp(a.High, exp) || b.Lag1 != a.Lag1 {
			t.Errorf("BatchMean at 2^%d = %+v, unscaled %+v", exp, b, a)
		}
	}
}
