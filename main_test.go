package loadtest

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/loadtest-go/loadtest/internal/sys"
)

// TestMain holds the suite to what Run promises to be: a good guest. What is there after all tests must be what was there before.
func TestMain(m *testing.M) {
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		_ = l.Close() // the runtime's poller opens descriptors of its own with the first socket, and keeps them
	}
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
	descriptors int // open; 0 where nothing tells
	cpus        CPUSet
	narrowed    int // threads that may not use all of cpus
	gomaxprocs  int
}

func surroundings() guestbook {
	g := guestbook{gomaxprocs: runtime.GOMAXPROCS(0)}
	g.cpus, _ = AllowedCPUs()
	if runtime.GOOS == "linux" { // wine has a /proc too, which is not the test's
		entries, _ := os.ReadDir("/proc/self/fd")
		g.descriptors = len(entries)
	}
	for _, cpus := range sys.ThreadAffinities() {
		if len(cpus) < len(g.cpus) {
			g.narrowed++
		}
	}
	return g
}

func (g guestbook) equal(h guestbook) bool {
	return g.descriptors == h.descriptors && g.narrowed == h.narrowed && g.gomaxprocs == h.gomaxprocs && slices.Equal(g.cpus, h.cpus)
}
