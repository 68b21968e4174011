package lance

import (
	"context"
	"iter"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Memory is one row of memory_entries, schema V2 (RFC-0011 §2.2). An empty string, nil pointer or zero time
// is null in the table; times are kept in UTC and to the millisecond.
type Memory struct {
	ID        string
	Vector    []float32 // unit length, the model's dimension; nil in rows read without vectors
	Content   string
	Metadata  string    // a JSON object; empty is stored, and read back, as {}
	CreatedAt time.Time // zero on writing: the time in ID
	UpdatedAt time.Time

	SessionID       string
	AgentID         string
	MemoryType      string // global, session, agent, lesson or reflection
	ImportanceScore *float32
	AccessCount     *int32
	LastAccessed    time.Time
	HeritageChain   string // JSON
	LessonPatternID string
	SourceSkillID   string

	// Only of other implementations' rows: what they did not take for current any more, since when, and in what state.
	SupersededAt time.Time
	State        string
}

// IsSchemaV2 is RFC-0011 §2.2's test: a V2 table has the field session_id.
func IsSchemaV2(s *arrow.Schema) bool { return s.HasField("session_id") }

var memories = &table[Memory]{
	name: memoryTable,
	fields: func(dim int) []arrow.Field {
		return []arrow.Field{
			keyField("id"), vectorField(dim), keyField("content"), keyField("metadata"),
			timeField("created_at", false), timeField("updated_at", true),
			textField("session_id"), textField("agent_id"), textField("memory_type"),
			{Name: "importance_score", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
			{Name: "access_count", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
			timeField("last_accessed", true),
			textField("heritage_chain"), textField("lesson_pattern_id"), textField("source_skill_id"),
		}
	},
	id: func(m *Memory) string { return m.ID },
	check: func(m *Memory, dim int) error {
		if err := checkVector(m.Vector, dim); err != nil {
			return err
		}
		t := m.times()
		if err := t.check(m.ID, m.Metadata); err != nil {
			return err
		}
		return checkText("content", m.Content, "metadata", m.Metadata, "session_id", m.SessionID, "agent_id", m.AgentID,
			"memory_type", m.MemoryType, "heritage_chain", m.HeritageChain, "lesson_pattern_id", m.LessonPatternID,
			"source_skill_id", m.SourceSkillID)
	},
	append: func(b *array.RecordBuilder, m *Memory) {
		t := m.times()
		// RFC-0011 §2.2 does not allow null here; the time in the id is when it was made.
		if t.created.IsZero() {
			t.created = idTime(m.ID)
		}
		m.append(b, t, t.pack(m.ID, m.Metadata))
	},
	decode: func(r row) (Memory, error) {
		v, err := r.vector()
		t, metadata := unpackTimes(r.text("id"), r.text("metadata"))
		return Memory{
			ID: r.text("id"), Vector: v, Content: r.text("content"), Metadata: metadata,
			CreatedAt: t.created, UpdatedAt: t.updated,
			SessionID: r.text("session_id"), AgentID: r.text("agent_id"), MemoryType: r.text("memory_type"),
			ImportanceScore: r.float32("importance_score"), AccessCount: r.int32("access_count"), LastAccessed: t.accessed,
			HeritageChain: r.text("heritage_chain"), LessonPatternID: r.text("lesson_pattern_id"),
			SourceSkillID: r.text("source_skill_id"),
		}, err
	},
}

func (m *Memory) times() rowTimes { return rowTimes{m.CreatedAt, m.UpdatedAt, m.LastAccessed} }

// append writes m with these times and this metadata.
func (m *Memory) append(b *array.RecordBuilder, t rowTimes, metadata string) {
	// The numbers are the positions in fields above; TestSchemas compares these with the RFC.
	b.Field(0).(*array.StringBuilder).Append(m.ID)
	putVector(b.Field(1), m.Vector)
	b.Field(2).(*array.StringBuilder).Append(m.Content)
	b.Field(3).(*array.StringBuilder).Append(metadata)
	putTime(b.Field(4), t.created)
	putTime(b.Field(5), t.updated)
	putText(b.Field(6), m.SessionID)
	putText(b.Field(7), m.AgentID)
	putText(b.Field(8), m.MemoryType)
	if m.ImportanceScore == nil {
		b.Field(9).AppendNull()
	} else {
		b.Field(9).(*array.Float32Builder).Append(*m.ImportanceScore)
	}
	if m.AccessCount == nil {
		b.Field(10).AppendNull()
	} else {
		b.Field(10).(*array.Int32Builder).Append(*m.AccessCount)
	}
	putTime(b.Field(11), t.accessed)
	putText(b.Field(12), m.HeritageChain)
	putText(b.Field(13), m.LessonPatternID)
	putText(b.Field(14), m.SourceSkillID)
}

// AddMemories adds the rows whose ids are not in the table yet, as one fragment a call (one for each 10,000
// rows). A small fragment costs searches as much as hundreds of rows: batch. The rows are all checked before
// the first is written, but an error while writing may leave some of them written; adding again is safe.
// The caller holds the index lock, and calls Filled when nothing more is to be added.
func (db *DB) AddMemories(ctx context.Context, rows []Memory) error {
	return memories.add(ctx, db, rows)
}

// DeleteMemories removes rows from every later read; ids that are not there are no error. Their bytes stay on
// disk until Compact. The caller holds the index lock.
func (db *DB) DeleteMemories(ctx context.Context, ids []string) error {
	return memories.remove(ctx, db, ids)
}

// Memories returns the rows with these ids, in the order of ids, each once; those not there are left out.
// Vectors make it some ten times slower.
func (db *DB) Memories(ctx context.Context, ids []string, withVector bool) ([]Memory, error) {
	return memories.byID(ctx, db, ids, withVector)
}

// AllMemories yields every row of the table as it is when the iteration begins, in no particular order; an
// error is the last thing it yields. A Compact by another process meanwhile may be such an error.
func (db *DB) AllMemories(ctx context.Context, withVector bool) iter.Seq2[Memory, error] {
	return memories.rows(ctx, db, withVector)
}

// IDs reads the ids in memory_entries. begin returns what is called with each, and is called again if reading starts
// again. The caller compares them with the ledger both ways: after a power loss, rows may be missing and deleted ones
// may be back.
func (db *DB) IDs(ctx context.Context, begin func() (visit func(id string))) error {
	return db.use(ctx, memoryTable, func(h *handle) error {
		visit := begin()
		if h == nil {
			return nil
		}
		return readAllIDs(ctx, h, visit)
	})
}

// Count returns the number of rows in memory_entries.
func (db *DB) Count(ctx context.Context) (int, error) { return count(ctx, db, memoryTable) }
