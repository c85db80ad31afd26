package stat

import "math"

// NormalQuantile returns the z for which a standard normal variable is at most
// z with probability p. There is no finite answer at 0 and 1, so a p outside
// the open interval counts as the nearest float64 inside it: the range of the
// result is -38.5 to 8.21.
func NormalQuantile(p float64) float64 {
	p = clamp(p, math.SmallestNonzeroFloat64, 1-0x1p-53)
	if p > 0.5 {
		return -NormalQuantile(1 - p)
	}
	// In the far tail 1-2p has no digits left for Erfinv; Newton's method on
	// the logarithm starts there from the leading term of the asymptotic
	// expansion (Abramowitz and Stegun 26.2.12). The logarithm is concave, so
	// the steps cannot run away.
	z := -math.Sqrt(-2 * math.Log(p))
	if p > 1e-8 {
		z = -math.Sqrt2 * math.Erfinv(1-2*p)
	}
	for range 8 {
		f := normalCDF(z)
		if f == 0 {
			break
		}
		density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		if density == 0 {
			break
		}
		step := math.Log(f/p) * f / density
		z -= step
		if math.Abs(step) <= 1e-15*math.Abs(z) {
			break
		}
	}
	return z
}

func normalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// StudentCDF returns the probability that a Student t variable with df degrees
// of freedom is at most t: for t ≥ 0, 1 - ½·I_{df/(df+t²)}(df/2, ½)
// (Abramowitz and Stegun 26.7.1). df need not be whole; below 1 it counts as 1,
// and above 1e15 the normal distribution is used, which then agrees to the last
// digit.
func StudentCDF(t, df float64) float64 {
	if t < 0 {
		return studentTail(-t, df)
	}
	return 1 - studentTail(t, df)
}

// studentTail is P(T > t) for t ≥ 0. It stays exact where 1 - CDF would have
// rounded to nothing.
func studentTail(t, df float64) float64 {
	if df > 1e15 {
		return normalCDF(-t)
	}
	df = max(df, 1)
	r := t / math.Sqrt(df)
	s := r * r // may be +Inf or 0; both forms below bear it
	if s == 0 {
		return 0.5
	}
	return 0.5 * incompleteBeta(df/2, 0.5, 1/(1+s), 1/(1+1/s))
}

// StudentQuantile returns the t for which [StudentCDF] is p. df counts as
// there. p is limited to [1e-150, 1-2⁻⁵³], so that the result is finite even
// at one degree of freedom.
//
// It bisects, about a hundred evaluations of the CDF: an interval needs one
// quantile, and bisection cannot fail.
func StudentQuantile(p, df float64) float64 {
	p = clamp(p, 1e-150, 1-0x1p-53)
	switch {
	case p == 0.5:
		return 0
	case p > 0.5:
		return studentUpper(1-p, df)
	}
	return -studentUpper(p, df)
}

// studentUpper returns the t > 0 whose upper tail is p < 1/2.
func studentUpper(p, df float64) float64 {
	lo, hi := 0.0, 1.0
	for studentTail(hi, df) > p {
		lo, hi = hi, 2*hi
	}
	for {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi || hi-lo < 1e-15*hi {
			return mid
		}
		if studentTail(mid, df) > p {
			lo = mid
		} else {
			hi = mid
		}
	}
}

// BinomialCDF returns P(B ≤ k) for B successes in n trials of probability p,
// as I_{1-p}(n-k, k+1) (DLMF 8.17.5). It is meant for n up to 1e12, where the
// relative error is about 1e-11; the time grows with √n at worst. With n ≤ 0
// there is no trial and B is 0; p outside [0, 1] counts as the nearer end.
func BinomialCDF(k, n int64, p float64) float64 {
	return binomialAtMost(k, n, p, 1-p)
}

// binomialAtMost is BinomialCDF with q = 1-p given apart, so that
// P(B ≥ k) = binomialAtMost(n-k, n, q, p) loses nothing in a second
// subtraction.
func binomialAtMost(k, n int64, p, q float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n || p <= 0:
		return 1
	case q <= 0:
		return 0
	}
	return incompleteBeta(float64(n-k), float64(k)+1, q, p)
}
