package stat

import "math"

const (
	// MinBatchSlices is the shortest series that [BatchMean] takes: with fewer
	// than ten batches their own spread is known too poorly.
	MinBatchSlices = 10

	wantBatches = 20  // batches before correlation is looked at; 20 to 39 arise
	maxBatchLag = 0.2 // lag-1 autocorrelation of batch means that calls for larger ones
)

// A BatchInterval is a confidence interval of the mean of a series whose
// neighbouring values may be correlated.
type BatchInterval struct {
	Mean      float64 // of all values, those outside a batch included
	Low, High float64 // ends of the interval; equal if the batch means are
	Batches   int     // number of batches, at least MinBatchSlices
	Size      int     // values in each batch

	// Lag1 is the lag-1 autocorrelation of the batch means. If it is still
	// above 0.2, the series was too short to be cut into independent pieces
	// and the interval may be too narrow.
	Lag1 float64
}

// BatchMean returns a confidence interval of the mean of x, the values of
// equally long slices in the order of time, by fixed batch means: mean ±
// t·s/√J, with s the standard deviation of J batch means and t Student's
// quantile at J-1 degrees of freedom (Law, Simulation Modeling and Analysis,
// 5th ed., 9.5.3).
//
// Batches are len(x)/20 values long, so there are 20 to 29 of them, or
// len(x) of one value each below 40 values. While the lag-1 autocorrelation of
// their means is above 0.2, the batches are doubled, up to len(x)/10 values:
// there are never fewer than ten. For the correlation that is left, s² is
// multiplied by (1+r)/(1-r), where r is that autocorrelation plus 1/J, its bias
// in independent values, and counts as 0 if negative.
//
// Measured coverage of a 95 % interval, for independent values and for AR(1)
// with φ = 0.5 and 0.8:
//
//	values        0     0.5     0.8
//	    10     0.96    0.86    0.69
//	    30     0.96    0.91    0.85
//	   100     0.96    0.94    0.92
//	  1000     0.96    0.96    0.95
//
// Without the factor on s² the row for 30 reads 0.95, 0.85, 0.68.
//
// If the values do not fill a whole number of batches, the first ones, always
// fewer than a batch, belong to none. They count in Mean and not in s, so that
// Mean is the plain mean of x.
//
// Below [MinBatchSlices] values, or for confidence outside (0, 1), ok is false
// and the result is zero. Equal values give an interval of no width.
func BatchMean(x []float64, confidence float64) (b BatchInterval, ok bool) {
	n := len(x)
	if n < MinBatchSlices || !(confidence > 0 && confidence < 1) {
		return BatchInterval{}, false
	}
	y, exp := normalise(x)
	size, largest := max(1, n/wantBatches), n/MinBatchSlices
	means := batchMeans(y, size, true)
	for size < largest && lag1(means) > maxBatchLag {
		size = min(2*size, largest)
		means = batchMeans(y, size, true)
	}

	r := summarise(means)
	lag := lag1(means)
	s := math.Sqrt(r.sse / (r.n - 1) * correlationFactor(lag+1/r.n))
	half := -StudentQuantile((1-confidence)/2, r.n-1) * s / math.Sqrt(r.n)
	centre := mean(y)
	return BatchInterval{
		Mean:    restore(centre, exp),
		Low:     restore(centre-half, exp),
		High:    restore(centre+half, exp),
		Batches: len(means),
		Size:    size,
		Lag1:    lag,
	}, true
}
