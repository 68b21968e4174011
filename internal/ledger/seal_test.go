package ledger

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// old is a ledger as the first format has it, written by a program that knew no other: six entries, mem_2 erased.
const old = "testdata/v1/ledger.ndjson"

// oldLedger copies it to where opt has its ledger.
func oldLedger(t testing.TB) Options {
	t.Helper()
	opt := testOptions(t.TempDir())
	opt.Key = func(bool) ([]byte, error) { return vectorKey(), nil }
	copyLedger(t, old, opt.Path)
	return opt
}

func copyLedger(t testing.TB, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = os.WriteFile(to, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

const oldIDs = "mem_1 mem_2 mem_3 mem_2  mem_4"

func TestOldLedgerIsReadAndSealed(t *testing.T) {
	t.Parallel()
	opt := oldLedger(t)
	before, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	a := newReader(opt)
	a.sync(t)
	if a.ids() != oldIDs {
		t.Fatalf("delivered %q", a.ids())
	}
	if !a.got[1].Erased || a.got[0].Block != "block of mem_1;\n" {
		t.Errorf("delivered %+v", a.got[:2])
	}
	a.add(t, "mem_5", "mem_6")
	if _, err := a.tryErase(t.Context(), "mem_3"); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(opt.Path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(after, []byte("\n"))
	if diff := cmp.Diff(string(before[:bytes.IndexByte(before, '\n')+1]), string(lines[0])); diff != "" {
		t.Errorf("an old line was changed (-want +got):\n%s", diff)
	}
	for n, want := range map[int]string{6: `{"v":1,`, 7: `{"v":2,"ledger":"private",`, 9: `{"v":2,"ledger":"private",`} {
		if !bytes.HasPrefix(lines[n-1], []byte(want)) {
			t.Errorf("line %d is %.60s, want %s", n, lines[n-1], want)
		}
	}
	r, err := Verify(t.Context(), opt.Path, "private", vectorKey())
	if err != nil || !r.Intact() {
		t.Fatalf("verify: %+v, %v", r, err)
	}
	if got := newReader(opt).sync(t); len(got) != 9 {
		t.Errorf("a new reader gets %d entries, want 9", len(got))
	}
}

// The ledger of one compartment in the folder of another gives away nothing, whatever its lines' version.
func TestForeignLedger(t *testing.T) {
	t.Parallel()
	sealed, own := oldLedger(t), testOptions(t.TempDir())
	newReader(sealed).add(t, "mem_5")
	newReader(own).add(t, "mem_1", "mem_2")
	for name, from := range map[string]Options{"sealed": sealed, "new": own} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group := from
			group.Name, group.Path = "group:red", filepath.Join(t.TempDir(), "ledger.ndjson")
			copyLedger(t, from.Path, group.Path)
			r := newReader(group)
			for doing, err := range map[string]error{
				"read":  r.Sync(t.Context(), r.apply),
				"write": func() error { _, err := r.tryAdd(t.Context(), "mem_9"); return err }(),
			} {
				corrupt, ok := errors.AsType[*CorruptError](err)
				if !ok || corrupt.Line != 1 {
					t.Fatalf("%s: %v, want damage at line 1, which does not tell how long the ledger is", doing, err)
				}
				if diff := cmp.Diff(&ForeignError{Ledger: "private", Want: "group:red"}, corrupt.Err); diff != "" {
					t.Errorf("%s (-want +got):\n%s", doing, diff)
				}
			}
			if r.got != nil {
				t.Errorf("delivered %+v", r.got)
			}
			report, err := Verify(t.Context(), group.Path, group.Name, vectorKey())
			if err != nil || report.Intact() {
				t.Errorf("verify: %+v, %v", report, err)
			}
		})
	}
}

// Lines of the first format are trusted as far as the first line after them is.
func TestBadSeal(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil func(seal string) string
		want  int // entries delivered
	}{
		"mac":            {func(s string) string { return strings.Replace(s, `"mac":"`, `"mac":"0`, 1) }, 0},
		"forged mac":     {func(s string) string { return zeroMAC(s) }, 0},
		"other content":  {func(s string) string { return strings.Replace(s, "block of", "block on", 1) }, 0},
		"a torn seal":    {func(s string) string { return s[:len(s)/2] }, 6},
		"zeros, torn":    {func(s string) string { return s[:90] + strings.Repeat("\x00", 90) + "\n" }, 6},
		"an intact seal": {func(s string) string { return s }, 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opt := oldLedger(t)
			newReader(opt).add(t, "mem_5")
			raw, err := os.ReadFile(opt.Path)
			if err != nil {
				t.Fatal(err)
			}
			at := bytes.LastIndexByte(raw[:len(raw)-1], '\n') + 1
			if err := os.WriteFile(opt.Path, []byte(string(raw[:at])+tc.spoil(string(raw[at:]))), 0o600); err != nil {
				t.Fatal(err)
			}
			r := newReader(opt)
			err = r.Sync(t.Context(), r.apply)
			if _, corrupt := errors.AsType[*CorruptError](err); corrupt != (tc.want == 0) {
				t.Errorf("error %v", err)
			}
			if len(r.got) != tc.want {
				t.Errorf("%d entries delivered, want %d", len(r.got), tc.want)
			}
		})
	}
}

