package grammar_test

import (
	"fmt"
	"log"
	"time"

	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// An operation changes one section, and leaves every other byte of the file as it is.
func ExampleDocument_Apply() {
	d := grammar.Parse("# Memory\n\n## People\n\n- Ana\n\n## Plans\n\nnone\n")
	done, err := d.Apply(nil, grammar.Edit{
		Op: grammar.AppendItem, Section: "people", Items: []string{"Luis"}, Rationale: "met today",
	}, time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, %d added\n%s", done.Section, done.Items, d)
	// Output:
	// People, 1 added
	// # Memory
	//
	// ## People
	//
	// - Ana
	// - Luis
	//
	// ## Plans
	//
	// none
}
