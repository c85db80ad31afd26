//go:build !linux && !windows

package embedded

import (
	"os/exec"
	"syscall"

	"github.com/loadtest-go/loadtest/internal/sys"
)

// isolate takes cmd out of the terminal's reach.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// canPin returns why the CPUs of a thread are not those of a process that it starts: here no thread has any.
func canPin() error {
	_, err := sys.ThreadAffinity()
	return err
}
