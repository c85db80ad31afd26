package testserver

import (
	"slices"
	"sync"
	"time"
)

// Slots describe a server with a number of execution slots that connections occupy, and which breaks down when there are more connections than
// slots: the one whose published sweep rises to 810 requests/s at 13 connections and falls to about 30 from 18 on.
//
// A connection takes a free slot when it is accepted, else it waits in a queue. It keeps the slot while it is open; a request takes Service on it. A
// request that lets the server close the connection frees the slot before its response is written, so clients without keep-alive that are no more
// than there are slots never wait.
//
// As long as a connection has waited for more than half of Service, the server is overfull, and then a slot that has served rests until the whole
// server makes Overfull responses per second, before it serves again, whoever holds it. The holder keeps it if it has a request by then; if it is
// idle it is closed, and a slot that is free goes to the connection that has waited longest. So with keep-alive and more busy clients than slots,
// exactly N of them share Overfull responses per second, and the others get none until one of those leaves or has nothing more to ask; without
// keep-alive all get their turn, after (clients / Overfull) seconds. When no connection waits, the server is well again at once.
type Slots struct {
	// N is the number of slots.
	N int

	// Service is the time a request takes on its slot. 0: 10 ms.
	Service time.Duration

	// Overfull is the responses per second of all slots together while connections wait. 0: 30.
	Overfull float64

	// Answer answers a request when its time of service is over. nil: 200 and "test".
	Answer func(c *Conn)
}

func (o Slots) withDefaults() Slots {
	if o.Service == 0 {
		o.Service = 10 * time.Millisecond
	}
	if o.Overfull == 0 {
		o.Overfull = 30
	}
	if o.Answer == nil {
		o.Answer = func(c *Conn) { c.Text(200, "test") }
	}
	return o
}

// Script returns the script of a server with these slots. Connections share slots if they have the script in common.
func (o Slots) Script() Script {
	o = o.withDefaults()
	turn := time.Duration(float64(o.N) / o.Overfull * float64(time.Second)) // of a slot, when overfull
	h := &house{
		patience: o.Service / 2,
		rest:     max(0, turn-o.Service),
		slots:    make([]slot, o.N),
	}
	return func(c *Conn) {
		t := h.enter(c)
		defer h.leave(t)
		for c.Next() {
			h.busy(t)
			if !c.Wait(t.seated) || !c.WaitFor(h.restLeft(t)) || !c.Sleep(o.Service) {
				return
			}
			h.served(t)
			if !c.Request.KeepAlive() {
				h.leave(t)
				o.Answer(c)
				return
			}
			o.Answer(c)
		}
	}
}

// A house is the state of Slots.
type house struct {
	patience, rest time.Duration

	mu    sync.Mutex // guards all that follows, slots and tenants included
	slots []slot
	queue []*tenant // those that wait, the longest first
	tick  *time.Timer
}

type slot struct {
	holder *tenant
	served time.Time // when it last ended a service
}

// A tenant is a connection in a house.
type tenant struct {
	c      *Conn
	seated chan struct{} // closed when it has got a slot
	slot   *slot         // nil: it waits, or has left
	since  time.Time     // when it came; once seated, when it last began to be idle
	busy   bool          // it has a request that is not answered
}

func (h *house) enter(c *Conn) *tenant {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := &tenant{c: c, seated: make(chan struct{}), since: time.Now()}
	h.queue = append(h.queue, t)
	h.seat()
	return t
}

func (h *house) leave(t *tenant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.slot != nil && t.slot.holder == t {
		t.slot.holder = nil
	}
	h.queue = slices.DeleteFunc(h.queue, func(q *tenant) bool { return q == t })
	h.seat()
}

func (h *house) busy(t *tenant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.busy = true
}

func (h *house) served(t *tenant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.busy = false
	t.since = time.Now()
	t.slot.served = t.since
}

// restLeft is how long the tenant's slot still rests.
func (h *house) restLeft(t *tenant) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.overfull() {
		return 0
	}
	return h.rest - time.Since(t.slot.served)
}

func (h *house) overfull() bool {
	return len(h.queue) > 0 && time.Since(h.queue[0].since) > h.patience
}

// seat gives slots to those that wait, and looks again in a while if some are left.
func (h *house) seat() {
	for _, evict := range []bool{false, true} { // no one is evicted while a slot is free
		for i := range h.slots {
			if len(h.queue) > 0 && h.available(&h.slots[i], evict) {
				h.give(&h.slots[i])
			}
		}
	}
	switch {
	case len(h.queue) == 0 && h.tick != nil:
		h.tick.Stop()
		h.tick = nil
	case len(h.queue) > 0 && h.tick == nil:
		h.tick = time.AfterFunc(h.patience/2, h.look)
	}
}

// available says whether a slot can go to the first in the queue: one that is free, or one whose holder can be evicted.
func (h *house) available(s *slot, evict bool) bool {
	overfull := h.overfull()
	if rested := time.Since(s.served) >= h.rest; overfull && !rested {
		return false
	}
	if s.holder == nil {
		return !evict
	}
	return evict && overfull && !s.holder.busy && time.Since(s.holder.since) >= h.rest
}

// give gives a slot to the first in the queue.
func (h *house) give(s *slot) {
	if s.holder != nil {
		s.holder.c.Close()
	}
	t := h.queue[0]
	h.queue = h.queue[1:]
	s.holder, t.slot, t.since = t, s, time.Now()
	close(t.seated)
}

func (h *house) look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tick = nil
	h.seat()
}

// Workers is a server without that breakdown: k requests are served at a time, in the order in which they arrive, whatever their connections, and
// the others wait. service is called once for each request and returns the time it takes. The schedule is kept in arithmetic and not by timers,
// so late timers don't lower the capacity: with a constant service time it is k / service to the last digit.
func Workers(k int, service func() time.Duration) Script {
	var mu sync.Mutex                // guards free and calls of service
	free := make([]time.Duration, k) // when each worker has done what it was given, since the server was started
	return Each(func(c *Conn) {
		mu.Lock()
		first := 0
		for i := range free {
			if free[i] < free[first] {
				first = i
			}
		}
		end := max(free[first], c.Server.Elapsed()) + service()
		free[first] = end
		mu.Unlock()
		if c.Sleep(end - c.Server.Elapsed()) {
			c.Text(200, "test")
		}
	})
}
