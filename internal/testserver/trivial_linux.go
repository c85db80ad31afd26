package testserver

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"
)

// start starts the one serving goroutine.
func (s *Trivial) start() error {
	file, err := s.ln.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	l := &trivialLoop{s: s, file: file, listener: int(file.Fd()), conns: make(map[int32]*trivialConn), in: make([]byte, 64<<10)}
	if err := l.open(); err != nil {
		l.close()
		return err
	}
	s.stop = func() { syscall.Write(l.wake[1], []byte{0}) }
	s.running.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer l.close()
		for l.turn() {
		}
	})
	return nil
}

// A trivialLoop is the state of the serving goroutine. It closes the descriptors it opens.
type trivialLoop struct {
	s        *Trivial
	file     *os.File // keeps the listener's descriptor
	listener int
	epoll    int
	wake     [2]int // a pipe: a byte in it ends the loop
	conns    map[int32]*trivialConn
	events   [256]syscall.EpollEvent
	in, out  []byte
}

type trivialConn struct {
	state int // of heads
}

func (l *trivialLoop) open() error {
	l.epoll, l.wake = -1, [2]int{-1, -1}
	if err := syscall.SetNonblock(l.listener, true); err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	var err error
	if l.epoll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if err := syscall.Pipe2(l.wake[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		return os.NewSyscallError("pipe2", err)
	}
	for _, fd := range []int{l.listener, l.wake[0]} {
		if err := l.add(fd); err != nil {
			return fmt.Errorf("watch descriptor %d: %w", fd, err)
		}
	}
	return nil
}

func (l *trivialLoop) close() {
	for fd := range l.conns {
		syscall.Close(int(fd))
	}
	for _, fd := range []int{l.epoll, l.wake[0], l.wake[1]} {
		if fd >= 0 {
			syscall.Close(fd)
		}
	}
	l.file.Close()
}

func (l *trivialLoop) add(fd int) error {
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)}
	return os.NewSyscallError("epoll_ctl", syscall.EpollCtl(l.epoll, syscall.EPOLL_CTL_ADD, fd, &event))
}

// turn handles what has happened, and returns false when the loop is to end.
func (l *trivialLoop) turn() bool {
	n, err := syscall.EpollWait(l.epoll, l.events[:], -1)
	if err != nil && err != syscall.EINTR {
		return false
	}
	for i := range max(0, n) {
		switch fd := l.events[i].Fd; int(fd) {
		case l.wake[0]:
			return false
		case l.listener:
			l.accept()
		default:
			l.serve(fd)
		}
	}
	return true
}

func (l *trivialLoop) accept() {
	for {
		fd, _, err := syscall.Accept4(l.listener, syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		l.s.accepted.Add(1)
		syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
		if l.add(fd) != nil {
			syscall.Close(fd)
			continue
		}
		l.conns[int32(fd)] = new(trivialConn)
	}
}

// serve answers what a connection has sent.
func (l *trivialLoop) serve(fd int32) {
	c := l.conns[fd]
	got, err := syscall.Read(int(fd), l.in)
	if err == syscall.EAGAIN || err == syscall.EINTR {
		return
	}
	if err != nil || got == 0 {
		l.drop(fd)
		return
	}
	var n int
	if n, c.state = heads(c.state, l.in[:got]); n == 0 {
		return
	}
	var response []byte
	response, l.out = l.s.respond(n, l.out)
	sent, err := syscall.Write(int(fd), response)
	if err != nil || sent < len(response) || l.s.opts.CloseEach {
		l.drop(fd)
	}
}

func (l *trivialLoop) drop(fd int32) {
	delete(l.conns, fd)
	syscall.Close(int(fd))
}
