package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// damaged writes content as the ledger of a new folder.
func damaged(t *testing.T, content []byte) Options {
	t.Helper()
	opt := testOptions(t.TempDir())
	opt.FS = lazyFS{} // these tests are about bytes, not about durability
	if err := os.MkdirAll(filepath.Dir(opt.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(opt.Path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return opt
}

// threeLines is the content of a ledger with mem_1, mem_2 and mem_3.
func threeLines(t *testing.T) (content []byte, lines [][]byte) {
	t.Helper()
	opt := testOptions(t.TempDir())
	newReader(opt).add(t, "mem_1", "mem_2", "mem_3")
	content, err := os.ReadFile(opt.Path)
	if err != nil {
		t.Fatal(err)
	}
	return content, bytes.SplitAfter(content, []byte("\n"))[:3]
}

// expectTorn checks that the tail behind the first n entries is ignored, then cut off.
func expectTorn(t *testing.T, content []byte, n int) {
	t.Helper()
	opt := damaged(t, content)
	all := []string{"mem_1", "mem_2", "mem_3"}[:n]
	a, b := newReader(opt), newReader(opt)
	a.sync(t)
	if a.ids() != strings.Join(all, " ") {
		t.Fatalf("Sync gives %q, want %q", a.ids(), all)
	}
	r := mustIntact(t, opt.Path, int64(n))
	if r.Torn != int64(len(content))-r.Bytes {
		t.Errorf("%d bytes torn, want %d", r.Torn, int64(len(content))-r.Bytes)
	}
	if got, err := os.ReadFile(opt.Path); err != nil || !bytes.Equal(got, content) {
		t.Errorf("reading has changed the file: %v", err)
	}
	b.add(t, "mem_9")
	a.sync(t)
	if want := strings.Join(append(all, "mem_9"), " "); a.ids() != want || b.ids() != want {
		t.Errorf("after the repair: %q and %q, want %q", a.ids(), b.ids(), want)
	}
	if r := mustIntact(t, opt.Path, int64(n)+1); r.Torn != 0 {
		t.Errorf("%d bytes torn after the repair", r.Torn)
	}
}

func TestTornAtEveryByte(t *testing.T) {
	t.Parallel()
	content, lines := threeLines(t)
	last := len(content) - len(lines[2])
	for cut := last; cut < len(content)-1; cut++ {
		expectTorn(t, content[:cut:cut], 2)
	}
}

func TestTornTails(t *testing.T) {
	t.Parallel()
	content, lines := threeLines(t)
	zeros := func(n int) []byte { return make([]byte, n) }
	two := content[:len(content)-len(lines[2])]
	for name, tc := range map[string]struct {
		tail []byte
		want int
	}{
		"zeros":                           {zeros(4096), 2},
		"half a line and zeros":           {append(bytes.Clone(lines[2][:100]), zeros(5000)...), 2},
		"zeros for a line":                {append(zeros(len(lines[2])-1), '\n'), 2},
		"a page of zeros, then its end":   {append(zeros(300), lines[2][300:]...), 2},
		"zeros in the middle":             {append(append(bytes.Clone(lines[2][:50]), zeros(50)...), lines[2][100:]...), 2},
		"zeros, and more of another line": {append(append(zeros(300), lines[2][300:]...), lines[2][:80]...), 2},
		"more zeros than a line may have": {zeros(maxLine + 5), 2},
		"such zeros and a newline":        {append(zeros(maxLine+5), '\n'), 2},
		"no newline, longer than a line":  {bytes.Repeat([]byte("x"), maxLine+5), 2},
		"no JSON":                         {[]byte("garbage"), 2},
		"intact third line, then zeros":   {append(bytes.Clone(lines[2]), zeros(100)...), 3},
	} {
		t.Run(name, func(t *testing.T) {
			expectTorn(t, append(bytes.Clone(two), tc.tail...), tc.want)
		})
	}
}

// A line that lacks its newline only may have been acknowledged: it is kept.
func TestMissingNewline(t *testing.T) {
	t.Parallel()
	content, _ := threeLines(t)
	opt := damaged(t, bytes.TrimSuffix(content, []byte("\n")))
	a, b := newReader(opt), newReader(opt)
	a.sync(t)
	if a.ids() != "mem_1 mem_2" {
		t.Errorf("Sync gives %q", a.ids())
	}
	b.add(t, "mem_4")
	a.sync(t)
	if want := "mem_1 mem_2 mem_3 mem_4"; a.ids() != want || b.ids() != want {
		t.Errorf("after the repair: %q and %q, want %q", a.ids(), b.ids(), want)
	}
	mustIntact(t, opt.Path, 4)
}

func TestCorruptionIsReported(t *testing.T) {
	t.Parallel()
	content, lines := threeLines(t)
	replace := func(line int, with []byte) []byte {
		changed := bytes.Clone(content[:0])
		for i, l := range lines {
			if i == line-1 {
				l = with
			}
			changed = append(changed, l...)
		}
		return changed
	}
	flip := func(line []byte) []byte {
		line = bytes.Clone(line)
		line[len(line)-20] ^= 1
		return line
	}
	zero := func(line []byte) []byte {
		line = bytes.Clone(line)
		clear(line[100:200])
		return line
	}
	for name, tc := range map[string]struct {
		content []byte
		line    int64
		want    string
	}{
		"bit in the middle":           {replace(2, flip(lines[1])), 2, "hash"},
		"bit in the last line":        {replace(3, flip(lines[2])), 3, "hash"},
		"bit in the first line":       {replace(1, flip(lines[0])), 1, "hash"},
		"zeros before an intact line": {replace(2, zero(lines[1])), 2, "not a ledger line"},
		"line missing":                {replace(2, nil), 2, "number is 3, expected 2"},
		"line twice":                  {replace(3, lines[1]), 3, "number is 2, expected 3"},
		"text line at the end":        {append(bytes.Clone(content), "garbage\n"...), 4, "not a ledger line"},
		"empty line":                  {append(bytes.Clone(content), '\n'), 4, "not a ledger line"},
		"text, then an open line":     {append(bytes.Clone(content), "garbage\n{\"v\":1"...), 4, "not a ledger line"},
		"overlong line": {
			append(append(bytes.Clone(content), bytes.Repeat([]byte("x"), maxLine+9)...), '\n'),
			4, "longer",
		},
		"newer version":       {append(bytes.Clone(content), "{\"v\":3,\"x\":1}\n"...), 4, "newer version"},
		"half the first line": {replace(1, append(bytes.Clone(lines[0][:50]), '\n')), 1, "not a ledger line"},
	} {
		t.Run(name, func(t *testing.T) {
			opt := damaged(t, tc.content)
			a := newReader(opt)
			for _, do := range []func() error{
				func() error { return a.Sync(t.Context(), a.apply) },
				func() error { _, err := a.tryAdd(t.Context(), "mem_9"); return err },
				func() error { _, err := a.tryErase(t.Context(), "mem_1"); return err },
			} {
				err := do()
				var corrupt *CorruptError
				if !errors.As(err, &corrupt) {
					t.Fatalf("error %v, want a *CorruptError", err)
				}
				if corrupt.Line != tc.line {
					t.Errorf("corrupt line %d, want %d", corrupt.Line, tc.line)
				}
				for _, want := range []string{tc.want, fmt.Sprintf("line %d ", tc.line)} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("error %v, want %q in it", err, want)
					}
				}
			}
			if got := int64(len(a.got)); got != tc.line-1 {
				t.Errorf("%d entries delivered, want those before line %d", got, tc.line)
			}
			r, err := Verify(t.Context(), opt.Path, "private", testKey)
			if err != nil || r.Intact() {
				t.Fatalf("Verify: %+v, %v; want damage", r, err)
			}
			if r.Bad.Line != tc.line || r.Entries != tc.line-1 {
				t.Errorf("Verify: line %d is bad after %d entries, want line %d", r.Bad.Line, r.Entries, tc.line)
			}
			if got, err := os.ReadFile(opt.Path); err != nil || !bytes.Equal(got, tc.content) {
				t.Errorf("the file was changed: %v", err)
			}
		})
	}
}

// A line whose hashes fit but whose body is not one is damage too, not a panic and not an entry.
func TestForgedLine(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	a := newReader(opt)
	a.add(t, "mem_1")
	forge(t, opt, "another key", Draft{Op: OpDelete, ID: "mem_1"})
	r, err := Verify(t.Context(), opt.Path, "private", testKey)
	if err != nil || r.Intact() {
		t.Fatalf("Verify with the key: %+v, %v; want damage", r, err)
	}
	if r.Bad.Line != 2 || !strings.Contains(r.Bad.Error(), "mac") {
		t.Errorf("Verify with the key: %v, want the mac of line 2", r.Bad)
	}
	r, err = Verify(t.Context(), opt.Path, "private", nil)
	if err != nil || r.Intact() {
		t.Errorf("Verify without a key: %+v, %v; want one that is not intact", r, err)
	}
	if r.Entries != 2 || r.Bad != nil {
		t.Errorf("Verify without a key: %d entries, want 2, and %v", r.Entries, r.Bad)
	}
	for name, reader := range map[string]*reader{"running": a, "new": newReader(opt)} {
		if err := reader.Sync(t.Context(), reader.apply); !errors.Is(err, ErrMAC) {
			t.Errorf("a %s reader: %v, want ErrMAC", name, err)
		}
		if reader.ids() != "mem_1" {
			t.Errorf("a %s reader got %q, want the entry before the forgery", name, reader.ids())
		}
		if _, err := reader.tryAdd(t.Context(), "mem_3"); !errors.Is(err, ErrMAC) {
			t.Errorf("a %s writer: %v, want ErrMAC", name, err)
		}
	}
	r, err = Verify(t.Context(), opt.Path+"-absent", "private", testKey)
	if diff := cmp.Diff(Report{LastHash: Genesis}, r); diff != "" || err != nil {
		t.Errorf("Verify of an absent file: %v\n%s", err, diff)
	}
}

// forge appends lines as an attacker does who has another key, or none.
func forge(t testing.TB, opt Options, key string, ds ...Draft) {
	t.Helper()
	opt.Key = func(bool) ([]byte, error) { return []byte(key), nil }
	l := New(opt)
	if err := l.macs.load(false); err != nil {
		t.Fatal(err)
	}
	f, size, err := l.open(os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	end, err := scan(t.Context(), opt.Path, f, size, origin(), nil, nil, func(Entry, cursor) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	l.cur = end.last
	b, err := l.encode(testTime, ds)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(b.lines, size); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
