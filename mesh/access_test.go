package mesh

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestAccesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v, clock := clocked(t, dir, audience.DM())
	pump := keep(t, v, record.Memory{Content: "the zebra pump"}).ID
	rest := keep(t, v, record.Memory{Content: "a greenhouse"}).ID
	shared := keep(t, v, record.Memory{Content: "the zebra crossing"}, record.Shared).ID
	settle(t, v)
	c := v.stores[record.Private]
	row := func(c *compartment, id string) (count int32, last time.Time) {
		t.Helper()
		rows, err := c.index.Tables.Memories(t.Context(), []string{id}, false)
		if err != nil || len(rows) != 1 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		if rows[0].AccessCount != nil {
			count = *rows[0].AccessCount
		}
		return count, rows[0].LastAccessed
	}
	flush := func(c *compartment) {
		t.Helper()
		if err := c.index.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 { // the last two are answered from the cache
		clock.advance(time.Minute)
		search(t, v, SearchRequest{Query: "zebra"})
	}
	if n, _ := row(c, pump); n != 0 {
		t.Errorf("searching has written a row: %d accesses", n)
	}
	flush(c)
	if n, last := row(c, pump); n != 3 || !last.Equal(clock.now()) {
		t.Errorf("the row has %d accesses, the last at %v; want 3 and %v", n, last, clock.now())
	}
	if n, last := row(c, rest); n != 0 || !last.IsZero() {
		t.Errorf("a memory that was not found has %d accesses, the last at %v", n, last)
	}
	if n, _ := row(v.stores[record.Shared], shared); n != 0 {
		t.Errorf("the shared row has the DM's %d accesses", n)
	}
	// Another process counts the same, and does not write what is there.
	other := open(t, dir, audience.DM(), new(words))
	for _, id := range []string{pump, shared} {
		hit, err := other.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(record.Accesses{Count: 3, Last: clock.now()}, hit.Accesses); diff != "" {
			t.Errorf("accesses (-want +got):\n%s", diff)
		}
	}
	flush(other.stores[record.Private])
	if n, _ := row(other.stores[record.Private], pump); n != 3 {
		t.Errorf("%d accesses after another process's flush", n)
	}
	if err := v.Maintenance().Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if n, last := row(c, pump); n != 3 || !last.Equal(clock.now()) {
		t.Errorf("after a rebuild: %d accesses, the last at %v", n, last)
	}
}

// What a DM finds leaves nothing outside the private store, and what a group finds nothing outside its own.
func TestAccessesStayWithTheAudience(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, red, blue := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "red"), new(words)),
		open(t, dir, group(t, "blue"), new(words))
	shared := keep(t, dm, record.Memory{Content: "zebra for all"}, record.Shared).ID
	private := keep(t, dm, record.Memory{Content: "zebra for me"}).ID
	theirs := keep(t, red, record.Memory{Content: "zebra for red"}).ID
	keep(t, blue, record.Memory{Content: "something of blue's"})
	for _, v := range []*View{dm, red, blue} {
		settle(t, v)
	}
	search(t, dm, SearchRequest{Query: "zebra"})
	search(t, dm, SearchRequest{Query: "zebra for all"})
	search(t, blue, SearchRequest{Query: "zebra"})
	for _, v := range []*View{dm, red, blue} {
		if err := v.Maintenance().Rebuild(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	accesses := func(v *View, id string) int32 {
		t.Helper()
		hit, err := v.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return hit.Accesses.Count
	}
	for _, c := range []struct {
		who  string
		v    *View
		id   string
		want int32
	}{
		{"the DM, of its own", dm, private, 2},
		{"the DM, of a shared one", dm, shared, 2},
		{"the DM, of a group's", dm, theirs, 2},
		{"the group that searched, of a shared one", blue, shared, 1},
		{"the other group, of a shared one", red, shared, 0},
		{"the other group, of its own", red, theirs, 0},
	} {
		if got := accesses(c.v, c.id); got != c.want {
			t.Errorf("%s: %d accesses, want %d", c.who, got, c.want)
		}
	}
	for name, c := range map[string]*compartment{"shared": dm.stores[record.Shared], "red's": red.stores[red.home()]} {
		for row, err := range c.index.Tables.AllMemories(t.Context(), false) {
			if err != nil {
				t.Fatal(err)
			}
			if row.AccessCount != nil || !row.LastAccessed.IsZero() {
				t.Errorf("the %s table counts what others found: %+v", name, row)
			}
		}
	}
	for _, file := range onDisk(t, dir, private) {
		if got := file[len(dir):]; len(got) < 14 || got[:14] != "/.yamo/private" {
			t.Errorf("the private memory's id is in %s", got)
		}
	}
}
