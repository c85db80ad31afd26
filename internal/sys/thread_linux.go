package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// ThreadID returns the number of the calling thread. It does not block.
func ThreadID() int { return unix.Gettid() }

// ThreadExists reports whether the process has a thread of this number. It does not block.
func ThreadExists(id int) bool { return id != 0 && unix.Tgkill(os.Getpid(), id, 0) == nil }
