package loadtest

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestClockAdvances(t *testing.T) {
	before := time.Now()
	c := startClock()
	if off := c.start.Sub(before); off < 0 || off > time.Minute {
		t.Errorf("the clock starts %v after the time of day", off)
	}
	if first := c.now(); first < 0 || first > time.Minute {
		t.Errorf("now() = %v just after the start", first)
	}
	// Not one step back, and steps far finer than the 0.5 to 15.6 ms that time.Now may have on Windows.
	last, finest := c.now(), time.Hour
	for range 100_000 {
		now := c.now()
		if now < last {
			t.Fatalf("the clock went back from %v to %v", last, now)
		}
		if now > last {
			finest = min(finest, now-last)
		}
		last = now
	}
	if finest > 50*time.Microsecond {
		t.Errorf("the finest step is %v, want at most 50µs", finest)
	}
}

// The clock must not drift from the time of day's: over some ticks of that, both say the same.
func TestClockAgrees(t *testing.T) {
	c := startClock()
	for time.Since(c.start) < 100*time.Millisecond {
		time.Sleep(time.Millisecond)
	}
	want := time.Since(c.start)
	got := c.now()
	if after := time.Since(c.start); got < want-20*time.Millisecond || got > after+20*time.Millisecond {
		t.Errorf("now() = %v between time.Since of %v and %v", got, want, after)
	}
}

func TestClockInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startClock()
		time.Sleep(3 * time.Second)
		if got := c.now(); got != 3*time.Second {
			t.Errorf("now() = %v after a fake 3s", got)
		}
	})
}

func TestClockAllocates(t *testing.T) {
	c := startClock()
	if n := testing.AllocsPerRun(1000, func() { c.now() }); n != 0 {
		t.Errorf("now() allocates %v times", n)
	}
}

func BenchmarkClockNow(b *testing.B) {
	c := startClock()
	b.ReportAllocs()
	for b.Loop() {
		c.now()
	}
}
