package sys

import "errors"

// ErrNothing is what Peek returns when there is nothing to read, or when it can't tell.
var ErrNothing = errors.New("nothing to read")
