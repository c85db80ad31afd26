package loadtest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Handler returns a Target that calls h with copies of r, in process, without a network. r is what a client would send
// (http.NewRequest) or what a server would receive (httptest.NewRequest); its body is read at once, and each copy is given a reader of
// it. A status other than 2xx is a failure of kind "status". What h panics with is not recovered, but for http.ErrAbortHandler,
// which is a failure of kind "eof", as it is to a client.
//
// What is measured is h, copying r included; there is no server, parser or connection in it.
func Handler(h http.Handler, r *http.Request) Target {
	t := &handlerTarget{handler: h, request: r}
	if r != nil && r.Body != nil {
		t.body, t.err = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	return t
}

type handlerTarget struct {
	handler http.Handler
	request *http.Request
	body    []byte
	err     error
}

func (t *handlerTarget) prepare(_ context.Context, opts Options) (Target, description, error) {
	switch {
	case t.handler == nil:
		return nil, description{}, errors.New("loadtest: Handler: h must not be nil")
	case t.request == nil || t.request.URL == nil:
		return nil, description{}, errors.New("loadtest: Handler: r must be a request with a URL")
	case t.err != nil:
		return nil, description{}, fmt.Errorf("loadtest: Handler: read the body of r: %w", t.err)
	case opts.Poll:
		return nil, description{}, errPollNeedsHTTP
	}
	method := t.request.Method
	if method == "" {
		method = http.MethodGet
	}
	return t, description{target: method + " " + t.request.URL.String() + " (handler)", engine: "func"}, nil
}

// NewClient returns a client with a response writer of its own.
func (t *handlerTarget) NewClient(ctx context.Context, _ int) (Client, error) {
	if _, _, err := t.prepare(ctx, Options{}); err != nil {
		return nil, err
	}
	return &handlerClient{target: t, header: make(http.Header)}, nil
}

// A handlerClient is the client of one worker, and the ResponseWriter of its requests: it counts what is written and keeps nothing.
type handlerClient struct {
	target *handlerTarget
	header http.Header
	status int
	size   int64
}

func (c *handlerClient) Do(ctx context.Context) (int64, error) {
	clear(c.header)
	c.status, c.size = 0, 0
	if err := c.serve(ctx); err != nil {
		c.status = 0
		return c.size, err
	}
	if c.status == 0 {
		c.status = http.StatusOK
	}
	if c.status < 200 || c.status > 299 {
		return c.size, &knownError{failStatus, statusError(c.status)}
	}
	return c.size, nil
}

func (c *handlerClient) serve(ctx context.Context) (err error) {
	r := c.target.request.Clone(ctx)
	// What the request of a server always has, and that of a client need not.
	r.Body = http.NoBody
	if len(c.target.body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(c.target.body))
	}
	r.Method = cmp.Or(r.Method, http.MethodGet)
	r.RequestURI = cmp.Or(r.RequestURI, r.URL.RequestURI())
	r.Host = cmp.Or(r.Host, r.URL.Host)
	r.RemoteAddr = cmp.Or(r.RemoteAddr, "192.0.2.1:1234") // an address for documentation (RFC 5737)
	if r.Header == nil {
		r.Header = make(http.Header)
	}
	defer func() {
		if v := recover(); v == http.ErrAbortHandler {
			err = &knownError{failEOF, http.ErrAbortHandler}
		} else if v != nil {
			panic(v)
		}
	}()
	c.target.handler.ServeHTTP(c, r)
	return nil
}

func (c *handlerClient) Close() error { return nil }

func (c *handlerClient) lastStatus() int { return c.status }

// Header, WriteHeader, Write, WriteString and Flush make c an http.ResponseWriter and an http.Flusher.

func (c *handlerClient) Header() http.Header { return c.header }

func (c *handlerClient) WriteHeader(status int) {
	if c.status == 0 && status >= 200 {
		c.status = status
	}
}

func (c *handlerClient) Write(b []byte) (int, error) {
	return c.wrote(len(b))
}

// WriteString saves those who write strings a copy, as the ResponseWriter of a server does.
func (c *handlerClient) WriteString(s string) (int, error) { return c.wrote(len(s)) }

// wrote counts n bytes of the body, where there may be one.
func (c *handlerClient) wrote(n int) (int, error) {
	c.WriteHeader(http.StatusOK)
	switch {
	case c.status == http.StatusNoContent, c.status == http.StatusNotModified:
		return 0, http.ErrBodyNotAllowed
	case c.target.request.Method != http.MethodHead:
		c.size += int64(n)
	}
	return n, nil
}

func (c *handlerClient) Flush() { c.WriteHeader(http.StatusOK) }
