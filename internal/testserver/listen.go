package testserver

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
)

// Stop stops listening: new connections are refused, and those that wait in the listen queue are reset. Accepted ones go on. [Server.Restart]
// ends it. It does nothing if the server is stopped.
func (s *Server) Stop() {
	s.mu.Lock()
	a := s.acceptor
	s.acceptor = nil
	s.mu.Unlock()
	if a == nil {
		return
	}
	close(a.quit)
	a.ln.Close()
	<-a.ended
}

// Kill stops listening and resets every connection, as if the server's process had died with unread input.
func (s *Server) Kill() {
	s.Stop()
	s.ResetConns()
}

// ResetConns resets every connection that is open now.
func (s *Server) ResetConns() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Reset()
	}
}

// CloseConns closes every connection that is open now in the orderly way (FIN), without a word to the client, as a server does whose keep-alive
// time is over.
func (s *Server) CloseConns() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Drop()
	}
}

// Restart listens again on the same address after Stop or Kill, while connections of before may still be open.
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("restart test server: closed")
	}
	if s.acceptor != nil {
		return errors.New("restart test server: not stopped")
	}
	ln, err := listenAgain(s.opts.Network, s.opts.Addr)
	if err != nil {
		return err
	}
	if s.opts.Backlog > 0 {
		if err := setBacklog(ln, s.opts.Backlog); err != nil {
			ln.Close()
			return fmt.Errorf("set backlog to %d: %w", s.opts.Backlog, err)
		}
	}
	if s.Addr == "" {
		s.name(ln.Addr().String())
	}
	s.acceptor = &acceptor{ln: ln, quit: make(chan struct{}), ended: make(chan struct{})}
	s.running.Add(1)
	go s.accept(s.acceptor)
	return nil
}

// name settles, once, the address that the first listener got.
func (s *Server) name(addr string) {
	s.opts.Addr = addr
	scheme := "http://"
	if s.opts.TLS {
		scheme = "https://"
	}
	if s.opts.Network == "unix" {
		s.Addr = "unix:" + addr
		s.URL = scheme + "socket.invalid"
		return
	}
	s.Addr = addr
	s.URL = scheme + addr
}

// listenAgain listens, and tries for a second if the address is still taken.
func listenAgain(network, addr string) (net.Listener, error) {
	start := time.Now()
	for {
		ln, err := net.Listen(network, addr)
		if err == nil || !errors.Is(err, syscall.EADDRINUSE) || time.Since(start) > time.Second {
			return ln, err
		}
		time.Sleep(time.Millisecond)
	}
}

// Fill opens connections until the listen queue is full, so that the next client's connect hangs. They stay open until Close. The server must have
// a Backlog and must not accept.
func (s *Server) Fill() error {
	if s.opts.Backlog == 0 || !s.accepting.held() {
		return errors.New("fill listen queue: needs Backlog and HoldAccept")
	}
	for range 4*s.opts.Backlog + 16 {
		nc, err := net.DialTimeout(s.opts.Network, s.opts.Addr, 200*time.Millisecond)
		var ne net.Error
		if errors.As(err, &ne) && ne.Timeout() || errors.Is(err, syscall.EAGAIN) {
			return nil
		}
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.filler = append(s.filler, nc)
		s.mu.Unlock()
	}
	return errors.New("fill listen queue: it never got full")
}

// An acceptor is one period of listening.
type acceptor struct {
	ln    net.Listener
	quit  chan struct{} // closed by Stop
	ended chan struct{} // closed when the accepting goroutine has ended
}

func (s *Server) accept(a *acceptor) {
	defer s.running.Done()
	defer close(a.ended)
	for s.accepting.wait(a.quit) {
		nc, err := a.ln.Accept()
		switch {
		case err == nil:
			s.serve(nc)
		case errors.Is(err, net.ErrClosed):
			return
		case errors.Is(err, os.ErrDeadlineExceeded):
			// HoldAccept
		default:
			// Out of descriptors, or a connection that was reset in the queue.
			select {
			case <-a.quit:
			case <-time.After(time.Millisecond):
			}
		}
	}
}

func (s *Server) serve(nc net.Conn) {
	if tc, ok := nc.(*net.TCPConn); ok && s.opts.ReadBuffer > 0 {
		tc.SetReadBuffer(s.opts.ReadBuffer)
	}
	c := newConn(s, nc)
	s.mu.Lock()
	s.conns[c] = struct{}{}
	s.mu.Unlock()
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		defer func() {
			c.Close()
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
			s.count.open.Add(-1)
		}()
		if tc, ok := c.stream.(*tls.Conn); ok && tc.Handshake() != nil {
			s.count.handshakes.Add(1)
			return
		}
		s.script(c)
	}()
}
