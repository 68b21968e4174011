// Package seal makes the hashes of the record of edits (seed 004 §11): HMACs of lines, files and sections, with a key
// that can be replaced while the old ones go on verifying what was made with them.
package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Keys holds the secrets of the hashes by salt version, each in a file of its own, so that old keys go on verifying old
// lines. It is safe for concurrent use.
type Keys struct {
	log *slog.Logger
	dir string

	mu    sync.Mutex
	known map[int][]byte
}

// NewKeys returns the keys in a folder. It touches no file.
func NewKeys(dir string, log *slog.Logger) *Keys { return &Keys{log: log, dir: dir} }

func (k *Keys) path(version int) string { return filepath.Join(k.dir, strconv.Itoa(version)) }

// MissingError is the version of a missing key, without which lines of the record can be neither verified nor made. It
// does not wrap fs.ErrNotExist: callers would read that as the edited file being missing.
type MissingError int

// Error names the version.
func (v MissingError) Error() string {
	return fmt.Sprintf("the key %d of the record of edits is missing", int(v))
}

// Load returns the key of a version. If create is true, a missing key is created; otherwise it is a MissingError: a new
// key instead of a lost one would make every old line look forged.
func (k *Keys) Load(version int, create bool) (Key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if secret, ok := k.known[version]; ok {
		return Key{version, secret}, nil
	}
	load := ledger.LoadKey
	if create {
		load = ledger.LoadOrCreateKey
	}
	secret, err := load(k.path(version), k.log)
	if errors.Is(err, fs.ErrNotExist) {
		return Key{}, MissingError(version)
	}
	if err != nil {
		return Key{}, fmt.Errorf("key %d of the record of edits: %w", version, err)
	}
	if k.known == nil {
		k.known = map[int][]byte{}
	}
	k.known[version] = secret
	return Key{version, secret}, nil
}

// Key makes the hashes of one salt version.
type Key struct {
	Version int
	Secret  []byte
}

// Hash returns the HMAC of text in hexadecimal. what separates domains, so that the hash of a section, a file or a line
// is never valid for another. Without the key a hash does not reveal a text that is easy to guess.
func (k Key) Hash(what, text string) string {
	mac := hmac.New(sha256.New, k.Secret)
	mac.Write([]byte(what))
	// The zero byte keeps "a"+"bc" from hashing like "ab"+"c".
	mac.Write([]byte{0})
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// Document returns File's hash of d without building its text: replays hash a document after every event.
func (k Key) Document(d *grammar.Document) string {
	mac := hmac.New(sha256.New, k.Secret)
	buf := make([]byte, 0, 4096)
	write := func(text string) {
		buf = append(buf[:0], text...)
		mac.Write(buf)
	}
	write("file\x00")
	write(d.Head)
	for _, p := range d.Parts {
		write(p.Heading)
		write(p.Hidden)
		write(p.Body)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// Section returns the hash of a section's body, over its canonical text.
func (k Key) Section(body string) string { return k.Hash("section", Canonical(body)) }

// File returns the hash of a file's bytes, "" for nil.
func (k Key) File(data []byte) string {
	if data == nil {
		return ""
	}
	return k.Hash("file", string(data))
}

// Canonical returns a text without the differences that editors introduce unasked: it has Unicode normal form C, line
// feeds only, and no blanks at line ends or around the text. A section hash that ignores them does not turn an editor's
// habit into a conflict.
func Canonical(text string) string {
	// Most sections need no look at each line, and a replay hashes many.
	if !strings.Contains(text, " \n") && !strings.ContainsAny(text, "\t\r") && !strings.HasSuffix(text, " ") {
		return norm.NFC.String(strings.Trim(text, "\n"))
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var out strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		out.WriteString(strings.TrimRight(line, " \t\r"))
		out.WriteByte('\n')
	}
	return norm.NFC.String(strings.Trim(out.String(), "\n"))
}
