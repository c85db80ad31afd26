// Package loadtest puts a server, a handler or a function under load, and reports what it measured: how many requests per second, how
// long they took, what failed, and what speaks against believing any of it.
//
// To load something, call [Run]. To hold a throughput in go test, give its result to [Assert]. To show a result, give it to
// [WriteText] or one of its siblings.
//
// # Measuring
//
//	target := &loadtest.HTTP{URL: "http://127.0.0.1:8080/"}
//	result, err := loadtest.Run(ctx, target, loadtest.Options{Concurrency: 64, Duration: 10 * time.Second, Warmup: time.Second})
//	if err != nil {
//		return err
//	}
//	return loadtest.WriteText(os.Stdout, result)
//
// A [Target] makes clients, as many as [Options.Concurrency] says, and each client has one request under way at a time. [HTTP] sends
// HTTP/1.1 requests over connections that it keeps alive; [Handler] calls an http.Handler without a network; [Func] calls a function. For
// another protocol, implement Target and [Client]: pacing, warm-up, statistics and reports come for nothing.
//
// A run has three phases. The warm-up is load that is not recorded. In the measured interval requests begin that count. In the drain those
// still under way may finish; they count too, so that the slowest are not left out. What has no outcome even then is Abandoned.
//
// # Closed and open loops
//
// In a closed loop, the only one there is so far, a client sends its next request when the last response has come and the think time is
// over. Latency is then the service time, from the first byte written to the last byte read. It says how fast the target serves that many
// clients. It does not say how long users would wait who arrive whether or not it keeps up: while the target stalls, a closed loop sends
// nothing, so that a stall of a second is one slow response for each client and not a thousand. That is called coordinated omission, and
// no correction afterwards can undo it.
//
// # Reading a result
//
// Throughput counts successes only: a server that fails fast is not fast. With it come intervals: [Result.ThroughputCI] from the course of
// the run, [Result.LatencyCI] from order statistics. Both say how well this run was measured, not how the next one will turn out.
//
// Requests, failed ones by kind, abandoned ones and those of the warm-up add up to what the server has received; [Result] says how.
//
// A [Warning] is a reason to doubt the numbers. Its Kind is one of:
//
//	generator-saturated  the generator used its CPUs up: throughput is a lower bound, latency an upper bound
//	shared-cpus          the generator and the target, or another run, may have run on the same CPUs
//	race                 the race detector was on
//	steal                the hypervisor gave CPU time to others
//	unsteady             the throughput drifted, or changed its level, during the run
//	few-samples          too few successes for a p99
//	short-run            much of what was measured is the beginning and the end
//	abandoned            requests without an outcome
//	unconnected          clients that waited for a connection in vain
//	resent               requests sent twice, since the server closed the connection without an answer
//	reconnects           the server ends connections that were to be kept alive
//	unsolicited          the server sent what no request had asked for
//	warmup-failed        requests of the warm-up that failed
//	vanished             clients that ended the goroutine they were called in
//	stuck                clients that went on after their context had ended
//	threads              Threads had no effect
//	skewed-parts         merged results whose intervals do not quite overlap
//	intervals-dropped    merged results whose intervals do not line up
//
// # Pinning
//
// A generator and a server that share CPUs measure each other. [Options.CPUs] pins the generator's threads, each to one CPU, and
// [SplitCPUs] divides the CPUs of the machine into a set for the generator and one for the server, in whole cores. The pin is verified,
// concerns the threads of the run alone, and is gone when Run returns. Where it can't be done Run fails: it is never left out in silence.
//
// The "net" engine gives each client a goroutine. Pinned, each has a thread of its own, and the system has to switch threads
// between responses: at high rates that costs more than the rest of a request. A process of its own under taskset, not pinned by Options,
// is faster there.
//
// # In tests
//
// Run and Assert need no set-up:
//
//	func TestThroughput(t *testing.T) {
//		srv := httptest.NewServer(handler)
//		defer srv.Close()
//		result, err := loadtest.Run(t.Context(), &loadtest.HTTP{URL: srv.URL}, loadtest.Options{Concurrency: 8, Requests: 5000})
//		if err != nil {
//			t.Fatal(err)
//		}
//		loadtest.Assert(t, result, loadtest.Limits{MinThroughput: 1000, MaxP99: 50 * time.Millisecond})
//	}
//
// A floor breaks only if the whole confidence interval lies below it. Under the race detector, floors are logged and not checked; failures
// still count. Choose floors far below what a quiet machine reaches: they are to catch a regression by a factor, on a busy one too.
//
// # Compatibility
//
// JSON (format 1) and the columns of CSV are promised: later versions read what this one writes, and keep the names. Text is for people
// and may change. What the layouts of ab and wrk hold is what those tools print, so that scripts written for them work.
package loadtest
