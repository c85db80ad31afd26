//go:build !linux

package testserver

import (
	"net"
	"sync"
)

// start starts the accepting goroutine, which starts one for every connection.
func (s *Trivial) start() error {
	var mu sync.Mutex // guards conns and ended
	conns := make(map[net.Conn]struct{})
	ended := false
	s.stop = func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
		for nc := range conns {
			nc.Close()
		}
	}
	s.running.Go(func() {
		for {
			nc, err := s.ln.Accept()
			if err != nil {
				return
			}
			s.accepted.Add(1)
			mu.Lock()
			if ended {
				nc.Close()
			}
			conns[nc] = struct{}{}
			mu.Unlock()
			s.running.Go(func() {
				s.serve(nc)
				mu.Lock()
				delete(conns, nc)
				mu.Unlock()
			})
		}
	})
	return nil
}

func (s *Trivial) serve(nc net.Conn) {
	defer nc.Close()
	in := make([]byte, 16<<10)
	var response, out []byte
	state := 0
	for {
		got, err := nc.Read(in)
		if err != nil {
			return
		}
		var n int
		if n, state = heads(state, in[:got]); n == 0 {
			continue
		}
		response, out = s.respond(n, out)
		if _, err := nc.Write(response); err != nil || s.opts.CloseEach {
			return
		}
	}
}
