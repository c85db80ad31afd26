package loadtest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Units are written here and nowhere else, so that two reports never disagree about one number.

// formatDuration writes d with three significant digits in the unit that suits it: "87.3us", "12.0ms", "1.25s", "2m5s".
func formatDuration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + formatDuration(-max(d, -math.MaxInt64))
	case d == 0:
		return "0s"
	case d < time.Microsecond:
		return fmt.Sprintf("%dns", d)
	case d < 999500*time.Nanosecond:
		return threeDigits(float64(d)/1e3) + "us"
	case d < 999500*time.Microsecond:
		return threeDigits(float64(d)/1e6) + "ms"
	case d < 100*time.Second:
		return threeDigits(d.Seconds()) + "s"
	default: // time.Duration's form, without the seconds of a whole minute: "2m5s", "3m", "1h30m"
		s := min(d, math.MaxInt64-time.Second).Round(time.Second).String()
		if t, ok := strings.CutSuffix(s, "m0s"); ok {
			s = t + "m"
		}
		return s
	}
}

// threeDigits writes f, 0.9995 <= f < 1000, with three significant digits.
func threeDigits(f float64) string {
	switch {
	case f < 9.995:
		return strconv.FormatFloat(f, 'f', 2, 64)
	case f < 99.95:
		return strconv.FormatFloat(f, 'f', 1, 64)
	default:
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
}

// formatRate writes a number per second: with decimals where they tell something, and commas where there are many digits.
func formatRate(f float64) string {
	switch {
	case f == 0:
		return "0"
	case math.Abs(f) < 9.995:
		return formatPlain(f, 3)
	case math.Abs(f) < 999.95:
		return strconv.FormatFloat(f, 'f', 1, 64)
	default:
		return groupDigits(strconv.FormatFloat(f, 'f', 0, 64))
	}
}

// formatPlain writes f to that many significant digits, without an exponent and without zeros at the end, for programs to read.
func formatPlain(f float64, digits int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'e', digits-1, 64), 64)
	if err != nil { // rounded beyond the largest float64
		rounded = f
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// formatShare writes a share, in [0,1], as a percentage. What is neither nothing nor everything is never written as if it were.
func formatShare(f float64) string {
	switch percent := 100 * f; {
	case f <= 0:
		return "0 %"
	case percent < 0.01:
		return "under 0.01 %"
	case percent < 0.995:
		return formatPlain(percent, 2) + " %"
	case percent < 99.95:
		return formatPlain(percent, 3) + " %"
	case f < 1:
		return "over 99.9 %"
	default:
		return strconv.FormatFloat(percent, 'f', 0, 64) + " %"
	}
}

// formatCount writes n with a comma after each three digits.
func formatCount(n int64) string { return groupDigits(strconv.FormatInt(n, 10)) }

// groupDigits sets the commas in a decimal number, which may have a sign and a fraction.
func groupDigits(s string) string {
	whole, fraction, _ := strings.Cut(s, ".")
	digits := strings.TrimPrefix(whole, "-")
	sign := whole[:len(whole)-len(digits)]
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if len(fraction) > 0 {
		digits += "." + fraction
	}
	return sign + digits
}

// formatBytes writes n bytes in powers of 1024.
func formatBytes(n float64) string {
	if n < 1024 {
		return strconv.FormatFloat(n, 'f', 0, 64) + " B"
	}
	unit := -1
	for n >= 1023.5 && unit < 3 {
		n /= 1024
		unit++
	}
	return threeDigits(n) + " " + []string{"KiB", "MiB", "GiB", "TiB"}[unit]
}

// plural writes n and the noun in the right number: "1 client", "64 clients".
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "s") {
		noun += "e"
	}
	return formatCount(n) + " " + noun + "s"
}

// A scale is how all numbers of one column are written, so that they compare by their length and their decimal points are in line.
type scale struct {
	unit     string
	size     float64 // of the unit, in that of the values
	decimals int
}

// newScale gives the smallest value above 0 three significant digits, with at least lo and at most hi decimals.
func newScale(unit string, size float64, lo, hi int, values ...float64) scale {
	decimals := lo
	for _, v := range values {
		if v > 0 {
			magnitude := int(math.Floor(math.Log10(v / size)))
			decimals = max(decimals, min(2-magnitude, hi))
		}
	}
	return scale{unit, size, decimals}
}

// durationScale chooses microseconds, milliseconds or seconds: that of the longest duration, or a smaller one if otherwise the shortest
// had lost its digits.
func durationScale(ds ...time.Duration) scale {
	values := make([]float64, len(ds))
	least, most := math.Inf(1), 0.0
	for i, d := range ds {
		values[i] = float64(d)
		if d > 0 {
			least, most = min(least, values[i]), max(most, values[i])
		}
	}
	switch {
	case most >= 1e9 && least >= 0.1e9:
		return newScale("s", 1e9, 0, 3, values...)
	case most >= 1e6 && least >= 0.1e6:
		return newScale("ms", 1e6, 0, 3, values...)
	default:
		return newScale("us", 1e3, 0, 3, values...)
	}
}

func (s scale) format(v float64) string {
	return groupDigits(strconv.FormatFloat(v/s.size, 'f', s.decimals, 64))
}

// printable makes s one line that no terminal acts upon: samples of errors have bytes in them that a server sent. What is longer than
// limit characters ends in an ellipsis.
func printable(s string, limit int) string {
	var b strings.Builder
	n := 0
	for i, r := range s {
		if n == limit {
			b.WriteString("…")
			break
		}
		n++
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		}
	}
	return b.String()
}

// wrap breaks text at spaces into lines of at most width characters; a longer word is a line of its own.
func wrap(text string, width int) []string {
	var lines []string
	line, n := "", 0
	for _, word := range strings.Fields(text) {
		length := utf8.RuneCountInString(word)
		if n > 0 && n+1+length > width {
			lines = append(lines, line)
			line, n = "", 0
		}
		if n > 0 {
			line, n = line+" ", n+1
		}
		line, n = line+word, n+length
	}
	return append(lines, line)
}

// pad fills s up to width characters with spaces, at its end or, for numbers, in front.
func pad(s string, width int, right bool) string {
	fill := strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 0))
	if right {
		return fill + s
	}
	return s + fill
}
