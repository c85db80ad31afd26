package stat

// MinMSERSlices is the shortest series that [MSER5] takes; a hundred or more
// are better.
const MinMSERSlices = 50

const mserBatch = 5

// MSER5 returns how many of the first values of x belong to a warmup and are
// better left out: the truncation that makes the squared standard error of
// what remains smallest (Spratt, 1998; White, Cobb and Spratt, Winter
// Simulation Conference 2000).
//
// Values are averaged in batches of five, z; with n of them the cut is 5·d for
// the d ≤ n/2 that minimises Σ_{i>d}(z_i - mean)² / (n-d)², the smallest if
// several do. Up to four values at the end that fill no batch are not looked
// at. A d of n/2 means that the minimum may lie beyond: the series has not
// settled. Then ok is false, and cut is that d's.
//
// Fewer than [MinMSERSlices] values give cut 0 and ok false. Equal values give
// cut 0 and ok true.
//
// A series with a period of five slices, such as a garbage collection in each
// fifth, looks smoother in batches than it is; choose another slice length.
// Values that rise or fall all the way have no steady part, yet may be given a
// cut: ask [Steady] about the rest.
func MSER5(x []float64) (cut int, ok bool) {
	if len(x) < MinMSERSlices {
		return 0, false
	}
	y, _ := normalise(x)
	z := batchMeans(y, mserBatch, false)
	n := len(z)
	// From the back, so that each step adds one value to what remains.
	var rest running
	best, least := 0, 0.0
	for d := n - 1; d >= 0; d-- {
		rest.add(z[d])
		if d > n/2 {
			continue
		}
		score := rest.sse / (rest.n * rest.n)
		if d == n/2 || score <= least {
			best, least = d, score
		}
	}
	return best * mserBatch, best < n/2
}
