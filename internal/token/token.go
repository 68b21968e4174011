// Package token keeps the bearer tokens that open a server over HTTP: who each one is for, and a hash of it.
//
// The invariant: a token's text exists when it is made and never again. The file holds the SHA-256 of 256 random
// bits, which needs no salt and no slow hash; what a token may do is in its record and in nothing that a client
// sends. A token that is unknown, revoked or expired is not told from another.
package token

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// Prefix begins every token, so that scanners and people recognize one.
const Prefix = "yamo_"

const (
	idBytes     = 6
	secretBytes = 32
)

// ErrInvalid is the answer to every token that opens nothing: malformed, unknown, revoked, expired.
var ErrInvalid = errors.New("the token is unknown, revoked or expired")

// Record is what is kept of a token.
type Record struct {
	ID         string     `json:"id"`                  // 12 hexadecimal digits, part of the token
	Name       string     `json:"name"`                // the operator's, unique among the active ones
	Hash       string     `json:"hash"`                // SHA-256 of the secret, hexadecimal
	Connection string     `json:"connection"`          // "dm" or "group"
	Group      string     `json:"group,omitempty"`     // of a group
	Workspace  string     `json:"workspace,omitempty"` // absolute; "": the one that is served
	AgentID    string     `json:"agent_id,omitempty"`  // "": the server's
	Created    time.Time  `json:"created"`
	Expires    *time.Time `json:"expires,omitempty"`
	Revoked    *time.Time `json:"revoked,omitempty"`
}

// Audience returns the audience that the token opens. A record that is not exactly a DM's is a group's; the error is
// that of a group's name that is not valid.
func (r Record) Audience() (audience.Audience, error) {
	// SECURITY: the same rule as for settings, so that a file edited by hand can only err towards a group.
	a, _, err := audience.Parse(r.Connection, r.Group)
	return a, err
}

// Active is the State of a token that opens a server.
const Active = "active"

// State is Active, "revoked" or "expired". A token that is both revoked and expired is revoked.
func (r Record) State(now time.Time) string {
	switch {
	case r.Revoked != nil:
		return "revoked"
	case r.Expires != nil && !now.Before(*r.Expires):
		return "expired"
	default:
		return Active
	}
}

// name is what a token may be called: it is shown in lists and logs.
var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._@-]{0,63}$`)

// agentID is what the server accepts as an agent's name.
var agentID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// check returns what is wrong with a new record.
func (r Record) check(now time.Time) error {
	switch {
	case !name.MatchString(r.Name):
		return errors.New("name: 1 to 64 of letters, digits, spaces and . _ @ -, beginning with a letter or digit")
	case r.Connection != "dm" && r.Connection != "group":
		return fmt.Errorf("connection %q: must be dm or group", r.Connection)
	case r.Connection == "dm" && r.Group != "":
		return errors.New("a direct conversation has no group: omit the group, or set the connection to group")
	case r.AgentID != "" && !agentID.MatchString(r.AgentID):
		return errors.New("agent id: 1 to 64 of letters, digits, ., - and _, beginning with a letter or digit")
	case r.Workspace != "" && !filepath.IsAbs(r.Workspace):
		return errors.New("workspace: must be an absolute path")
	case r.Expires != nil && !r.Expires.After(now):
		return errors.New("expires: must be in the future")
	}
	_, err := r.Audience()
	return err
}

// generate makes a token and the parts of it that are kept.
func generate(random io.Reader) (text, id, hash string, err error) {
	var bits [idBytes + secretBytes]byte
	if _, err := io.ReadFull(random, bits[:]); err != nil {
		return "", "", "", fmt.Errorf("make a token: %w", err)
	}
	id = hex.EncodeToString(bits[:idBytes])
	secret := base64.RawURLEncoding.EncodeToString(bits[idBytes:])
	return Prefix + id + "_" + secret, id, hashOf(secret), nil
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// parse takes a token apart. What is not shaped like one is not looked up.
func parse(text string) (id, secret string, ok bool) {
	rest, ok := strings.CutPrefix(text, Prefix)
	if !ok {
		return "", "", false
	}
	id, secret, ok = strings.Cut(rest, "_") // an id has no underscore, a secret may
	if !ok || len(id) != hex.EncodedLen(idBytes) || len(secret) != base64.RawURLEncoding.EncodedLen(secretBytes) {
		return "", "", false
	}
	if _, err := hex.DecodeString(id); err != nil || strings.ToLower(id) != id {
		return "", "", false
	}
	return id, secret, true
}

// matches compares a secret with the hash of a record, in a time that depends on neither.
func (r Record) matches(secret string) bool {
	// SECURITY: an ordinary comparison ends at the first byte that differs, so its time would show a remote client how
	// much of a guess is right. Constant time needs equal lengths, which hashes have.
	return subtle.ConstantTimeCompare([]byte(hashOf(secret)), []byte(r.Hash)) == 1
}
