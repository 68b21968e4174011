package edit

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/workspace/cite"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/splice"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// Evidence is the target of an evidence token: an event, a memory, a passage of a file or a turn of a session log (seed
// 004 §5).
type Evidence struct {
	Token    string        `json:"token"`
	Event    *Event        `json:"event,omitempty"`
	State    string        `json:"state,omitempty"`    // of a proposal
	Decision *Event        `json:"decision,omitempty"` // about the proposal, without texts
	MemoryID string        `json:"memory_id,omitempty"`
	Passage  *cite.Passage `json:"passage,omitempty"`
	Turn     *cite.Turn    `json:"turn,omitempty"`
}

// nowhere is the fault for a reference without a target.
const nowhere = "%s: no such event or memory in this workspace"

// changedSince is the fault for a token of a passage or turn that no file or log has any more.
const changedSince = "%s: leads nowhere: no file or session log has the passage any more in these words"

// unread is the fault for the token of a turn where no session logs are read.
const unread = "%s: cites a turn of a session log, and no session logs were read: set transcripts to their folder"

// finder finds passages and turns.
func (e *Editor) finder() cite.Finder {
	return cite.Finder{View: e.opt.View, Logs: e.opt.Logs, Hashes: func() ([]cite.Hash, error) { return e.citing(false) }}
}

// citer makes the tokens of passages and turns too.
func (e *Editor) citer() cite.Finder {
	f := e.finder()
	f.Hashes = func() ([]cite.Hash, error) { return e.citing(true) }
	return f
}

// citing returns the hashes of tokens by all keys of the record, the present one first. Without create there may be
// none: following a token writes nothing.
func (e *Editor) citing(create bool) ([]cite.Hash, error) {
	current, err := e.keys.Load(max(e.state.version, 1), create && e.state.version == 0)
	if _, missing := errors.AsType[seal.MissingError](err); missing && !create {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []cite.Hash
	for version := current.Version; version > 0; version-- {
		// The key of an old version may be lost: its tokens then lead nowhere, and the others still do.
		if k, err := e.keys.Load(version, false); err == nil {
			list = append(list, func(what, text string) []byte {
				sum, _ := hex.DecodeString(k.Hash("cite "+what, text)) // its own output
				return sum
			})
		}
	}
	return list, nil
}

// Cite returns the evidence token of a text that was just written into a file of the workspace, "" if it has no words.
func (e *Editor) Cite(ctx context.Context, written string) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return "", err
	}
	token, err := e.citer().Token(written, e.now())
	if err != nil || token == (grammar.Token{}) {
		return "", err
	}
	return token.String(), nil
}

// Resolve returns the target of an evidence token, an event's id or a memory's id. A reference without a target is a
// fault; whether a memory exists is checked with Options.Memory.
func (e *Editor) Resolve(ctx context.Context, ref string) (Evidence, error) {
	token, err := grammar.ParseToken(ref)
	if err != nil {
		return Evidence{}, fault.New("%v", err)
	}
	if id := token.MemoryID(); id != "" {
		_, err := e.memory(ctx, id)
		return Evidence{Token: token.String(), MemoryID: id}, err
	}
	id := token.ID.String()
	events, err := e.readEvents(ctx, []byte(id), func(event Event) bool {
		return event.ID == id || event.Op == OpErase && event.RefersTo == id
	})
	if err != nil {
		return Evidence{}, err
	}
	if len(events) == 0 {
		return e.resolveText(ctx, token, ref)
	}
	// The event itself is gone; only the note of its erasure refers to it.
	if events[0].ID != id {
		return Evidence{}, fault.New("%s: what was recorded of this event was erased at %s", ref, events[0].Time)
	}
	found := Evidence{Token: token.String(), Event: &events[0]}
	if found.Event.Op == OpPropose {
		e.mu.Lock()
		defer e.mu.Unlock()
		p, err := e.proposal(ctx, found.Event.ID)
		if err != nil {
			return Evidence{}, err
		}
		found.State, found.Decision = p.State, p.Decision
	}
	return found, nil
}

// resolveText returns the passage or turn that a token leads to.
func (e *Editor) resolveText(ctx context.Context, token grammar.Token, ref string) (Evidence, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return Evidence{}, err
	}
	found := Evidence{Token: token.String()}
	passage, ok, err := e.finder().Passage(ctx, token)
	if ok || err != nil {
		found.Passage = &passage
		return found, err
	}
	turn, ok, err := e.finder().Turn(ctx, token)
	if ok || err != nil {
		found.Turn = &turn
		return found, err
	}
	_, _, isPassage := token.Passage()
	_, _, isTurn := token.Turn()
	switch {
	case isTurn && e.opt.Logs == nil:
		return Evidence{}, fault.New(unread, ref)
	case isPassage, isTurn:
		return Evidence{}, fault.New(changedSince, ref)
	}
	return Evidence{}, fault.New(nowhere, ref)
}

// memory returns the text of the memory called id, and an error unless it exists. Without Options.Memory every ID is
// accepted.
func (e *Editor) memory(ctx context.Context, id string) (string, error) {
	if e.opt.Memory == nil {
		return "", nil
	}
	return e.opt.Memory(ctx, id)
}

