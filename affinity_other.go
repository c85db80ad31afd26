//go:build !linux && !windows

package loadtest

// cores takes each allowed CPU for a core: what is not pinned needs no better answer.
func cores(allowed CPUSet) []core { return singles(allowed) }
