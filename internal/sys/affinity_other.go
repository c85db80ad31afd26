//go:build !linux && !windows

package sys

import (
	"errors"
	"fmt"
	"runtime"
)

// SetThreadAffinity fails: nothing here pins a thread. macOS has hints at most, and none on Apple silicon. Does not block.
func SetThreadAffinity(cpus []int) error { return unsupported("set a thread's CPUs") }

// ThreadAffinity fails, as [SetThreadAffinity] does.
func ThreadAffinity() ([]int, error) { return nil, unsupported("read a thread's CPUs") }

// AllowedCPUs returns as many CPUs as the runtime counts, from 0 on. Does not block.
func AllowedCPUs() ([]int, error) {
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus, nil
}

// CurrentCPU fails, as [SetThreadAffinity] does.
func CurrentCPU() (int, error) { return 0, unsupported("tell the current CPU") }

// OnMainThread returns false: it matters only where threads are pinned.
func OnMainThread() bool { return false }

func unsupported(what string) error {
	return fmt.Errorf("%s on %s: %w", what, runtime.GOOS, errors.ErrUnsupported)
}
