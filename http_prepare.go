package loadtest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/loadtest-go/loadtest/internal/h1"
)

// An httpPlan is an HTTP target that has been checked, resolved and encoded. Its clients share it, and change only what is atomic.
type httpPlan struct {
	request []byte // encoded
	head    bool   // the method is HEAD: responses have no body
	resend  bool   // the method may be sent again

	network   string       // "tcp" or "unix"
	addrs     []string     // to dial, in order
	preferred atomic.Int32 // index in addrs of the one that accepted last; written by the clients that find another
	tls       *tls.Config  // nil: plain

	status    int
	maxBody   int64
	close     bool
	check     func(*Response) error
	opts      Options
	pollReads bool
	sampled   atomic.Bool // a response was accepted; written by the first client that sees one
}

// prepare checks h, resolves its host and encodes its request.
func (h *HTTP) prepare(ctx context.Context, opts Options) (Target, description, error) {
	if h == nil {
		return nil, description{}, errNilHTTP
	}
	u, err := h.validate(opts)
	if err != nil {
		return nil, description{}, err
	}
	req := h1.Request{Method: h.Method, Target: u.RequestURI(), Host: hostField(u), Header: h.Header, Body: h.Body, Close: h.DisableKeepAlive}
	encoded, err := req.Append(nil)
	if err != nil {
		return nil, description{}, fmt.Errorf("loadtest: HTTP.%w", err)
	}
	p := &httpPlan{
		request: encoded, head: h.Method == "HEAD", resend: idempotent(h.Method),
		status: h.Status, maxBody: h.MaxBody, close: h.DisableKeepAlive, check: h.Check, opts: opts, pollReads: opts.Poll,
	}
	field, addr := "Addr", h.Addr
	if addr == "" {
		field, addr = "URL", hostPort(u)
	}
	if p.network, p.addrs, err = resolve(ctx, addr); err != nil {
		return nil, description{}, fmt.Errorf("loadtest: HTTP.%s: %w", field, err)
	}
	if u.Scheme == "https" {
		p.tls = tlsConfig(h.TLS, u.Hostname())
	}
	if u.Path == "" {
		u.Path = "/"
	}
	method := h.Method
	if method == "" {
		method = "GET"
	}
	desc := description{target: method + " " + u.Redacted(), engine: "net", local: isLocal(p.network, p.addrs), separate: true}
	desc.inProcess = desc.local && listensHere(p.network, p.addrs)
	if h.Addr != "" {
		desc.target += " at " + h.Addr
	}
	return p, desc, nil
}

// validate reports every field that makes no sense.
func (h *HTTP) validate(opts Options) (*url.URL, error) {
	var errs []error
	bad := func(field, format string, args ...any) {
		errs = append(errs, fmt.Errorf("loadtest: HTTP."+field+": "+format, args...))
	}
	u, err := url.Parse(h.URL)
	switch {
	case h.URL == "":
		bad("URL", "must be set")
	case err != nil:
		bad("URL", "%w", err)
	case u.Scheme != "http" && u.Scheme != "https":
		bad("URL", "must begin with http:// or https:// (got %q)", h.URL)
	case u.Hostname() == "":
		bad("URL", "must name a host (got %q)", h.URL)
	case strings.ContainsFunc(u.Host, func(c rune) bool { return c >= 0x80 }):
		bad("URL", "must have a host of ASCII characters: write an international name as xn--… (got %q)", u.Host)
	case strings.Contains(u.RawQuery, " "):
		bad("URL", "must have no spaces in its query: write %%20 (got %q)", h.URL)
	case u.User != nil:
		bad("URL", "must not hold a user name: set Header[\"Authorization\"]")
	case u.Scheme == "http" && h.TLS != nil:
		bad("TLS", "needs a URL that begins with https:// (got %q)", h.URL)
	}
	if h.TLS != nil {
		if i := slices.IndexFunc(h.TLS.NextProtos, notHTTP1); i >= 0 {
			bad("TLS", "NextProtos must not offer %q, which is not built yet: leave it empty for http/1.1", h.TLS.NextProtos[i])
		}
	}
	if h.Status != 0 && h.Status != 101 && (h.Status < 200 || h.Status > 999) {
		bad("Status", "must be 0, for any 2xx, or a final status from 200 to 999 (got %d)", h.Status)
	}
	if h.MaxBody < 0 {
		bad("MaxBody", "must not be negative (got %d)", h.MaxBody)
	}
	if h.Pipeline < 0 {
		bad("Pipeline", "must not be negative (got %d)", h.Pipeline)
	} else if h.Pipeline > 1 {
		bad("Pipeline", "is not built yet: leave it 0")
	}
	switch h.Proto {
	case "", "http/1.1":
	case "h2", "h2c", "h3":
		bad("Proto", "%q is not built yet: leave it empty for http/1.1: %w", h.Proto, errors.ErrUnsupported)
	default:
		bad("Proto", "must be one of http/1.1, h2, h2c, h3 (got %q)", h.Proto)
	}
	switch h.Engine {
	case "", "net":
	case "epoll", "io_uring":
		bad("Engine", "%q is not built yet: leave it empty for the best there is: %w", h.Engine, errors.ErrUnsupported)
	default:
		bad("Engine", "must be one of io_uring, epoll, net (got %q)", h.Engine)
	}
	if len(h.Requests) > 0 {
		bad("Requests", "are not built yet: leave them empty")
	}
	if h.Next != nil {
		bad("Next", "is not built yet: leave it nil")
	}
	if err := opts.checkPoll(); err != nil {
		errs = append(errs, err)
	}
	return u, errors.Join(errs...)
}