// Source returns the text that a token leads to: what an item that cites it can quote. known is false where texts are
// not known (see Options.Memory). A token without a target is a fault.
func (e *Editor) Source(ctx context.Context, token grammar.Token) (text string, known bool, err error) {
	found, err := e.Resolve(ctx, token.String())
	switch {
	case err != nil:
		return "", false, err
	case found.MemoryID != "":
		text, err := e.memory(ctx, found.MemoryID)
		return text, e.opt.Memory != nil, err
	case found.Passage != nil:
		return found.Passage.Text, true, nil
	case found.Turn != nil:
		return found.Turn.Text, true, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.wrote(ctx, *found.Event), true, nil
}

// wrote returns the texts of an event: what it changed and why, and the file's section after it, in which a quote may
// be that the edit only completed.
func (e *Editor) wrote(ctx context.Context, event Event) string {
	texts := event.texts()
	if event.IsEdit() {
		if r, err := e.replay(ctx, event.File, event.ID); err == nil && r.Last == event.ID {
			d := grammar.Parse(r.Text)
			if i := splice.Index(d, event.Section, event.Anchor); i >= 0 {
				texts = append(texts, d.Parts[i].Body)
			}
		}
	}
	return strings.Join(texts, "\n")
}

// citation is what an item cites.
type citation struct {
	token  grammar.Token
	source string // its text, "" if it is not known
}

// cites returns the token of a reference, with the text that it leads to: a token, the id of an event or memory, a
// file of the workspace, with #Heading for one section, or the id of a session. In a file or session it is the
// passage or turn that has the quotes. e.mu is held.
func (e *Editor) cites(ctx context.Context, ref string, quotes []string) (citation, error) {
	name, heading, _ := strings.Cut(ref, "#")
	if file, ok := resourceuri.ParseFile(name); ok {
		name = file
	}
	switch {
	case strings.HasSuffix(name, ".md"):
		passage, token, ok, err := e.citer().InFile(name, heading, quotes, e.now())
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return citation{}, fault.New("evidence_refs: no such file %s in the workspace", name)
		case err != nil:
			return citation{}, err
		case !ok:
			return citation{}, fault.New("evidence_refs: no passage of %s has these words; quote it word for word between "+
				"quotation marks, or name the section that you paraphrase: %s#Heading", ref, name)
		}
		return citation{token, passage.Text}, nil
	case strings.HasPrefix(ref, "lesson_"):
		return citation{}, fault.New("evidence_refs: %s is a lesson: cite its memory_id or its evidence_token", ref)
	}
	token, err := grammar.ParseToken(ref)
	if err != nil && e.opt.Logs != nil && !strings.HasPrefix(ref, "ev:") && !strings.HasPrefix(ref, "mem_") {
		turn, token, ok, err := e.citer().InSession(ctx, ref, quotes)
		switch {
		case errors.Is(err, transcript.ErrNotFound), errors.Is(err, transcript.ErrInvalidID):
		case err != nil:
			return citation{}, err
		case !ok:
			return citation{}, fault.New("evidence_refs: no turn of session %s has these words; quote one word for word "+
				"between quotation marks", ref)
		default:
			return citation{token, turn.Text}, nil
		}
	}
	if err != nil {
		return citation{}, fault.New("evidence_refs: %v", err)
	}
	return e.follow(ctx, token)
}

// follow returns what a token leads to. A token without a target is a fault. e.mu is held.
func (e *Editor) follow(ctx context.Context, token grammar.Token) (citation, error) {
	if id := token.MemoryID(); id != "" {
		// SECURITY: through the session's own view, so that a citation does not reveal whether another audience has a
		// memory.
		text, err := e.memory(ctx, id)
		if f, ok := fault.As(err); ok {
			return citation{}, fault.New("evidence_refs: %s", strings.TrimPrefix(f.Error(), "id: "))
		}
		return citation{token, text}, err
	}
	id := token.ID.String()
	if e.state.seqs[id] != 0 {
		events, err := e.readEvents(ctx, []byte(id), func(event Event) bool { return event.ID == id })
		if err != nil || len(events) == 0 { // erased: it was recorded, and says nothing any more
			return citation{token, ""}, err
		}
		return citation{token, e.wrote(ctx, events[0])}, nil
	}
	if passage, ok, err := e.finder().Passage(ctx, token); ok || err != nil {
		return citation{token, passage.Text}, err
	}
	if turn, ok, err := e.finder().Turn(ctx, token); ok || err != nil {
		return citation{token, turn.Text}, err
	}
	return citation{}, fault.New("evidence_refs: "+nowhere, token)
}

