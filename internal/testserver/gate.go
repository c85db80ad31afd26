package testserver

import (
	"sync"
	"time"
)

// HoldAccept stops accepting while listening goes on: the kernel completes connections until the listen queue is full, and nobody answers.
func (s *Server) HoldAccept() {
	s.accepting.hold()
	s.deadline(time.Unix(1, 0)) // ends the Accept that waits now
}

// ReleaseAccept ends HoldAccept.
func (s *Server) ReleaseAccept() {
	s.deadline(time.Time{})
	s.accepting.release()
}

func (s *Server) deadline(d time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.acceptor == nil {
		return
	}
	if ln, ok := s.acceptor.ln.(interface{ SetDeadline(time.Time) error }); ok {
		ln.SetDeadline(d)
	}
}

// Freeze makes the server stand still: it reads requests and counts them, but no script's Next returns until [Server.Thaw].
func (s *Server) Freeze() { s.flowing.hold() }

// Thaw ends Freeze.
func (s *Server) Thaw() { s.flowing.release() }

// A gate lets everyone through unless it is held. The zero gate is open.
type gate struct {
	mu     sync.Mutex // guards opened
	opened chan struct{}
}

func (g *gate) hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened == nil {
		g.opened = make(chan struct{})
	}
}

func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened != nil {
		close(g.opened)
		g.opened = nil
	}
}

func (g *gate) held() bool { return g.closedUntil() != nil }

func (g *gate) closedUntil() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened
}

// wait returns true when the gate is open, false when quit is closed.
func (g *gate) wait(quit <-chan struct{}) bool {
	for {
		opened := g.closedUntil()
		if opened == nil {
			break
		}
		select {
		case <-opened:
		case <-quit:
			return false
		}
	}
	select {
	case <-quit:
		return false
	default:
		return true
	}
}
