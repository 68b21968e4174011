// Package foreign reads and migrates the LanceDB databases that other implementations of RFC-0011 wrote.
//
// What it reads is on its way into the ledger (mesh.View.Import) and is not scrubbed yet: it must not be shown,
// logged or kept as it is.
package foreign

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Memories reads the memories of a LanceDB database that another implementation of RFC-0011 wrote, in schema V1 or
// V2, for mesh.View.Import: oldest first, so that what belongs together stays together. Its vectors are left out,
// because the schema does not record which model made them. dir is the folder with memory_entries.lance in it; the
// error wraps fs.ErrNotExist if it has none.
func Memories(ctx context.Context, dir string) ([]record.Foreign, error) {
	info, err := lance.Inspect(ctx, dir)
	if err != nil {
		return nil, err
	}
	list, err := memories(lance.ForeignMemories(ctx, dir, false))
	if len(info.Others) > 0 {
		for i := range list {
			list[i].Notes = append(list[i].Notes, "the columns "+strings.Join(info.Others, ", ")+" were left out")
		}
	}
	return list, err
}

// memories reads rows. Times of other implementations may be equal, so the id decides then: any fixed order will do.
func memories(rows iter.Seq2[lance.Memory, error]) ([]record.Foreign, error) {
	var list []record.Foreign
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		list = append(list, fromRow(row))
	}
	slices.SortStableFunc(list, func(a, b record.Foreign) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return list, nil
}

// Migrate converts a database of schema V1 to V2 in place (RFC-0011 §11), see lance.Migrate. changed is false if it
// is V2 already; rows is the number of memories in it. now is the time of the backup.
func Migrate(ctx context.Context, dir string, now time.Time) (changed bool, rows int, err error) {
	before, err := lance.Inspect(ctx, dir)
	if err == nil || !before.SchemaV2 { // an interrupted one may have no table at its place
		err = lance.Migrate(ctx, dir, now)
	}
	if err != nil {
		return false, 0, err
	}
	after, err := lance.Inspect(ctx, dir)
	return !before.SchemaV2, after.Rows, err
}

// fromRow converts a row of memory_entries. The conventional fields of the metadata (RFC-0011 §2.1) become fields of
// the memory, and so do the columns of V2, which take precedence. What cannot be kept is left out and noted.
func fromRow(row lance.Memory) record.Foreign {
	var q record.Foreign
	q.ID, q.CreatedAt = row.ID, row.CreatedAt
	q.Content = row.Content
	meta := metadata{request: &q, left: map[string]any{}}
	if err := json.Unmarshal([]byte(cmp.Or(row.Metadata, "{}")), &meta.left); err != nil {
		meta.note("the metadata is no JSON object, and was left out")
	}
	if meta.left == nil {
		meta.left = map[string]any{}
	}
	q.Type = cmp.Or(row.MemoryType, meta.text("type"), "global")
	if !slices.Contains(record.Types, q.Type) {
		meta.left["original_type"] = q.Type
		meta.note("the type is not one of RFC-0011's: global, with the original as original_type")
		q.Type = "global"
	}
	q.Source, q.Rationale = meta.text("source"), meta.text("rationale")
	q.Hypothesis, q.Skill = meta.text("hypothesis"), meta.text("skill_name")
	// Taken out of the metadata even where the column has it, or it would be kept twice.
	inMetadata := meta.text("session_id")
	q.SessionID = cmp.Or(row.SessionID, inMetadata)
	inMetadata = meta.text("agent_id")
	q.AgentID = cmp.Or(row.AgentID, inMetadata)
	q.Tags = meta.tags()
	q.Importance = meta.importance(row.ImportanceScore)
	q.Heritage = meta.heritage(row.HeritageChain)
	if q.Type == "lesson" {
		q.Lesson = meta.lesson(row)
	}
	q.Past = past(row)
	if row.AccessCount != nil && *row.AccessCount > 0 {
		q.Accesses = record.Accesses{Count: *row.AccessCount, Last: row.LastAccessed}
	}
	raw, err := json.Marshal(meta.left)
	if err != nil || len(raw) > record.MaxMetadata || record.CheckMetadata("metadata", meta.left) != nil {
		meta.note("the metadata is too large or has a forbidden key, and was left out")
		meta.left = nil
	}
	q.Metadata = meta.left
	return q
}

// past returns why a row was not current in the other store, nil if it was: it was superseded, or is in another state
// than active, such as archived. That store does not keep what replaced it. Tables in Lance's first format read a time
// that is not set as 1970: what was superseded before it was created was not.
func past(row lance.Memory) *record.Revision {
	if row.SupersededAt.Before(row.CreatedAt) {
		row.SupersededAt = time.Time{}
	}
	if row.SupersededAt.IsZero() && (row.State == "" || row.State == "active") {
		return nil
	}
	at := row.SupersededAt
	for _, other := range []time.Time{row.UpdatedAt, row.LastAccessed, row.CreatedAt} {
		if at.IsZero() {
			at = other
		}
	}
	return &record.Revision{Old: row.ID, At: at}
}

