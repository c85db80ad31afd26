package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// shaped returns n values of f with 1 % of normal noise.
func shaped(seed uint64, n int, f func(i int) float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 9))
	x := make([]float64, n)
	for i := range x {
		x[i] = f(i) * (1 + 0.01*rng.NormFloat64())
	}
	return x
}

func TestSteady(t *testing.T) {
	const n = 60
	for _, c := range []struct {
		name    string
		f       func(i int) float64
		verdict string
		at      int
	}{
		{"flat", func(int) float64 { return 800 }, VerdictSteady, 0},
		{"significant but small drift", func(i int) float64 { return 800 + 0.4*float64(i) }, VerdictSteady, 0},
		{"falling by a fifth", func(i int) float64 { return 800 - 2.7*float64(i) }, VerdictDrifting, 30},
		{"rising by 12 %", func(i int) float64 { return 800 + 1.6*float64(i) }, VerdictDrifting, 0},
		{"step down", func(i int) float64 { return step(i < 20, 800, 600) }, VerdictLevelChange, 20},
		{"step up, late", func(i int) float64 { return step(i < 52, 800, 1200) }, VerdictLevelChange, 52},
		{"small step", func(i int) float64 { return step(i < 30, 800, 776) }, VerdictSteady, 0},
		{"one stall at the end", func(i int) float64 { return step(i != 58, 800, 10) }, VerdictSteady, 0},
		{"one stall at the start", func(i int) float64 { return step(i != 1, 800, 10) }, VerdictSteady, 0},
		{"zero, then some", func(i int) float64 { return step(i < 20, 0, 600) }, VerdictLevelChange, 20},
	} {
		for seed := range uint64(20) {
			s := Steady(shaped(seed, n, c.f))
			if s.Verdict != c.verdict || c.verdict != VerdictDrifting && s.Change.At != c.at {
				t.Errorf("%s, seed %d: Steady = %+v, want %q at %d", c.name, seed, s, c.verdict, c.at)
			}
		}
	}
}

func step(first bool, before, after float64) float64 {
	if first {
		return before
	}
	return after
}

func TestSteadyNumbers(t *testing.T) {
	s := Steady(nile)
	if s.Verdict != VerdictLevelChange || s.Change.At != 28 {
		t.Errorf("Steady(nile) = %+v, want a level change at 28", s)
	}
	if want := median(nile[67:])/median(nile[:33]) - 1; !near(s.Drift, want, 1e-12) {
		t.Errorf("Steady(nile).Drift = %g, want %g", s.Drift, want)
	}
	ramp := make([]float64, 30)
	for i := range ramp {
		ramp[i] = 100 + float64(i)
	}
	s = Steady(ramp)
	if s.Verdict != VerdictDrifting || s.Rho != 1 || !near(s.Drift, 124.5/104.5-1, 1e-12) {
		t.Errorf("Steady(ramp) = %+v, want drifting by %g", s, 124.5/104.5-1)
	}
}

func TestSteadyFew(t *testing.T) {
	for n := range MinSteadySlices {
		if s := Steady(nile[:n]); s != (Steadiness{Verdict: VerdictUnknown}) {
			t.Errorf("Steady of %d values = %+v, want unknown", n, s)
		}
	}
	for _, v := range []float64{0, 0.1, -3, math.MaxFloat64} {
		x := make([]float64, 40)
		for i := range x {
			x[i] = v
		}
		if s := Steady(x); s != (Steadiness{Verdict: VerdictSteady, P: 1}) {
			t.Errorf("Steady of equal values %g = %+v", v, s)
		}
	}
}

func TestSteadyFalseAlarms(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 10))
	const runs = 1_000
	for _, n := range []int{20, 50, 100} {
		for _, noise := range []float64{0.02, 0.1, 0.4} {
			alarms := 0
			for range runs {
				x := make([]float64, n)
				for i := range x {
					x[i] = 1 + noise*rng.NormFloat64()
				}
				if Steady(x).Verdict != VerdictSteady {
					alarms++
				}
			}
			if got := float64(alarms) / runs; got > 0.06 {
				t.Errorf("%d independent values with %g noise: alarm in %.3f", n, noise, got)
			}
		}
	}
}
