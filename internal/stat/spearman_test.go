package stat

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSpearman(t *testing.T) {
	check := func(name string, x, y []float64, rho, p float64) {
		t.Helper()
		r, got := Spearman(x, y)
		if !near(r, rho, 1e-14) || !near(got, p, 1e-7) {
			t.Errorf("%s: Spearman = %.16g, %.9g, want %.16g, %.9g", name, r, got, rho, p)
		}
	}
	// IQ against hours of television, the worked example of Wikipedia's article
	// "Spearman's rank correlation coefficient", which gives p = 0.627188.
	iq := []float64{106, 100, 86, 101, 99, 103, 97, 113, 112, 110}
	tv := []float64{7, 27, 2, 50, 28, 29, 20, 12, 6, 17}
	rho, p := Spearman(iq, tv)
	if !near(rho, -29.0/165, 1e-14) || !near(p, 0.627188, 1e-5) {
		t.Errorf("Spearman(IQ, TV) = %g, %g, want -29/165, 0.627188", rho, p)
	}

	check("none", nil, nil, 0, 1)
	check("one", []float64{1}, []float64{2}, 0, 1)
	check("two", []float64{1, 2}, []float64{5, 3}, -1, 1)
	check("three in order", []float64{1, 2, 3}, []float64{4, 5, 9}, 1, 2.0/6)
	check("four in reverse", []float64{1, 2, 3, 4}, []float64{9, 5, 4, 0}, -1, 2.0/24)
	check("equal", []float64{1, 2, 3, 4}, []float64{5, 5, 5, 5}, 0, 1)
	check("lengths differ", []float64{1, 2, 3, 4}, []float64{5, 6, 7}, 1, 2.0/6)
	// Midranks 1 2.5 2.5 4 against 1 2 3 4: rho = 4.5/√(4.5·5) = √0.9, and
	// t = √18 at 2 degrees of freedom, where p = 1 - t/√(2+t²) in closed form.
	check("ties", []float64{1, 2, 3, 4}, []float64{10, 20, 20, 30}, 0.9486832980505138, 2.0/24)
}

func TestSpearmanProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	significant := 0
	const runs = 2_000
	for range runs {
		x, y := make([]float64, 25), make([]float64, 25)
		for i := range x {
			x[i], y[i] = float64(rng.IntN(40)), rng.NormFloat64()
		}
		rho, p := Spearman(x, y)
		if r, q := Spearman(y, x); r != rho || q != p {
			t.Fatalf("Spearman is not symmetric: %g, %g and %g, %g", rho, p, r, q)
		}
		for i := range x {
			x[i] = -x[i]
		}
		if r, q := Spearman(x, y); r != -rho || q != p {
			t.Fatalf("reversal turns %g, %g into %g, %g", rho, p, r, q)
		}
		if p < 0.05 {
			significant++
		}
	}
	if got := float64(significant) / runs; got < 0.03 || got > 0.07 {
		t.Errorf("p < 0.05 in %.3f of independent pairs", got)
	}
}

func TestMidranks(t *testing.T) {
	got := midranks([]float64{3, 1, 3, 2, 3, 1})
	if want := []float64{5, 1.5, 5, 3, 5, 1.5}; !slices.Equal(got, want) {
		t.Errorf("midranks = %v, want %v", got, want)
	}
}
