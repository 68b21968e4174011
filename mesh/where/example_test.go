package where_test

import (
	"fmt"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/where"
)

// Parse checks a filter; Match evaluates it for one memory. A comparison with NULL is not true, nor is its negation.
func ExampleParse() {
	memory := map[string]any{
		"memory_type":      "decision",
		"importance_score": 0.8,
		"created_at":       time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		// session_id is NULL
	}
	row := func(column string) any { return memory[column] }
	for _, filter := range []string{
		"memory_type = 'decision' AND importance_score >= 0.5",
		"created_at < '2026-03-01'",
		"session_id = 'a'",
		"NOT session_id = 'a'",
		"session_id IS NULL",
		"session_id IS 'none'",
	} {
		e, err := where.Parse(filter)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(filter, "->", e.Match(row))
	}
	// Output:
	// memory_type = 'decision' AND importance_score >= 0.5 -> true
	// created_at < '2026-03-01' -> false
	// session_id = 'a' -> false
	// NOT session_id = 'a' -> false
	// session_id IS NULL -> true
	// at character 15: expected NULL, found a string
}

// String returns the LanceDB predicate. It is written from the parsed expression, so nothing of the caller's spelling
// reaches the database.
func ExampleExpr_String() {
	e, err := where.Parse("not (Agent_ID <> 'O''Neill; --' or created_at > '2026-01-02T04:00:00+01:00')")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e)
	fmt.Println(e.Columns())
	// Output:
	// (NOT (agent_id != 'O''Neill; --' OR created_at > timestamp '2026-01-02 03:00:00.000'))
	// [agent_id created_at]
}