// metadata is the part of a row's metadata that has not become a field of the memory.
type metadata struct {
	request *record.Foreign
	left    map[string]any
}

func (m *metadata) note(text string) { m.request.Notes = append(m.request.Notes, text) }

// text removes a string and returns it, cut to record.MaxField characters.
func (m *metadata) text(key string) string {
	text, ok := m.left[key].(string)
	if !ok {
		return ""
	}
	delete(m.left, key)
	if utf8.RuneCountInString(text) > record.MaxField {
		m.note(key + " is too long, and was cut")
		text = string([]rune(text)[:record.MaxField])
	}
	return text
}

// tags removes the tags and returns those that can be kept.
func (m *metadata) tags() (tags []string) {
	list, ok := m.left["tags"].([]any)
	if !ok {
		return nil
	}
	delete(m.left, "tags")
	for _, value := range list {
		tag, ok := value.(string)
		if ok && strings.TrimSpace(tag) != "" && utf8.RuneCountInString(tag) <= record.MaxTag && len(tags) < record.MaxTags {
			tags = append(tags, tag)
		}
	}
	if len(tags) < len(list) {
		m.note("tags that are too long or no strings, or beyond the maximum number, were left out")
	}
	return tags
}

// importance returns the column's value, else the metadata's, nil if that is not between 0 and 1.
func (m *metadata) importance(column *float32) *float32 {
	value, inMetadata := m.left["importance"].(float64)
	if column == nil && inMetadata {
		narrow := float32(value)
		column = &narrow
		delete(m.left, "importance")
	}
	if column != nil && !(*column >= 0 && *column <= 1) {
		m.note("the importance is not between 0 and 1, and was left out")
		return nil
	}
	return column
}

// heritage reads the column heritage_chain, without levels that are empty or too long.
func (m *metadata) heritage(chain string) *record.Heritage {
	if chain == "" {
		return nil
	}
	var h record.Heritage
	if err := json.Unmarshal([]byte(chain), &h); err != nil {
		m.note("the heritage is not readable, and was left out")
		return nil
	}
	levels := 0
	for _, list := range []*[]string{&h.IntentChain, &h.Hypotheses, &h.Rationales} {
		*list = slices.DeleteFunc(*list, func(level string) bool {
			return strings.TrimSpace(level) == "" || utf8.RuneCountInString(level) > record.MaxField
		})
		levels += len(*list)
	}
	if levels == 0 {
		return nil
	}
	return &h
}

// unrecorded is the value of a lesson's required fields that the other implementation did not keep.
const unrecorded = "not recorded"

// lesson makes a lesson of the metadata that implementations keep with one, nil if that is incomplete: then it is
// kept as a memory of type lesson.
func (m *metadata) lesson(row lance.Memory) *record.Lesson {
	var kept struct {
		Lesson           *record.Lesson `json:"lesson"` // as this program writes it
		LessonID         string         `json:"lesson_id"`
		PatternID        string         `json:"lesson_pattern_id"`
		Severity         string         `json:"severity"`
		Oversight        string         `json:"oversight"`
		PreventativeRule string         `json:"preventative_rule"`
		RuleConfidence   float64        `json:"rule_confidence"`
		ApplicableScope  string         `json:"applicable_scope"`
		InverseLesson    string         `json:"inverse_lesson"`
		WireFormat       string         `json:"yamo_wire_format"`
	}
	if err := json.Unmarshal([]byte(row.Metadata), &kept); err != nil {
		return nil
	}
	l := kept.Lesson
	if l == nil {
		l = &record.Lesson{
			LessonID: kept.LessonID, PatternID: cmp.Or(kept.PatternID, row.LessonPatternID), Severity: kept.Severity,
			Situation: unrecorded, ErrorPattern: unrecorded, Fix: unrecorded, Oversight: kept.Oversight,
			PreventativeRule: kept.PreventativeRule, ApplicableScope: kept.ApplicableScope, InverseLesson: kept.InverseLesson,
			RuleConfidence: kept.RuleConfidence,
		}
		if learned, err := block.Parse(kept.WireFormat); err == nil {
			if situation, ok := block.Get(learned.Context, "original_context"); ok {
				l.Situation = situation
			}
		}
	}
	if err := l.Validate(); err != nil {
		m.note(fmt.Sprintf("the lesson is not complete (%v): kept as a memory", err))
		return nil
	}
	for _, key := range []string{
		"lesson", "lesson_id", "lesson_pattern_id", "severity", "oversight", "preventative_rule", "rule_confidence",
		"applicable_scope", "inverse_lesson", "yamo_wire_format",
	} {
		delete(m.left, key)
	}
	return l
}
