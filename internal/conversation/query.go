package conversation

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
)

// condition is a condition in the text of a query, such as role:tool or since:"last week".
var condition = regexp.MustCompile(`(^|\s)(since|until|project|role):("[^"]*"|\S+)`)

// roles are the roles that a search can be limited to.
var roles = []string{"user", "assistant", "tool"}

// Parse returns the query in text, of which "since:", "until:", "project:" and "role:" with a value are conditions and
// the rest is what is searched for. A value with spaces is in quotes. Everything else that has a colon is text. The
// error is a fault for a role that does not exist and for two conditions of a kind.
func Parse(text string) (q Query, err error) {
	fields := map[string]*string{"since": &q.Since, "until": &q.Until, "project": &q.Project, "role": &q.Role}
	for _, m := range condition.FindAllStringSubmatch(text, -1) {
		field, value := fields[m[2]], strings.TrimSpace(strings.Trim(m[3], `"`))
		if *field != "" {
			return Query{}, fault.New("query: has %s: twice; give it once", m[2])
		}
		*field = value
	}
	if q.Role != "" && !slices.Contains(roles, q.Role) {
		return Query{}, fault.New("query: role: must be one of %s", strings.Join(roles, ", "))
	}
	q.Text = strings.TrimSpace(condition.ReplaceAllString(text, "$1"))
	if q.Text == "" && q.narrowed() {
		return Query{}, fault.New("query: has conditions only; add words to search for")
	}
	return q, nil
}
