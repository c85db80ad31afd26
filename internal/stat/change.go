package stat

import "math"

// minSegment is the fewest values that count as a level. One or two odd slices
// at an end of the series are a stall, not a new level.
const minSegment = 3

// A Change is a point at which a series moves from one level to another.
type Change struct {
	At            int     // index of the first value of the new level; 0 means no change
	Before, After float64 // mean of the values before At, and of those from At on
}

// Shift returns the step as a share of the old level, 0.1 for 10 % up. It is
// limited to ±1e6, which is what a step away from 0 gives.
func (c Change) Shift() float64 { return relative(c.Before, c.After) }

// ChangePoint returns the most likely single change of level in x, the first
// step of binary segmentation (Scott and Knott, Biometrics 30, 1974): the
// split that lowers the sum of squared deviations most, with at least three
// values on each side. ok is false if that reduction is not above 3·σ²·ln n.
//
// σ is the larger of two estimates of the noise. One comes from the first
// differences, which do not see the step itself. It is far too small when
// neighbours are correlated: on 30 values of a steady AR(1) series with φ = 0.5
// it alone accepts a step in more than half of all cases. The other, from what
// remains about the two levels, allows for that and brings it to 16 %.
//
// A series that leaves its level and comes back is described by one of its two
// steps or by none. Fewer than six values, or equal ones, have no change.
func ChangePoint(x []float64) (c Change, ok bool) {
	n := len(x)
	if n < 2*minSegment {
		return Change{}, false
	}
	y, exp := normalise(x)
	at, gain := bestSplit(y)
	sigma := max(differenceSigma(y), residualSigma(y, at))
	// The second bound is the rounding of bestSplit's own sums: without it a
	// series with σ = 0 would accept a split that explains nothing.
	if gain <= 3*sigma*sigma*math.Log(float64(n)) || gain <= 1e-24*float64(n) {
		return Change{}, false
	}
	return Change{
		At:     at,
		Before: restore(mean(y[:at]), exp),
		After:  restore(mean(y[at:]), exp),
	}, true
}

// bestSplit returns the index that divides x into the two parts with the
// smallest sum of squares about their means, and the reduction against one
// mean. Of equals the first wins.
func bestSplit(x []float64) (at int, gain float64) {
	n := len(x)
	tail := make([]float64, n) // tail[i] is the mean of x[i:]
	var r running
	for i := n - 1; i >= 0; i-- {
		r.add(x[i])
		tail[i] = r.mean
	}
	var head running
	for i := 1; i <= n-minSegment; i++ {
		head.add(x[i-1])
		if i < minSegment {
			continue
		}
		// Splitting one mean in two takes this much off the sum of squares.
		d := tail[i] - head.mean
		g := d * d * head.n * float64(n-i) / float64(n)
		if g > gain {
			at, gain = i, g
		}
	}
	return at, gain
}

// differenceSigma estimates the noise of x about whatever slow course it
// takes: the median absolute deviation of the first differences over
// √2·Φ⁻¹(¾) = 0.954, which is the standard deviation for independent normal
// values.
func differenceSigma(x []float64) float64 {
	d := make([]float64, len(x)-1)
	for i := range d {
		d[i] = x[i+1] - x[i]
	}
	m := median(d)
	for i := range d {
		d[i] = math.Abs(d[i] - m)
	}
	return median(d) / 0.954
}

// residualSigma is the standard deviation of x about its means before and from
// at, times √((1+r)/(1-r)) for the lag-1 autocorrelation r of what remains:
// the factor by which an AR(1) series' mean is noisier than its values suggest.
func residualSigma(x []float64, at int) float64 {
	res := make([]float64, len(x))
	before, after := mean(x[:at]), mean(x[at:])
	for i, v := range x {
		if i < at {
			res[i] = v - before
		} else {
			res[i] = v - after
		}
	}
	return math.Sqrt(summarise(res).sse / float64(len(x)-2) * correlationFactor(lag1(res)))
}
