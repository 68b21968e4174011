package edit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/oklog/ulid/v2"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// The operations of events, besides those of grammar.Ops.
const (
	OpSnapshot = "snapshot" // the whole text, at which a replay can begin
	OpObserved = "observed" // the whole text after the file was changed by hand
	OpDrift    = "drift"    // the same, but an event's section is gone, or what §4 protects: the maintainer decides
	OpAccept   = "accept"   // the maintainer accepts a drift
	OpRestore  = "restore"  // the maintainer restores the text before a drift
	OpUndone   = "undone"   // an edit was interrupted and cannot be completed any more
	OpUndo     = "undo"     // takes back the edit that refers_to names; the event has the whole text
	OpPin      = "pin"
	OpUnpin    = "unpin"
	OpLock     = "lock"
	OpUnlock   = "unlock"
	OpPropose  = "propose"    // an edit that waits for the owner's decision
	OpReject   = "reject"     // the owner rejects a proposal; an edit that refers to a proposal is its acceptance
	OpDismiss  = "dismiss"    // the owner wants none of the cited memories promoted to the file; it stays as it is
	OpErase    = "erase"      // replaces an event whose contents were erased
	OpRotate   = "rotate_key" // later hashes are made with another key
)

// Hand is the actor of changes that were not made through this program.
const Hand = "hand"

// Event is a line of the record of edits (seed 004 §11). Its JSON is the data of the ledger's line. In an event about
// a whole file the fields about a section are "".
type Event struct {
	ID         string   `json:"event_id"` // a ULID
	Time       string   `json:"ts"`       // ISO 8601, UTC, milliseconds
	UserID     string   `json:"user_id"`
	EntityType string   `json:"entity_type"` // user, part, relationship or note
	EntityID   string   `json:"entity_id"`
	File       string   `json:"file_path"` // relative to the workspace
	Op         string   `json:"op"`
	Section    string   `json:"section"`        // its heading
	Anchor     string   `json:"section_anchor"` // its hidden anchor, else the slug of its heading
	Before     string   `json:"before_hash"`    // of the section's canonical text, "" if it did not exist
	After      string   `json:"after_hash"`
	Rationale  string   `json:"rationale"`
	Evidence   []string `json:"evidence_refs"` // tokens
	Key        string   `json:"idempotency_key"`
	Call       string   `json:"tool_call_id"`

	Actor    string   `json:"actor"`             // the agent's id, Hand, or operator
	Origin   *Origin  `json:"origin,omitempty"`  // nil in old records, see MadeBy
	Consent  string   `json:"consent,omitempty"` // see Request
	Override string   `json:"override_rationale,omitempty"`
	Items    int      `json:"items,omitempty"`   // added to a list
	Retired  []string `json:"retired,omitempty"` // items that were removed or replaced
	Request  string   `json:"request,omitempty"` // hash of the request, for proposals and requests with a key

	FileBefore string   `json:"file_before,omitempty"` // hashes of the file's bytes, "" if it did not exist
	FileAfter  string   `json:"file_after,omitempty"`
	Base       *string  `json:"base,omitempty"` // the whole text, to which Changes, if any, are applied
	Changes    []Change `json:"changes,omitempty"`
	Touched    bool     `json:"touched,omitempty"`   // last_updated was set to ts
	RefersTo   string   `json:"refers_to,omitempty"` // the event that this one is about
	Exact      bool     `json:"exact,omitempty"`     // of OpUndo: the whole file is as it was before the edit
	Asked      *Asked   `json:"proposal,omitempty"`  // the edit that a proposal asks for

	Integrity Integrity `json:"integrity"` // last, so that what is hashed ends here
}

// Integrity proves that the line was made with the key (seed 004 §11).
type Integrity struct {
	Algo        string `json:"algo"`
	SaltVersion int    `json:"salt_version"` // of the key of all hashes in the line
	LineHash    string `json:"line_hash"`    // of the line with "" as its line_hash
}

const (
	algo     = "HMAC-SHA256"
	timeForm = "2006-01-02T15:04:05.000Z"
)

// IsEdit reports whether the event is one of the operations on a section.
func (e Event) IsEdit() bool {
	switch grammar.Op(e.Op) {
	case grammar.ReplaceSection, grammar.AppendSection, grammar.AppendItem, grammar.CurateItems, grammar.TombstoneSection,
		grammar.Promote:
		return true
	}
	return false
}

// Token returns the evidence token of the event (seed 004 §5).
func (e Event) Token() string {
	t, err := grammar.ParseToken(e.ID)
	if err != nil {
		return ""
	}
	return t.String()
}

// now returns the time in the precision of events: UTC, milliseconds.
func (e *Editor) now() time.Time { return e.opt.Now().UTC().Truncate(time.Millisecond) }

// note describes an event to a workspace.Recorder.
func note(e Event) workspace.Note {
	n := workspace.Note{Subject: e.File + ": " + e.Op, Body: e.Rationale}
	if e.Section != "" {
		n.Subject += " in " + e.Section
	}
	if e.Override != "" {
		n.Body += "\n\nOver the cap: " + e.Override
	}
	n.Trailers = append(n.Trailers, "Event: "+e.Token())
	for _, token := range e.Evidence {
		n.Trailers = append(n.Trailers, "Evidence: "+token)
	}
	return n
}

