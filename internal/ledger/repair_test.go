package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Rekey makes ledgers of both formats readable with a new key, running processes included, and can be repeated.
func TestRekey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	options := func(name string) Options {
		opt := testOptions(filepath.Join(dir, name))
		opt.Name = name
		opt.Key = func(create bool) ([]byte, error) { return KeyOf(path, create, slog.Default(), opt.Path) }
		return opt
	}
	private, edits := options("private"), options("edits")
	if err := os.WriteFile(path, vectorKey(), 0o600); err != nil {
		t.Fatal(err)
	}
	copyLedger(t, old, private.Path)
	running := newReader(private)
	running.add(t, "mem_5")
	newReader(edits).add(t, "edit_1")
	before := newReader(private).sync(t)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := newReader(private).Sync(t.Context(), nil); !errors.Is(err, ErrNoKey) {
		t.Fatalf("without the key: %v", err)
	}
	// Interrupted: one ledger is done and the key is not.
	interrupted := bytes.Repeat([]byte{9}, KeySize)
	if err := os.WriteFile(path+newKey, interrupted, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := rekey(private, interrupted); err != nil {
		t.Fatal(err)
	}
	done, err := Rekey(t.Context(), path, []Options{private, edits, options("absent")}, nil, slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Rekeyed{{"private", 7, nil}, {"edits", 1, nil}, {"absent", 0, nil}}, done); diff != "" {
		t.Errorf("done (-want +got):\n%s", diff)
	}
	key, err := LoadKey(path, slog.Default())
	if err != nil || !bytes.Equal(key, interrupted) {
		t.Errorf("the key is %x, %v; want that of the interrupted call", key, err)
	}
	if diff := cmp.Diff(before, newReader(private).sync(t)); diff != "" {
		t.Errorf("the entries have changed (-want +got):\n%s", diff)
	}
	running.add(t, "mem_6")
	for opt, entries := range map[*Options]int64{&private: 8, &edits: 1} {
		r, err := Verify(t.Context(), opt.Path, opt.Name, key)
		if err != nil || !r.Intact() {
			t.Errorf("%s is not intact: %+v, %v", opt.Name, r, err)
		}
		if r.Entries != entries {
			t.Errorf("%s: %d entries, want %d", opt.Name, r.Entries, entries)
		}
	}
}

