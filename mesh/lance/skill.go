package lance

import (
	"context"
	"iter"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Skill is one row of synthesized_skills (RFC-0011 §2.4).
type Skill struct {
	ID        string
	Name      string
	Intent    string
	Text      string    // the skill's YAMO definition
	Vector    []float32 // of Intent; see Memory.Vector
	Metadata  string    // a JSON object: reliability, use_count, last_used, created_at
	CreatedAt time.Time // zero on writing: the time in ID
}

var skills = &table[Skill]{
	name: skillTable,
	fields: func(dim int) []arrow.Field {
		return []arrow.Field{
			keyField("id"), keyField("name"), keyField("intent"), keyField("yamo_text"), vectorField(dim),
			keyField("metadata"), timeField("created_at", false),
		}
	},
	id: func(s *Skill) string { return s.ID },
	check: func(s *Skill, dim int) error {
		if err := checkVector(s.Vector, dim); err != nil {
			return err
		}
		t := rowTimes{created: s.CreatedAt}
		if err := t.check(s.ID, s.Metadata); err != nil {
			return err
		}
		return checkText("name", s.Name, "intent", s.Intent, "yamo_text", s.Text, "metadata", s.Metadata)
	},
	append: func(b *array.RecordBuilder, s *Skill) {
		t := rowTimes{created: s.CreatedAt}
		if t.created.IsZero() {
			t.created = idTime(s.ID)
		}
		for i, v := range []string{s.ID, s.Name, s.Intent, s.Text} {
			b.Field(i).(*array.StringBuilder).Append(v)
		}
		putVector(b.Field(4), s.Vector)
		b.Field(5).(*array.StringBuilder).Append(t.pack(s.ID, s.Metadata))
		putTime(b.Field(6), t.created)
	},
	decode: func(r row) (Skill, error) {
		v, err := r.vector()
		t, metadata := unpackTimes(r.text("id"), r.text("metadata"))
		return Skill{
			ID: r.text("id"), Name: r.text("name"), Intent: r.text("intent"), Text: r.text("yamo_text"),
			Vector: v, Metadata: metadata, CreatedAt: t.created,
		}, err
	},
}

// AddSkills adds the skills whose ids are not in the table yet. The caller holds the index lock.
func (db *DB) AddSkills(ctx context.Context, rows []Skill) error { return skills.add(ctx, db, rows) }

// DeleteSkills removes skills, as DeleteMemories does. A changed skill is deleted and added again.
func (db *DB) DeleteSkills(ctx context.Context, ids []string) error {
	return skills.remove(ctx, db, ids)
}

// Skills yields every skill, in no particular order, as AllMemories does.
func (db *DB) Skills(ctx context.Context, withVector bool) iter.Seq2[Skill, error] {
	return skills.rows(ctx, db, withVector)
}

// SkillCount returns the number of rows in synthesized_skills.
func (db *DB) SkillCount(ctx context.Context) (int, error) { return count(ctx, db, skillTable) }