// newEvent returns an event with the fields that all events have.
func (e *Editor) newEvent(now time.Time, op, name string) Event {
	_, entity := grammar.TypeOf(name)
	id := ulid.MustNew(ulid.Timestamp(now), e.opt.Rand) // fails only for years beyond 10889, or without randomness
	return Event{
		ID: id.String(), Time: now.Format(timeForm), Op: op, File: name,
		UserID: entity.UserID, EntityType: entity.Type, EntityID: entity.ID, Evidence: []string{},
		Origin: &Origin{Source: sourceOf(op)},
	}
}

// whole returns an event with the whole text of a file.
func (e *Editor) whole(k key, now time.Time, op, name, text string) Event {
	event := e.newEvent(now, op, name)
	event.Base, event.FileAfter = &text, k.file([]byte(text))
	return event
}

// keys holds the secrets of the hashes by salt version, each in a file of its own, so that old keys go on verifying old
// lines.
type keys struct {
	log *slog.Logger
	dir string

	mu    sync.Mutex
	known map[int][]byte
}

func (k *keys) path(version int) string { return filepath.Join(k.dir, strconv.Itoa(version)) }

// noKeyError is the version of a missing key, without which lines of the record can be neither verified nor made. It
// does not wrap fs.ErrNotExist: callers would read that as the edited file being missing.
type noKeyError int

func (v noKeyError) Error() string {
	return fmt.Sprintf("the key %d of the record of edits is missing", int(v))
}

// load returns the key of a version. If create is true, a missing key is created; otherwise it is a noKeyError: a new
// key instead of a lost one would make every old line look forged.
func (k *keys) load(version int, create bool) (key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if secret, ok := k.known[version]; ok {
		return key{version, secret}, nil
	}
	load := ledger.LoadKey
	if create {
		load = ledger.LoadOrCreateKey
	}
	secret, err := load(k.path(version), k.log)
	if errors.Is(err, fs.ErrNotExist) {
		return key{}, noKeyError(version)
	}
	if err != nil {
		return key{}, fmt.Errorf("key %d of the record of edits: %w", version, err)
	}
	if k.known == nil {
		k.known = map[int][]byte{}
	}
	k.known[version] = secret
	return key{version, secret}, nil
}

// key makes the hashes of one salt version.
type key struct {
	version int
	secret  []byte
}

// hash returns the HMAC of text in hexadecimal. what separates domains, so that the hash of a section, a file or a line
// is never valid for another. Without the key a hash does not reveal a text that is easy to guess.
func (k key) hash(what, text string) string {
	mac := hmac.New(sha256.New, k.secret)
	mac.Write([]byte(what))
	// The zero byte keeps "a"+"bc" from hashing like "ab"+"c".
	mac.Write([]byte{0})
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// document returns file's hash of d without building its text: replays hash a document after every event.
func (k key) document(d *grammar.Document) string {
	mac := hmac.New(sha256.New, k.secret)
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

// section returns the hash of a section's body, over its canonical text.
func (k key) section(body string) string { return k.hash("section", canonical(body)) }

// file returns the hash of a file's bytes, "" for nil.
func (k key) file(data []byte) string {
	if data == nil {
		return ""
	}
	return k.hash("file", string(data))
}

// canonical returns a text without the differences that editors introduce unasked: it has Unicode normal form C, line
// feeds only, and no blanks at line ends or around the text. A section hash that ignores them does not turn an editor's
// habit into a conflict.
func canonical(text string) string {
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

// openEnd is how an event's JSON ends before its line hash is known.
const openEnd = `"line_hash":""}}`

// seal sets the event's Integrity and returns its JSON.
func (k key) seal(e *Event) (json.RawMessage, error) {
	if e.Evidence == nil {
		e.Evidence = []string{}
	}
	e.Integrity = Integrity{Algo: algo, SaltVersion: k.version}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	// The hash covers the bytes up to its own place, so that a reader can check it without knowing every field.
	open, ok := bytes.CutSuffix(bytes.TrimSuffix(out.Bytes(), []byte{'\n'}), []byte(openEnd))
	if !ok {
		return nil, errors.New("encode event: its integrity is not at the end")
	}
	e.Integrity.LineHash = k.hash("line", string(open)+openEnd)
	return append(open, `"line_hash":"`+e.Integrity.LineHash+`"}}`...), nil
}

// intact reports whether data is what seal returned for e. It checks the bytes of the line and not e encoded again, so
// that fields which only a later version knows are covered.
func (k key) intact(data []byte, e Event) bool {
	open, ok := bytes.CutSuffix(data, []byte(`"line_hash":"`+e.Integrity.LineHash+`"}}`))
	return ok && e.Integrity.Algo == algo &&
		hmac.Equal([]byte(k.hash("line", string(open)+openEnd)), []byte(e.Integrity.LineHash))
}
