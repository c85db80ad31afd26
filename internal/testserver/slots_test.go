package testserver

import (
	"io"
	"net/http"
	"sync"
	"testing"
	"time"
)

// load runs c closed-loop clients for d and returns how many responses each got.
func load(t *testing.T, s *Server, c int, keepAlive bool, d time.Duration) []int {
	t.Helper()
	served := make([]int, c)
	tr := &http.Transport{DisableKeepAlives: !keepAlive, MaxIdleConnsPerHost: c}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr}
	start := time.Now()
	var clients sync.WaitGroup
	for i := range c {
		clients.Go(func() {
			for time.Since(start) < d {
				resp, err := client.Get(s.URL)
				if err != nil {
					return // CloseConns below
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 {
					t.Errorf("status %d, %v", resp.StatusCode, err)
				}
				resp.Body.Close()
				if time.Since(start) < d {
					served[i]++
				}
			}
		})
	}
	time.Sleep(time.Until(start.Add(d)))
	s.Stop()
	s.CloseConns() // the starved would wait for ever
	clients.Wait()
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	return served
}

// TestSlots holds the shape of the published sweep: proportional up to 13, and about 30 a second above.
func TestSlots(t *testing.T) {
	if testing.Short() {
		t.Skip("takes six seconds")
	}
	script := Slots{N: 13}.Script()
	const d = time.Second
	check := func(c int, keepAlive bool, low, high, clients int) {
		t.Helper()
		s := Start(t, script)
		served := load(t, s, c, keepAlive, d)
		total, some := 0, 0
		for _, n := range served {
			total += n
			some += min(1, n)
		}
		t.Logf("%d clients, keep-alive %v: %d responses to %d of them", c, keepAlive, total, some)
		if total < low || total > high {
			t.Errorf("%d clients, keep-alive %v: %d responses in %v, want %d to %d", c, keepAlive, total, d, low, high)
		}
		if some != clients {
			t.Errorf("%d clients, keep-alive %v: %d got responses, want %d", c, keepAlive, some, clients)
		}
		if s.Requests() < int64(total) {
			t.Errorf("Requests() = %d, of which %d were answered", s.Requests(), total)
		}
	}
	// At most 100 a second for each slot, and half of that on a busy machine. Overfull: 30 a second, and one or two rounds of 13 before.
	check(1, true, 50, 100, 1)
	check(6, true, 300, 600, 6)
	check(13, true, 650, 1300, 13)
	check(14, true, 26, 65, 13)
	check(32, true, 26, 65, 13)
	check(13, false, 400, 1300, 13)
	check(14, false, 26, 65, 14)
}

// TestSlotsPassOn has fewer requests than clients: the idle must make room for the starved, at the pace of an overfull server.
func TestSlotsPassOn(t *testing.T) {
	s := Start(t, Slots{N: 2, Service: time.Millisecond, Overfull: 20}.Script())
	start := time.Now()
	for range 6 {
		send(t, dial(t, s), get)
	}
	await(t, s, "six responses", func() bool { return s.BytesSent() >= int64(6*len(okTest)) })
	if took := time.Since(start); took < 150*time.Millisecond {
		t.Errorf("six requests on six connections took %v: the first two at once, the others 20 a second", took)
	}
}

func TestWorkersCapacity(t *testing.T) {
	const service, clients, each = 2 * time.Millisecond, 8, 50
	s := StartWith(t, Options{KeepArrivals: true}, Workers(4, func() time.Duration { return service }))
	start := time.Now()
	var running sync.WaitGroup
	for range clients {
		nc := dial(t, s)
		running.Go(func() {
			for range each {
				if _, err := io.WriteString(nc, get); err != nil {
					t.Error(err)
					return
				}
				if _, err := io.CopyN(io.Discard, nc, int64(len(okTest))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
	if took, least := time.Since(start), clients*each/4*service; took < least || took > 3*least {
		t.Errorf("%d requests took %v, want little more than %v", clients*each, took, least)
	}
}
