package h1

import (
	"fmt"
	"math"
)

// Limits of what is not data in a chunked body, both net/http's: the length of
// a size line with its extension, and the sum of all framing beyond 16 bytes a
// chunk and two bytes for each byte of data.
const (
	maxChunkLine = 4096
	maxExcess    = 16 << 10
)

// chunk is the position in chunk framing.
type chunk struct {
	line   int   // bytes of the size line, or of the trailer, so far
	excess int64 // framing beyond what its data excuse
	fields bool  // a trailer line has been read
	bareLF bool  // it ended with LF instead of CRLF
}

// parseChunked reads on in a chunked body, its size lines and its trailer. It
// uses all of b unless the body ends or is malformed.
//
// Size lines end with CRLF and nothing else: a bare LF there is read
// differently by different recipients (https://www.rfc-editor.org/errata/eid7633).
func (r *Response) parseChunked(b []byte) (n int, err error) {
	for n < len(b) {
		if r.state == chunkData {
			data := b[n:]
			if int64(len(data)) > r.left {
				data = data[:r.left]
			}
			r.take(data)
			n += len(data)
			if r.left -= int64(len(data)); r.left == 0 {
				r.state = chunkDataCR
			}
			continue
		}
		if r.state >= trailerLine {
			used, err := r.parseTrailer(b[n:])
			return n + used, err
		}

		c := b[n]
		n++
		switch r.state {
		case chunkSize:
			if d := hexDigit[c]; d < 16 {
				if r.chunk.line == 16 || r.left > math.MaxInt64>>4 {
					return n, malformed("chunk size too large", b[n-1:])
				}
				r.left = r.left<<4 | int64(d)
				r.chunk.line++
				continue
			}
			if r.chunk.line == 0 {
				return n, malformed("chunk size", b[n-1:])
			}
			switch c {
			case '\r':
				r.state = chunkLF
				continue
			case ';':
				r.state = chunkExt
			case ' ', '\t':
				r.state = chunkSpace
			default:
				return n, malformed("chunk size", b[n-1:])
			}
			r.chunk.line++

		case chunkSpace, chunkExt:
			switch {
			case c == '\r':
				r.state = chunkLF
				continue
			case c == '\n':
				return n, malformed("chunk size line ends without CR", nil)
			case r.state == chunkSpace && !isSpace(c):
				return n, malformed("chunk size", b[n-1:])
			}
			if r.chunk.line++; r.chunk.line >= maxChunkLine {
				return n, fmt.Errorf("%w: chunk size line of more than %d bytes", ErrMalformed, maxChunkLine)
			}

		case chunkLF:
			if c != '\n' {
				return n, malformed("CR inside chunk size line", b[n-1:])
			}
			if err := r.beginChunk(); err != nil {
				return n, err
			}

		case chunkDataCR:
			if c != '\r' {
				return n, malformed("no CRLF after chunk data", b[n-1:])
			}
			r.state = chunkDataLF

		case chunkDataLF:
			if c != '\n' {
				return n, malformed("no CRLF after chunk data", b[n-1:])
			}
			r.state = chunkSize
		}
	}
	return n, nil
}

// beginChunk goes on after a size line: with data, or with the trailer after
// the last chunk.
func (r *Response) beginChunk() error {
	ch := &r.chunk
	line := ch.line
	ch.line = 0
	if r.left == 0 {
		r.state = trailerLine
		return nil
	}
	if r.MaxBody > 0 && r.left > r.MaxBody-r.size {
		return r.bodyTooLarge()
	}
	// No sum overflows: a line and what is left of excess are small.
	ch.excess = max(0, ch.excess+int64(line)+2-16-2*min(r.left, maxExcess))
	if ch.excess > maxExcess {
		return malformed("chunk extensions outweigh the data", nil)
	}
	r.state = chunkData
	return nil
}

// parseTrailer reads on in the trailer of a chunked body. Its fields must be
// well-formed and are ignored.
func (r *Response) parseTrailer(b []byte) (n int, err error) {
	ch := &r.chunk
	limit := r.maxHead()
	for n < len(b) {
		if ch.line == limit {
			return n, fmt.Errorf("%w: trailer of more than %d bytes", ErrHeadTooLarge, limit)
		}
		c := b[n]
		n++
		ch.line++
		switch r.state {
		case trailerLine:
			switch {
			case c == '\r':
				r.state = trailerEnd
			case isSpace(c) && ch.fields:
				r.state = trailerValue
			case charClass[c]&tokenChar != 0:
				r.state = trailerName
			case c == '\n':
				return n, errTrailerEnd
			default:
				return n, malformed("trailer name", b[n-1:])
			}

		case trailerName:
			switch {
			case c == ':':
				r.state = trailerValue
			case charClass[c]&tokenChar == 0 && c != ' ':
				return n, malformed("trailer name", b[n-1:])
			}

		case trailerValue:
			switch {
			case c == '\r':
				r.state = trailerLF
			case c == '\n':
				ch.fields = true
				ch.bareLF = true
				r.state = trailerLine
			case charClass[c]&valueChar == 0:
				return n, malformed("trailer value", b[n-1:])
			}

		case trailerLF:
			if c != '\n' {
				return n, malformed("trailer value", b[n-1:])
			}
			ch.fields = true
			ch.bareLF = false
			r.state = trailerLine

		case trailerEnd:
			if c != '\n' {
				return n, malformed("trailer name", b[n-1:])
			}
			if ch.bareLF {
				return n, errTrailerEnd
			}
			r.state = complete
			return n, nil
		}
	}
	return n, nil
}

var errTrailerEnd = malformed("trailer does not end with CRLF CRLF", nil)
