package embedded

import (
	"os/exec"
	"syscall"
)

// isolate takes cmd out of the terminal's reach, and ties its life to that of the thread that starts it.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// canPin returns why the CPUs of a thread are not those of a process that it starts.
func canPin() error { return nil }
