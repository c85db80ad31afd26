package stat

import (
	"math"
	"testing"
)

// near reports whether got is want to a relative error of tol.
func near(got, want, tol float64) bool {
	return math.Abs(got-want) <= tol*math.Abs(want)
}

// The references of this file that are not from a printed table were computed
// with mpmath 1.3 at 40 digits or more: betainc(regularized=True), erfinv, and
// findroot for the quantiles.

func TestNormalQuantile(t *testing.T) {
	check := func(p, want, tol float64) {
		t.Helper()
		if got := NormalQuantile(p); !near(got, want, tol) {
			t.Errorf("NormalQuantile(%g) = %.17g, want %.17g", p, got, want)
		}
	}
	check(0.5, 0, 0)
	check(0.975, 1.9599639845400542, 1e-14)
	check(0.995, 2.5758293035489008, 1e-14)
	check(0.8, 0.84162123357291421, 1e-14)
	check(0.0001, -3.7190164854556806, 1e-14)
	check(1e-10, -6.3613409024040562, 1e-14)
	check(1e-300, -37.047096299361199, 1e-14)
	// Out of range: finite, at the ends that the doc comment names.
	check(0, -38.5, 0.01)
	check(-1, -38.5, 0.01)
	check(1, 8.21, 0.001)
	check(2, 8.21, 0.001)

	prev := NormalQuantile(0)
	for i := 1; i < 1000; i++ {
		p := float64(i) / 1000
		z := NormalQuantile(p)
		if z <= prev {
			t.Fatalf("NormalQuantile(%g) = %g, not above %g", p, z, prev)
		}
		if got := normalCDF(z); !near(got, p, 1e-13) {
			t.Errorf("normalCDF(NormalQuantile(%g)) = %.17g", p, got)
		}
		if mirror := NormalQuantile(1 - p); math.Abs(z+mirror) > 1e-12 {
			t.Errorf("NormalQuantile(%g) = %g, but %g at 1-p", p, z, mirror)
		}
		prev = z
	}
}

func TestStudentCDF(t *testing.T) {
	check := func(x, df, want float64) {
		t.Helper()
		if got := StudentCDF(x, df); !near(got, want, 1e-12) {
			t.Errorf("StudentCDF(%g, %g) = %.17g, want %.17g", x, df, got, want)
		}
	}
	check(0, 5, 0.5)
	check(1, 1, 0.75) // Cauchy
	check(2, 3, 0.93033701572057841)
	check(-5, 7, 0.00078263897658641229)
	check(-40, 4, 1.1670081613006343e-6)
	check(1, 1.5, 0.77443231636164484)
	check(-1e6, 1, 3.1830988618368457e-7)
	check(-10, 1e9, 7.619872453045539e-24)
	check(-10, 1e300, 7.619853024160527e-24) // normal
	check(1, 0.3, 0.75)                      // counts as df 1
	check(-math.MaxFloat64, 1, 0)
	check(math.MaxFloat64, 1, 1)
	check(math.SmallestNonzeroFloat64, 1, 0.5)

	for _, df := range []float64{1, 2.5, 9, 24, 1e4} {
		prev := 0.0
		for x := -30.0; x <= 30; x += 0.25 {
			c := StudentCDF(x, df)
			if c < prev {
				t.Errorf("StudentCDF(%g, %g) = %g, below %g", x, df, c, prev)
			}
			if sum := c + StudentCDF(-x, df); math.Abs(sum-1) > 1e-15 {
				t.Errorf("StudentCDF(±%g, %g) add up to %.17g", x, df, sum)
			}
			prev = c
		}
	}
}

