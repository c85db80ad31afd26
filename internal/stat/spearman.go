package stat

import (
	"cmp"
	"math"
	"slices"
)

// Spearman returns the rank correlation of the pairs (x[i], y[i]) and its
// two-sided p-value under independence. Equal values share the mean of their
// ranks, and rho is Pearson's correlation of the ranks, which is right with
// ties where the formula by squared differences is not.
//
// p comes from t = rho·√((n-2)/(1-rho²)) with n-2 degrees of freedom (Press et
// al., Numerical Recipes, 14.6), which for a perfect order would be 0; it is
// never less than 2/n!, the exact value for that case.
//
// If the slices differ in length the rest of the longer one is ignored. Fewer
// than two pairs, or equal values on one side, give rho 0 and p 1; two pairs
// give rho ±1 and p 1.
func Spearman(x, y []float64) (rho, p float64) {
	n := min(len(x), len(y))
	a, b := midranks(x[:n]), midranks(y[:n])
	centre := float64(n+1) / 2
	var saa, sbb, sab float64
	for i := range n {
		da, db := a[i]-centre, b[i]-centre
		saa += da * da
		sbb += db * db
		sab += da * db
	}
	if saa == 0 || sbb == 0 {
		return 0, 1
	}
	rho = clamp(sab/(math.Sqrt(saa)*math.Sqrt(sbb)), -1, 1)
	if n < 3 {
		return rho, 1
	}
	least, _ := math.Lgamma(float64(n) + 1)
	p = 2 * math.Exp(-least)
	if rest := 1 - rho*rho; rest > 0 {
		df := float64(n - 2)
		t := math.Abs(rho) * math.Sqrt(df/rest)
		p = max(p, 2*studentTail(t, df))
	}
	return rho, min(p, 1)
}

// midranks returns the rank of each value, from 1; equal values get the mean
// of the ranks they take up together.
func midranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	ranks := make([]float64, len(x))
	for i := 0; i < len(order); {
		end := i + 1
		for end < len(order) && x[order[end]] == x[order[i]] {
			end++
		}
		for _, k := range order[i:end] {
			ranks[k] = float64(i+1+end) / 2
		}
		i = end
	}
	return ranks
}
