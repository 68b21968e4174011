package edit

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/splice"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Version is a file as a session read it: what an edit gives as Request.Expected.
type Version struct {
	File     string // of its bytes
	Sections []SectionVersion
}

// SectionVersion describes a section to someone who wants to edit it.
type SectionVersion struct {
	Heading string // "" for the text above the first section
	Hash    string // of its canonical text, see versionOf
	Form    string // see grammar.Form
	Cap     string // in words, "" for none
}

// versionOf returns the version of a text: 16 hexadecimal digits, the same for every key of the record.
func versionOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Read returns the version of a file with the content data, and notes it as what the session knows. An edit of a
// session that would replace a section is refused if the section has changed since, or was never read. The text above
// the first section is left out if there is none.
func (e *Editor) Read(session, name string, data []byte) Version {
	d := grammar.Parse(string(data))
	t, _ := grammar.TypeOf(name)
	v := Version{File: versionOf(string(data))}
	for i, p := range d.Parts {
		if i > 0 || seal.Canonical(p.Body) != "" && (t == nil || !t.Strict) {
			form, limit := t.Describe(p.Name)
			v.Sections = append(v.Sections, SectionVersion{p.Name, versionOf(seal.Canonical(p.Body)), form, limit})
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen.add(session, name, v.File, d)
	return v
}

// maxReadings is the number of readings that an editor remembers. A forgotten one counts as not read.
const maxReadings = 64

// reading is what a session knows of a file.
type reading struct {
	session, file, version string
	sections               map[string]string   // versions by anchorOf
	items                  map[string][]string // of lists, by anchorOf
}

// readings are the last readings and edits of the sessions, oldest first.
type readings struct {
	list []reading
	made []made
}

// made is an edit that a session made.
type made struct{ session, file, event string }

func (r *readings) add(session, file, version string, d *grammar.Document) {
	seen := reading{session, file, version, map[string]string{}, map[string][]string{}}
	for _, p := range d.Parts {
		seen.note(p)
	}
	r.push(seen)
}

// note adds a section to what is known.
func (r *reading) note(p grammar.Part) {
	r.sections[anchorOf(p)] = versionOf(seal.Canonical(p.Body))
	r.items[anchorOf(p)] = grammar.Items(p.Body)
}

// push adds a reading. Without the name of a session nothing is known about what its caller read.
func (r *readings) push(seen reading) {
	if seen.session == "" {
		return
	}
	r.list = append(r.list, seen)
	r.list = r.list[max(0, len(r.list)-maxReadings):]
}

// edited notes the edit a of a session, and the edited section as the session then knows it.
func (r *readings) edited(q Request, a *attempt) {
	if a.result.Event.MadeBy().Source != FromSession {
		return
	}
	r.made = append(r.made, made{q.Session, q.File, a.result.Event.ID})
	r.made = r.made[max(0, len(r.made)-maxReadings):]
	next := reading{q.Session, q.File, versionOf(a.after), map[string]string{}, map[string][]string{}}
	last := r.last(q.Session, q.File)
	if last != nil {
		maps.Copy(next.sections, last.sections)
		maps.Copy(next.items, last.items)
	}
	d := grammar.Parse(a.after)
	if i := splice.Index(d, a.result.Event.Section, a.result.Event.Anchor); i >= 0 {
		next.note(d.Parts[i])
	}
	r.push(next)
}

// Why an edit is refused; the hash of the section follows.
const (
	isChanged = "the section has changed and its hash is now"
	isUnread  = "you have not read the section in this session; its hash is"
)

// unexpected returns why a section, in a file with the content text, is not as the request expects it, "" if it is. A
// request that expects no version but would replace the whole section expects what the session knows of it.
func (a *attempt) unexpected(q Request, text string, p grammar.Part) string {
	if q.Expected != "" {
		if a.expected(q, text, p) {
			return ""
		}
		return isChanged
	}
	body := seal.Canonical(p.Body)
	replaces := q.Op == grammar.ReplaceSection || q.Op == grammar.TombstoneSection
	if !replaces || q.decided != nil || q.Session == "" || strings.TrimSpace(body) == "" {
		return ""
	}
	was, known := "", false
	if last := a.seen.last(q.Session, q.File); last != nil {
		was, known = last.sections[anchorOf(p)]
	}
	switch {
	case known && was != versionOf(body):
		return isChanged
	// What a search or a hook showed of it is not all of it. A proposal replaces nothing: a person sees both texts.
	case !known && !q.Propose:
		return isUnread
	}
	return ""
}

// expected reports whether a section, in a file with the content text, is what the hash q.Expected is of: a hash of any
// key of the record, the version of the section, or that of the file.
func (a *attempt) expected(q Request, text string, p grammar.Part) bool {
	now := versionOf(seal.Canonical(p.Body))
	if q.Expected == now || q.Expected == versionOf(text) {
		return true
	}
	for i := range slices.Backward(a.seen.list) {
		if r := a.seen.list[i]; r.file == q.File && r.version == q.Expected {
			return r.sections[anchorOf(p)] == now
		}
	}
	// The key may have been replaced since the hash was made.
	for version := a.key.Version; version > 0; version-- {
		if k, err := a.keyOf(version); err == nil && k.Section(p.Body) == q.Expected {
			return true
		}
	}
	return false
}

// last returns what a session knows of a file, nil if it never read or edited it.
func (r *readings) last(session, file string) *reading {
	for i := range slices.Backward(r.list) {
		if r.list[i].session == session && r.list[i].file == file {
			return &r.list[i]
		}
	}
	return nil
}
