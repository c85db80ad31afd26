package loadtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/loadtest-go/loadtest/internal/sys"
)

// tree writes a topology as Linux shows it under /sys/devices/system. Cores, caches and nodes are given as CPU lists.
func tree(siblings string, coreLists, cacheLists, nodeLists []string) fstest.MapFS {
	fsys := fstest.MapFS{}
	each := func(lists []string, name string) {
		for _, list := range lists {
			cpus, err := ParseCPUSet(list)
			if err != nil {
				panic(err)
			}
			for _, cpu := range cpus {
				fsys[fmt.Sprintf("cpu/cpu%d/%s", cpu, name)] = &fstest.MapFile{Data: []byte(list + "\n")}
			}
		}
	}
	each(coreLists, "topology/"+siblings)
	each(cacheLists, "cache/index3/shared_cpu_list")
	for i, list := range nodeLists {
		fsys[fmt.Sprintf("node/node%d/cpulist", i)] = &fstest.MapFile{Data: []byte(list + "\n")}
	}
	return fsys
}

func TestSplitTopology(t *testing.T) {
	const now, old = "core_cpus_list", "thread_siblings_list"
	laptop := tree(now, []string{"0,4", "1,5", "2,6", "3,7"}, []string{"0-7"}, []string{"0-7"})
	hybrid := tree(now, []string{"0-1", "2-3", "4", "5", "6", "7"}, []string{"0-7"}, []string{"0-7"})
	sockets := tree(old, []string{"0", "1", "2", "3", "4", "5", "6", "7"}, []string{"0,2,4,6", "1,3,5,7"}, []string{"0,2,4,6", "1,3,5,7"})
	broken := tree(now, []string{"0,4", "1,5", "2,6", "3,7"}, nil, nil)
	broken["cpu/cpu3/topology/"+now] = &fstest.MapFile{Data: []byte("garbage\n")}
	broken["cpu/cpu7/topology/"+now] = &fstest.MapFile{Data: []byte("\n")}

	tests := []struct {
		name        string
		fsys        fs.FS
		allowed     string
		generator   int
		gen, server string // gen "": an error that says server
	}{
		{"laptop", laptop, "0-7", 0, "3,7", "0-2,4-6"},
		{"laptop, two cores", laptop, "0-7", 2, "2-3,6-7", "0-1,4-5"},
		{"laptop, all cores", laptop, "0-7", 4, "", "leave none"},
		{"laptop, siblings only", laptop, "1,5", 0, "", "one core"},
		{"laptop, half of one core allowed", laptop, "0-6", 1, "3", "0-2,4-6"},
		{"hybrid", hybrid, "0-7", 0, "7", "0-6"},
		{"two sockets without SMT", sockets, "0-7", 2, "5,7", "0-4,6"},
		{"two sockets without SMT, one each", sockets, "0-7", 4, "1,3,5,7", "0,2,4,6"},
		{"holes in the mask", sockets, "1,2,4,7", 0, "7", "1-2,4"},
		{"holes in the mask, two", sockets, "1,2,4,7", 2, "1,7", "2,4"},
		{"container with one CPU", laptop, "5", 0, "", "one CPU only (5)"},
		{"no files", fstest.MapFS{}, "0-3", 0, "3", "0-2"},
		{"no files, one CPU", fstest.MapFS{}, "0", 0, "", "one CPU only (0)"},
		{"some files broken", broken, "0-7", 2, "3,7", "0-2,4-6"},
	}
	for _, test := range tests {
		allowed, err := ParseCPUSet(test.allowed)
		if err != nil {
			t.Fatal(err)
		}
		gen, server, err := split(readCores(test.fsys, allowed), test.generator)
		if test.gen == "" {
			if err == nil || !strings.Contains(err.Error(), test.server) {
				t.Errorf("%s: split = %v and %v, %v, want an error with %q", test.name, gen, server, err, test.server)
			}
			continue
		}
		if err != nil || gen.String() != test.gen || server.String() != test.server {
			t.Errorf("%s: split = %v and %v, %v, want %s and %s", test.name, gen, server, err, test.gen, test.server)
		}
	}
}

// TestRunPinnedLeavesNothing checks that the mask stays on the pinned thread while it lives, and goes with it.
func TestRunPinnedLeavesNothing(t *testing.T) {
	skipUnlessPinnable(t)
	allowed, err := AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	cpu := allowed[len(allowed)-1]
	const pinned = 3
	var pinnedNow, done sync.WaitGroup
	release := make(chan struct{})
	pinnedNow.Add(pinned)
	for range pinned {
		done.Go(func() {
			if err := runPinned(cpu, func() {
				// The runtime needs threads for the goroutines that these start while they occupy their own.
				for range 4 {
					go runtime.Gosched()
				}
				pinnedNow.Done()
				<-release
			}); err != nil {
				t.Error(err)
				pinnedNow.Done()
			}
		})
	}
	pinnedNow.Wait()

	// Many threads at once, started from everywhere: each goroutine keeps one to itself until all have theirs.
	const fresh = 32
	var started, looked sync.WaitGroup
	started.Add(fresh)
	for range fresh {
		looked.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			started.Done()
			started.Wait()
			if mask, err := sys.ThreadAffinity(); err != nil || !slices.Equal(mask, allowed) {
				t.Errorf("a thread started meanwhile may use %v, %v, want %v", CPUSet(mask), err, allowed)
			}
		})
	}
	looked.Wait()
	if n := narrowed(t, allowed); !t.Failed() && n != pinned {
		t.Errorf("%d threads are narrowed while %d are pinned", n, pinned)
	}
	close(release)
	done.Wait()

	// A thread ends some time after its goroutine.
	for deadline := time.Now().Add(10 * time.Second); narrowed(t, allowed) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d threads are still narrowed", narrowed(t, allowed))
		}
	}
}

// TestRunPinnedOnMainThread gets a goroutine onto the process's main thread, by taking threads until that is among them, and pins there.
func TestRunPinnedOnMainThread(t *testing.T) {
	skipUnlessPinnable(t)
	allowed, err := AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	cpu := allowed[0]
	var ran, ranOnMain bool
	main, release := make(chan error, 1), make(chan struct{})
	var all sync.WaitGroup
	defer all.Wait()
	defer close(release)
	taken := make(chan bool)
	for range 200 {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			onMain := sys.OnMainThread()
			taken <- onMain
			if onMain {
				main <- runPinned(cpu, func() { ran, ranOnMain = true, sys.OnMainThread() })
				return
			}
			<-release
		})
		if !<-taken {
			continue
		}
		if err := <-main; err != nil || !ran || ranOnMain {
			t.Errorf("runPinned on the main thread = %v, ran: %v, on the main thread: %v", err, ran, ranOnMain)
		}
		if after, err := AllowedCPUs(); err != nil || !slices.Equal(after, allowed) {
			t.Errorf("AllowedCPUs() = %v, %v, want %v: the mask is left on the main thread", after, err, allowed)
		}
		return
	}
	t.Skip("no goroutine got onto the main thread")
}

// narrowed counts the threads of this process that may use fewer CPUs than allowed.
func narrowed(t *testing.T, allowed CPUSet) int {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(files) == 0 {
		t.Skipf("no /proc to look for threads in: %v", err)
	}
	n := 0
	for _, name := range files {
		status, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended meanwhile
		}
		_, list, _ := strings.Cut(string(status), "Cpus_allowed_list:")
		list, _, _ = strings.Cut(list, "\n")
		mask, err := ParseCPUSet(list)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, cpu := range allowed {
			if !slices.Contains(mask, cpu) {
				n++
				break
			}
		}
	}
	return n
}