// idempotent says whether sending a request of this method twice does no harm (RFC 9110, 9.2.2).
func idempotent(method string) bool {
	return slices.Contains([]string{"", "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"}, method)
}

func notHTTP1(proto string) bool { return slices.Contains([]string{"h2", "h2c", "h3"}, proto) }

// hostField returns the value of the Host field: host and port as they are in u, but for what means something only on this machine (the
// zone of an IPv6 address) or nothing at all (a colon without a port).
func hostField(u *url.URL) string {
	host := strings.TrimSuffix(u.Host, ":")
	if zone := strings.IndexByte(host, '%'); zone >= 0 && host[0] == '[' {
		host = host[:zone] + host[strings.IndexByte(host, ']'):]
	}
	return host
}

// hostPort returns the address that u stands for.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// resolve returns what to dial for addr: "host:port" or "unix:path". A name is looked up; an address and a path are not.
func resolve(ctx context.Context, addr string) (network string, addrs []string, err error) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		if path == "" {
			return "", nil, errors.New("must have a path after unix: as in unix:/run/app.sock")
		}
		return "unix", []string{path}, nil
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", nil, fmt.Errorf("must be host:port or unix:path: %w", err)
	}
	if host == "" {
		return "", nil, fmt.Errorf("must have a host before the port (got %q)", addr)
	}
	number, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if err != nil {
		return "", nil, err
	}
	if number == 0 {
		return "", nil, errors.New("port 0 can't be connected to")
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return "tcp", []string{netip.AddrPortFrom(ip, uint16(number)).String()}, nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return "", nil, err
	}
	for _, ip := range ips {
		addrs = append(addrs, netip.AddrPortFrom(ip.Unmap(), uint16(number)).String())
	}
	return "tcp", addrs, nil
}

// isLocal reports whether one of addrs is of this machine.
func isLocal(network string, addrs []string) bool {
	if network == "unix" {
		return true
	}
	own, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(addrs, func(addr string) bool {
		ap, err := netip.ParseAddrPort(addr)
		return err == nil && (ap.Addr().IsLoopback() || slices.ContainsFunc(own, func(a net.Addr) bool {
			prefix, ok := a.(*net.IPNet)
			return ok && prefix.IP.Equal(ap.Addr().WithZone("").AsSlice())
		}))
	})
}

// tlsConfig completes what the user gave, and never weakens it.
func tlsConfig(given *tls.Config, host string) *tls.Config {
	c := new(tls.Config)
	if given != nil {
		c = given.Clone()
	}
	if c.ServerName == "" {
		c.ServerName = host
	}
	if len(c.NextProtos) == 0 {
		c.NextProtos = []string{"http/1.1"}
	}
	return c
}
