package ledger

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// contents is everything in the files below dir, under whatever name.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestErase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opt := testOptions(dir)
	a, b := newReader(opt), newReader(opt)
	before := a.add(t, "mem_1", "mem_2", "mem_3")
	a.add(t, "mem_2") // a second entry about the same record
	b.sync(t)

	got, err := a.tryErase(t.Context(), "mem_2")
	if err != nil {
		t.Fatal(err)
	}
	deletion := []Entry{{Seq: 5, Op: OpDelete, ID: "mem_2", Block: "deleted mem_2\n"}}
	if diff := cmp.Diff(deletion, got, cmpopts.IgnoreFields(Entry{}, "Time", "PrevHash", "Hash", "Data")); diff != "" {
		t.Errorf("Erase returned (-want +got):\n%s", diff)
	}
	raw := contents(t, dir)
	for text, want := range map[string]bool{"of mem_1": true, "of mem_2": false, "of mem_3": true} {
		if strings.Contains(raw, text) != want {
			t.Errorf("after erasing mem_2 the files hold %q: %t, want %t\n%s", text, !want, want, raw)
		}
	}
	if r := mustIntact(t, opt.Path, 5); r.Erased != 2 {
		t.Errorf("%d entries erased, want 2", r.Erased)
	}
	if info, err := os.Stat(opt.Path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}

	// Every process continues where it was and learns of the deletion by the delete entry.
	b.sync(t)
	b.add(t, "mem_4")
	a.sync(t)
	if want := "mem_1 mem_2 mem_3 mem_2 mem_2 mem_4"; a.ids() != want || b.ids() != want {
		t.Errorf("delivered %q and %q, want %q", a.ids(), b.ids(), want)
	}
	fresh := newReader(opt).sync(t)
	want := before[1]
	want.Block, want.Data, want.Erased = "", nil, true
	if diff := cmp.Diff(want, fresh[1]); diff != "" || fresh[1].BlockHash() != "" {
		t.Errorf("the erased entry (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before[0], fresh[0]); diff != "" {
		t.Errorf("another entry (-want +got):\n%s", diff)
	}
}

func TestEraseAgainAndTheLastOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opt := testOptions(dir)
	a, b := newReader(opt), newReader(opt)
	a.add(t, "mem_1", "mem_2")
	b.sync(t) // b's last entry is the one that is erased
	for range 2 {
		if _, err := a.tryErase(t.Context(), "mem_2"); err != nil {
			t.Fatal(err)
		}
	}
	b.sync(t)
	b.add(t, "mem_3")
	if _, err := b.tryErase(t.Context(), "mem_1", "mem_3"); err != nil {
		t.Fatal(err)
	}
	a.sync(t)
	if want := "mem_1 mem_2 mem_2 mem_2 mem_3 mem_1 mem_3"; a.ids() != want || b.ids() != want {
		t.Errorf("delivered %q and %q, want %q", a.ids(), b.ids(), want)
	}
	if strings.Contains(contents(t, dir), "content") {
		t.Error("content stays")
	}
	// The delete entries keep what they say.
	if got := strings.Count(contents(t, dir), "deleted mem_"); got != 4 {
		t.Errorf("%d delete entries, want 4", got)
	}
	if r := mustIntact(t, opt.Path, 7); r.Erased != 3 {
		t.Errorf("%d erased, want 3", r.Erased)
	}
}

func TestEraseOfNothing(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	a := newReader(opt)
	if got, err := a.tryErase(t.Context()); err != nil || got != nil {
		t.Errorf("without drafts: %v, %v", got, err)
	}
	if _, err := os.Stat(opt.Path); err == nil {
		t.Error("without drafts the file is created")
	}
	if got, err := a.tryErase(t.Context(), "mem_1"); err != nil || len(got) != 1 {
		t.Errorf("of an unknown id: %v, %v", got, err)
	}
	mustIntact(t, opt.Path, 1)
}

