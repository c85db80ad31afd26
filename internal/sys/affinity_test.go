package sys

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"
)

// onThread runs f on a thread that ends afterwards, and so not on the main thread, which never ends.
func onThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if OnMainThread() { // held until another thread is done
			onThread(f)
			runtime.UnlockOSThread()
			return
		}
		f()
	}()
	<-done
}

func TestThreadAffinity(t *testing.T) {
	allowed, err := AllowedCPUs()
	if err != nil || len(allowed) == 0 || !slices.IsSorted(allowed) {
		t.Fatalf("AllowedCPUs() = %v, %v, want some, sorted", allowed, err)
	}
	onThread(func() {
		before, err := ThreadAffinity()
		if errors.Is(err, errors.ErrUnsupported) {
			if err := SetThreadAffinity(allowed[:1]); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("SetThreadAffinity = %v, want ErrUnsupported", err)
			}
			t.Log(err)
			return
		}
		if err != nil || !slices.Equal(before, allowed) {
			t.Errorf("ThreadAffinity() = %v, %v, want those of the process, %v", before, err, allowed)
		}
		for _, cpus := range [][]int{allowed[:1], allowed, allowed[len(allowed)-1:]} {
			if len(cpus) > 64 { // more than one group of Windows
				continue
			}
			if err := SetThreadAffinity(cpus); err != nil {
				t.Errorf("SetThreadAffinity(%v) = %v", cpus, err)
			}
			got, err := ThreadAffinity()
			if err != nil || !slices.Equal(got, cpus) {
				t.Errorf("ThreadAffinity() = %v, %v, want %v", got, err, cpus)
			}
			if at, err := CurrentCPU(); err != nil || !slices.Contains(cpus, at) {
				t.Errorf("CurrentCPU() = %d, %v, want one of %v", at, err, cpus)
			}
		}
		for _, cpu := range []int{-1, 60_000, math.MaxInt} {
			if err := SetThreadAffinity([]int{cpu}); err == nil {
				t.Errorf("SetThreadAffinity of CPU %d succeeded", cpu)
			}
		}
	})
	if after, err := AllowedCPUs(); err != nil || !slices.Equal(after, allowed) {
		t.Errorf("AllowedCPUs() = %v, %v, want %v as before", after, err, allowed)
	}
}

func TestUsage(t *testing.T) {
	_, _, rss, err := ProcessUsage()
	if err != nil || rss < 1<<20 || rss > 1<<40 {
		t.Errorf("ProcessUsage() = %d bytes, %v, want some megabytes", rss, err)
	}
	if _, _, err := ThreadUsage(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("ThreadUsage() = %v", err)
	}
}
