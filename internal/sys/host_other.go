//go:build !linux && !darwin && !freebsd && !windows

package sys

// KernelRelease returns "": nobody has found out how to ask this system. Does not block.
func KernelRelease() string { return "" }

// CPUModel returns "", as [KernelRelease] does.
func CPUModel() string { return "" }
