// Package stat holds the statistics that a result, a warning or a limit rests
// on: distributions, rank intervals of quantiles, batch means, trends and
// truncation of a warmup. Floats go in and floats come out; nothing here knows
// of requests or of time.
//
// All functions are pure and safe for concurrent use. For finite input none
// returns NaN or an infinity. Where there are too few values for an answer the
// doc comment says what comes back instead of one. None modifies its argument.
// Input that holds NaN or an infinity is the caller's mistake, and what comes
// back for it is unspecified.
package stat
