// Package embedded starts the servers that the examples load, each pinned to CPUs of its own, so that server and generator do not
// take CPU time from each other.
package embedded

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/loadtest-go/loadtest"
	"github.com/loadtest-go/loadtest/internal/sys"
)

// OneCPUEach returns a CPU for the generator and one for the server, on different cores. The error says why there are none: the
// process may use one core only, or the system can't pin a process that is about to be started.
func OneCPUEach() (generator, server loadtest.CPUSet, err error) {
	if err := canPin(); err != nil {
		return nil, nil, err
	}
	generator, server, err = loadtest.SplitCPUs(1)
	if err != nil {
		return nil, nil, err
	}
	return generator[:1], server[:1], nil
}

// A Process is a command that has been started.
type Process struct {
	cmd    *exec.Cmd
	exited chan struct{}
	err    error // what the command's Wait returned; set before exited is closed
}

// Start starts cmd, pinned to cpus from its first instruction, or not pinned if cpus is empty. Ctrl-C reaches this process alone. On Linux
// cmd is killed if this process dies without a call of Stop.
func Start(cmd *exec.Cmd, cpus loadtest.CPUSet) (*Process, error) {
	if err := canPin(); err != nil && len(cpus) > 0 {
		return nil, fmt.Errorf("pin to CPUs %v: %w", cpus, err)
	}
	isolate(cmd)
	p := &Process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error)
	go ownThread(func() {
		err := pin(cpus)
		if err == nil {
			err = cmd.Start()
		}
		started <- err
		if err == nil {
			p.err = cmd.Wait() // here, since the kernel ties the child's life to the thread that started it
			close(p.exited)
		}
	})
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

// ownThread runs f on a thread that ends with it, for the goroutine is never unlocked: so the mask that f gives the thread reaches nobody
// else. The main thread would not end; a goroutine that finds itself on it holds it until another has run f.
func ownThread(f func()) {
	runtime.LockOSThread()
	if !sys.OnMainThread() {
		f()
		return
	}
	defer runtime.UnlockOSThread()
	done := make(chan struct{})
	go func() {
		defer close(done)
		ownThread(f)
	}()
	<-done
}

// pin pins the calling thread, and with it each process that it starts.
func pin(cpus loadtest.CPUSet) error {
	if len(cpus) == 0 {
		return nil
	}
	if err := sys.SetThreadAffinity(cpus); err != nil {
		return fmt.Errorf("pin to CPUs %v: %w", cpus, err)
	}
	got, err := sys.ThreadAffinity()
	if err == nil && loadtest.CPUSet(got).String() != cpus.String() {
		err = fmt.Errorf("pin to CPUs %v: the system set %v instead", cpus, loadtest.CPUSet(got))
	}
	return err
}

// Signal sends sig to the process.
func (p *Process) Signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Wait waits until the process has ended, and returns what exec.Cmd.Wait does.
func (p *Process) Wait() error {
	<-p.exited
	return p.err
}

// Stop asks the process to end by calling ask, and kills it if that fails or takes more than five seconds. Afterwards it has ended. The
// error tells of a process that had to be killed, or did not end well.
func (p *Process) Stop(ask func() error) error {
	select {
	case <-p.exited:
		return errors.Join(fmt.Errorf("%s had ended by itself", p.cmd.Path), p.err)
	default:
	}
	err := ask()
	patience := 5 * time.Second
	if err != nil {
		patience = 0
	}
	select {
	case <-p.exited:
		return p.err
	case <-time.After(patience):
		_ = p.cmd.Process.Kill() // fails only if it has just ended
		<-p.exited
		return errors.Join(fmt.Errorf("%s did not end when asked to, and was killed", p.cmd.Path), err)
	}
}