// resolveAll turns the references of an edit into tokens, and checks that these and the tokens in its texts have a
// target: a citation that cannot be followed is no evidence (seed 004 §5). In a section of evidence it gives each item
// its own reference, and marks those that do not quote it; they are returned.
func (e *Editor) resolveAll(ctx context.Context, q *Request) (paraphrased []string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return nil, explain(q.File, err)
	}
	if _, made := e.state.byKey[q.Key]; made {
		return nil, nil // a repeated request: its references had targets when the edit was made
	}
	adds := q.Op == grammar.AppendItem || q.Op == grammar.CurateItems
	if t, _ := grammar.TypeOf(q.File); adds {
		if form, _ := t.Describe(q.Section); form == grammar.EvidenceForm {
			return e.quoteAll(ctx, q)
		}
	}
	quotes := grammar.Quotes(strings.Join(append(slices.Clip(q.Items), q.Content), "\n"))
	for _, ref := range q.Refs {
		found, err := e.cites(ctx, ref, quotes)
		if err != nil {
			return nil, err
		}
		q.Evidence = append(q.Evidence, found.token)
	}
	tokens := grammar.Tokens(q.Content)
	if q.Op == grammar.AppendItem { // curated items keep tokens of what has been deleted since
		for _, item := range q.Items {
			tokens = append(tokens, grammar.Tokens(item)...)
		}
	}
	for _, token := range tokens {
		if _, err := e.follow(ctx, token); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// quoteAll gives each new item of evidence its reference and checks its quotes (seed 004 §5). e.mu is held.
func (e *Editor) quoteAll(ctx context.Context, q *Request) (paraphrased []string, err error) {
	if q.Op == grammar.AppendItem && q.Content != "" {
		q.Items, q.Content = append([]string{q.Content}, q.Items...), ""
	}
	present := e.itemsOf(q)
	items, bare := slices.Clone(q.Items), []int{} // bare: those without a reference of their own
	for i, item := range items {
		items[i] = strings.TrimSpace(bullet.ReplaceAllString(grammar.Tokenize(item), ""))
		if !slices.Contains(present, item) && items[i] != "" && !strings.Contains(items[i], "ev:") {
			bare = append(bare, i)
		}
	}
	refs := make([][]string, len(items))
	switch n := len(q.Refs); {
	case n == 0:
	case len(bare) == 1: // several references prove one item
		refs[bare[0]] = q.Refs
	case n == 1:
		for _, i := range bare {
			refs[i] = q.Refs
		}
	case n == len(bare):
		for at, i := range bare {
			refs[i] = q.Refs[at : at+1]
		}
	case len(bare) > 0:
		return nil, fault.New("evidence_refs: %d references for %d items: give one for each item, in the same order, or "+
			"write it into the item: \"quote\" (mem_…)", n, len(bare))
	}
	if len(bare) == 0 { // the items have their own, so that these are about the edit
		for _, ref := range q.Refs {
			found, err := e.cites(ctx, ref, nil)
			if err != nil {
				return nil, err
			}
			q.Evidence = append(q.Evidence, found.token)
		}
	}
	for i, item := range items {
		if slices.Contains(present, q.Items[i]) || item == "" {
			items[i] = q.Items[i]
			continue
		}
		written, cited, faithful, err := e.quote(ctx, item, refs[i])
		if err != nil {
			return nil, err
		}
		items[i] = written
		for _, token := range cited {
			if !slices.Contains(q.Evidence, token) {
				q.Evidence = append(q.Evidence, token)
			}
		}
		if !faithful {
			paraphrased = append(paraphrased, written)
		}
	}
	q.Items = items
	return paraphrased, nil
}

// quote returns an item of evidence as the file will have it, with the tokens of its references and of those in its
// text. An item without any stays as it is: the grammar refuses it. e.mu is held.
func (e *Editor) quote(ctx context.Context, item string, refs []string) (
	written string, cited []grammar.Token, faithful bool, err error,
) {
	quotes := grammar.Quotes(item)
	if len(quotes) == 0 {
		quotes = []string{item}
	}
	var sources []string
	var added []string
	for _, ref := range refs {
		found, err := e.cites(ctx, ref, quotes)
		if err != nil {
			return "", nil, false, err
		}
		cited, sources, added = append(cited, found.token), append(sources, found.source), append(added, found.token.String())
	}
	for _, token := range grammar.Tokens(item) {
		found, err := e.follow(ctx, token)
		if err != nil {
			return "", nil, false, err
		}
		cited, sources = append(cited, token), append(sources, found.source)
	}
	if len(added) > 0 {
		item += " (" + strings.Join(added, ", ") + ")"
	}
	// Where texts of memories are not known, nothing can be checked.
	if len(cited) == 0 || e.opt.Memory == nil {
		return item, cited, true, nil
	}
	written, faithful = cite.Item(item, sources)
	return written, cited, faithful, nil
}

// itemsOf returns the items that the section of a request has now.
func (e *Editor) itemsOf(q *Request) []string {
	data, err := e.opt.View.Read(q.File)
	if err != nil {
		return nil // a file that the edit creates, or an error that the edit reports
	}
	t, _ := grammar.TypeOf(q.File)
	d := grammar.Parse(string(data))
	i, _, err := d.Find(t, q.Section)
	if err != nil {
		return nil
	}
	return grammar.Items(d.Parts[i].Body)
}
