package loadtest

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"

	"github.com/loadtest-go/loadtest/internal/h1"
)

// HTTP is a [Target] that sends HTTP requests. HTTP/1.1 is driven over plain and TLS connections by an engine of its own, not by the
// client of net/http, whose own work would be a good part of what is measured. The request is encoded once; redirects are not followed,
// nothing is retried but what [HTTP] says below, no proxy is used and no cookie kept.
//
// A connection is kept alive for as long as the server lets it live. If one was idle for a millisecond or longer, the client looks whether
// the server has closed it, and opens a new one if so (not with TLS, nor on Windows). If the server closes one between two requests that
// follow at once, the second may be on its way already. Where not a byte of a response has come on a connection that had served others before, the request is sent once
// more on a new connection, counted in Result.Resent, and measured from there; the server may then have seen it twice, and a server that
// crashes over a request can't be told from one that was idle for too long. That is done for
// the methods of RFC 9110 section 9.2.2, for which seeing it twice does no harm; the others (POST, PATCH) fail with kind "eof" or
// "reset". After a failed connection attempt a client waits before its next request, 1 ms at first and up to 250 ms, so that a server
// that is gone is not what is measured.
//
// Bytes beyond a response are a failure if they come in one piece with it, and a [Warning] if they come while the connection is idle for a
// millisecond or longer. Otherwise they are taken for the beginning of the next response.
//
// The zero value of each field but URL is a sensible default. The fields must not be changed while a Run uses them.
type HTTP struct {
	URL    string      // http:// or https://
	Method string      // "": GET
	Header http.Header // "Host" overrides the URL's; Content-Length and Connection are HTTP's own, setting them is an error
	Body   []byte

	// Addr is dialled instead of the URL's host, which keeps its place in the Host header and in the TLS server name: "127.0.0.1:8840",
	// "[::1]:80", "unix:/run/app.sock". "": the host of URL, resolved once, before the run.
	Addr string

	Status           int         // status that counts as success; 0: any 2xx
	DisableKeepAlive bool        // a new connection for each request
	Pipeline         int         // requests under way on one connection; 0: 1. More are not built yet: an error
	Proto            string      // "http/1.1", "h2", "h2c", "h3"; "": http/1.1. The others are not built yet: an error
	TLS              *tls.Config // nil: verify the server against the system's roots
	MaxBody          int64       // a larger response fails; 0: no limit

	// Requests, if not empty, are sent in turn (each with URL's scheme and host unless it has its own), by all clients together.
	// Not built yet: an error.
	Requests []Request
	// Next, if non-nil, fills r, which is reused, for the n-th request of the run, n = 0, 1, …; called from the load threads, one at a
	// time for each client. Not built yet: an error.
	Next func(n int64, r *Request) error
	// Check, if non-nil, judges each response that has the right status; an error makes the request a failure of kind "check". It is
	// called from the load threads, by several clients at once; the time it takes is not in the latency of its own request, but keeps its
	// client from sending the next. r and its bytes are valid only during the call.
	Check func(r *Response) error

	// Engine forces what drives the connections: "net", goroutines over package net, works everywhere. "": the best that works here.
	// Result.Engine says what ran. "io_uring" and "epoll" are not built yet: an error that wraps errors.ErrUnsupported.
	Engine string
}

// A Request is one of several that an HTTP target sends.
type Request struct {
	Method, URL string
	Header      http.Header
	Body        []byte
	Weight      int // relative share when in HTTP.Requests; 0: 1
	Name        string
}

// A Response is what HTTP.Check judges.
type Response struct {
	Status int
	Body   []byte // without the framing of chunks
	head   *h1.Response
}

// Header returns the first value of the field key, in any case, or "".
func (r *Response) Header(key string) string {
	if r.head == nil {
		return ""
	}
	return r.head.Header(key)
}

// NewClient returns a client with a connection of its own, which it opens with its first request. Run does not call it, but prepares
// h once for all clients; it is there for Targets that wrap h.
func (h *HTTP) NewClient(ctx context.Context, i int) (Client, error) {
	// Such a Target is given the timeout in the context of each Do.
	t, _, err := h.prepare(ctx, Options{Timeout: -1}.withDefaults())
	if err != nil {
		return nil, err
	}
	c, err := t.NewClient(ctx, i)
	if err != nil {
		return nil, err
	}
	return onlyClient{c}, nil
}

// An onlyClient is a Client and no exchanger: whoever was given one by HTTP.NewClient may have Run drive it as it is, and that goes by
// what the Options of that Run say, which the client has not seen.
type onlyClient struct{ Client }

var errNilHTTP = errors.New("loadtest: HTTP: must not be nil")
