package edit

import (
	"bytes"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/splice"
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

	FileBefore string          `json:"file_before,omitempty"` // hashes of the file's bytes, "" if it did not exist
	FileAfter  string          `json:"file_after,omitempty"`
	Base       *string         `json:"base,omitempty"` // the whole text, to which Changes, if any, are applied
	Changes    []splice.Change `json:"changes,omitempty"`
	Touched    bool            `json:"touched,omitempty"`   // last_updated was set to ts
	RefersTo   string          `json:"refers_to,omitempty"` // the event that this one is about
	Rollup     bool            `json:"rollup,omitempty"`    // only the rollup of the day was written, see roll
	Exact      bool            `json:"exact,omitempty"`     // of OpUndo: the whole file is as it was before the edit
	Asked      *Asked          `json:"proposal,omitempty"`  // the edit that a proposal asks for

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

// Source is what caused an event.
type Source string

// The sources of events.
const (
	FromSession  Source = "session"      // a tool that the agent called
	FromSweep    Source = "sweep"        // dreaming: what it promoted to MEMORY.md
	FromDiary    Source = "diary"        // dreaming: what it wrote into DREAMS.md about a sweep
	FromProposal Source = "proposal"     // the owner accepted a proposal, which refers_to names
	FromCommand  Source = "command"      // another command of the owner
	FromTalk     Source = "conversation" // a person said it in a conversation; no agent asked for the edit
	FromHand     Source = "hand"         // a change outside this program, which noticed it later
)

// Origin is the source of an event, with the details of a sweep.
type Origin struct {
	Source Source `json:"source"`
	Sweep  *Sweep `json:"sweep,omitempty"` // of FromSweep
}

// Sweep contains what a dreaming sweep counted and decided.
type Sweep struct {
	Recalls  int      `json:"recalls"`        // of all considered memories
	Memories int      `json:"memories"`       // number of recalled memories
	Days     int      `json:"days"`           // length of the period that it considered
	Promoted []string `json:"promoted"`       // ids of memories, best first
	Held     []string `json:"held,omitempty"` // ids of memories that a person must confirm
	// Confirmed are those of Promoted that a person confirmed.
	Confirmed []string `json:"confirmed,omitempty"`
}

// MadeBy returns the event's origin. For events that were recorded before the record had the field, it is derived from
// their operation, actor and, for sweeps, their rationale.
func (e Event) MadeBy() Origin {
	if e.Origin != nil {
		return *e.Origin
	}
	sweep, swept := e.oldSweep()
	switch {
	case swept:
		return Origin{Source: FromSweep, Sweep: sweep}
	case !e.IsEdit() && e.Op != OpPropose, grammar.Op(e.Op) == grammar.Promote:
		return Origin{Source: sourceOf(e.Op)}
	case e.RefersTo != "":
		return Origin{Source: FromProposal}
	case e.File == workspace.DreamsFile && strings.HasPrefix(e.Key, "dream:"):
		return Origin{Source: FromDiary}
	}
	return Origin{Source: FromSession}
}

// sourceOf returns the source of an operation that no session can request.
func sourceOf(op string) Source {
	switch op {
	case OpSnapshot, OpObserved, OpDrift, OpUndone:
		return FromHand
	}
	return FromCommand
}

var oldSummary = regexp.MustCompile(`^dreaming: ([0-9]+) recalls of ([0-9]+) memories in ([0-9]+) days; ` +
	`promoted [^;]+(?:; held back for a person ([^;]+))?$`)

// oldSweep reads the rationale and evidence of a sweep's edit from the time when the record had no origin. Such a
// rationale names up to 20 of the memories that were held back.
func (e Event) oldSweep() (*Sweep, bool) {
	m := oldSummary.FindStringSubmatch(e.Rationale)
	if m == nil || e.File != workspace.MemoryFile || grammar.Op(e.Op) != grammar.AppendItem ||
		!workspace.IsDreamed(e.Section) {
		return nil, false
	}
	sweep := &Sweep{}
	for i, n := range []*int{&sweep.Recalls, &sweep.Memories, &sweep.Days} {
		*n, _ = strconv.Atoi(m[i+1]) // only digits; too many of them give the largest int
	}
	for _, ref := range e.Evidence {
		if token, err := grammar.ParseToken(ref); err == nil && token.MemoryID() != "" {
			sweep.Promoted = append(sweep.Promoted, token.MemoryID())
		}
	}
	if m[4] != "" {
		named, _, _ := strings.Cut(m[4], " and ")
		sweep.Held = strings.Split(named, ", ")
	}
	return sweep, true
}

// origin returns the origin for the event of a request.
func (q Request) origin() *Origin {
	origin := q.Origin
	switch {
	case q.decided != nil:
		// The owner's decision is the source, no matter which session proposed the edit.
		origin = Origin{Source: FromProposal}
	case q.Op == grammar.Promote:
		origin = Origin{Source: FromCommand}
	case origin.Source == "":
		origin.Source = FromSession
	}
	return &origin
}

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
func (e *Editor) whole(k seal.Key, now time.Time, op, name, text string) Event {
	event := e.newEvent(now, op, name)
	event.Base, event.FileAfter = &text, k.File([]byte(text))
	return event
}

// openEnd is how an event's JSON ends before its line hash is known.
const openEnd = `"line_hash":""}}`

// sealed sets the event's Integrity and returns its JSON.
func sealed(k seal.Key, e *Event) (json.RawMessage, error) {
	if e.Evidence == nil {
		e.Evidence = []string{}
	}
	e.Integrity = Integrity{Algo: algo, SaltVersion: k.Version}
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
	e.Integrity.LineHash = k.Hash("line", string(open)+openEnd)
	return append(open, `"line_hash":"`+e.Integrity.LineHash+`"}}`...), nil
}

// intact reports whether data is what sealed returned for e. It checks the bytes of the line and not e encoded again,
// so that fields which only a later version knows are covered.
func intact(k seal.Key, data []byte, e Event) bool {
	open, ok := bytes.CutSuffix(data, []byte(`"line_hash":"`+e.Integrity.LineHash+`"}}`))
	return ok && e.Integrity.Algo == algo &&
		hmac.Equal([]byte(k.Hash("line", string(open)+openEnd)), []byte(e.Integrity.LineHash))
}
