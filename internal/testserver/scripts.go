package testserver

import (
	"time"
)

// Each answers every request by calling answer, which may use all of Conn.
func Each(answer func(c *Conn)) Script {
	return func(c *Conn) {
		for c.Next() {
			answer(c)
		}
	}
}

// Text answers every request with 200 and the text.
func Text(body string) Script {
	return Each(func(c *Conn) { c.Text(200, body) })
}

// Echo answers every request with 200 and its own body.
func Echo() Script {
	return Each(func(c *Conn) { c.Text(200, string(c.Request.Body)) })
}

// Bytes answers every request with the bytes, whatever they are.
func Bytes(message []byte) Script {
	return Each(func(c *Conn) { c.Write(message) })
}

// Split answers every request with the bytes, in pieces that end at the given positions.
func Split(message []byte, at ...int) Script {
	return Each(func(c *Conn) { c.WriteSplit(message, at...) })
}

// SplitEverywhere answers the n-th request of a connection with the bytes in two pieces, divided after byte 1 + n modulo the number of inner
// positions: len(message)-1 requests meet every division.
func SplitEverywhere(message []byte) Script {
	return Each(func(c *Conn) { c.WriteSplit(message, 1+int(c.Request.N)%max(1, len(message)-1)) })
}

// ByteByByte answers every request with the bytes, one at a time.
func ByteByByte(message []byte) Script {
	return Each(func(c *Conn) { c.WriteEach(message, 1) })
}

// Once answers one request with the bytes and closes the connection.
func Once(message []byte) Script {
	return func(c *Conn) {
		if c.Next() {
			c.Write(message)
		}
	}
}

// ResetAfter answers one request with the bytes, of which there may be none, and resets the connection.
func ResetAfter(message []byte) Script {
	return func(c *Conn) {
		if c.Next() {
			c.Write(message)
			c.Reset()
		}
	}
}

// CloseAfter answers k requests with 200 and the text, and then closes the connection silently: no response announces it. A request that the client
// sends before it has seen the end is not counted, since it is not read.
func CloseAfter(k int, body string) Script {
	return func(c *Conn) {
		for n := 0; n < k && c.Next(); n++ {
			c.Text(200, body)
		}
	}
}

// AnnounceClose answers k requests with 200 and the text, the k-th with "Connection: close", and closes the connection.
func AnnounceClose(k int, body string) Script {
	return Each(func(c *Conn) {
		if c.Request.N+1 < int64(k) {
			c.Text(200, body)
		} else {
			c.LastText(200, body)
		}
	})
}

// LateClose answers one request with "Connection: close" and a Content-Length, and closes the connection only after the delay.
func LateClose(body string, delay time.Duration) Script {
	return func(c *Conn) {
		if c.Next() {
			c.LastText(200, body)
			c.Sleep(delay)
		}
	}
}

// CloseDelimited answers one request with an HTTP/1.0 response whose body ends with the connection.
func CloseDelimited(body string) Script {
	return Once(DelimitedMessage("HTTP/1.0", 200, body))
}

// Statuses answers the server's requests with these statuses in turn, in the order in which they are received on all connections.
func Statuses(statuses ...int) Script {
	return Each(func(c *Conn) { c.Text(statuses[c.Request.Serial%int64(len(statuses))], "test") })
}

// Delay answers every request with 200 and the text, after the delay.
func Delay(delay time.Duration, body string) Script {
	return Each(func(c *Conn) {
		if c.Sleep(delay) {
			c.Text(200, body)
		}
	})
}

// Silent reads and counts every request and answers none.
func Silent() Script {
	return Each(func(*Conn) {})
}

// Deaf reads nothing and answers nothing.
func Deaf() Script {
	return func(c *Conn) { <-c.Done() }
}

// ByConn gives connection number n the n-th script, and the last one to all connections after those.
func ByConn(scripts ...Script) Script {
	return func(c *Conn) { scripts[min(c.N, int64(len(scripts)-1))](c) }
}
