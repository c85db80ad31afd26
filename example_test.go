package loadtest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/loadtest-go/loadtest"
)

// A server, a run, a limit, a report.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "hello")
	}))
	defer server.Close()

	r, err := loadtest.Run(context.Background(), &loadtest.HTTP{URL: server.URL}, loadtest.Options{
		Concurrency: 7,
		Requests:    1000,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("succeeded:", r.Succeeded(), "of", r.Requests)
	fmt.Println("within limits:", loadtest.Limits{MinThroughput: 10}.Check(r) == nil)
	if err := loadtest.WriteText(os.Stderr, r); err != nil {
		log.Fatal(err)
	}
	// Output:
	// succeeded: 1000 of 1000
	// within limits: true
}

// A function under load, which fails now and then.
func ExampleFunc() {
	n := 0
	target := loadtest.Func(func(context.Context) error {
		if n++; n%10 == 0 {
			return errors.New("every tenth")
		}
		return nil
	})
	r, err := loadtest.Run(context.Background(), target, loadtest.Options{Concurrency: 1, Requests: 100})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("failed:", r.Failed, "first:", r.Errors["error"].Sample)
	// Output:
	// failed: 10 first: every tenth
}

// A handler in process, without a network.
func ExampleHandler() {
	handler := http.NotFoundHandler()
	request := httptest.NewRequest("GET", "/missing", nil)
	r, err := loadtest.Run(context.Background(), loadtest.Handler(handler, request), loadtest.Options{Requests: 50})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Statuses, r.ErrorRate())
	// Output:
	// map[404:50] 1
}

// Two results side by side, a line each.
func ExampleWriteCSV() {
	var results []*loadtest.Result
	for _, clients := range []int{1, 2} {
		pause := loadtest.Func(func(context.Context) error { time.Sleep(time.Millisecond); return nil })
		r, err := loadtest.Run(context.Background(), pause, loadtest.Options{Name: "pause", Concurrency: clients, Requests: 20})
		if err != nil {
			log.Fatal(err)
		}
		results = append(results, r)
	}
	if err := loadtest.WriteCSV(os.Stdout, results...); err != nil {
		log.Fatal(err)
	}
}

// A floor in a test. Assert reports every broken limit at once.
func ExampleAssert() {
	_ = func(t *testing.T) { // func TestThroughput(t *testing.T)
		server := httptest.NewServer(http.NotFoundHandler())
		defer server.Close()
		target := &loadtest.HTTP{URL: server.URL, Status: http.StatusNotFound}
		r, err := loadtest.Run(t.Context(), target, loadtest.Options{Concurrency: 8, Requests: 5000})
		if err != nil {
			t.Fatal(err)
		}
		loadtest.Assert(t, r, loadtest.Limits{MinThroughput: 1000, MaxP99: 50 * time.Millisecond})
	}
}

// The CPUs of the machine, divided between generator and server.
func ExampleSplitCPUs() {
	generator, server, err := loadtest.SplitCPUs(0)
	if err != nil {
		log.Fatal(err) // a single core can't be divided
	}
	_ = loadtest.Options{CPUs: generator} // and start the server on the others
	_ = server
}

func ExampleParseCPUSet() {
	cpus, err := loadtest.ParseCPUSet("8,0-3,2")
	fmt.Println(cpus, len(cpus), err)
	// Output:
	// 0-3,8 5 <nil>
}

// How long a histogram of all responses says that most of them took.
func ExampleHistogram() {
	var h loadtest.Histogram
	h.RecordN(2*time.Millisecond, 990)
	h.RecordN(300*time.Millisecond, 10)
	fmt.Println(h.Quantile(0.5).Round(time.Millisecond), h.Quantile(0.999).Round(time.Millisecond), h.Max())
	fmt.Printf("%.2f\n", h.Within(0, 10*time.Millisecond))
	// Output:
	// 2ms 300ms 300ms
	// 0.99
}
