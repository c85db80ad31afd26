package stat

import (
	"math/rand/v2"
	"testing"
)

// nile is the yearly flow at Aswan, 1871 to 1970, in 10⁸ m³ (Cobb, Biometrika
// 65, 1978; R's data set Nile).
var nile = []float64{
	1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140,
	995, 935, 1110, 994, 1020, 960, 1180, 799, 958, 1140,
	1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840,
	874, 694, 940, 833, 701, 916, 692, 1020, 1050, 969,
	831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821,
	768, 845, 864, 862, 698, 845, 744, 796, 1040, 759,
	781, 865, 845, 944, 984, 897, 822, 1010, 771, 676,
	649, 846, 812, 742, 801, 1040, 860, 874, 848, 890,
	744, 749, 838, 1050, 918, 986, 797, 923, 975, 815,
	1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740,
}

func TestChangePointNile(t *testing.T) {
	c, ok := ChangePoint(nile)
	if !ok || c.At != 28 || !near(c.Before, 1097.75, 1e-14) || !near(c.After, 849.9722222222222, 1e-14) {
		t.Errorf("ChangePoint(nile) = %+v, %t, want 28, 1097.75, 849.97", c, ok)
	}
	if got := c.Shift(); !near(got, 849.9722222222222/1097.75-1, 1e-12) {
		t.Errorf("Shift = %g", got)
	}
}

func TestChangePoint(t *testing.T) {
	step := func(levels ...float64) []float64 {
		var x []float64
		for _, l := range levels {
			x = append(x, l, l, l)
		}
		return x
	}
	check := func(name string, x []float64, want Change, ok bool) {
		t.Helper()
		if got, o := ChangePoint(x); got != want || o != ok {
			t.Errorf("%s: ChangePoint = %+v, %t, want %+v, %t", name, got, o, want, ok)
		}
	}
	check("none", nil, Change{}, false)
	check("one", []float64{1}, Change{}, false)
	check("two", []float64{1, 2}, Change{}, false)
	check("five", []float64{1, 1, 1, 2, 2}, Change{}, false)
	check("six", step(1, 2), Change{At: 3, Before: 1, After: 2}, true)
	check("zero to one", step(0, 0, 1), Change{At: 6, Before: 0, After: 1}, true)
	check("equal", step(0.1, 0.1, 0.1, 0.1), Change{}, false)
	check("all zero", step(0, 0, 0), Change{}, false)
	check("tiny values", step(4e-320, 8e-320), Change{At: 3, Before: 4e-320, After: 8e-320}, true)
	check("huge values", step(1e308, -1e308), Change{At: 3, Before: 1e308, After: -1e308}, true)
	check("there and back", []float64{1, 1.1, 1, 1.1, 1, 3, 1, 1.1, 1, 1.1, 1}, Change{}, false)
}

// Reversing the order of time reverses the change.
func TestChangePointReversal(t *testing.T) {
	n := len(nile)
	x := make([]float64, n)
	for i, v := range nile {
		x[n-1-i] = v
	}
	c, ok := ChangePoint(x)
	if !ok || c.At != n-28 || !near(c.After, 1097.75, 1e-14) {
		t.Errorf("ChangePoint(reversed nile) = %+v, %t, want %d", c, ok, n-28)
	}
}

func TestChangePointFalseAlarms(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	const runs = 2_000
	for _, c := range []struct {
		n    int
		phi  float64
		most float64
	}{
		{20, 0, 0.06},
		{30, 0, 0.04},
		{100, 0, 0.02},
		{30, 0.5, 0.20},
		{100, 0.5, 0.06},
	} {
		found := 0
		for range runs {
			if _, ok := ChangePoint(autoregressive(rng, c.n, c.phi)); ok {
				found++
			}
		}
		if got := float64(found) / runs; got > c.most {
			t.Errorf("a change in %.3f of steady series of %d with φ = %g, want at most %g", got, c.n, c.phi, c.most)
		}
	}
}
