//go:build !linux

package loadtest

import "github.com/loadtest-go/loadtest/internal/sys"

func cpuModel() string { return sys.CPUModel() }

// readStealTime has nothing to read.
func readStealTime(CPUSet) (steal, total uint64, ok bool) { return 0, 0, false }
