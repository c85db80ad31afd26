// Handler compares two handlers in process, without a network between them and the load: what is left is the handlers' own work.
//
//	go run ./examples/handler
//
// Both answer with the same list as JSON. One encodes it at each request, the other once. Ctrl-C ends it early and prints what there is.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/loadtest-go/loadtest"
)

type product struct {
	Name  string
	Price float64
}

var products = []product{{"Pencil", 0.8}, {"Paper", 4.2}, {"Ink", 11}, {"Stamp", 17.5}}

func encodeEachTime(w http.ResponseWriter, _ *http.Request) {
	if err := json.NewEncoder(w).Encode(products); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func encodeOnce() (http.Handler, error) {
	encoded, err := json.Marshal(products)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write(encoded)
	}), err
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("handler: ")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	once, err := encodeOnce()
	if err != nil {
		return err
	}
	var results []*loadtest.Result
	for _, candidate := range []struct {
		name    string
		handler http.Handler
	}{
		{"encode each time", http.HandlerFunc(encodeEachTime)},
		{"encode once", once},
	} {
		target := loadtest.Handler(candidate.handler, httptest.NewRequest("GET", "/products", nil))
		var r *loadtest.Result
		r, err = loadtest.Run(ctx, target, loadtest.Options{
			Name:        candidate.name,
			Concurrency: 1, // as much work as one CPU can do
			Warmup:      200 * time.Millisecond,
			Duration:    time.Second,
		})
		if r != nil {
			results = append(results, r)
		}
		if err != nil {
			break
		}
	}
	return errors.Join(err, loadtest.WriteText(os.Stdout, results...))
}
