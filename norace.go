//go:build !race

package loadtest

// raceEnabled is whether the race detector is on, which makes everything several times slower.
const raceEnabled = false
