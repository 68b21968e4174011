// Package block writes and reads YAMO blocks, the wire format of RFC-0011 §3.
//
// Invariant: a value can never start a line or forge a field. String escapes every value and maps every
// name into the grammar's alphabet, no matter how the Block was built. Conversely, Parse accepts only
// what String could have written: a parsed block renders to the bytes it was parsed from, so the hash
// of both is the same.
//
// RFC-0011's grammar (§3.1) and its examples (§3.2 to §3.5) differ in two places. Parse reads both forms;
// String writes the form of the examples:
//
//   - meta: the grammar has lines "meta: key;value;", the examples a section "meta:" of indented pairs;
//   - constraints: the grammar has "- body;", the examples indented pairs.
//
// The grammar does not define KEY, VALUE, LOG_BODY and HANDOFF_TARGET. Here they are:
//
//	KEY            = (ALPHA / DIGIT / "_") *(ALPHA / DIGIT / "_" / "-" / ".")
//	VALUE          = *(any character but ";", control characters and line or paragraph separators)
//	CONSTRAINT_BODY, HANDOFF_TARGET = VALUE
//	LOG_BODY       = VALUE *(";" VALUE)
package block

import (
	"strings"
)

// Level is a priority (RFC-0011 §3.1) or a severity (§3.5). Both use the same four words.
type Level string

// The four levels of RFC-0011, highest first.
const (
	Critical Level = "critical"
	High     Level = "high"
	Medium   Level = "medium"
	Low      Level = "low"
)

// Valid reports whether l is one of the four levels.
func (l Level) Valid() bool {
	switch l {
	case Critical, High, Medium, Low:
		return true
	}
	return false
}

// Pair is a key and its value. In constraints the key may be empty: the grammar's "- body;".
type Pair struct{ Key, Value string }

// Block is one YAMO block (RFC-0011 §3.1). Agent, Intent, Meta, Log and Handoff are mandatory: Parse
// rejects text without them. Use Retain, Recall, Reflect and Lesson to build the blocks of §3.2 to §3.5.
type Block struct {
	Agent       string // with prefix: "MemoryMesh_claude"
	Intent      string
	Context     []Pair
	Constraints []Pair
	Priority    Level // "" omits the line
	Output      []Pair
	Meta        []Pair
	MetaLines   bool     // write Meta as "meta: key;value;" lines instead of a section
	Log         []string // the fields of the log line, in order
	Handoff     string
}

// String renders the block. Every line ends in a newline, including the last. Values are escaped with
// Escape and names are mapped into the grammar's alphabet, so content cannot change the structure.
func (b Block) String() string {
	var w strings.Builder
	w.WriteString("agent: " + name(b.Agent) + ";\n")
	w.WriteString("intent: " + name(b.Intent) + ";\n")
	writeSection(&w, "context", b.Context)
	writeSection(&w, "constraints", b.Constraints)
	if b.Priority != "" {
		w.WriteString("priority: " + name(string(b.Priority)) + ";\n")
	}
	writeSection(&w, "output", b.Output)
	if b.MetaLines {
		for _, p := range b.Meta {
			w.WriteString("meta: " + key(p.Key) + ";" + Escape(p.Value) + ";\n")
		}
	} else {
		writeSection(&w, "meta", b.Meta)
	}
	w.WriteString("log: ")
	for _, field := range b.Log {
		w.WriteString(Escape(field) + ";")
	}
	w.WriteString("\nhandoff: " + Escape(b.Handoff) + ";\n")
	return w.String()
}

// writeSection writes a header and its indented pairs. The grammar has no empty sections, so no pairs
// write nothing.
func writeSection(w *strings.Builder, header string, pairs []Pair) {
	if len(pairs) == 0 {
		return
	}
	w.WriteString(header + ":\n")
	for _, p := range pairs {
		if header == "constraints" && p.Key == "" {
			w.WriteString("  - " + Escape(p.Value) + ";\n")
			continue
		}
		w.WriteString("  " + key(p.Key) + ";" + Escape(p.Value) + ";\n")
	}
}

// Get returns the value of the first pair with the key, and whether there is such a pair.
func Get(pairs []Pair, key string) (string, bool) {
	for _, p := range pairs {
		if p.Key == key {
			return p.Value, true
		}
	}
	return "", false
}
