package ledger

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// noted returns the options of a ledger with a head, and its log.
func noted(t testing.TB) (Options, *bytes.Buffer) {
	t.Helper()
	opt, log := testOptions(t.TempDir()), new(bytes.Buffer)
	opt.Head = filepath.Join(t.TempDir(), "heads", "private.json")
	opt.Logger = slog.New(slog.NewTextHandler(log, nil))
	return opt, log
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// What was cut, rolled back, emptied or replaced shows, at the start and in CheckHead, until the operator accepts it,
// whatever is written meanwhile.
func TestMissingEntriesShow(t *testing.T) {
	t.Parallel()
	lines := func(raw []byte, n int) []byte { return bytes.Join(bytes.SplitAfter(raw, []byte("\n"))[:n], nil) }
	for name, tc := range map[string]struct {
		spoil func(t *testing.T, path string, raw []byte) error
		want  Missing
	}{
		"cut": {func(_ *testing.T, path string, raw []byte) error {
			return os.WriteFile(path, lines(raw, 2), 0o600)
		}, Missing{Entries: 3}},
		"half a line": {func(_ *testing.T, path string, raw []byte) error {
			return os.WriteFile(path, lines(raw, 5)[:len(raw)-20], 0o600)
		}, Missing{Entries: 1}},
		"emptied": {func(_ *testing.T, path string, _ []byte) error {
			return os.WriteFile(path, nil, 0o600)
		}, Missing{Entries: 5}},
		"removed": {func(_ *testing.T, path string, _ []byte) error { return os.Remove(path) }, Missing{Entries: 5}},
		"rolled back and written to": {func(t *testing.T, path string, raw []byte) error {
			if err := os.WriteFile(path, lines(raw, 4), 0o600); err != nil {
				return err
			}
			opt := testOptions(t.TempDir())
			opt.Path = path
			newReader(opt).add(t, "mem_8", "mem_9") // by a program that notes nothing
			return nil
		}, Missing{Replaced: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opt, log := noted(t)
			a := newReader(opt)
			a.add(t, "mem_1", "mem_2", "mem_3", "mem_4")
			a.add(t, "mem_5")
			if got, err := CheckHead(opt.Head, opt.Path); got != nil || err != nil {
				t.Fatalf("an intact ledger: %v, %v", got, err)
			}
			if err := tc.spoil(t, opt.Path, readFile(t, opt.Path)); err != nil {
				t.Fatal(err)
			}
			tc.want.Since = testTime
			for i := range 3 {
				newReader(opt).sync(t)
				got, err := CheckHead(opt.Head, opt.Path)
				if err != nil {
					t.Fatal(err)
				}
				if tc.want.Entries > 0 && i > 0 {
					tc.want.Entries-- // for what was written in its place
				}
				if got == nil {
					t.Fatalf("round %d: nothing is missing, want %+v", i, tc.want)
				}
				if got.Replaced != tc.want.Replaced && tc.want.Entries > 0 {
					t.Errorf("round %d: replaced %t, want %t", i, got.Replaced, tc.want.Replaced)
				}
				if !got.Since.Equal(testTime) {
					t.Errorf("round %d: since %v, want %v", i, got.Since, testTime)
				}
				if !got.Replaced && got.Entries != tc.want.Entries {
					t.Errorf("round %d: %d entries are missing, want %d", i, got.Entries, tc.want.Entries)
				}
				if n := strings.Count(log.String(), "ledger accept"); n != 2*i+1 {
					t.Errorf("round %d: warned %d times, want %d:\n%s", i, n, 2*i+1, log.String())
				}
				newReader(opt).add(t, "mem_new") // hides nothing
			}
			r, err := Verify(t.Context(), opt.Path, "private", testKey)
			if err != nil || !r.Intact() {
				t.Fatalf("verify: %+v, %v", r, err)
			}
			if err := AcceptHead(opt.Head, r); err != nil {
				t.Fatal(err)
			}
			log.Reset()
			b := newReader(opt)
			b.add(t, "mem_last")
			if got, err := CheckHead(opt.Head, opt.Path); got != nil || err != nil {
				t.Errorf("once accepted: %v, %v", got, err)
			}
			if log.Len() > 0 {
				t.Errorf("once accepted it logs %s", log.String())
			}
			if h := readHead(opt.Head); h.Seq != r.Entries+1 {
				t.Errorf("the head is %d, want %d", h.Seq, r.Entries+1)
			}
		})
	}
}

// A ledger of one entry begins and ends with it, and is missed like a longer one.
func TestOnlyEntryMissing(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"removed": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opt, log := noted(t)
			newReader(opt).add(t, "mem_1")
			if err := spoil(opt.Path); err != nil {
				t.Fatal(err)
			}
			newReader(opt).sync(t)
			if got, err := CheckHead(opt.Head, opt.Path); err != nil || got == nil || got.Entries != 1 {
				t.Errorf("%+v, %v, want one entry missing", got, err)
			}
			newReader(opt).add(t, "mem_2")
			if n := strings.Count(log.String(), "ledger accept"); n != 2 {
				t.Errorf("warned %d times, want 2:\n%s", n, log.String())
			}
		})
	}
}

