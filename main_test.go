package loadtest

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain holds the suite to what Run promises to be: a good guest. What is there after all tests must be what was there before.
func TestMain(m *testing.M) {
	before := surroundings()
	code := m.Run()
	if code == 0 {
		code = checkGuest(before)
	}
	os.Exit(code)
}

func checkGuest(before guestbook) int {
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, "goroutines left behind:", err)
		return 1
	}
	var after guestbook
	for range 100 { // the kernel closes in its own time what the peer has closed
		if after = surroundings(); after.equal(before) {
			return 0
		}
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Fprintf(os.Stderr, "left behind: had %+v, have %+v\n", before, after)
	return 1
}

// A guestbook is what of the process Run could disturb.
type guestbook struct {
	sockets    int // open descriptors that are sockets; 0 where /proc/self/fd is missing
	cpus       CPUSet
	gomaxprocs int
}

func surroundings() guestbook {
	g := guestbook{gomaxprocs: runtime.GOMAXPROCS(0)}
	g.cpus, _ = AllowedCPUs()
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && len(to) > 7 && to[:7] == "socket:" {
			g.sockets++
		}
	}
	return g
}

func (g guestbook) equal(h guestbook) bool {
	return g.sockets == h.sockets && g.gomaxprocs == h.gomaxprocs && slices.Equal(g.cpus, h.cpus)
}
