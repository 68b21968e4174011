package ledger

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
)

// ErrMAC means that a line was not written with the workspace's key: it is forged, or the key was replaced.
var ErrMAC = errors.New("its mac is wrong: it was not written with this workspace's key")

// ErrNoKey means that a ledger has lines and the key of their macs is missing. Options.Key returns it.
var ErrNoKey = errors.New("the key of the ledger is missing")

// ForeignError means that a file has the lines of another ledger: a backup was restored to the wrong place.
type ForeignError struct {
	Ledger string // whose lines they are
	Want   string // whose file it is
}

// Error names both ledgers.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("it is a line of the ledger of %s, not of %s", e.Ledger, e.Want)
}

// macDomain begins what the mac of a line of version 2 covers.
const macDomain = "yamo-mcp ledger 2\n"

// macs makes and checks the macs of one ledger. It is not safe for concurrent use.
type macs struct {
	name   string
	source func(create bool) ([]byte, error)

	key    []byte
	state  hash.Hash // keyed once: HMAC's first blocks are not computed again for each line
	prefix []byte    // what precedes the hash in version 2
	raw    [sha256.Size]byte
	digits [hashLen]byte
}

func newMACs(name string, source func(create bool) ([]byte, error)) *macs {
	return &macs{name: name, source: source, prefix: []byte(macDomain + name + "\n")}
}

// load reads the key, unless it is known already.
func (m *macs) load(create bool) error {
	if m.key != nil {
		return nil
	}
	_, err := m.reload(create)
	return err
}

// reload reads the key and reports whether it is another one than before. Keys change while processes run: see Rekey.
func (m *macs) reload(create bool) (changed bool, err error) {
	key, err := m.source(create)
	if err != nil {
		return false, fmt.Errorf("ledger key: %w", err)
	}
	if len(key) == 0 {
		return false, errors.New("ledger key: it is empty")
	}
	if bytes.Equal(key, m.key) {
		return false, nil
	}
	m.key, m.state = bytes.Clone(key), hmac.New(sha256.New, key)
	return true, nil
}

// sum returns the mac of a hash in hexadecimal digits, which are valid until the next call.
func (m *macs) sum(version int, hash []byte) []byte {
	m.state.Reset()
	if version > 1 {
		m.state.Write(m.prefix)
	}
	m.state.Write(hash)
	hex.Encode(m.digits[:], m.state.Sum(m.raw[:0]))
	return m.digits[:]
}

// check returns an error unless l is a line of this ledger that was written with the key. A nil m accepts every line.
func (m *macs) check(l line) error {
	if m == nil {
		return nil
	}
	// SECURITY: first, so that a restored backup is not taken for a forgery. The hash covers the name, and the mac the
	// hash.
	if l.version > 1 && l.ledger != m.name {
		return &ForeignError{Ledger: l.ledger, Want: m.name}
	}
	if hmac.Equal(m.sum(l.version, l.hash), l.mac) {
		return nil
	}
	if changed, err := m.reload(false); err != nil || !changed {
		return errors.Join(ErrMAC, err)
	}
	if hmac.Equal(m.sum(l.version, l.hash), l.mac) {
		return nil
	}
	return ErrMAC
}