// The head follows durable entries of all processes, also where Erase moves lines, and has nothing of their content.
func TestHeadFollows(t *testing.T) {
	t.Parallel()
	opt, log := noted(t)
	a, b := newReader(opt), newReader(opt)
	a.add(t, "mem_1", "mem_2")
	b.add(t, "mem_3")
	if _, err := a.tryErase(t.Context(), "mem_1"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.AppendRelaxed(t.Context(), b.apply, drafts(Draft{Op: "recall"})); err != nil {
		t.Fatal(err)
	}
	a.sync(t)
	want := head{Seq: 4, Hash: a.got[3].Hash, Time: testTime}
	got := readHead(opt.Head)
	got.Offset = 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after a relaxed entry, which a power failure may lose (-want +got):\n%s", diff)
	}
	b.add(t, "mem_5")
	var members map[string]any
	if err := json.Unmarshal(readFile(t, opt.Head), &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"seq", "hash", "offset", "time"} {
		delete(members, name)
	}
	if len(members) > 0 {
		t.Errorf("the head has %v besides", members)
	}
	if info, err := os.Stat(opt.Head); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if lacking, err := CheckHead(opt.Head, opt.Path); lacking != nil || err != nil {
		t.Errorf("lacking: %v, %v", lacking, err)
	}
	if log.Len() > 0 {
		t.Errorf("logged: %s", log.String())
	}
}

// Without a folder for it nothing is noted, and a damaged note counts as none.
func TestNoHead(t *testing.T) {
	t.Parallel()
	opt, log := noted(t)
	blocked := filepath.Dir(opt.Head)
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a := newReader(opt)
	a.add(t, "mem_1")
	a.add(t, "mem_2")
	if n := strings.Count(log.String(), "cannot be noted"); n != 1 {
		t.Errorf("logged %d times, want once:\n%s", n, log.String())
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	a.add(t, "mem_3")
	if err := os.WriteFile(opt.Head, []byte("\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	newReader(opt).add(t, "mem_4")
	if h := readHead(opt.Head); h.Seq != 4 {
		t.Errorf("the head is %+v, want entry 4", h)
	}
}

func BenchmarkHead(b *testing.B) {
	for name, note := range map[string]string{"off": "", "on": "heads/private.json"} {
		b.Run(name, func(b *testing.B) {
			opt := benchLedger(b, 1000)
			if note != "" {
				opt.Head = filepath.Join(b.TempDir(), note)
			}
			l := New(opt)
			for i := 0; b.Loop(); i++ {
				if _, err := l.Append(b.Context(), nil, drafts(benchDraft(i))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
