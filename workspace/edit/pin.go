package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// WholeFile is the anchor under which a pin or lock of all sections is recorded.
const WholeFile = "*"

// Pin is a section that the owner protects from the agent's edits (seed 004 §13).
type Pin struct {
	File   string `json:"file"`
	Anchor string `json:"section_anchor"` // "*" for the whole file
	Kind   string `json:"kind"`           // OpPin: the content stays, more can be added; OpLock: nothing changes

	// Void is true if the file no longer has the section, such as after its heading was changed by hand.
	Void bool `json:"void,omitempty"`
}

// SetPin pins, unpins, locks or unlocks the target FILE#SECTION, or FILE as a whole. op is OpPin, OpUnpin, OpLock or
// OpUnlock. Setting the same again changes nothing; anything that does not fit the present state is a fault.
func (e *Editor) SetPin(ctx context.Context, target, op, actor string) (Pin, error) {
	name, section, some := strings.Cut(target, "#")
	data, err := e.opt.View.Read(name)
	frees := op == OpUnpin || op == OpUnlock // also what no longer exists
	if errors.Is(err, fs.ErrNotExist) && !frees {
		return Pin{}, fault.New("%s: there is no such file in the workspace", name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Pin{}, err
	}
	pin := Pin{File: name, Anchor: WholeFile, Kind: op}
	heading := ""
	if some {
		t, _ := grammar.TypeOf(name)
		d := grammar.Parse(string(data))
		// The section must exist: a pin with a misspelt name would protect nothing, and look as if it did.
		i, _, err := d.Find(t, section)
		switch {
		case err == nil:
			heading, pin.Anchor = d.Parts[i].Name, anchorOf(d.Parts[i])
		case frees: // a void pin is named as the list shows it
			heading, pin.Anchor = section, grammar.Slug(section)
		default:
			return Pin{}, fault.New("%s: %v", name, err)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return Pin{}, err
	}
	has := e.state.pins[name][pin.Anchor]
	switch {
	case (op == OpUnpin || op == OpUnlock) && has == "":
		return Pin{}, fault.New("%s: not pinned or locked", target)
	case op == OpUnpin && has == OpLock, op == OpPin && has == OpLock:
		return Pin{}, fault.New("%s: already locked, which includes pinning; run yamo-mcp unlock first", target)
	case op == OpUnlock && has == OpPin:
		return Pin{}, fault.New("%s: pinned, not locked; run yamo-mcp unpin", target)
	case has == op:
		return pin, nil
	}
	k, err := e.key()
	if err != nil {
		return Pin{}, err
	}
	// In the record and not in the file: a session that may edit the file must not be able to remove it.
	event := e.newEvent(e.now(), op, name)
	event.Section, event.Anchor, event.Actor = heading, pin.Anchor, actor
	return pin, e.record(ctx, k, event)
}

// anchorOf returns the name of a section in the record: its anchor, else the slug of its heading.
func anchorOf(p grammar.Part) string {
	if p.Anchor.ID != "" {
		return p.Anchor.ID
	}
	return grammar.Slug(p.Name)
}

// Pins returns the pinned and locked sections, sorted by file and anchor.
func (e *Editor) Pins(ctx context.Context) ([]Pin, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return nil, err
	}
	pins := []Pin{}
	for name, sections := range e.state.pins {
		for anchor, kind := range sections {
			void, err := e.void(name, anchor)
			if err != nil {
				return nil, err
			}
			pins = append(pins, Pin{name, anchor, kind, void})
		}
	}
	slices.SortFunc(pins, func(a, b Pin) int { return strings.Compare(a.File+"#"+a.Anchor, b.File+"#"+b.Anchor) })
	return pins, nil
}

// void reports whether a pinned section no longer exists.
func (e *Editor) void(name, anchor string) (bool, error) {
	data, err := e.opt.View.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil || anchor == WholeFile || anchor == "" {
		return false, err
	}
	return !slices.ContainsFunc(grammar.Parse(string(data)).Parts[1:], func(p grammar.Part) bool {
		return p.Anchor.ID == anchor || grammar.Slug(p.Name) == anchor
	}), nil
}

// permitted returns a *PinnedError for an operation that a pin or lock forbids.
func (e *Editor) permitted(name, section, anchor string, op grammar.Op) error {
	if kind := e.pinned(name, section, anchor, op); kind != "" {
		return &PinnedError{Section: section, Locked: kind == OpLock}
	}
	return nil
}

// PinnedError means that the workspace owner has pinned or locked the section that an edit would change (seed 004
// §13). It is a fault. A proposal can ask the owner for the change.
type PinnedError struct {
	Section string
	Locked  bool // nothing in the section may change; otherwise its content stays, and more can be added
}

// Error names the section and what is allowed.
func (e *PinnedError) Error() string {
	if e.Locked {
		return fmt.Sprintf("section: %q is locked by its owner: nothing in it can be changed", e.Section)
	}
	return fmt.Sprintf("section: %q is pinned by its owner: its content stays; use %s or %s to add to it",
		e.Section, grammar.AppendSection, grammar.AppendItem)
}

// Unwrap returns the error as a fault, so that a client sees it.
func (e *PinnedError) Unwrap() error { return fault.New("%s", e.Error()) }

// pinned returns what forbids an operation on a section: OpLock, OpPin, or "". Pins are looked up by anchor, by heading
// and for the whole file, so that a section does not escape its pin by losing its anchor. A lock outranks a pin.
func (e *Editor) pinned(name, section, anchor string, op grammar.Op) (kind string) {
	for _, of := range []string{anchor, grammar.Slug(section), WholeFile} {
		switch e.state.pins[name][of] {
		case OpLock:
			return OpLock
		case OpPin:
			if op.Material() {
				kind = OpPin
			}
		}
	}
	return kind
}
