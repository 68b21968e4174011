package ledger

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func drafts(d ...Draft) func(time.Time) ([]Draft, error) {
	return func(time.Time) ([]Draft, error) { return d, nil }
}

// model is what the ledger should hold, and two processes that use it.
type model struct {
	opt     Options
	want    []Entry
	readers []*reader
}

func (m *model) reader(t *rapid.T) *reader {
	return m.readers[rapid.IntRange(0, len(m.readers)-1).Draw(t, "reader")]
}

func (m *model) id(t *rapid.T) string {
	return fmt.Sprintf("mem_%d", rapid.IntRange(0, 9).Draw(t, "id"))
}

func (m *model) append(t *rapid.T) {
	var ds []Draft
	for range rapid.IntRange(0, 3).Draw(t, "drafts") {
		ds = append(ds, Draft{
			Op: "retain", ID: m.id(t), Block: rapid.String().Draw(t, "block"),
			Data: rapid.StringN(0, 2000, -1).Draw(t, "data"),
		})
	}
	r, relaxed := m.reader(t), rapid.Bool().Draw(t, "relaxed")
	write := r.Append
	if relaxed {
		write = r.AppendRelaxed
	}
	got, err := write(context.Background(), r.apply, drafts(ds...))
	if err != nil || len(got) != len(ds) {
		t.Fatalf("append: %v, %v", got, err)
	}
	for i, d := range ds {
		if got[i].ID != d.ID || got[i].Block != d.Block {
			t.Fatalf("append of %+v gave %+v", d, got[i])
		}
	}
	m.want = append(m.want, got...)
}

func (m *model) erase(t *rapid.T) {
	id, r := m.id(t), m.reader(t)
	got, err := r.Erase(context.Background(), r.apply, drafts(Draft{ID: id}))
	if err != nil || len(got) != 1 {
		t.Fatalf("erase: %v, %v", got, err)
	}
	for i, e := range m.want {
		if e.ID == id && e.Op != OpDelete {
			m.want[i].Block, m.want[i].Data, m.want[i].Erased = "", nil, true
		}
	}
	m.want = append(m.want, got...)
}

func (m *model) reopen(t *rapid.T) {
	m.readers[rapid.IntRange(0, len(m.readers)-1).Draw(t, "reader")] = newReader(m.opt)
}

// tear leaves a part of a line at the end, as a writer does that is killed.
func (m *model) tear(t *rapid.T) {
	f, err := os.OpenFile(m.opt.Path, os.O_WRONLY|os.O_APPEND, 0)
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"v":1,"seq":%d,"time":"2026`, len(m.want)+1)
	_, err = f.WriteString(text[:rapid.IntRange(1, len(text)).Draw(t, "length")])
	if cerr := f.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
}

// check compares what every reader sees with the model. A reader may have seen content before it was erased.
func (m *model) check(t *rapid.T) {
	fresh := newReader(m.opt)
	for _, r := range append([]*reader{fresh}, m.readers...) {
		if err := r.Sync(context.Background(), r.apply); err != nil {
			t.Fatal(err)
		}
		if len(r.got) != len(m.want) {
			t.Fatalf("delivered %d entries, want %d", len(r.got), len(m.want))
		}
		for i := range r.got {
			if r.got[i].Hash != m.want[i].Hash {
				t.Fatalf("entry %d is %+v, want %+v", i+1, r.got[i], m.want[i])
			}
		}
	}
	if diff := cmp.Diff(m.want, fresh.got); diff != "" {
		t.Fatalf("the file (-want +got):\n%s", diff)
	}
	report, err := Verify(context.Background(), m.opt.Path, "private", testKey)
	if err != nil || !report.Intact() {
		t.Fatalf("verify: %+v, %v", report, err)
	}
	if report.Entries != int64(len(m.want)) {
		t.Fatalf("%d entries verified, want %d", report.Entries, len(m.want))
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		opt := testOptions(fmt.Sprintf("%s/%d", dir, run))
		opt.FS = lazyFS{}
		m := &model{opt: opt, readers: []*reader{newReader(opt), newReader(opt)}}
		t.Repeat(map[string]func(*rapid.T){
			"append": m.append, "erase": m.erase, "reopen": m.reopen, "tear": m.tear, "check": m.check, "": func(*rapid.T) {},
		})
		m.check(t)
	})
}
