package loadtest

import (
	"runtime"
	"testing"
	"time"
)

func TestCPUTime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread, threadOK := threadCPUTime()
	process, _, ok := processCPUTime()
	if !ok {
		t.Fatal("no CPU time of the process")
	}
	// Work until the process has done 50 ms, three ticks of the coarsest system.
	const work = 50 * time.Millisecond
	var used cpuTime
	var rss int64
	sum := 0
	for deadline := time.Now().Add(30 * time.Second); total(used) < work; {
		for i := range 100_000 {
			sum += i
		}
		now, peak, _ := processCPUTime()
		used, rss = now.minus(process), peak
		if time.Now().After(deadline) {
			t.Fatalf("the process used %v in 30s of work (%d)", used, sum)
		}
	}
	if rss < 1<<20 || rss > 1<<40 {
		t.Errorf("the largest resident set is %d bytes, want some megabytes", rss)
	}
	if !threadOK {
		t.Log("no CPU time of threads here")
		return
	}
	now, _ := threadCPUTime()
	if got := total(now.minus(thread)); got < work/10 || got > total(used)+work {
		t.Errorf("the thread used %v of the process's %v", got, total(used))
	}
}

func total(t cpuTime) time.Duration { return t.user + t.system }