func TestStudentQuantile(t *testing.T) {
	check := func(p, df, want, tol float64) {
		t.Helper()
		if got := StudentQuantile(p, df); !near(got, want, tol) {
			t.Errorf("StudentQuantile(%g, %g) = %.17g, want %.17g", p, df, got, want)
		}
	}
	// Percentage points as printed in every t table (Fisher and Yates, III).
	for _, c := range []struct{ df, t95, t975, t995 float64 }{
		{1, 6.314, 12.706, 63.657},
		{2, 2.920, 4.303, 9.925},
		{3, 2.353, 3.182, 5.841},
		{4, 2.132, 2.776, 4.604},
		{5, 2.015, 2.571, 4.032},
		{6, 1.943, 2.447, 3.707},
		{7, 1.895, 2.365, 3.499},
		{8, 1.860, 2.306, 3.355},
		{9, 1.833, 2.262, 3.250},
		{10, 1.812, 2.228, 3.169},
		{20, 1.725, 2.086, 2.845},
		{30, 1.697, 2.042, 2.750},
		{120, 1.658, 1.980, 2.617},
	} {
		half := func(printed float64) float64 { return 0.00051 / printed }
		check(0.95, c.df, c.t95, half(c.t95))
		check(0.975, c.df, c.t975, half(c.t975))
		check(0.995, c.df, c.t995, half(c.t995))
	}
	check(0.977, 24, 2.104414722704815, 1e-12)
	check(0.975, 1, 12.706204736174705, 1e-12)
	check(0.975, 2, 4.3026527297494639, 1e-12)
	check(0.975, 2.5, 3.5746548420036832, 1e-12)
	check(0.975, 19, 2.0930240544083098, 1e-12)
	check(0.975, 120, 1.9799304050824408, 1e-12)
	check(0.975, 1e6, 1.959966356814107, 1e-12)
	check(0.975, 1e18, 1.9599639845400542, 1e-12)
	check(0.5, 3, 0, 0)
	check(0.975, -4, 12.706204736174705, 1e-12) // counts as df 1

	for _, df := range []float64{1, 1.5, 4, 29, 1e7} {
		prev := math.Inf(-1)
		for _, p := range []float64{-1, 0, 1e-200, 1e-12, 0.001, 0.3, 0.5, 0.6, 0.999, 1, 2} {
			q := StudentQuantile(p, df)
			if math.IsInf(q, 0) || math.IsNaN(q) || q < prev {
				t.Errorf("StudentQuantile(%g, %g) = %g after %g", p, df, q, prev)
			}
			if p > 1e-100 && p < 1 {
				if back := StudentCDF(q, df); !near(back, p, 1e-11) {
					t.Errorf("StudentCDF(StudentQuantile(%g, %g)) = %g", p, df, back)
				}
			}
			prev = q
		}
	}
}

func TestBinomialCDF(t *testing.T) {
	check := func(k, n int64, p, want, tol float64) {
		t.Helper()
		if got := BinomialCDF(k, n, p); !near(got, want, tol) {
			t.Errorf("BinomialCDF(%d, %d, %g) = %.17g, want %.17g", k, n, p, got, want)
		}
	}
	check(3, 10, 0.5, 176.0/1024, 1e-14)
	check(0, 5, 0.2, 0.32768, 1e-14)
	check(0, 1, 0.25, 0.75, 1e-14)
	check(1, 2, 0.25, 0.9375, 1e-14)
	check(982, 1000, 0.99, 0.013832581730008507, 1e-12)
	check(980, 1000, 0.99, 0.0032883597877274664, 1e-12)
	// Sums of the probability mass downwards from k, its first term by mpmath's
	// loggamma at 40 digits.
	check(9_880, 10_000, 0.99, 0.0275972563021, 1e-10)
	check(99_840, 100_000, 0.999, 2.0137480236e-08, 1e-10)
	check(899_550, 1_000_000, 0.9, 0.0670950123715, 1e-10)
	check(998_997_001, 1_000_000_000, 0.999, 0.00135580047973, 1e-10)
	check(989_999_801_002, 1_000_000_000_000, 0.99, 0.0227503910146, 1e-9)
	check(998_999_999_683, 1_000_000_000_000, 0.999, 0.49600311249, 1e-9)
	check(936, 1_000_000_000_000, 1e-9, 0.0214566686341, 1e-9)
	// By symmetry, P(B < n/2) = (1 - P(B = n/2))/2, and the middle term is
	// √(2/πn)·(1 - 1/4n).
	const n = 1_000_000_000_000
	check(n/2-1, n, 0.5, (1-math.Sqrt(2/(math.Pi*n)))/2, 1e-10)

	check(-1, 10, 0.5, 0, 0)
	check(10, 10, 0.5, 1, 0)
	check(0, 0, 0.5, 1, 0)
	check(-1, 0, 0.5, 0, 0)
	check(0, -3, 0.5, 1, 0)
	check(3, 10, 0, 1, 0)
	check(3, 10, -1, 1, 0)
	check(3, 10, 1, 0, 0)
	check(3, 10, 7, 0, 0)

	for _, n := range []int64{1, 2, 17, 300} {
		for _, p := range []float64{1e-12, 0.01, 0.5, 0.9, 0.9999} {
			sum := 0.0
			for k := range n + 1 {
				sum += massByLogs(k, n, p)
				if got := BinomialCDF(k, n, p); math.Abs(got-sum) > 1e-12 {
					t.Errorf("BinomialCDF(%d, %d, %g) = %g, want %g", k, n, p, got, sum)
				}
			}
		}
	}
}

// massByLogs is the textbook P(B = k), good for small n.
func massByLogs(k, n int64, p float64) float64 {
	ln := func(m int64) float64 { g, _ := math.Lgamma(float64(m) + 1); return g }
	return math.Exp(ln(n) - ln(k) - ln(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}
