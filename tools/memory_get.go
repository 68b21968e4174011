package tools

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
)

// maxPart is how many bytes of a memory come at a time.
const maxPart = 30_000

// memoryID is the arguments of memory_get.
type memoryID struct {
	ID     string `json:"id" jsonschema:"minLength=1"`
	Offset int    `json:"offset,omitempty" jsonschema:"minimum=0,maximum=1048576,default=0"`
}

func (memoryID) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"id":     "Memory ID from memory_search or memory_store.",
		"offset": "For long content: next_offset of the previous result.",
	})
}

// memoryWhole is a memory with everything that the audience may know of it. Content that does not fit in one result
// comes in parts, from Offset on.
type memoryWhole struct {
	memoryResult
	Heritage *heritage     `json:"heritage,omitempty"`
	Lesson   *lessonDetail `json:"lesson,omitempty"`
	Derived  *derived      `json:"derived,omitempty"`
	// AccessCount and LastAccessed are the asker's own.
	AccessCount  int32      `json:"access_count"`
	LastAccessed *time.Time `json:"last_accessed,omitempty"`
	// NextOffset is 0 when the content is at its end.
	NextOffset int       `json:"next_offset,omitempty"`
	History    []version `json:"history,omitempty"`
}

func (m memoryWhole) JSONSchemaExtend(s *jsonSchema) {
	m.memoryResult.JSONSchemaExtend(s)
	describe(s, map[string]string{
		"heritage":      "Its ancestry, oldest level first.",
		"lesson":        "For a lesson: its fields.",
		"derived":       "For a reflection: its sources and method.",
		"access_count":  "Number of searches that found it.",
		"last_accessed": "Time of the last such search.",
		"next_offset":   "More content follows: call again with this offset.",
		"history":       "Its versions, oldest first.",
	})
}

// version is a memory in the history of one.
type version struct {
	ID           string     `json:"id"`
	CreatedAt    time.Time  `json:"created_at"`
	Content      string     `json:"content"`
	Until        *time.Time `json:"until,omitempty"`
	SupersededBy string     `json:"superseded_by,omitempty"`
	Why          string     `json:"why,omitempty"`
}

func (version) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"until": "Not set: it is current.",
	})
}

// versions returns the history of a memory, contents cut to what there is room for.
func versions(ctx context.Context, v *mesh.View, id string, left *room) ([]version, error) {
	history, err := v.History(ctx, id)
	if err != nil {
		return nil, err
	}
	var list []version
	for _, h := range history {
		content, _ := keyword.Excerpt(h.Content, "", concise)
		one := version{ID: h.ID, CreatedAt: h.CreatedAt, Content: content}
		if h.Past != nil {
			one.Until, one.SupersededBy, one.Why = &h.Past.At, h.Past.New, h.Past.Why
		}
		list = append(list, one)
	}
	return fit(left, list), nil
}

// heritage is a memory's ancestry (RFC-0011 §4.1 insertHeritage).
type heritage struct {
	IntentChain []string `json:"intent_chain"`
	Hypotheses  []string `json:"hypotheses"`
	Rationales  []string `json:"rationales"`
}

// derived is how a reflection was made.
type derived struct {
	ReflectionID string      `json:"reflection_id"`
	Topic        string      `json:"topic,omitempty"`
	Sources      []sourceRef `json:"sources"`
	Confidence   float64     `json:"confidence"`
	Method       string      `json:"method"`
	Model        string      `json:"model,omitempty"`
	Supersedes   string      `json:"supersedes,omitempty"`
}

func (derived) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"confidence": "How well the text represents its sources, 0 to 1.",
		"method":     "model or extract.",
	})
}

// MemoryGet is the tool memory_get (RFC-0011 §4.1 get). dreams is nil in a group.
func MemoryGet(v *mesh.View, dreams *dream.Sweeper) Tool {
	return Define(Spec{
		Name:        "memory_get",
		Title:       "Look a memory up",
		Description: "Return one memory by id, with its whole content and metadata. Long content comes in parts.",
		ReadOnly:    true,
		Idempotent:  true,
	}, func(ctx context.Context, in memoryID) (memoryWhole, error) {
		hit, err := v.Get(ctx, in.ID)
		if err != nil {
			return memoryWhole{}, err
		}
		var whole memoryWhole
		whole.memoryResult, _ = presenter{
			home: v.Home(), zone: v.Location(), whole: true, disputed: disputes(ctx, dreams),
		}.result(hit)
		whole.AccessCount = hit.Accesses.Count
		if at := hit.Accesses.Last; !at.IsZero() {
			whole.LastAccessed = &at
		}
		if hit.Lesson != nil {
			lesson := detailLesson(hit)
			whole.Lesson = &lesson
		}
		if r := hit.Reflection; r != nil {
			whole.Derived = &derived{
				r.ReflectionID, r.Topic, sourceRefs(r.Sources), r.Confidence, r.Method, r.Model, r.Supersedes,
			}
		}
		if h := hit.Heritage; h != nil {
			whole.Heritage = &heritage{h.IntentChain, h.Hypotheses, h.Rationales}
		}
		// From the whole content: present has cut its copy at a limit that knows no offset.
		whole.Content, whole.NextOffset, err = part(hit.Content, in.Offset)
		if err != nil {
			return memoryWhole{}, err
		}
		left := newRoom()
		left.take(whole)
		whole.History, err = versions(ctx, v, in.ID, &left)
		return whole, err
	})
}

// part is what follows offset in text, and where it goes on, 0 at the end.
func part(text string, offset int) (string, int, error) {
	// An offset inside a character was not ours; sending half a character would corrupt the text.
	if offset > 0 && (offset >= len(text) || !utf8.RuneStart(text[offset])) {
		return "", 0, fault.New("offset: use next_offset of the previous result; the content has %d bytes", len(text))
	}
	end := min(len(text), offset+maxPart)
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	if end == len(text) {
		return text[offset:], 0, nil
	}
	return text[offset:end], end, nil
}