// zeroMAC replaces the mac of a line.
func zeroMAC(text string) string {
	i := strings.Index(text, `"mac":"`) + len(`"mac":"`)
	return text[:i] + strings.Repeat("0", hashLen) + text[i+hashLen:]
}

// A line of the first format after one of the second could be one of another ledger.
func TestOldLineAfterTheSeal(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	first := newReader(opt).add(t, "mem_1")[0]
	m := newMACs("private", opt.Key)
	if err := m.load(false); err != nil {
		t.Fatal(err)
	}
	line := oldLine(t, m, 2, first.Hash)
	f, err := os.OpenFile(opt.Path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(line); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r := newReader(opt)
	err = r.Sync(t.Context(), r.apply)
	if corrupt, ok := errors.AsType[*CorruptError](err); !ok || corrupt.Line != 2 {
		t.Errorf("error %v, want damage at line 2", err)
	}
}

// A missing key is created for a new ledger only, and a changed one makes all lines look forged.
func TestKeyOfALedgerWithLines(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	key := []byte(nil)
	opt.Key = func(create bool) ([]byte, error) {
		if key == nil && create {
			key = testKey
		}
		if key == nil {
			return nil, ErrNoKey
		}
		return key, nil
	}
	newReader(opt).add(t, "mem_1")
	key = nil
	for name, r := range map[string]*reader{"sync": newReader(opt), "append": newReader(opt)} {
		do := func() error { return r.Sync(t.Context(), r.apply) }
		if name == "append" {
			do = func() error { _, err := r.tryAdd(t.Context(), "mem_2"); return err }
		}
		if err := do(); !errors.Is(err, ErrNoKey) {
			t.Errorf("%s without the key: %v, want ErrNoKey", name, err)
		}
		if len(r.got) != 0 || key != nil {
			t.Errorf("%s without the key delivered %d entries and made the key %x", name, len(r.got), key)
		}
	}
	key = bytes.Repeat([]byte{8}, KeySize)
	if err := newReader(opt).Sync(t.Context(), nil); !errors.Is(err, ErrMAC) {
		t.Errorf("with another key: %v, want ErrMAC", err)
	}
	key = testKey
	mustIntact(t, opt.Path, 1)
	newReader(opt).add(t, "mem_2")
}

func TestModesAreRepaired(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opt := testOptions(dir)
	var log bytes.Buffer
	opt.Logger = slog.New(slog.NewTextHandler(&log, nil))
	keyFile := filepath.Join(dir, "key")
	opt.Key = func(bool) ([]byte, error) { return LoadOrCreateKey(keyFile, opt.Logger) }
	newReader(opt).add(t, "mem_1")
	for path, mode := range map[string]fs.FileMode{opt.Path: 0o666, keyFile: 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	newReader(opt).sync(t)
	for path, want := range map[string]string{opt.Path: "mode=666", keyFile: "mode=644"} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		if !strings.Contains(log.String(), "file="+filepath.Base(path)+" "+want) {
			t.Errorf("the log does not name %s:\n%s", path, log.String())
		}
	}
	if strings.Contains(log.String(), dir) {
		t.Errorf("the log names the folder:\n%s", log.String())
	}
}

// notOurs is a file system with the files of another user.
type notOurs struct{ osFS }

func (notOurs) OpenFile(name string, flag int, mode fs.FileMode) (File, error) {
	f, err := osFS{}.OpenFile(name, flag, mode)
	return notOursFile{f}, err
}

type notOursFile struct{ File }

func (notOursFile) Chmod(fs.FileMode) error { return fs.ErrPermission }

func TestOpenLedgerOfAnotherUser(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	newReader(opt).add(t, "mem_1")
	if err := os.Chmod(opt.Path, 0o640); err != nil {
		t.Fatal(err)
	}
	opt.FS = notOurs{}
	r := newReader(opt)
	if err := r.Sync(t.Context(), r.apply); !errors.Is(err, fs.ErrPermission) || len(r.got) != 0 {
		t.Errorf("%d entries, %v; want a refusal", len(r.got), err)
	}
}

// oldLine is a line of the first format with the right mac.
func oldLine(t testing.TB, m *macs, seq int64, prev string) []byte {
	t.Helper()
	body, err := appendBody(nil, Draft{Op: "retain", ID: "mem_2"}, &counter{})
	if err != nil {
		t.Fatal(err)
	}
	text := appendHead(nil, "", seq, testTime, "retain", "mem_2", sha256.Sum256(body), prev)
	hash := []byte(digest(string(text) + "}"))
	text = append(append(append(text, `,"hash":"`...), hash...), `","mac":"`...)
	text = append(append(append(text, m.sum(1, hash)...), `","body":`...), body...)
	return append(text, '}', '\n')
}
