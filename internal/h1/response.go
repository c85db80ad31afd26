// Package h1 is what a load generator needs of HTTP/1.1 as a client: a
// [Request] that is encoded once and written many times, and a [Response]
// that recognizes where each answer ends. Both work on bytes that the caller
// owns: nothing here reads, writes, waits or keeps time, so that a goroutine
// per connection and an event loop with thousands of connections can use the
// same code. The parser takes the bytes in any segmentation and does not
// allocate; what it accepts is what net/http accepts, with the few differences
// listed at [Response].
package h1

import (
	"errors"
	"fmt"
	"io"
)

// DefaultMaxHead is the limit of a header block, in bytes, when
// [Response.MaxHead] does not set one.
const DefaultMaxHead = 1 << 20

// The kinds of failure of [Response.Parse]; its errors wrap one of them and say
// what was wrong. After any of them the connection cannot be used again.
var (
	ErrMalformed    = errors.New("malformed response")
	ErrHeadTooLarge = errors.New("response head too large")
	ErrBodyTooLarge = errors.New("response body too large")
)

// A Response is the parser of one response after another, and what it has
// found of the one being read. The zero value is ready for the response to a
// request other than HEAD; [Response.Reset] makes it ready for the next.
// A Response belongs to one connection and is not safe for concurrent use.
//
// It follows net/http's client, except that it
//
//   - refuses a status code with a sign ("+20") and the version HTTP/0.y;
//   - refuses white space between the name and the colon of Content-Length and
//     Transfer-Encoding, where net/http ignores the field. Two readers that
//     disagree about such a field disagree about where the response ends;
//   - refuses a trailer that does not end with CRLF CRLF, where net/http's
//     answer depends on the bytes after it;
//   - does not keep a connection alive that carried both Transfer-Encoding and
//     Content-Length, or Transfer-Encoding in HTTP/1.0 (RFC 9112, 6.1), or that
//     changed to another protocol with 101;
//   - limits a trailer to MaxHead, where net/http's limit is the size of its
//     read buffer.
//
// Note: it has no callback for header fields or body pieces. All that the
// request path needs is the status, the end of the response and whether the
// connection lives on; who wants more sets Keep for the responses concerned.
type Response struct {
	// MaxHead is the limit of each header block (a head with its status line,
	// or a trailer) in bytes. 0 or less means DefaultMaxHead.
	MaxHead int

	// MaxBody is the limit of the body in bytes, not counting chunk framing.
	// 0 or less means no limit.
	MaxBody int64

	// Keep copies the final head and the body, for Header and Body. It may be
	// changed before each Reset. Off, only the numbers are kept.
	Keep bool

	// KeepHead copies the final head alone, for Header.
	KeepHead bool

	state state
	head  bool  // the request was HEAD
	began bool  // a byte of the response has come
	err   error // what Parse or EOF failed with

	scan  scan    // position in the head being read
	frame framing // what that head said about its end

	left  int64 // bytes to come of a Content-Length body or of a chunk
	size  int64 // body bytes so far
	chunk chunk // position in chunk framing

	keptHead []byte // Keep: the final head
	keptBody []byte // Keep: the body so far
	unfolded []byte // value of the last folded header field
}

// state is what the next byte belongs to.
type state uint8

const (
	inHead   state = iota // must be zero
	inLength              // body of known length
	inRest                // body that ends when the peer closes

	// Chunk framing, in chunked.go.
	chunkSize    // hexadecimal digits
	chunkSpace   // white space after them
	chunkExt     // extension, ignored
	chunkLF      // LF of the size line
	chunkData    // data
	chunkDataCR  // CR after the data
	chunkDataLF  // LF after the data
	trailerLine  // first byte of a trailer line
	trailerName  // field name
	trailerValue // field value
	trailerLF    // LF of a trailer line
	trailerEnd   // LF of the empty line

	complete
)

// Reset makes r ready for the response to a new request on the same or another
// connection; head says that the request was HEAD, whose response has no body
// whatever its fields say. Limits, Keep and allocated memory stay.
func (r *Response) Reset(head bool) {
	r.state = inHead
	r.head = head
	r.began = false
	r.err = nil
	r.scan = scan{}
	r.size = 0
	r.keptHead = r.keptHead[:0]
	r.keptBody = r.keptBody[:0]
}

