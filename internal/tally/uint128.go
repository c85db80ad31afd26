package tally

import (
	"math/big"
	"math/bits"
)

// A Uint128 is a sum that does not overflow: the latencies of ten thousand connections over a year add up to 3e20 ns, more than 64 bits
// hold, and the squares of a million one-hour responses a second need 128.
type Uint128 struct{ Hi, Lo uint64 }

func (u *Uint128) Add(x uint64) {
	var carry uint64
	u.Lo, carry = bits.Add64(u.Lo, x, 0)
	u.Hi += carry
}

func (u *Uint128) AddSquare(x uint64) {
	hi, lo := bits.Mul64(x, x)
	u.AddUint128(Uint128{hi, lo})
}

func (u *Uint128) AddUint128(x Uint128) {
	var carry uint64
	u.Lo, carry = bits.Add64(u.Lo, x.Lo, 0)
	u.Hi, _ = bits.Add64(u.Hi, x.Hi, carry)
}

// Times returns u multiplied by n; what does not fit in 128 bits is lost.
func (u Uint128) Times(n uint64) Uint128 {
	hi, lo := bits.Mul64(u.Lo, n)
	return Uint128{hi + u.Hi*n, lo}
}

func (u Uint128) Big() *big.Int {
	b := new(big.Int).SetUint64(u.Hi)
	return b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(u.Lo))
}

// FromBig is the inverse of Big; ok is false for what is negative or has more than 128 bits.
func FromBig(b *big.Int) (u Uint128, ok bool) {
	if b.Sign() < 0 || b.BitLen() > 128 {
		return Uint128{}, false
	}
	lo := new(big.Int).And(b, new(big.Int).SetUint64(^uint64(0)))
	return Uint128{new(big.Int).Rsh(b, 64).Uint64(), lo.Uint64()}, true
}