// A damaged ledger, or one of another compartment, keeps Rekey from changing anything.
func TestRekeyRefuses(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*Options, string) string{
		"damage":  func(_ *Options, raw string) string { return strings.Replace(raw, "block of", "block on", 1) },
		"foreign": func(opt *Options, raw string) string { opt.Name = "group:red"; return raw },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			intact, bad := testOptions(t.TempDir()), testOptions(t.TempDir())
			newReader(intact).add(t, "mem_1")
			newReader(bad).add(t, "mem_2")
			raw := spoil(&bad, string(readFile(t, bad.Path)))
			if err := os.WriteFile(bad.Path, []byte(raw), 0o600); err != nil {
				t.Fatal(err)
			}
			before := readFile(t, intact.Path)
			path := filepath.Join(t.TempDir(), "key")
			_, err := Rekey(t.Context(), path, []Options{intact, bad}, nil, slog.Default())
			if _, ok := errors.AsType[*CorruptError](err); !ok {
				t.Errorf("error %v, want damage", err)
			}
			if !bytes.Equal(before, readFile(t, intact.Path)) {
				t.Error("the intact ledger was changed")
			}
			for _, key := range []string{path, path + newKey} {
				if exists(key) {
					t.Errorf("%s was created", key)
				}
			}
		})
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Salvage keeps what was written with the key, in order, and nothing else.
func TestSalvage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil func(lines []string) []string
		ids   string // of what is kept, without the entry about the salvage
		lost  []int64
	}{
		"an altered body": {func(l []string) []string {
			l[0] = strings.Replace(l[0], "block of", "block on", 1)
			return l
		}, "mem_2 mem_3 mem_2  mem_4 mem_5 mem_6", []int64{1}},
		"a forged line": {func(l []string) []string {
			l[7] = zeroMAC(l[7])
			return l
		}, "mem_1 mem_2 mem_3 mem_2  mem_4 mem_5", []int64{8}},
		"a line that is gone": {func(l []string) []string {
			return append(l[:2], l[3:]...)
		}, "mem_1 mem_2 mem_2  mem_4 mem_5 mem_6", nil},
		"a lost deletion": {func(l []string) []string {
			l[3] = "{}\n"
			return l
		}, "mem_1 mem_2 mem_3  mem_4 mem_5 mem_6 mem_2", []int64{4}},
		"a repeated line": {func(l []string) []string {
			return append(l, l[7], l[6])
		}, "mem_1 mem_2 mem_3 mem_2  mem_4 mem_5 mem_6", []int64{9, 10}},
		"a damaged seal": {func(l []string) []string {
			l[6] = zeroMAC(l[6])
			return l
		}, "mem_1 mem_2 mem_3 mem_2  mem_4 mem_6", []int64{7}},
		"no good seal": {func(l []string) []string {
			l[6], l[7] = zeroMAC(l[6]), zeroMAC(l[7])
			return l
		}, "", []int64{1, 2, 3, 4, 5, 6, 7, 8}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opt := oldLedger(t)
			opt.Head = filepath.Join(t.TempDir(), "private.json")
			newReader(opt).add(t, "mem_5", "mem_6")
			lines := strings.SplitAfter(strings.TrimSuffix(string(readFile(t, opt.Path)), "\n"), "\n")
			lines[7] += "\n"
			damaged := strings.Join(tc.spoil(lines), "")
			if err := os.WriteFile(opt.Path, []byte(damaged), 0o600); err != nil {
				t.Fatal(err)
			}
			plan, err := Salvage(t.Context(), opt, true)
			if err != nil || string(readFile(t, opt.Path)) != damaged {
				t.Fatalf("the dry run changed the file, or failed: %v", err)
			}
			done, err := Salvage(t.Context(), opt, false)
			if err != nil {
				t.Fatal(err)
			}
			var lost []int64
			for _, line := range done.Lost {
				lost = append(lost, line.Line)
			}
			if diff := cmp.Diff(tc.lost, lost); diff != "" {
				t.Errorf("lost lines (-want +got):\n%s", diff)
			}
			if plan.Kept != done.Kept || !cmp.Equal(plan.Lost, done.Lost) {
				t.Errorf("planned %+v, done %+v", plan, done)
			}
			r := newReader(opt)
			r.sync(t)
			last := r.got[len(r.got)-1]
			if last.Op != OpSalvage || !strings.Contains(string(last.Data), fmt.Sprintf(`"kept":%d`, done.Kept)) {
				t.Errorf("the last entry is %s %s", last.Op, last.Data)
			}
			r.got = r.got[:len(r.got)-1]
			if r.ids() != tc.ids {
				t.Errorf("kept %q, want %q", r.ids(), tc.ids)
			}
			report, err := Verify(t.Context(), opt.Path, "private", vectorKey())
			if err != nil || !report.Intact() {
				t.Errorf("verify: %+v, %v", report, err)
			}
			if lacking, err := CheckHead(opt.Head, opt.Path); lacking != nil || err != nil {
				t.Errorf("the head: %v, %v", lacking, err)
			}
			aside := filepath.Join(filepath.Dir(opt.Path), done.Aside)
			if n := int64(strings.Count(string(readFile(t, aside)), "\n")); n != int64(len(tc.lost)) {
				t.Errorf("%d lines are set aside, want %d", n, len(tc.lost))
			}
			if info, err := os.Stat(aside); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("set aside with mode %v, %v", info.Mode(), err)
			}
			newReader(opt).add(t, "mem_next")
			if again, err := Salvage(t.Context(), opt, false); err != nil || again.Aside != "" {
				t.Errorf("once more: %+v, %v; want nothing to do", again, err)
			}
		})
	}
}

// The file of another ledger is not salvaged: it belongs elsewhere.
func TestSalvageForeign(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	newReader(opt).add(t, "mem_1", "mem_2")
	before := readFile(t, opt.Path)
	opt.Name = "group:red"
	_, err := Salvage(t.Context(), opt, false)
	if _, ok := errors.AsType[*ForeignError](err); !ok || !bytes.Equal(before, readFile(t, opt.Path)) {
		t.Errorf("error %v, want ForeignError and the file unchanged", err)
	}
}

// What a newer program has written is not damage, and stays as it is. Between lines of this version it is damage.
func TestSalvageOfANewerVersion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		line  int // that gets another version, from 0
		newer bool
	}{"the last line": {1, true}, "an earlier line": {0, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opt := testOptions(t.TempDir())
			r := newReader(opt)
			r.add(t, "mem_1")
			r.add(t, "mem_2")
			lines := strings.SplitAfter(string(readFile(t, opt.Path)), "\n")
			lines[tc.line] = strings.Replace(lines[tc.line], `{"v":2,`, `{"v":9,`, 1)
			before := strings.Join(lines, "")
			if err := os.WriteFile(opt.Path, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
			done, err := Salvage(t.Context(), opt, false)
			if errors.Is(err, ErrVersion) != tc.newer || !tc.newer && err != nil {
				t.Errorf("error %v", err)
			}
			files, err := os.ReadDir(filepath.Dir(opt.Path))
			if err != nil {
				t.Fatal(err)
			}
			aside := slices.ContainsFunc(files, func(e os.DirEntry) bool { return strings.Contains(e.Name(), ".damaged-") })
			if unchanged := string(readFile(t, opt.Path)) == before; unchanged != tc.newer || aside == tc.newer {
				t.Errorf("unchanged %v, set aside %v: %+v", unchanged, aside, done)
			}
		})
	}
}