// Parse reads on in the response and says how many bytes of b it used, and
// whether the response is complete.
//
// Unused bytes of an incomplete response are those of a head that is not
// complete either: the caller calls again with these and more behind them, in
// the same order, for which its buffer must be able to grow to MaxHead. Parse
// remembers how far it looked, so that such calls cost no more than one call
// with the whole head. Once the head is complete every byte is used, wherever
// the pieces are cut.
//
// When done is true b[n:] is not part of the response: it begins the next one
// if requests were pipelined, and is an error of the server if not. Interim
// (1xx) responses are used up on the way and leave no trace, apart from 101,
// which is final.
//
// The error wraps ErrMalformed, ErrHeadTooLarge or ErrBodyTooLarge, and is
// repeated until Reset. Parse does not keep b.
func (r *Response) Parse(b []byte) (n int, done bool, err error) {
	if r.err != nil {
		return 0, false, r.err
	}
	if len(b) > 0 {
		r.began = true
	}
	for r.state == inHead {
		used, err := r.parseHead(b[n:])
		if err != nil {
			r.err = err
			return n, false, err
		}
		if used == 0 {
			return n, false, nil
		}
		n += used
	}
	switch r.state {
	case complete:
		return n, true, nil
	case inLength:
		used := int(min(r.left, int64(len(b)-n)))
		r.take(b[n : n+used])
		n += used
		if r.left -= int64(used); r.left == 0 {
			r.state = complete
		}
	case inRest:
		if r.MaxBody > 0 && int64(len(b)-n) > r.MaxBody-r.size {
			r.err = r.bodyTooLarge()
			return n, false, r.err
		}
		r.take(b[n:])
		n = len(b)
	default:
		used, err := r.parseChunked(b[n:])
		n += used
		if err != nil {
			r.err = err
			return n, false, err
		}
	}
	return n, r.state == complete, nil
}

// EOF tells r that the peer has closed the connection, after all bytes went
// through Parse. It completes a body that nothing else delimits. Otherwise the
// error is io.EOF if no byte of the response had come, so that a request on a
// connection that had been idle may be sent again, and io.ErrUnexpectedEOF if
// some had. After an error of Parse it is that error.
func (r *Response) EOF() (done bool, err error) {
	switch {
	case r.err != nil:
		return false, r.err
	case r.state == complete:
		return true, nil
	case r.state == inRest:
		r.state = complete
		return true, nil
	case !r.began:
		r.err = io.EOF
	default:
		r.err = io.ErrUnexpectedEOF
	}
	return false, r.err
}

// Status returns the status code of the final head, from 0 to 999, or 0 if that
// head is not complete yet.
func (r *Response) Status() int {
	if r.state == inHead {
		return 0
	}
	return r.scan.status
}

// KeepAlive reports whether the connection may carry another request after this
// response. It is false until the response is complete.
func (r *Response) KeepAlive() bool {
	return r.state == complete && r.frame.keepAlive
}

// BodyBytes returns the number of body bytes so far, without chunk framing.
func (r *Response) BodyBytes() int64 { return r.size }

// Body returns the body bytes so far if Keep is set. The slice is valid until
// the next Reset.
func (r *Response) Body() []byte {
	if !r.Keep {
		return nil
	}
	return r.keptBody
}

// take counts body bytes, and keeps them if asked to.
func (r *Response) take(b []byte) {
	r.size += int64(len(b))
	if r.Keep {
		r.keptBody = append(r.keptBody, b...)
	}
}

// maxHead returns the limit of a header block.
func (r *Response) maxHead() int {
	if r.MaxHead <= 0 {
		return DefaultMaxHead
	}
	return r.MaxHead
}

func (r *Response) headTooLarge() error {
	return fmt.Errorf("%w: more than %d bytes", ErrHeadTooLarge, r.maxHead())
}

func (r *Response) bodyTooLarge() error {
	return fmt.Errorf("%w: more than %d bytes", ErrBodyTooLarge, r.MaxBody)
}

// malformed returns an error that wraps ErrMalformed and quotes the offending
// bytes, if text is not nil.
func malformed(what string, text []byte) error {
	if text == nil {
		return fmt.Errorf("%w: %s", ErrMalformed, what)
	}
	return fmt.Errorf("%w: %s: %s", ErrMalformed, what, quote(text))
}

// quote returns text in quotes, cut to a length fit for an error.
func quote[T string | []byte](text T) string {
	const limit = 40
	if len(text) <= limit {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q...", text[:limit])
}
