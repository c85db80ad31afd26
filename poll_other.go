//go:build !linux

package loadtest

import (
	"errors"
	"fmt"
	"net"
)

// canPoll returns why connections can't be polled.
func canPoll() error { return fmt.Errorf("works on Linux only so far: %w", errors.ErrUnsupported) }

func newPollConn(conn net.Conn, _ bool) (net.Conn, error) {
	_ = conn.Close()
	return nil, errors.ErrUnsupported
}
