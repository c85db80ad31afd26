package h1

import (
	"encoding/binary"
	"math/bits"
)

// Character classes of RFC 9110, 5.5 and 5.6.2.
const (
	tokenChar = 1 << iota // of a method or a field name
	valueChar             // of a field value: tab, space, visible and non-ASCII bytes
)

// charClass holds the classes of each byte.
var charClass = func() (t [256]uint8) {
	for c := range t {
		if c == '\t' || c >= ' ' && c != 0x7f {
			t[c] |= valueChar
		}
		if isDigit(byte(c)) || 'a' <= lower(byte(c)) && lower(byte(c)) <= 'z' {
			t[c] |= tokenChar
		}
	}
	for _, c := range []byte("!#$%&'*+-.^_`|~") {
		t[c] |= tokenChar
	}
	return t
}()

// hexDigit holds the value of each hexadecimal digit, 0xff for other bytes.
var hexDigit = func() (t [256]uint8) {
	for c := range t {
		switch c := byte(c); {
		case isDigit(c):
			t[c] = c - '0'
		case 'a' <= lower(c) && lower(c) <= 'f':
			t[c] = lower(c) - 'a' + 10
		default:
			t[c] = 0xff
		}
	}
	return t
}()

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// lower returns c in lower case if it is an ASCII letter.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// isToken reports whether s is a token of RFC 9110, 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		if charClass[s[i]]&tokenChar == 0 {
			return false
		}
	}
	return s != ""
}

// isSpacedName reports whether b consists of token characters and spaces.
func isSpacedName(b []byte) bool {
	for _, c := range b {
		if charClass[c]&tokenChar == 0 && c != ' ' {
			return false
		}
	}
	return true
}

// validValue reports whether line[from:] may be (part of) a field value. It
// looks at eight bytes at a time, and in the last step back into line[:from]
// instead of at single bytes.
func validValue(line []byte, from int) bool {
	i := from
	for ; i+8 <= len(line); i += 8 {
		if hasControl(binary.LittleEndian.Uint64(line[i:])) && !isValue(line[i:i+8]) {
			return false
		}
	}
	if i == len(line) || len(line) >= 8 && !hasControl(binary.LittleEndian.Uint64(line[len(line)-8:])) {
		return true
	}
	return isValue(line[i:])
}

// isValue reports whether all of s may be in a field value.
func isValue[T string | []byte](s T) bool {
	for i := range len(s) {
		if charClass[s[i]]&valueChar == 0 {
			return false
		}
	}
	return true
}

// Words of eight equal bytes, for the bit tricks of
// https://graphics.stanford.edu/~seander/bithacks.html.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// hasControl reports whether a byte of x is an ASCII control character
// ("hasless", "haszero").
func hasControl(x uint64) bool {
	del := x ^ 0x7f*ones
	return ((x-' '*ones)&^x|(del-ones)&^del)&highs != 0
}

// tokenLen returns the number of token characters that b begins with. Letters
// and hyphens, of which nearly all field names consist, go eight at a time.
func tokenLen(b []byte) int {
	i := 0
	for i+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[i:])
		// With the high bits out of the way no carry leaves its byte.
		low := (x | 0x20*ones) &^ highs
		letter := (low + (0x80-'a')*ones) &^ (low + (0x80-'z'-1)*ones)
		notHyphen := (x&^highs ^ '-'*ones) + 0x7f*ones
		other := (^letter&notHyphen | x) & highs
		if other != 0 {
			i += bits.TrailingZeros64(other) / 8
			break
		}
		i += 8
	}
	for i < len(b) && charClass[b[i]]&tokenChar != 0 {
		i++
	}
	return i
}

// equalFold reports whether b and s are equal but for the case of ASCII
// letters.
func equalFold[T string | []byte](b T, s string) bool {
	if string(b) == s {
		return true
	}
	if len(b) != len(s) {
		return false
	}
	for i := range len(b) {
		if b[i] != s[i] && lower(b[i]) != lower(s[i]) {
			return false
		}
	}
	return true
}

// cutList cuts the first element off a comma-separated list.
func cutList(list []byte) (first, rest []byte, more bool) {
	for i, c := range list {
		if c == ',' {
			return trim(list[:i]), list[i+1:], true
		}
	}
	return trim(list), nil, false
}

// trim returns b without spaces and tabs at its ends.
func trim(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// dropCR returns line without the CR of its line end.
func dropCR(line []byte) []byte {
	if len(line) > 0 && line[len(line)-1] == '\r' {
		return line[:len(line)-1]
	}
	return line
}
