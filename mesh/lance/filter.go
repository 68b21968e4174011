package lance

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/where"
)

// Filter restricts Nearest to the rows for which Where is true; nil restricts nothing. A row whose column is null
// fulfils no comparison with it.
type Filter struct{ Where *where.Expr }

const (
	maxIDs  = 10_000 // in one query
	idBatch = 1_000  // in one query that reads or deletes rows by id
)

var idPattern = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,128}$`)

// SECURITY: LanceDB has no query parameters, cuts a predicate at NUL and accepts `--` comments. Predicates are made
// here and by package where only, from names of columns and from values that where writes as literals.
func (f Filter) predicate() (string, error) {
	if f.Where == nil {
		return "", nil
	}
	expr := f.Where.String()
	if !utf8.ValidString(expr) || strings.ContainsRune(expr, 0) {
		return "", fmt.Errorf("%w filter: not UTF-8 text without NUL", ErrInvalid)
	}
	return expr, nil
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
