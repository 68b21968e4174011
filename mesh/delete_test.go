package mesh

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// After Delete no file of the workspace holds the content, its vector or its block.
func TestDeletedContentIsGoneFromDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	const canary = "the zirconium canary sings at dawn"
	vector := func() string { // as it is in vectors.f32 and in LanceDB's files
		var raw []byte
		for _, x := range wordVector(canary)[:8] {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
		}
		return string(raw)
	}()
	session := func(text string) record.Memory { return record.Memory{Content: text, SessionID: "s"} }
	keep(t, v, session("before the bird"))
	id := keep(t, v, record.Memory{
		Content: canary, SessionID: "s", Rationale: "zirconium rationale",
		Metadata: map[string]any{"note": "zirconium note"},
	}).ID
	keep(t, v, session("after the bird"))
	settle(t, v)
	if n := len(onDisk(t, dir, canary)); n < 2 {
		t.Fatalf("the content is in %d files before the deletion; the ledger and LanceDB should have it", n)
	}
	if n := len(onDisk(t, dir, vector)); n < 2 {
		t.Fatalf("the vector is in %d files before the deletion", n)
	}
	if err := v.Delete(t.Context(), id, "asked to"); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"content": canary, "preview": "zirconium", "vector": vector,
		"base64": base64.StdEncoding.EncodeToString([]byte(canary))[:20],
	} {
		if files := onDisk(t, dir, text); len(files) > 0 {
			t.Errorf("the %s is still in %v", name, files)
		}
	}
	files := onDisk(t, dir, "asked to")
	switch {
	case len(files) != 2:
		t.Errorf("len(files) = %v, want 2", len(files))
	case !strings.Contains(files[0], "yamo_blocks.lance"):
		t.Errorf(`files[0] does not contain "yamo_blocks.lance": %s`, files[0])
	case !strings.HasSuffix(files[1], "ledger.ndjson"):
		t.Errorf(`files[1] does not end in "ledger.ndjson": %s`, files[1])
	}
	for _, view := range []*View{v, open(t, dir, audience.DM(), new(words))} {
		if hits := search(t, view, SearchRequest{Query: "zirconium canary sings"}).Hits; len(hits) > 0 &&
			strings.Contains(hits[0].Content, "canary") {
			t.Errorf("found %q", hits[0].Content)
		}
		_, err := view.Get(t.Context(), id)
		wantFault(t, err, id)
		wantFault(t, view.Delete(t.Context(), id, ""), id)
	}
	reports, err := v.Maintenance().Verify(t.Context())
	switch {
	case err != nil:
		t.Fatal(err)
	case !reports[0].Intact():
		t.Error("reports[0].Intact() is false")
	case reports[0].Erased != 1:
		t.Errorf("reports[0].Erased = %v, want 1", reports[0].Erased)
	}
	if again := keep(t, v, session("after the bird")); again.Created {
		t.Error("a memory after the deleted one is not known any more")
	}
}

func TestDeletionReachesOtherProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	other := startPeer(t, dir)
	id := other.ask(t, "store the copper kettle whistles")
	other.ask(t, "store the tin drum rattles")
	if answer := other.ask(t, "search copper kettle"); !strings.Contains(answer, "copper") {
		t.Fatalf("the other process found %q", answer)
	}
	if err := v.Delete(t.Context(), id, ""); err != nil {
		t.Fatal(err)
	}
	if answer := other.ask(t, "search copper kettle"); strings.Contains(answer, "copper") ||
		!strings.HasPrefix(answer, "0") {
		t.Errorf("the other process still finds %q", answer)
	}
	other.ask(t, "store the brass horn sounds") // it goes on writing to the erased ledger
	if hits := search(t, v, SearchRequest{Query: "brass horn"}).Hits; len(hits) == 0 ||
		!strings.Contains(hits[0].Content, "brass") {
		t.Errorf("found %q", contents(hits))
	}
}

// A process that dies between the erasure and the cleaning leaves the cleaning to the next one.
func TestInterruptedDeletionIsFinishedByTheNextProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := Open(Options{Dir: filepath.Join(dir, ".yamo"), Audience: audience.DM(), Embedder: new(words)})
	id := keep(t, v, record.Memory{Content: "the vanishing lighthouse"}).ID
	keep(t, v, record.Memory{Content: "the lasting pier"})
	settle(t, v)
	c := v.stores[record.Private]
	erase := func(*store.Snapshot, time.Time) ([]ledger.Draft, error) { return []ledger.Draft{{ID: id}}, nil }
	if err := c.Erase(t.Context(), erase); err != nil {
		t.Fatal(err)
	}
	c.index.Discard(t.Context()) // as if killed
	if files := onDisk(t, dir, "vanishing"); len(files) == 0 {
		t.Fatal("nothing was left to clean")
	}
	next := open(t, dir, audience.DM(), new(words))
	if hits := search(t, next, SearchRequest{Query: "lighthouse pier"}).Hits; len(hits) != 1 {
		t.Errorf("found %q", contents(hits))
	}
	if err := next.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if files := onDisk(t, dir, "vanishing"); len(files) > 0 {
		t.Errorf("the next process left %v", files)
	}
}

