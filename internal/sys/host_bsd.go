//go:build darwin || freebsd

package sys

import "golang.org/x/sys/unix"

// KernelRelease returns what "uname -r" prints, or "". Does not block.
func KernelRelease() string {
	release, _ := unix.Sysctl("kern.osrelease")
	return release
}

// CPUModel returns the name of the processor, or "". Does not block.
func CPUModel() string {
	model, err := unix.Sysctl("machdep.cpu.brand_string") // of macOS, where hw.model is that of the computer
	if err != nil {
		model, _ = unix.Sysctl("hw.model")
	}
	return model
}
