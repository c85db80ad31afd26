package sys

import (
	"math"
	"testing"
	"time"
)

func TestCounterDuration(t *testing.T) {
	check := func(ticks, frequency int64, want time.Duration) {
		t.Helper()
		if got := CounterDuration(ticks, frequency); got != want {
			t.Errorf("CounterDuration(%d, %d) = %v, want %v", ticks, frequency, got, want)
		}
	}
	check(0, 10_000_000, 0)
	check(1, 10_000_000, 100)
	check(123_456_789, 10_000_000, 12_345_678_900)
	check(3_579_545, 3_579_545, time.Second)
	check(3_579_546, 3_579_545, time.Second+279)
	check(2_400_000_000*86_400*365, 2_400_000_000, 365*24*time.Hour) // a year at 2.4 GHz
	if got := CounterDuration(math.MaxInt64, 1_000_000_000); got != math.MaxInt64 {
		t.Errorf("CounterDuration at 1 GHz = %d, want the ticks", got)
	}
}

func TestCounterAdvances(t *testing.T) {
	if f := CounterFrequency(); f < 1_000_000 || f > 4_000_000_000 {
		t.Errorf("CounterFrequency() = %d, want 1 MHz to 4 GHz", f)
	}
	last := Counter()
	for range 10_000 {
		now := Counter()
		if now < last {
			t.Fatalf("the counter went back from %d to %d", last, now)
		}
		last = now
	}
	if n := testing.AllocsPerRun(1000, func() { Counter() }); n != 0 {
		t.Errorf("Counter() allocates %v times", n)
	}
}
