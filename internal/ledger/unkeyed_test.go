package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// unkeyedLines returns the lines of someone without the key, with right hashes: the first has a number and follows the
// line with the hash prev.
func unkeyedLines(t *testing.T, name string, seq int64, prev string, ids ...string) (lines []string) {
	t.Helper()
	opt := testOptions(t.TempDir())
	opt.Name, opt.Key = name, func(bool) ([]byte, error) { return bytes.Repeat([]byte{66}, KeySize), nil }
	l := New(opt)
	l.cur = cursor{seq: seq - 1, hash: prev, version: 2}
	var drafts []Draft
	for _, id := range ids {
		drafts = append(drafts, Draft{Op: "retain", ID: id, Block: "forged", Data: json.RawMessage(`{}`)})
	}
	b, err := l.encode(time.Now(), drafts)
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(string(b.lines), "\n")+"\n", "\n")[:len(ids)]
}

// hashOf returns the hash of a line.
func hashOf(t *testing.T, text string) string {
	t.Helper()
	l, err := decodeLine([]byte(strings.TrimSuffix(text, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return string(l.hash)
}

// Without the key, Rekey keeps of a damaged ledger what follows from its first line, names what may not belong to it,
// and sets the rest aside; but only of ledgers that it is told to salvage.
func TestRekeySalvages(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil    func(t *testing.T, lines []string) []string
		ids      string // of what is kept, without the entry about the salvage
		lost     []int64
		unlinked []int64
	}{
		"an altered body": {func(_ *testing.T, l []string) []string {
			l[2] = strings.Replace(l[2], "block of", "block on", 1)
			return l
		}, "mem_1 mem_2 mem_2  mem_4 mem_5 mem_6", []int64{3}, nil},
		"an altered first body": {func(_ *testing.T, l []string) []string {
			l[0] = strings.Replace(l[0], "block of", "block on", 1)
			return l
		}, "mem_2 mem_3 mem_2  mem_4 mem_5 mem_6", []int64{1}, nil},
		"an unreadable line": {func(_ *testing.T, l []string) []string {
			l[2] = "{}\n"
			return l
		}, "mem_1 mem_2 mem_2  mem_4 mem_5 mem_6", []int64{3}, []int64{4}},
		"a missing line": {func(_ *testing.T, l []string) []string {
			return append(l[:2], l[3:]...)
		}, "mem_1 mem_2 mem_2  mem_4 mem_5 mem_6", nil, []int64{3}},
		"nothing leads to the last line": {func(_ *testing.T, l []string) []string {
			l[6] = "{}\n"
			return l
		}, "mem_1 mem_2 mem_3 mem_2  mem_4", []int64{7, 8}, nil},
		"a lost deletion": {func(_ *testing.T, l []string) []string {
			l[3] = "{}\n"
			return l
		}, "mem_1 mem_2 mem_3  mem_4 mem_5 mem_6 mem_2", []int64{4}, []int64{5}},
		"a line is repeated": {func(_ *testing.T, l []string) []string {
			return append(l, l[6])
		}, "mem_1 mem_2 mem_3 mem_2  mem_4 mem_5 mem_6", []int64{9}, nil},
		"a line is put between": {func(t *testing.T, l []string) []string {
			forged := unkeyedLines(t, "private", 7, hashOf(t, l[5]), "mem_forged")
			return append(append(append([]string{}, l[:6]...), forged...), l[6:]...)
		}, "mem_1 mem_2 mem_3 mem_2  mem_4 mem_5 mem_6", []int64{7}, nil},
		"lines are put into a gap": {func(t *testing.T, l []string) []string {
			forged := unkeyedLines(t, "private", 90, Genesis, "mem_forged", "mem_false")
			return append(append(append([]string{}, l[:2]...), forged...), l[3:]...)
		}, "mem_1 mem_2 mem_2  mem_4 mem_5 mem_6", []int64{3, 4}, []int64{5}},
		"a line of another ledger": {func(t *testing.T, l []string) []string {
			return append(l, unkeyedLines(t, "group:red", 9, hashOf(t, l[7]), "mem_red")...)
		}, "mem_1 mem_2 mem_3 mem_2  mem_4 mem_5 mem_6", []int64{9}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opt := oldLedger(t)
			opt.Head = filepath.Join(t.TempDir(), "private.json")
			newReader(opt).add(t, "mem_5", "mem_6")
			lines := strings.SplitAfter(string(readFile(t, opt.Path)), "\n")[:8]
			damaged := strings.Join(tc.spoil(t, lines), "")
			if err := os.WriteFile(opt.Path, []byte(damaged), 0o600); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "key")
			if _, err := Rekey(t.Context(), path, []Options{opt}, nil, slog.Default()); err == nil || exists(path) {
				t.Fatal("a damaged ledger got a new key without being named")
			}
			plan, err := PlanRekey(t.Context(), opt)
			if err != nil || string(readFile(t, opt.Path)) != damaged {
				t.Fatalf("the plan changed the file, or failed: %v", err)
			}
			list, err := Rekey(t.Context(), path, []Options{opt}, map[string]bool{"private": true}, slog.Default())
			if err != nil {
				t.Fatal(err)
			}
			done := list[0].Salvaged
			var lost []int64
			for _, line := range done.Lost {
				lost = append(lost, line.Line)
			}
			if !cmp.Equal(tc.lost, lost) || !cmp.Equal(tc.unlinked, done.Unlinked) {
				t.Errorf("lost %v, unlinked %v, want %v and %v", done.Lost, done.Unlinked, tc.lost, tc.unlinked)
			}
			if plan.Kept != done.Kept || !cmp.Equal(plan.Lost, done.Lost) || !cmp.Equal(plan.Unlinked, done.Unlinked) {
				t.Errorf("planned %+v, done %+v", plan, done)
			}
			key, err := LoadKey(path, slog.Default())
			if err != nil {
				t.Fatal(err)
			}
			opt.Key = func(bool) ([]byte, error) { return key, nil }
			r := newReader(opt)
			r.sync(t)
			if r.got = r.got[:len(r.got)-1]; r.ids() != tc.ids {
				t.Errorf("kept %q, want %q", r.ids(), tc.ids)
			}
			if lacking, err := CheckHead(opt.Head, opt.Path); lacking != nil || err != nil {
				t.Errorf("the head: %v, %v", lacking, err)
			}
			if n := strings.Count(string(readFile(t, filepath.Join(filepath.Dir(opt.Path), done.Aside))), "\n"); n != len(lost) {
				t.Errorf("%d lines are set aside, want %d", n, len(lost))
			}
			newReader(opt).add(t, "mem_next")
		})
	}
}

// While the key shows which lines were written with it, those are not given up for hashes. The file of another ledger
// is not salvaged either.
func TestRekeySalvagesOnlyUnprovenLines(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	newReader(opt).add(t, "mem_1", "mem_2")
	raw := strings.Replace(string(readFile(t, opt.Path)), "block of", "block on", 1)
	if err := os.WriteFile(opt.Path, []byte(raw), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, testKey, 0o600); err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{"private": true, "group:red": true}
	_, err := Rekey(t.Context(), path, []Options{opt}, all, slog.Default())
	if err == nil || !strings.Contains(err.Error(), "ledger salvage") || string(readFile(t, opt.Path)) != raw {
		t.Errorf("with the right key: %v", err)
	}
	opt.Name = "group:red"
	_, err = Rekey(t.Context(), filepath.Join(t.TempDir(), "key"), []Options{opt}, all, slog.Default())
	if _, foreign := errors.AsType[*ForeignError](err); !foreign || string(readFile(t, opt.Path)) != raw {
		t.Errorf("of another ledger: %v", err)
	}
}
