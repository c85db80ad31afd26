package loadtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/loadtest-go/loadtest/internal/h1"
)

// A failure is a kind of failed request. It is a small number in the load path, where counting one must not look up a map, and its name
// in a Result.
type failure uint8

const (
	failNone failure = iota
	failConnect
	failAddress
	failDescriptors
	failTLS
	failTimeout
	failReset
	failEOF
	failParse
	failBodyTooLarge
	failStatus
	failCheck
	failOther
	failures // how many there are
)

var failureNames = [failures]string{
	failConnect:      "connect",
	failAddress:      "address",
	failDescriptors:  "descriptors",
	failTLS:          "tls",
	failTimeout:      "timeout",
	failReset:        "reset",
	failEOF:          "eof",
	failParse:        "parse",
	failBodyTooLarge: "body-too-large",
	failStatus:       "status",
	failCheck:        "check",
	failOther:        "error",
}

func (f failure) String() string { return failureNames[f] }

// classify tells the kind of an error by what it wraps.
func classify(err error) failure {
	var known *knownError
	var netErr net.Error
	var certErr *tls.CertificateVerificationError
	var alert tls.AlertError
	var header tls.RecordHeaderError
	var unknownCA x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalidCert x509.CertificateInvalidError
	switch {
	case errors.As(err, &known):
		return known.kind
	case errors.As(err, &certErr), errors.As(err, &alert), errors.As(err, &header),
		errors.As(err, &unknownCA), errors.As(err, &hostname), errors.As(err, &invalidCert), isAlert(err):
		return failTLS
	case errors.Is(err, h1.ErrBodyTooLarge):
		return failBodyTooLarge
	case errors.Is(err, h1.ErrMalformed), errors.Is(err, h1.ErrHeadTooLarge):
		return failParse
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return failDescriptors
	case errors.Is(err, errAddrNotAvail), errors.Is(err, errAddrInUse):
		return failAddress
	case errors.Is(err, syscall.EAGAIN) && isDial(err): // which calls itself a timeout: the queue of a unix socket is full
		return failConnect
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return failTimeout
	case errors.Is(err, errConnRefused), isDial(err):
		return failConnect
	case errors.Is(err, errConnReset), errors.Is(err, errConnAborted), errors.Is(err, errPipe):
		return failReset
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return failEOF
	default:
		return failOther
	}
}

func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// isAlert says whether err is a TLS alert, sent or received. Package tls wraps its own in a type that only this gives away.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}

// A knownError is an error whose kind is known where it arises.
type knownError struct {
	kind failure
	err  error
}

func (e *knownError) Error() string { return e.err.Error() }
func (e *knownError) Unwrap() error { return e.err }

// A statusError is an unexpected status. It is a number, so that a server that fails fast is not slowed down by its client's allocations.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("unexpected status %d", int(e)) }

// maxSample bounds the text of an error that is kept.
const maxSample = 1 << 10

// A failureCount counts the failures of one kind. Only the first error is turned into text: a million different messages cost nothing.
type failureCount struct {
	n           int64
	first, last time.Duration
	sample      string
}

func (c *failureCount) add(at time.Duration, err error) {
	if c.n == 0 {
		c.first, c.sample = at, sampleOf(err)
	}
	c.n++
	c.last = at
}

func sampleOf(err error) string {
	if err == nil {
		return ""
	}
	s := err.Error()
	if len(s) > maxSample {
		s = strings.ToValidUTF8(s[:maxSample], "") + "…"
	}
	return s
}

func (c *failureCount) merge(other *failureCount) {
	if other.n == 0 {
		return
	}
	if c.n == 0 || other.first < c.first {
		c.first, c.sample = other.first, other.sample
	}
	c.last = max(c.last, other.last)
	c.n += other.n
}
