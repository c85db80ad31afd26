package stat

import "math"

// tailSlack lets a tail probability that equals α/2 pass although its last
// digits are rounded up.
const tailSlack = 1 + 1e-9

// QuantileRanks returns the 1-based ranks of the two values, in n independent
// ones sorted upwards, between which the true q-quantile lies with at least
// the given confidence, whatever the distribution.
//
// With B binomial (n, q) and α = 1-confidence, lo is the largest j with
// P(B ≤ j-1) ≤ α/2 and hi the smallest k with P(B ≥ k) ≤ α/2; the coverage is
// P(lo ≤ B < hi) (David and Nagaraja, Order Statistics, 3rd ed., 7.1). Values
// that are not independent, such as latencies in bursts, need a wider
// interval than this one.
//
// ok is false when there is no interval: q or confidence outside (0, 1), or n
// below [MinSamples]. An end that does not exist is then 0; one that does is
// right as a bound on its side, with confidence 1-α/2. So n = 0 gives (0, 0),
// and n = 1 or 2 has an interval only for a low confidence.
//
// It is meant for n up to 1e12 and evaluates the distribution O(log n) times,
// in practice fewer than ten. Beyond 2⁵³ a rank is no longer a float64, and ok
// is false.
func QuantileRanks(n int64, q, confidence float64) (lo, hi int64, ok bool) {
	if n < 1 || n > 1<<53 || !(q > 0 && q < 1) || !(confidence > 0 && confidence < 1) {
		return 0, 0, false
	}
	half := (1 - confidence) / 2 * tailSlack
	z := -NormalQuantile(half)
	centre, spread := float64(n)*q, z*math.Sqrt(float64(n)*q*(1-q))

	lo = firstRank(n, centre-spread, func(j int64) bool {
		return binomialAtMost(j-1, n, q, 1-q) > half
	}) - 1
	hi = firstRank(n, centre+spread, func(k int64) bool {
		return binomialAtMost(n-k, n, 1-q, q) <= half
	})
	if hi > n {
		hi = 0
	}
	return lo, hi, lo > 0 && hi > 0
}

// firstRank returns the first rank in [1, n] at which holds is true, or n+1 if
// there is none; once true it must stay true. It doubles its stride away from
// the guess until it has bracketed the answer, then bisects.
func firstRank(n int64, guess float64, holds func(int64) bool) int64 {
	at := int64(clamp(math.Round(guess), 1, float64(n)))
	lo, hi := int64(0), n+1 // false at lo; true at hi, or past the end
	if holds(at) {
		hi = at
		for step := int64(1); hi-step > lo; step *= 2 {
			if !holds(hi - step) {
				lo = hi - step
				break
			}
			hi -= step
		}
	} else {
		lo = at
		for step := int64(1); step < hi-lo; step *= 2 {
			if holds(lo + step) {
				hi = lo + step
				break
			}
			lo += step
		}
	}
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if holds(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// MinSamples returns the smallest n for which [QuantileRanks] has an interval:
// the first with both qⁿ and (1-q)ⁿ at most α/2. At 95 % that is 6 for the
// median, 368 for q = 0.99 and 3688 for q = 0.999.
//
// A bound on the far side of the median alone, at confidence c, needs
// MinSamples(q, 2c-1): an upper bound of the 0.99-quantile at 95 % takes 299.
//
// For q outside (0, 1) or confidence of 1 or more no number is enough and the
// result is the largest int64. For confidence of 0 or less it is 1.
func MinSamples(q, confidence float64) int64 {
	if !(q > 0 && q < 1) || confidence >= 1 {
		return math.MaxInt64
	}
	if confidence <= 0 {
		return 1
	}
	half := (1 - confidence) / 2 * tailSlack
	// The larger of q and 1-q decides. Its logarithm comes from the smaller,
	// which keeps its digits when the larger has rounded to 1.
	n := math.Ceil(math.Log(half) / math.Log1p(-min(q, 1-q)))
	if n >= math.MaxInt64 {
		return math.MaxInt64
	}
	return max(int64(n), 1)
}