func TestDeletedNeighboursAreBridged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	var ids []string
	for _, text := range []string{"one apple", "two pears", "three plums", "four figs"} {
		ids = append(ids, keep(t, v, record.Memory{Content: text, SessionID: "s"}).ID)
	}
	for _, id := range []string{ids[1], ids[3]} {
		if err := v.Delete(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
	}
	keep(t, v, record.Memory{Content: "five limes", SessionID: "s"})
	fresh := open(t, dir, audience.DM(), new(words))
	for _, query := range []string{"apple", "plums", "limes", "figs", "two"} {
		a, b := search(t, v, SearchRequest{Query: query}), search(t, fresh, SearchRequest{Query: query})
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%q: the view that deleted and a fresh one differ:\n%s", query, diff)
		}
	}
	s := v.stores[record.Private].Snapshot()
	defer s.Release()
	if before, after := s.Keywords.Neighbours(2); before != 0 || after != 4 {
		t.Errorf("the third memory is between %d and %d, want 0 and 4", before, after)
	}
}

func TestWhoMayDelete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, red, blue := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "red"), new(words)),
		open(t, dir, group(t, "blue"), new(words))
	private := keep(t, dm, record.Memory{Content: "private fact"}).ID
	shared := keep(t, dm, record.Memory{Content: "shared fact"}, record.Shared).ID
	mine := keep(t, red, record.Memory{Content: "red fact"}).ID
	for _, id := range []string{private, mine} { // not even known to be there
		wantFault(t, blue.Delete(t.Context(), id, ""), "no memory")
	}
	wantFault(t, red.Delete(t.Context(), private, ""), "no memory")
	wantFault(t, red.Delete(t.Context(), shared, ""), "direct conversation")
	wantFault(t, red.Delete(t.Context(), mine, strings.Repeat("x", record.MaxField+1)), "reason:")
	for _, id := range []string{private, shared, mine} {
		if _, err := dm.Get(t.Context(), id); err != nil {
			t.Errorf("%s was deleted by an audience that may not: %v", id, err)
		}
	}
	if err := red.Delete(t.Context(), mine, ""); err != nil {
		t.Error(err)
	}
	other := keep(t, blue, record.Memory{Content: "blue fact"}).ID
	for _, id := range []string{private, shared, other} {
		if err := dm.Delete(t.Context(), id, ""); err != nil {
			t.Errorf("a DM deletes: %v", err)
		}
	}
	if found := search(t, dm, SearchRequest{Query: "fact"}); len(found.Hits) != 0 {
		t.Errorf("left: %q", contents(found.Hits))
	}
	for _, name := range []string{"private", "shared", "groups/red", "groups/blue"} {
		if _, err := os.Stat(filepath.Join(dir, ".yamo", name, "ledger.ndjson")); err != nil {
			t.Error(err)
		}
	}
}

// What a client hears of a deletion that may not last begins with what was done.
func TestUndurableDeletion(t *testing.T) {
	t.Parallel()
	cause := fmt.Errorf("erase from the private ledger: %w: %w", ledger.ErrNotDurable, syscall.EIO)
	err := undurable(cause)
	wantFault(t, err, "it is deleted")
	if !errors.Is(err, syscall.EIO) {
		t.Errorf("the log gets %v", err)
	}
}

// The reason of a deletion in a DM is in the DM's own ledger only: groups read the other ones.
func TestReasonOfADeletionIsPrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm := open(t, dir, audience.DM(), new(words))
	red := open(t, dir, group(t, "red"), new(words))
	said := keep(t, red, record.Memory{Content: "The book is about lighthouses."})
	shared := keep(t, dm, record.Memory{Content: "We meet in the library."}, record.Shared)
	for _, id := range []string{said.ID, shared.ID} {
		if err := dm.Delete(t.Context(), id, "Mara is ill"); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, dm)
	own := keep(t, red, record.Memory{Content: "The walk is on Sunday."})
	if err := red.Delete(t.Context(), own.ID, "It rains"); err != nil {
		t.Fatal(err)
	}
	settle(t, red)
	read := func(store string) (text string) {
		for _, name := range tree(t, filepath.Join(dir, ".yamo", store)) {
			raw, err := os.ReadFile(name)
			if err == nil {
				text += string(raw)
			}
		}
		return text
	}
	for _, store := range []string{"shared", "groups/red"} {
		if strings.Contains(read(store), "Mara is ill") {
			t.Errorf("%s has the reason", store)
		}
	}
	for _, id := range []string{said.ID, shared.ID} {
		if !strings.Contains(read("private/ledger.ndjson"), `"op":"delete","id":"`+id) {
			t.Errorf("the private ledger does not tell of the deletion of %s", id)
		}
	}
	if !strings.Contains(read("private/ledger.ndjson"), "Mara is ill") {
		t.Error("the private ledger has no reason")
	}
	if !strings.Contains(read("groups/red"), "It rains") {
		t.Error("a group's own reason is not kept")
	}
}
