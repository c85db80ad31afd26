package testserver

import (
	"crypto/tls"
	"net"
)

// Write writes bytes as they are, at once: there is no buffer, and TCP_NODELAY is set.
func (c *Conn) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.stream.Write(p)
	if err != nil {
		c.err = err
	}
	return n, err
}

// WriteString is Write for a string.
func (c *Conn) WriteString(s string) (int, error) { return c.Write([]byte(s)) }

// WriteSplit writes p in pieces that end at the given positions, and the rest, each a segment of its own with a pause of [Options.SegmentGap]
// before the next one, so that a client that waits for input reads them one by one. Positions that are not within p or not ascending are left out.
func (c *Conn) WriteSplit(p []byte, at ...int) error {
	from := 0
	for _, to := range at {
		if to <= from || to >= len(p) {
			continue
		}
		if _, err := c.Write(p[from:to]); err != nil {
			return err
		}
		c.Sleep(c.Server.opts.SegmentGap)
		from = to
	}
	_, err := c.Write(p[from:])
	return err
}

// WriteEach writes p in pieces of n bytes, as WriteSplit does.
func (c *Conn) WriteEach(p []byte, n int) error {
	var at []int
	for i := n; i < len(p); i += n {
		at = append(at, i)
	}
	return c.WriteSplit(p, at...)
}

// CloseWrite closes the sending half (with TLS's goodbye before, if there is TLS): the client sees the end of input and may go on sending.
func (c *Conn) CloseWrite() error {
	if tc, ok := c.stream.(*tls.Conn); ok {
		tc.CloseWrite()
	}
	half, ok := c.raw.(interface{ CloseWrite() error })
	if !ok {
		return net.ErrClosed
	}
	return half.CloseWrite()
}
