// Package block writes and reads YAMO blocks, the wire format of RFC-0011 §3.
//
// Its invariant: a value can never start a line or forge a field. Every value goes through Escape on
// its way into a text, and every name through the grammar's alphabet, whoever built the Block. The
// other way round, Parse accepts only what String could have written, so a parsed block renders to the
// very bytes it came from and Hash of the two agrees.
//
// Where RFC-0011 §3.1's grammar and its examples in §3.2 to §3.5 differ, both forms are read and the
// examples' form is written:
//
//   - meta: the grammar has lines "meta: key;value;", the examples a section "meta:" of indented pairs;
//   - constraints: the grammar has "- body;", the examples indented pairs.
//
// KEY, VALUE, LOG_BODY and HANDOFF_TARGET, which the grammar leaves open, are:
//
//	KEY            = (ALPHA / DIGIT / "_") *(ALPHA / DIGIT / "_" / "-" / ".")
//	VALUE          = *(any character but ";", control characters and line or paragraph separators)
//	CONSTRAINT_BODY, HANDOFF_TARGET = VALUE
//	LOG_BODY       = VALUE *(";" VALUE)
package block

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Level is a priority (§3.1) or a severity (§3.5): the same four words.
type Level string

// The four levels.
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

// Pair is a key with its value. A constraint without a key is the grammar's "- body;".
type Pair struct{ Key, Value string }

// Block is one YAMO block (§3.1). Agent, Intent, Meta, Log and Handoff are mandatory: the text of a
// block that lacks one is refused by Parse. The retain, recall, reflect and lesson blocks come from
// Retain, Recall, Reflect and Lesson.
type Block struct {
	Agent       string // with its prefix: "MemoryMesh_claude"
	Intent      string
	Context     []Pair
	Constraints []Pair
	Priority    Level // "" leaves the section out
	Output      []Pair
	Meta        []Pair
	MetaLines   bool     // Meta stands in "meta: key;value;" lines instead of a section
	Log         []string // the fields of the log line, in order
	Handoff     string
}

// String renders the block. Every line, the last one too, ends in a newline. Values are escaped as
// Escape does and names are brought into the grammar's alphabet, so no content can change the
// structure of the text.
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

// Get returns the value of the first pair with that key, and whether there is one.
func Get(pairs []Pair, key string) (string, bool) {
	for _, p := range pairs {
		if p.Key == key {
			return p.Value, true
		}
	}
	return "", false
}

// Hash is the block_hash of RFC-0011 §2.3: the SHA-256 of a block's text as 64 lowercase hexadecimal
// digits.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
