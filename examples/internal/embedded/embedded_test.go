package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-go/loadtest"
)

// TestMain makes the test binary its own child: with this variable set it prints the CPUs that it may use, and with the value "stay" it
// goes on for longer than any test.
func TestMain(m *testing.M) {
	mode := os.Getenv("EMBEDDED_CHILD")
	if mode == "" {
		os.Exit(m.Run())
	}
	cpus, err := loadtest.AllowedCPUs()
	fmt.Println(cpus, err)
	if mode == "stay" {
		time.Sleep(time.Hour)
	}
}

func child(t *testing.T, mode string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "EMBEDDED_CHILD="+mode)
	return cmd
}

func TestStartPins(t *testing.T) {
	if err := canPin(); err != nil {
		t.Skip(err)
	}
	before, err := loadtest.AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	for _, cpu := range before {
		cmd := child(t, "print")
		var out bytes.Buffer
		cmd.Stdout = &out
		p, err := Start(cmd, loadtest.CPUSet{cpu})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Wait(); err != nil {
			t.Fatal(err)
		}
		if got, want := out.String(), fmt.Sprintf("%d <nil>\n", cpu); got != want {
			t.Errorf("the child pinned to CPU %d may use %q", cpu, got)
		}
	}
	if after, err := loadtest.AllowedCPUs(); err != nil || after.String() != before.String() {
		t.Errorf("this process may use %v (%v) afterwards, and %v before", after, err, before)
	}
}

func TestStartErrors(t *testing.T) {
	if _, err := Start(exec.Command("/does/not/exist"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of a program that does not exist: %v", err)
	}
	if _, err := Start(child(t, "print"), loadtest.CPUSet{60_000}); err == nil {
		t.Error("a CPU that does not exist is not an error")
	}
}

func TestStop(t *testing.T) {
	p, err := Start(child(t, "print"), nil)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	if err := p.Stop(func() error { return nil }); err == nil || !strings.Contains(err.Error(), "ended by itself") {
		t.Errorf("Stop of a process that had ended returned %v", err)
	}

	p, err = Start(child(t, "stay"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(func() error { return io.ErrClosedPipe }); !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), "killed") {
		t.Errorf("Stop of a process that could not be asked returned %v", err)
	}
	<-p.Exited()

	p, err = Start(child(t, "stay"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(func() error { return p.Signal(os.Kill) }); err == nil {
		t.Error("Stop of a process that did not end well returned nil")
	}
}
