package stat

import (
	"math/rand/v2"
	"testing"
)

func TestMSER5(t *testing.T) {
	rampThenFlat := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 10 + float64(1-i%2*2)
			if i < 40 {
				x[i] = 50 - float64(i)
			}
		}
		return x
	}
	check := func(name string, x []float64, cut int, ok bool) {
		t.Helper()
		if c, o := MSER5(x); c != cut || o != ok {
			t.Errorf("%s: MSER5 = %d, %t, want %d, %t", name, c, o, cut, ok)
		}
	}
	check("ramp", rampThenFlat(200), 40, true)
	check("ramp and a remainder", rampThenFlat(204), 40, true)
	check("ramp over all that may be cut", rampThenFlat(80), 40, false)
	check("equal", make([]float64, 100), 0, true)
	check("none", nil, 0, false)
	check("one", []float64{1}, 0, false)
	check("two", []float64{1, 2}, 0, false)
	check("too few", make([]float64, MinMSERSlices-1), 0, false)
	check("just enough", make([]float64, MinMSERSlices), 0, true)

	tenths := make([]float64, 100)
	for i := range tenths {
		tenths[i] = 0.1
	}
	check("equal tenths", tenths, 0, true)
	endless := make([]float64, 100)
	for i := range endless {
		endless[i] = float64(i)
	}
	check("never settles", endless, 50, false)
}

// The batch sums computed from the back agree with the definition.
func TestMSER5Definition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 11))
	for range 200 {
		x := autoregressive(rng, 50+rng.IntN(200), 0.8)
		z := batchMeans(x, mserBatch, false)
		n := len(z)
		best, least := 0, -1.0
		for d := 0; d <= n/2; d++ {
			m := float64(n - d)
			if score := summarise(z[d:]).sse / (m * m); least < 0 || score < least {
				best, least = d, score
			}
		}
		if cut, ok := MSER5(x); cut != 5*best || ok != (best < n/2) {
			t.Errorf("MSER5 of %d values = %d, %t, want %d", len(x), cut, ok, 5*best)
		}
	}
}

// A settled series loses little.
func TestMSER5Settled(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 12))
	const runs, n = 1_000, 200
	total, refused := 0, 0
	for range runs {
		cut, ok := MSER5(autoregressive(rng, n, 0))
		total += cut
		if !ok {
			refused++
		}
	}
	if mean := float64(total) / runs; mean > 0.06*n || refused > runs/50 {
		t.Errorf("settled series: cut %.1f of %d on average, %d of %d refused", mean, n, refused, runs)
	}
}
