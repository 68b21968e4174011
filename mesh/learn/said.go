package learn

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// The fields of a lesson, as distill_lesson names them.
const (
	fieldSituation  = "situation"
	fieldPattern    = "error_pattern"
	fieldOversight  = "oversight"
	fieldFix        = "fix"
	fieldRule       = "preventative_rule"
	fieldSeverity   = "severity"
	fieldScope      = "applicable_scope"
	fieldInverse    = "inverse_lesson"
	fieldConfidence = "confidence"
)

// fieldNames are the names that a field may have, in metadata or before a colon in the content, without regard to case,
// blanks, underscores and hyphens: those of RFC-0011 §4.2 (LessonContext), §3.5 (the block) and §10 (the example),
// and those of record.Lesson.Text.
var fieldNames = func() map[string]string {
	names := map[string]string{}
	for field, list := range map[string][]string{
		fieldSituation:  {"situation", "original_context"},
		fieldPattern:    {"error_pattern", "error_code"},
		fieldOversight:  {"oversight", "oversight_description", "error_message"},
		fieldFix:        {"fix", "resolution"},
		fieldRule:       {"preventative_rule", "rule", "constraint"},
		fieldSeverity:   {"severity"},
		fieldScope:      {"applicable_scope", "applicability_scope", "scope"},
		fieldInverse:    {"inverse_lesson", "instead"},
		fieldConfidence: {"confidence", "rule_confidence"},
	} {
		for _, name := range list {
			names[plainName(name)] = field
		}
	}
	return names
}()

// plainName returns the form in which field names are compared.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '*' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// Saying is the fields of a lesson that a memory contains, each on one line.
type Saying map[string]string

// SayingOf reads a memory's metadata and the lines of its content that are "Field: value" or, as in a block,
// "field;value;". Metadata takes precedence, because a program wrote it for this purpose. The rest of the content is
// the situation, unless a field is.
func SayingOf(r *record.Record) Saying {
	said := Saying{}
	var rest []string
	for line := range strings.Lines(strings.ReplaceAll(r.Content, CandidateTag, "")) {
		field, value := labelled(line)
		if field == "" {
			rest = append(rest, line)
		} else if said[field] == "" {
			said[field] = value
		}
	}
	// Sorted, so that of several names for one field the same one always counts.
	for _, key := range slices.Sorted(maps.Keys(r.Metadata)) {
		if field := fieldNames[plainName(key)]; field != "" {
			if text := plainText(r.Metadata[key]); text != "" {
				said[field] = text
			}
		}
	}
	if said[fieldSituation] == "" {
		situation := text.OneLine(strings.Join(rest, " "))
		if situation == "" {
			situation = text.OneLine(r.Content)
		}
		said[fieldSituation] = text.Shorten(situation, record.MaxField-1)
	}
	said[fieldSeverity] = strings.ToLower(said[fieldSeverity])
	return said
}

// labelled splits a line into a field and its value. The field is "" if the line names no known one.
func labelled(line string) (field, value string) {
	line = strings.TrimSpace(line)
	line = strings.TrimLeft(line, "-* ")
	at := strings.IndexAny(line, ":;")
	if at < 0 {
		return "", ""
	}
	if field = fieldNames[plainName(line[:at])]; field == "" {
		return "", ""
	}
	return field, text.OneLine(strings.Trim(strings.TrimSuffix(line[at+1:], ";"), "* "))
}

// plainText returns a value of metadata as a string, "" for a list, an object or a boolean.
func plainText(value any) string {
	switch value := value.(type) {
	case string:
		return text.OneLine(value)
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case fmt.Stringer: // a json.Number
		return value.String()
	}
	return ""
}

// Request returns the lesson that the sightings make up together, and the required fields that none of them has, or has
// with an invalid value. Of several values the newest counts: it was written with the most knowledge.
func (s Suspicion) Request() (q record.LessonRequest, missing []string) {
	said := Saying{}
	for _, one := range slices.Backward(s.Sightings) {
		for field, text := range one.said {
			if said[field] == "" {
				said[field] = text
			}
		}
	}
	q = record.LessonRequest{
		Situation: said[fieldSituation], ErrorPattern: said[fieldPattern], Oversight: said[fieldOversight],
		Fix: said[fieldFix], PreventativeRule: said[fieldRule], Severity: said[fieldSeverity],
		ApplicableScope: said[fieldScope], InverseLesson: said[fieldInverse],
	}
	for _, field := range []string{fieldPattern, fieldOversight, fieldFix, fieldRule, fieldSeverity, fieldScope} {
		if said[field] == "" || field == fieldSeverity && !slices.Contains(record.Severities, said[field]) {
			missing = append(missing, field)
		}
	}
	if text := said[fieldConfidence]; text != "" {
		confidence, err := strconv.ParseFloat(text, 64)
		if err == nil && confidence >= 0 && confidence <= 1 {
			q.Confidence = &confidence
		} else {
			missing = append(missing, fieldConfidence)
		}
	}
	return q, missing
}
