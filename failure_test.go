package loadtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loadtest-go/loadtest/internal/h1"
)

func TestClassify(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	read := func(err error) error { return &net.OpError{Op: "read", Net: "tcp", Err: err} }
	sys := func(call string, errno error) error { return os.NewSyscallError(call, errno) }
	for _, tt := range []struct {
		err  error
		want failure
	}{
		{dial(sys("connect", errConnRefused)), failConnect},
		{dial(sys("connect", syscall.ENOENT)), failConnect},
		{dial(sys("connect", syscall.EHOSTUNREACH)), failConnect},
		{dial(sys("connect", syscall.EACCES)), failConnect},
		{dial(sys("connect", syscall.EAGAIN)), failConnect},
		{dial(&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}), failConnect},
		{errConnRefused, failConnect},
		{errors.Join(dial(sys("connect", errConnRefused)), dial(sys("connect", syscall.ENETUNREACH))), failConnect},
		{dial(sys("connect", errAddrNotAvail)), failAddress},
		{dial(sys("bind", errAddrInUse)), failAddress},
		{dial(sys("socket", syscall.EMFILE)), failDescriptors},
		{dial(sys("socket", syscall.ENFILE)), failDescriptors},
		{dial(os.ErrDeadlineExceeded), failTimeout},
		{dial(context.DeadlineExceeded), failTimeout},
		{dial(&net.DNSError{Err: "timeout", IsTimeout: true}), failTimeout},
		{context.DeadlineExceeded, failTimeout},
		{read(os.ErrDeadlineExceeded), failTimeout},
		{read(sys("read", syscall.ETIMEDOUT)), failTimeout},
		{fmt.Errorf("no response within 1s: %w", os.ErrDeadlineExceeded), failTimeout},
		{&url.Error{Op: "Get", URL: "/", Err: context.DeadlineExceeded}, failTimeout},
		{read(sys("read", errConnReset)), failReset},
		{&net.OpError{Op: "write", Err: sys("write", errPipe)}, failReset},
		{read(sys("read", errConnAborted)), failReset},
		{io.EOF, failEOF},
		{io.ErrUnexpectedEOF, failEOF},
		{&url.Error{Op: "Get", URL: "/", Err: io.EOF}, failEOF},
		{fmt.Errorf("%w: x", h1.ErrMalformed), failParse},
		{fmt.Errorf("%w: x", h1.ErrHeadTooLarge), failParse},
		{fmt.Errorf("%w: x", h1.ErrBodyTooLarge), failBodyTooLarge},
		{tls.RecordHeaderError{Msg: "no TLS"}, failTLS},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, failTLS},
		{x509.UnknownAuthorityError{}, failTLS},
		{x509.HostnameError{Certificate: new(x509.Certificate), Host: "x"}, failTLS},
		{x509.CertificateInvalidError{Reason: x509.Expired}, failTLS},
		{tls.AlertError(40), failTLS},
		{&net.OpError{Op: "remote error", Err: tls.AlertError(42)}, failTLS},
		{&net.OpError{Op: "local error", Err: errors.New("bad record MAC")}, failTLS},
		{&knownError{failTLS, io.EOF}, failTLS},
		{&knownError{failCheck, context.DeadlineExceeded}, failCheck},
		{fmt.Errorf("wrapped: %w", &knownError{failStatus, statusError(500)}), failStatus},
		{context.Canceled, failOther},
		{errors.New("EOF"), failOther},
		{net.ErrClosed, failOther},
		{os.ErrNotExist, failOther},
	} {
		if got := classify(tt.err); got != tt.want {
			t.Errorf("classify(%v) = %v, want %v", tt.err, got, tt.want)
		}
		if got := classify(fmt.Errorf("outer: %w", tt.err)); got != tt.want {
			t.Errorf("classify of wrapped %v = %v, want %v", tt.err, got, tt.want)
		}
	}
}

func TestFailureNames(t *testing.T) {
	seen := make(map[string]bool)
	for kind := failNone + 1; kind < failures; kind++ {
		name := kind.String()
		if name == "" || seen[name] || strings.ToLower(name) != name || strings.Contains(name, " ") {
			t.Errorf("kind %d is called %q", kind, name)
		}
		seen[name] = true
	}
}

type textError string

func (e textError) Error() string { return string(e) }

func TestFailureCount(t *testing.T) {
	var c failureCount
	c.add(3*time.Second, textError("first"))
	for i := range 100_000 {
		c.add(4*time.Second, textError(fmt.Sprint("message ", i)))
	}
	if want := (failureCount{n: 100_001, first: 3 * time.Second, last: 4 * time.Second, sample: "first"}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	var long failureCount
	long.add(time.Second, textError(strings.Repeat("x", 1<<20)))
	if len(long.sample) > maxSample+len("…") || !strings.HasSuffix(long.sample, "x…") {
		t.Errorf("the sample of a message of a megabyte has %d bytes", len(long.sample))
	}
	sum := c
	sum.merge(new(failureCount))
	if sum != c {
		t.Errorf("merged with nothing: %+v, want %+v", sum, c)
	}
	sum.merge(&long)
	if sum.n != 100_002 || sum.first != time.Second || sum.last != 4*time.Second || sum.sample != long.sample {
		t.Errorf("merged with an earlier one: %+v", sum)
	}
	var none failureCount
	none.merge(&c)
	if none != c {
		t.Errorf("merged into nothing: %+v, want %+v", none, c)
	}
}
