// Package record defines what the memory keeps, as plain data: memories and search results, lessons, reflections,
// heritage, skills, and the limits of each.
//
// It knows no file, index or lock, so every other package of the mesh may import it. The JSON names of its types are
// the format of the ledger's entries: fields may be added, and none renamed.
package record

import (
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
)

// FileType is the Record.Type of passages of workspace files. No memory has it, and no search can filter by it.
const FileType = "file"

// TurnType is the Record.Type of what a person said in a session of the audience's own, in whose log it stays. Like
// passages of files it is no memory, but it may be a standing instruction.
const TurnType = "turn"

// IsMemory reports whether the record is in a ledger, and not a passage of a file or a turn of a session log.
func (r *Record) IsMemory() bool { return r.Type != FileType && r.Type != TurnType }

// Types are the memory types a caller may give (RFC-0011 §1.2, and "event" of §10's example).
var Types = []string{"global", "session", "agent", "lesson", "reflection", "event"}

// DefaultType is the type of a memory that was stored without one.
const DefaultType = "global"

// SessionType is the type of a memory that belongs to its session and is ephemeral (RFC-0011 §1.2): it is found from
// there only, and for SessionDays days.
const SessionType = "session"

// Conversation is the source of a captured interaction (RFC-0011 §4.3). It is of SessionType, but is there for later
// sessions, which recall it.
const Conversation = "conversation"

// SessionDays is the number of days that a memory of SessionType is found.
const SessionDays = 30

// LessonTag is on every memory derived from a lesson (RFC-0011 §3.5).
const LessonTag = "#lesson_learned"

// Visibility is the compartment a memory belongs to, in the form tools show it: "private", "shared" or
// "group:NAME".
type Visibility string

// The compartments that do not belong to a group.
const (
	Private Visibility = "private"
	Shared  Visibility = "shared"
)

// OfGroup returns the visibility of the memories of the group called name.
func OfGroup(name string) Visibility { return Visibility("group:" + name) }

// Group returns the group's name, "" for the private and the shared compartment.
func (v Visibility) Group() string {
	name, _ := strings.CutPrefix(string(v), "group:")
	if name == string(v) {
		return ""
	}
	return name
}

// Memory is what a caller tells of a memory (RFC-0011 §2.1), on its whole way from a tool's arguments to the ledger.
type Memory struct {
	Content    string         `json:"content"`              // up to MaxContent bytes
	Type       string         `json:"type,omitempty"`       // one of Types; "" is "global"
	Tags       []string       `json:"tags,omitempty"`       // up to MaxTags of up to MaxTag characters
	Importance *float32       `json:"importance,omitempty"` // 0 to 1; nil: not given
	SessionID  string         `json:"session_id,omitempty"` // the conversation it comes from
	Source     string         `json:"source,omitempty"`     // the user, the assistant, a person, program or document
	Rationale  string         `json:"rationale,omitempty"`  // why it is worth keeping
	Hypothesis string         `json:"hypothesis,omitempty"` // what it is expected to be useful for
	Skill      string         `json:"skill_name,omitempty"` // the skill it belongs to
	Metadata   map[string]any `json:"metadata,omitempty"`   // up to MaxMetadata bytes of JSON, not searched
	// OccurredAt is when it happened or will happen, from a caller in a form that package when reads. In the ledger it is
	// dates in the form of when.Span.ISO, separated by spaces: of the calendar where it was stored, without a time zone.
	OccurredAt string `json:"occurred_at,omitempty"`
}

// Record is one memory entry (RFC-0011 §1.1) as the ledger keeps it. Every string in it has passed the scrubber. Once
// it is in a projection it is never changed, nor is what it points to.
type Record struct {
	ID string `json:"id"` // MEMORY_ID
	Memory
	AgentID    string      `json:"agent_id,omitempty"`
	Project    string      `json:"project,omitempty"` // identity of the project it was stored in, see internal/project
	Lesson     *Lesson     `json:"lesson,omitempty"`  // of a lesson only
	Reflection *Reflection `json:"reflection,omitempty"`
	Imported   bool        `json:"imported,omitempty"` // from another store: who said it is not known
	Consent    string      `json:"consent,omitempty"`  // of a shared memory: ByPerson, ByCaller or ByOperator
	Redacted   int64       `json:"redacted,omitempty"` // when a rescan redacted it again: Unix milliseconds, 0 for never
	Heritage   *Heritage   `json:"-"`                  // a separate entry of the ledger
	CreatedAt  time.Time   `json:"created_at"`         // UTC, milliseconds
	UpdatedAt  time.Time   `json:"-"`                  // when its fields were changed last; zero if never
	Seq        int64       `json:"-"`                  // of its entry in the compartment's ledger; 0 outside one
}

// Foreign is a memory from another store, on its way into the ledger. ID, CreatedAt and AgentID are kept if they are
// valid; Reflection and Imported are ignored.
type Foreign struct {
	Record
	Notes []string  // what reading it left out or changed
	Past  *Revision // why it was not current there, nil if it was; the ids are the other store's
	// Accesses is how often it was found there.
	Accesses Accesses
}

