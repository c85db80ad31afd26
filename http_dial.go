package loadtest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

// dial opens the client's connection. False: it could not, and x says why.
func (c *netClient) dial(x *exchange) bool {
	start := x.clock.now()
	conn, err := c.connect(x)
	now := x.clock.now()
	if err == nil {
		x.dials[x.dialed] = now - start
		x.dialed++
		x.sent = now
		if x.reached != nil {
			x.reached.Store(true)
		}
		c.adopt(conn)
		return true
	}
	x.done, x.unsent = now, x.written == 0
	if c.ctx.Err() != nil {
		x.givenUp = true
		return false
	}
	x.fail(classify(err), err)
	x.unconnected = true
	return false
}

// connect opens a connection that is ready for a request, TLS handshake included, within what is left of the request's time.
func (c *netClient) connect(x *exchange) (net.Conn, error) {
	ctx := c.ctx
	if timeout := c.plan.opts.timeout(); timeout != noTimeout {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout-(x.clock.now()-x.begun))
		defer cancel()
	}
	conn, err := c.plan.dial(ctx)
	if err != nil {
		return nil, explainDial(err)
	}
	x.opened++
	if c.plan.pollReads {
		if conn, err = newPollConn(conn, len(c.plan.opts.CPUs) > 0); err != nil {
			return nil, err
		}
	}
	if c.plan.tls == nil {
		return conn, nil
	}
	secure := tls.Client(conn, c.plan.tls)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("TLS handshake: %w", ctx.Err())
		}
		return nil, &knownError{failTLS, fmt.Errorf("TLS handshake: %w", err)}
	}
	return secure, nil
}

// dial opens a connection to the first of the addresses that accepts one, beginning with the one that did last time: a name may stand
// for an IPv6 and an IPv4 address, and the server listen on one of them only. An address that does not answer at all leaves time for the
// next.
func (p *httpPlan) dial(ctx context.Context) (net.Conn, error) {
	// Probes of an idle connection are not a load generator's business, and each socket option is a system call.
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: false}, KeepAlive: -1}
	first := int(p.preferred.Load())
	var errs []error
	var last error
	for i := range p.addrs {
		at := (first + i) % len(p.addrs)
		dialer.Timeout = patience(ctx, len(p.addrs)-i)
		conn, err := dialer.DialContext(ctx, p.network, p.addrs[at])
		if err == nil {
			if i > 0 {
				p.preferred.Store(int32(at))
			}
			return conn, nil
		}
		errs, last = append(errs, err), err
		if ctx.Err() != nil {
			break
		}
	}
	// The last had all the time there was: that an earlier one did not answer soon is no timeout of the request.
	return nil, &knownError{classify(last), errors.Join(errs...)}
}

// maxPatience is how long a connection attempt goes on while there is another address to try: what an attempt whose first packet was lost
// needs on Linux.
const maxPatience = 1100 * time.Millisecond

// patience returns how long the next of left addresses may take; 0: all the time that ctx leaves.
func patience(ctx context.Context, left int) time.Duration {
	if left < 2 {
		return 0
	}
	if deadline, ok := ctx.Deadline(); ok {
		return min(max(time.Until(deadline)/time.Duration(left), 1), maxPatience)
	}
	return maxPatience
}

// explainDial adds what to do to errors whose cause is this machine and not the server.
func explainDial(err error) error {
	switch classify(err) {
	case failAddress:
		return fmt.Errorf("no local port is left to connect from: keep connections alive, or lower the load: %w", err)
	case failDescriptors:
		return fmt.Errorf("no file descriptor is left: raise the limit (ulimit -n), or lower Options.Concurrency: %w", err)
	}
	return err
}

// describeTLS returns version, cipher suite and application protocol of a TLS connection; "" of another.
func describeTLS(conn net.Conn) string {
	secure, ok := conn.(*tls.Conn)
	if !ok {
		return ""
	}
	state := secure.ConnectionState()
	s := tls.VersionName(state.Version) + "," + tls.CipherSuiteName(state.CipherSuite)
	if state.NegotiatedProtocol != "" {
		s += "," + state.NegotiatedProtocol
	}
	return s
}
