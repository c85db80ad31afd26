package embedded

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
)

// isolate takes cmd out of the console's reach.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// canPin returns why the CPUs of a thread are not those of a process that it starts.
func canPin() error {
	return fmt.Errorf("on Windows a process does not inherit the CPUs of the thread that starts it: %w", errors.ErrUnsupported)
}
