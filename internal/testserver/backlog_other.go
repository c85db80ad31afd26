//go:build !unix

package testserver

import (
	"errors"
	"net"
)

func setBacklog(net.Listener, int) error { return errors.ErrUnsupported }
