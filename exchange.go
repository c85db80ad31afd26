package loadtest

import (
	"cmp"
	"errors"
	"sync/atomic"
	"time"
)

// An exchange is one request and what became of it: the stations it passed, stamped on the run's clock, and the sizes. A client has one
// and reuses it; whoever drives the client records it afterwards.
type exchange struct {
	clock clock

	begun time.Duration // when the client turned to the request
	sent  time.Duration // first byte written, of the transmission that was answered
	first time.Duration // first byte read; 0: none
	done  time.Duration // last byte read, or when it failed

	read, written, body int64
	status              int // 0: no response was received whole
	resent              int // transmissions beyond the first
	kind                failure
	err                 error // of a failure
	givenUp             bool  // the run was over before the request was: no outcome
	unsent              bool  // of a failure, or a request given up: not a byte of it was written

	unconnected bool         // of a failure: there was no connection to send it on
	hungUp      bool         // the server ended the connection, with the response or before it
	unsolicited bool         // the server had sent something while the connection was idle
	reached     *atomic.Bool // of the run: a client has connected

	opened int              // connections opened
	dials  [2]time.Duration // how long each took that could be used; two at most: at first, and to send again
	dialed int              // of them

	sample Sample // of an accepted response, if it was asked for
}

// begin prepares x for the next request.
func (x *exchange) begin(now time.Duration) {
	*x = exchange{clock: x.clock, reached: x.reached, begun: now, sent: now}
}

func (x *exchange) fail(kind failure, err error) {
	x.kind, x.err = kind, err
}

// An exchanger is a Client that stamps the stations of its requests itself. The targets of this package are driven through it; a user's
// Client through a timer around Do.
type exchanger interface {
	Client
	// exchange issues one request, as Do does, and says in x what became of it. x has begun.
	exchange(x *exchange)
}

// A doer drives a Client that only has Do.
type doer struct {
	Client
	contexts requestContexts
	statuses statuser // the Client, if it is one
}

// A statuser is a Client whose responses have a status.
type statuser interface {
	lastStatus() int // of the response to the last request; 0: there was none
}

var errSlow = errors.New("it returned after Options.Timeout, without regard to its context")

func (d *doer) exchange(x *exchange) {
	ctx := d.contexts.begin(x.clock, x.begun)
	n, err := d.Do(ctx)
	x.done = x.clock.now()
	d.contexts.end(ctx)
	x.read, x.body = max(n, 0), max(n, 0)
	if d.statuses != nil {
		x.status = d.statuses.lastStatus()
	}
	switch {
	case err != nil && d.contexts.over():
		x.givenUp = true // whatever it says, we cut it off
	case x.done-x.begun > d.contexts.timeout:
		x.status = 0 // no response in time is none
		x.fail(failTimeout, cmp.Or(err, errSlow))
	case err != nil:
		x.fail(classify(err), err)
		x.unconnected = x.kind == failConnect || x.kind == failAddress || x.kind == failDescriptors
	}
}
