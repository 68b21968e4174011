package lance

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/where"
)

// Filter restricts Nearest to rows that fulfil every condition set. The zero value restricts nothing. A row
// whose field is null fulfils no condition on it.
type Filter struct {
	Type          string    // memory_type, exactly
	SessionID     string    // session_id, exactly
	AgentID       string    // agent_id, exactly
	SkillID       string    // source_skill_id, exactly
	Since         time.Time // created_at at or after
	Until         time.Time // created_at before
	MinImportance *float32  // importance_score at least
	Where         *where.Expr
}

const (
	maxIDs    = 10_000 // in one query
	idBatch   = 1_000  // in one query that reads or deletes rows by id
	maxString = 1024   // bytes of a filter's value
)

var idPattern = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,128}$`)

// SECURITY: LanceDB has no query parameters, cuts a predicate at NUL and accepts `--` comments. Predicates are
// made here and by package where only, from column names of these and from values that they wrote as literals.
func (f Filter) predicate() (string, error) {
	var terms []string
	for _, c := range []struct{ column, value string }{
		{"memory_type", f.Type}, {"session_id", f.SessionID}, {"agent_id", f.AgentID}, {"source_skill_id", f.SkillID},
	} {
		if c.value == "" {
			continue
		}
		q, err := quote(c.value)
		if err != nil {
			return "", fmt.Errorf("filter %s: %w", c.column, err)
		}
		terms = append(terms, c.column+" = "+q)
	}
	for _, c := range []struct {
		op string
		t  time.Time
	}{{">=", f.Since}, {"<", f.Until}} {
		if c.t.IsZero() {
			continue
		}
		q, err := timestamp(c.t)
		if err != nil {
			return "", fmt.Errorf("filter created_at: %w", err)
		}
		terms = append(terms, "created_at "+c.op+" "+q)
	}
	if f.MinImportance != nil {
		v := float64(*f.MinImportance)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "", fmt.Errorf("filter importance_score: %w number", ErrInvalid)
		}
		// All digits of the float32, so that a row with exactly this importance is in.
		terms = append(terms, "importance_score >= "+strconv.FormatFloat(v, 'f', -1, 64))
	}
	if f.Where != nil {
		expr := f.Where.String()
		if !utf8.ValidString(expr) || strings.ContainsRune(expr, 0) {
			return "", fmt.Errorf("%w filter: not UTF-8 text without NUL", ErrInvalid)
		}
		terms = append(terms, "("+expr+")")
	}
	return strings.Join(terms, " AND "), nil
}

// idIn returns the predicate "id is one of ids", of which there must be 1 to maxIDs.
func idIn(ids []string) (string, error) {
	if len(ids) == 0 || len(ids) > maxIDs {
		return "", fmt.Errorf("%w filter: %d ids, 1 to %d are allowed", ErrInvalid, len(ids), maxIDs)
	}
	var b strings.Builder
	b.WriteString("id IN (")
	for i, id := range ids {
		if err := checkID(id); err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("'" + id + "'")
	}
	b.WriteByte(')')
	return b.String(), nil
}

// checkID accepts RFC-0011 §1.1's ids and those of other implementations, whose random part is base 36.
func checkID(id string) error {
	if !idPattern.MatchString(id) {
		return fmt.Errorf("%w id %q: 1 to 128 letters, digits and _ . : -", ErrInvalid, id)
	}
	return nil
}

// quote returns s as an SQL string literal. In DataFusion's dialect only the quote itself is special.
func quote(s string) (string, error) {
	if len(s) > maxString {
		return "", fmt.Errorf("%w value: longer than %d bytes", ErrInvalid, maxString)
	}
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return "", fmt.Errorf("%w value: not UTF-8 text without NUL", ErrInvalid)
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'", nil
}

// timestamp returns t, cut to milliseconds, as an SQL literal in UTC, which is what the tables hold.
func timestamp(t time.Time) (string, error) {
	t = t.UTC().Truncate(time.Millisecond)
	if y := t.Year(); y < 1700 || y > 2200 { // what DataFusion's nanoseconds can express
		return "", fmt.Errorf("%w time: year %d", ErrInvalid, y)
	}
	return "timestamp '" + t.Format("2006-01-02 15:04:05.000") + "'", nil
}