func TestEraseChecksItsDrafts(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	a := newReader(opt)
	a.add(t, "mem_1")
	for name, draft := range map[string]Draft{
		"no id": {Op: OpDelete}, "another operation": {Op: "retain", ID: "mem_1"}, "bad id": {ID: "mem 1"},
	} {
		_, err := a.Erase(t.Context(), a.apply, drafts(draft))
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if got := newReader(opt).sync(t); len(got) != 1 || got[0].Erased {
		t.Errorf("left: %v", got)
	}
	if _, err := os.Stat(opt.Path + ".tmp"); err == nil {
		t.Error("the temporary file stays")
	}
	if _, err := a.Erase(t.Context(), a.apply, drafts(Draft{ID: "mem_1"})); err != nil {
		t.Errorf("an empty operation is refused: %v", err)
	}
}

// What a process that died in Erase left behind does not outlive the next Erase.
func TestEraseRemovesALeftOverCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opt := testOptions(dir)
	a := newReader(opt)
	a.add(t, "mem_1", "mem_2")
	data, err := os.ReadFile(opt.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(opt.Path+".tmp", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.tryErase(t.Context(), "mem_1"); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(contents(t, dir), "of mem_1") {
		t.Error("the content is still in a file")
	}
}

// Content that is missing without a delete entry was not taken away by Erase.
func TestVerifyFindsUnexplainedErasure(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	a := newReader(opt)
	a.add(t, "mem_1", "mem_2", "mem_3")
	if _, err := a.tryErase(t.Context(), "mem_1"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(opt.Path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	for _, line := range []int{2, 4} { // a memory, a delete entry
		changed := append([]string(nil), lines...)
		head, _, _ := strings.Cut(lines[line-1], `"body":`)
		changed[line-1] = head + `"body":` + erasedEnd + "\n"
		if err := os.WriteFile(opt.Path, []byte(strings.Join(changed, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Verify(t.Context(), opt.Path, "private", testKey)
		if err != nil || r.Intact() {
			t.Fatalf("line %d: %+v, %v; want damage", line, r, err)
		}
		if r.Bad.Line != int64(line) || !strings.Contains(r.Bad.Error(), "taken away") {
			t.Errorf("line %d: %v, want that its body was taken away", line, r.Bad)
		}
	}
}

// A reader in the middle of the old file reads it to its end, then goes on in the new one.
func TestEraseWhileReading(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	a, b := newReader(opt), newReader(opt)
	a.add(t, "mem_1", "mem_2", "mem_3")
	err := b.Sync(t.Context(), func(e Entry) error {
		if e.ID == "mem_2" {
			if _, err := a.tryErase(t.Context(), "mem_2", "mem_3"); err != nil {
				return err
			}
		}
		return b.apply(e)
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "mem_1 mem_2 mem_3"; b.ids() != want {
		t.Errorf("delivered %q, want %q", b.ids(), want)
	}
	b.sync(t)
	if want := "mem_1 mem_2 mem_3 mem_2 mem_3"; b.ids() != want {
		t.Errorf("delivered %q, want %q", b.ids(), want)
	}
}

// A copy must not make valid what the disk has damaged meanwhile.
func TestEraseKeepsDamageVisible(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	a := newReader(opt)
	a.add(t, "mem_1", "mem_2", "mem_3")
	data, err := os.ReadFile(opt.Path)
	if err != nil {
		t.Fatal(err)
	}
	damagedData := strings.Replace(string(data), "content <of> mem_1", "content <of> mem_7", 1)
	if err := os.WriteFile(opt.Path, []byte(damagedData), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.tryErase(t.Context(), "mem_3"); err == nil || !strings.Contains(err.Error(), "line 1 ") {
		t.Errorf("error %v, want one about line 1", err)
	}
	if got, err := os.ReadFile(opt.Path); err != nil || string(got) != damagedData {
		t.Errorf("the file was changed: %v", err)
	}
}
