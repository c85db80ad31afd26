package testserver

import (
	"net"
)

// ClosedAddr returns an address of 127.0.0.1 where nobody listens until the test ends: connecting is refused. The port is held by a connection
// that was bound to it, so that no other program gets it, and so that no client's own port can be the same, which would make it connect to itself.
func ClosedAddr(t TB) string {
	t.Helper()
	for range 10 {
		addr, err := holdPort(t)
		if err == nil {
			return addr
		}
	}
	t.Fatalf("find a port where nobody listens: none could be held")
	return ""
}

func holdPort(t TB) (string, error) {
	peer, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer peer.Close()
	free, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	addr := free.Addr().(*net.TCPAddr)
	free.Close()
	holder, err := (&net.Dialer{LocalAddr: addr}).Dial("tcp4", peer.Addr().String())
	if err != nil {
		return "", err
	}
	held, err := peer.Accept()
	if err != nil {
		holder.Close()
		return "", err
	}
	t.Cleanup(func() {
		// The reset leaves no TIME_WAIT behind.
		holder.(*net.TCPConn).SetLinger(0)
		holder.Close()
		held.Close()
	})
	return addr.String(), nil
}
