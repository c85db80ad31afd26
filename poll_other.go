//go:build !linux

package loadtest

import (
	"errors"
	"fmt"
	"net"
)

func checkPoll(opts Options) error {
	if opts.Poll {
		return fmt.Errorf("loadtest: Options.Poll: works on Linux only so far: %w", errors.ErrUnsupported)
	}
	return nil
}

func newPollConn(conn net.Conn) (net.Conn, error) {
	_ = conn.Close()
	return nil, errors.ErrUnsupported
}