// VectorID is what the record's vectors are kept under: its id, and another one after each rescan, so that no vector of
// what was redacted is taken for that of what is left.
func (r *Record) VectorID() string {
	if r.Redacted == 0 {
		return r.ID
	}
	return r.ID + "#" + strconv.FormatInt(r.Redacted, 10)
}

// HasTag reports whether the record carries tag, ignoring letter case.
func (r *Record) HasTag(tag string) bool {
	return slices.ContainsFunc(r.Tags, func(t string) bool { return strings.EqualFold(t, tag) })
}

// Expired reports whether a lesson is older than retention at now, so that it is not active any more.
func (r *Record) Expired(now time.Time, retention time.Duration) bool {
	return r.CreatedAt.Before(now.Add(-retention))
}

// NewID returns an identifier in the form of RFC-0011 §1.1: PREFIX_ + Unix milliseconds + _ + 6 lower-case hex digits.
// Two calls in one millisecond may return the same; the caller checks. The error is that of random.
func NewID(prefix string, now time.Time, random io.Reader) (string, error) {
	var b [3]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("read randomness: %w", err)
	}
	return prefix + "_" + strconv.FormatInt(now.UnixMilli(), 10) + "_" + hex.EncodeToString(b[:]), nil
}

// forbiddenKeys would reach into the objects of a JavaScript reader (RFC-0011, Security Considerations).
var forbiddenKeys = []string{"__proto__", "constructor", "prototype"}

// MaxMetadata is the maximum size of a memory's metadata, in bytes of JSON.
const MaxMetadata = 16 << 10

// CheckMetadata returns a fault for a forbidden key at any depth of v. path is where v is, for the message.
func CheckMetadata(path string, v any) error {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if slices.Contains(forbiddenKeys, key) {
				return fault.New("metadata: the key %q is not allowed at %s; choose another name", key, path)
			}
			if err := CheckMetadata(path+"."+key, value); err != nil {
				return err
			}
		}
	case []any:
		for i, value := range v {
			if err := CheckMetadata(fmt.Sprintf("%s[%d]", path, i), value); err != nil {
				return err
			}
		}
	}
	return nil
}

// IsEphemeral reports whether a memory belongs to its session, see SessionType.
func (r *Record) IsEphemeral() bool { return r.Type == SessionType && r.Source != Conversation }

// InScope reports whether r and other, which have the same text, are remembered for the same: then they are one memory.
func (r *Record) InScope(other *Record) bool {
	return r.Type == other.Type && r.SessionID == other.SessionID && r.AgentID == other.AgentID &&
		r.Skill == other.Skill && r.Project == other.Project
}

// Fits is InScope for a caller who may have left fields of other out, or gives a session or skill that r did not have.
// What is kept for a session only does not fit what is to last.
func (r *Record) Fits(other *Record) bool {
	fits := func(a, b string) bool { return a == b || a == "" || b == "" }
	kind := r.Type == other.Type || other.Type == DefaultType && r.Type != SessionType
	return kind && fits(r.SessionID, other.SessionID) &&
		fits(r.AgentID, other.AgentID) && fits(r.Skill, other.Skill) && fits(r.Project, other.Project)
}

// OtherEvent reports whether two memories tell of different times, by what is known of them: "Went for a run" of Monday
// is not that of Wednesday. A date within the other is a more exact one.
func (r *Record) OtherEvent(other *Record) bool {
	a, b := r.OccurredAt, other.OccurredAt
	return a != "" && b != "" && !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a)
}

// Limits of what a caller may store.
const (
	MaxContent = 1 << 20 // bytes of one memory, the scrubber's limit
	MaxField   = 2_000   // characters of each other string
	MaxTags    = 32
	MaxTag     = 64 // characters
)

// Assistant is the Source of what an assistant said.
const Assistant = "assistant"

// FromPerson reports whether a source is the person whose memory it is, by one of the names that programs give them.
func FromPerson(source string) bool {
	switch strings.ToLower(source) {
	case "user", "human", "person", "owner", "me":
		return true
	}
	return false
}

// fromSomebody reports whether a source is a name, such as "Paulo" or "Dr Inês Melo".
func fromSomebody(source string) bool {
	words := strings.Fields(source)
	return len(words) > 0 && !FromPerson(source) && !slices.ContainsFunc(words, func(word string) bool {
		first, size := utf8.DecodeRuneInString(word)
		return !unicode.IsUpper(first) || strings.IndexFunc(word[size:], unicode.IsLower) < 0 ||
			strings.ContainsFunc(word, unicode.IsDigit) || strings.ContainsAny(word, "/@:_")
	})
}

// FromAssistant reports whether a source is an assistant, by one of the names that programs give it.
func FromAssistant(source string) bool {
	switch strings.ToLower(source) {
	case Assistant, "agent", "ai", "bot", "model":
		return true
	}
	return false
}
