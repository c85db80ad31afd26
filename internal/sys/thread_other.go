//go:build !linux

package sys

// ThreadID returns 0: threads have no numbers here, or none that is needed.
func ThreadID() int { return 0 }

// ThreadExists returns false.
func ThreadExists(int) bool { return false }

// ThreadAffinities returns nil.
func ThreadAffinities() map[int][]int { return nil }
