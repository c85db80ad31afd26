// Package floor is an HTTP handler whose tests hold it to a throughput: see floor_test.go, which is there to be copied, and bench_test.go.
//
//	go test ./examples/floor
//	go test -bench . ./examples/floor
package floor

import (
	"fmt"
	"net/http"
)

// Greet greets whoever the query names.
func Greet(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	if name == "" {
		http.Error(w, "name is missing", http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, "Hello, %s!\n", name)
}
