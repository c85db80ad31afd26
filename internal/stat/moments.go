package stat

import (
	"math"
	"slices"
)

// normalise returns x divided by a power of two that brings its largest
// magnitude into [½, 1), and the exponent of that power. The division is exact
// but for values 300 decades below the largest one. On the scaled values no
// sum of squares overflows or vanishes; [restore] takes results back.
func normalise(x []float64) (scaled []float64, exp int) {
	top := 0.0
	for _, v := range x {
		top = max(top, math.Abs(v))
	}
	_, exp = math.Frexp(top)
	scaled = make([]float64, len(x))
	for i, v := range x {
		scaled[i] = math.Ldexp(v, -exp)
	}
	return scaled, exp
}

// restore undoes the scaling of [normalise] for one result. A bound beyond the
// largest float64 stays at it.
func restore(v float64, exp int) float64 {
	return clamp(math.Ldexp(v, exp), -math.MaxFloat64, math.MaxFloat64)
}

// running accumulates a mean and a sum of squared deviations by Welford's
// recurrence (Technometrics 4, 1962). For equal values the mean is exactly
// that value and the sum exactly 0, which the sum of squares minus the square
// of the sum would not give.
type running struct {
	n    float64
	mean float64
	sse  float64
}

func (r *running) add(v float64) {
	r.n++
	d := v - r.mean
	r.mean += d / r.n
	r.sse += d * (v - r.mean)
}

func summarise(x []float64) running {
	var r running
	for _, v := range x {
		r.add(v)
	}
	return r
}

func mean(x []float64) float64 { return summarise(x).mean }

// median returns the middle value, or the mean of the middle two; 0 for none.
func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(x))
	h := len(s) / 2
	if len(s)%2 == 1 {
		return s[h]
	}
	return s[h-1]/2 + s[h]/2
}

// batchMeans returns the means of consecutive batches of size values. A
// remainder that does not fill a batch is left out at the front, where a
// series is most likely to be unsettled, or at the back.
func batchMeans(x []float64, size int, front bool) []float64 {
	j := len(x) / size
	if front {
		x = x[len(x)-j*size:]
	}
	means := make([]float64, j)
	for i := range means {
		means[i] = mean(x[i*size : (i+1)*size])
	}
	return means
}

// lag1 returns the lag-1 autocorrelation of x, in [-1, 1]; 0 for fewer than
// two values or for equal ones. For independent values it is about -1/n.
func lag1(x []float64) float64 {
	r := summarise(x)
	if len(x) < 2 || r.sse == 0 {
		return 0
	}
	sum := 0.0
	for i := 1; i < len(x); i++ {
		sum += (x[i] - r.mean) * (x[i-1] - r.mean)
	}
	return clamp(sum/r.sse, -1, 1)
}

// correlationFactor returns (1+r)/(1-r) = 1 + 2·Σ rᵏ, by which the variance of
// the mean of a long AR(1) series with lag-1 autocorrelation r exceeds that of
// independent values. It does not reward a negative r, and beyond 0.9 the
// estimate of r is worth too little to go further.
func correlationFactor(r float64) float64 {
	r = clamp(r, 0, 0.9)
	return (1 + r) / (1 - r)
}

// relative returns the change from one level to another as a share of the
// first. From 0 there is no finite share; the result is limited to ±1e6.
func relative(from, to float64) float64 {
	if from == to {
		return 0
	}
	if from == 0 {
		return math.Copysign(1e6, to)
	}
	return clamp((to-from)/math.Abs(from), -1e6, 1e6)
}

func clamp(v, lo, hi float64) float64 { return min(max(v, lo), hi) }
