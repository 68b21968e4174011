package ledger

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/golden"
)

const vectorPath = "testdata/vector.ndjson"

// vectorKey is the key of the test vector: the bytes 0, 1, … 31.
func vectorKey() []byte {
	key := make([]byte, KeySize)
	for i := range key {
		key[i] = byte(i)
	}
	return key
}

// counter is a source of "random" bytes: 0, 1, 2, …
type counter struct{ n byte }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = c.n
		c.n++
	}
	return len(p), nil
}

// The test vector: three entries, the second erased and the third the reason. Another implementation
// of the format can be checked against it.
func TestVector(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	opt.Key = func(bool) ([]byte, error) { return vectorKey(), nil }
	opt.Rand = &counter{}
	r := newReader(opt)
	_, err := r.Append(t.Context(), r.apply, func(time.Time) ([]Draft, error) {
		return []Draft{
			{
				Op:    "retain",
				ID:    "mem_1767323045678_00a1b2",
				Block: "agent: MemoryMesh_a;\nhandoff: End;\n",
				Data:  json.RawMessage(`{"content":"Grüße & <b>\"more\"</b>"}`),
			},
			{Op: "retain", ID: "mem_1767323045678_00a1b3", Block: "secret;\n", Data: "secret"},
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.tryErase(t.Context(), "mem_1767323045678_00a1b3"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(opt.Path)
	if err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, string(got), path.Base(vectorPath))
}

// An implementation of the package comment that shares nothing with the package but the comment.
func TestVectorByTheBook(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(vectorPath)
	if err != nil {
		t.Fatal(err)
	}
	hexSum := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	prev := hexSum("GENESIS")
	for i, text := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		var l struct {
			V, Seq          int
			Ledger          string
			Time, Op, ID    string
			BodyHash        string `json:"body_hash"`
			Prev, Hash, Mac string
			Body            json.RawMessage
			Erased          bool
		}
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if l.V != 2 || l.Seq != i+1 {
			t.Errorf("line %d: v %d, seq %d", i+1, l.V, l.Seq)
		}
		if l.Ledger != "private" {
			t.Errorf("line %d: ledger %q", i+1, l.Ledger)
		}
		if l.Prev != prev {
			t.Errorf("line %d: prev %s, want %s", i+1, l.Prev, prev)
		}
		if l.Erased != (string(l.Body) == "null") || !l.Erased && hexSum(string(l.Body)) != l.BodyHash {
			t.Errorf("line %d: body_hash", i+1)
		}
		head := fmt.Sprintf(`{"v":2,"ledger":"%s","seq":%d,"time":"%s","op":"%s","id":"%s","body_hash":"%s","prev":"%s"}`,
			l.Ledger, l.Seq, l.Time, l.Op, l.ID, l.BodyHash, l.Prev)
		if hexSum(head) != l.Hash {
			t.Errorf("line %d: hash", i+1)
		}
		mac := hmac.New(sha256.New, vectorKey())
		mac.Write([]byte("yamo-mcp ledger 2\n" + l.Ledger + "\n" + l.Hash))
		if hex.EncodeToString(mac.Sum(nil)) != l.Mac {
			t.Errorf("line %d: mac", i+1)
		}
		prev = l.Hash
	}
}

func vectorLine(t testing.TB, n int) string {
	t.Helper()
	data, err := os.ReadFile(vectorPath)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(data), "\n")[n-1]
}

// No character of a line can be changed unnoticed, even with fitting hashes by a writer without the key.
func TestEveryChangeIsNoticed(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 3; n++ {
		text := vectorLine(t, n)
		for i := range len(text) {
			changed := []byte(text)
			changed[i] ^= 1
			lines := []string{vectorLine(t, 1), vectorLine(t, 2), vectorLine(t, 3)}
			lines[n-1] = string(changed)
			content := strings.NewReader(strings.Join(lines, "\n") + "\n")
			r, err := verify(t.Context(), "", "private", content, content.Size(), vectorKey())
			if err != nil {
				t.Fatal(err)
			}
			if r.Intact() || r.Bad.Line != int64(n) {
				t.Fatalf("line %d, byte %d: %q changed to %q: %+v", n, i, text[i], changed[i], r)
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	text := vectorLine(t, 1)
	if _, err := decodeLine([]byte(text)); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"no ledger":       {`"ledger":"private",`, ``},
		"empty ledger":    {`"private"`, `""`},
		"quoted ledger":   {`"private"`, `"pri\"vate"`},
		"leading zero":    {`"seq":1,`, `"seq":01,`},
		"sign":            {`"seq":1,`, `"seq":+1,`},
		"zero":            {`"seq":1,`, `"seq":0,`},
		"number too long": {`"seq":1,`, `"seq":99999999999999999999,`},
		"comma in time":   {`.678Z`, `,678Z`},
		"thirteenth":      {`2026-01`, `2026-13`},
		"operation":       {`"retain"`, `"Retain"`},
		"white space":     {`,"seq"`, `, "seq"`},
		"capital hex":     {`"prev":"`, `"prev":"A`},
		"end":             {`}}`, `}`},
	} {
		if _, err := decodeLine([]byte(strings.Replace(text, change[0], change[1], 1))); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	_, err := decodeLine([]byte(strings.Replace(text, `"v":2,`, `"v":3,`, 1)))
	if !errors.Is(err, ErrVersion) {
		t.Errorf("another version: %v, want ErrVersion", err)
	}
}

func FuzzDecodeLine(f *testing.F) {
	for n := 1; n <= 3; n++ {
		f.Add([]byte(vectorLine(f, n)))
	}
	f.Add([]byte(`{"v":3,"seq":1}`))
	f.Add([]byte(`{"v":1,"seq":1,"time":"2026-01-02T03:04:05.678Z","op":"a","id":""`))
	// Hashes keep the fuzzer out, so it gets lines that are hashed afterwards too.
	seal := func(op, id string, body []byte) []byte {
		text := appendHead(nil, "private", 1, testTime, op, id, sha256.Sum256(body), Genesis)
		hash := sha256.Sum256(append(bytes.Clone(text), '}'))
		text = fmt.Appendf(text, `,"hash":"%x","mac":"%s","body":`, hash, Genesis)
		return append(append(text, body...), '}')
	}
	f.Add([]byte(`{"salt":"000102030405060708090a0b0c0d0e0f","block":"a\nb","data":{"a":1}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, text := range [][]byte{text, seal("retain", "mem_1", text)} {
			l, err := decodeLine(text)
			if err != nil {
				continue
			}
			var bodyHash [sha256.Size]byte
			if _, err := hex.Decode(bodyHash[:], l.bodyHash); err != nil {
				t.Fatal(err)
			}
			again := appendHead(nil, l.ledger, l.seq, l.time, l.op, l.id, bodyHash, string(l.prev))
			again = fmt.Appendf(again, `,"hash":"%s","mac":"%s","body":`, l.hash, l.mac)
			if l.body == nil {
				again = append(again, erasedEnd...)
			} else {
				again = append(append(again, l.body...), '}')
			}
			if !bytes.Equal(again, text) {
				t.Fatalf("decoded %q, encoded %q", text, again)
			}
			e, err := l.entry(string(l.prev))
			if err != nil {
				continue
			}
			if !json.Valid(text) || e.Data != nil && !json.Valid(e.Data) {
				t.Fatalf("accepted, but not JSON: %q", text)
			}
		}
	})
}

// A time has one form: what is accepted prints as it was read.
func FuzzTime(f *testing.F) {
	text := vectorLine(f, 1)
	const at = "2026-01-02T03:04:05.678Z"
	for _, seed := range []string{
		at, "2026-02-29T03:04:05.678Z", "2026-01-02T24:00:00.000Z", "2026-01-02T3:04:05.6780Z",
		"2026-01-02T03:04:60.678Z", "+026-01-02T03:04:05.678Z",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed string) {
		l, _, err := decodeHead([]byte(strings.Replace(text, at, seed, 1)))
		if err == nil && l.time.Format(timeForm) != seed {
			t.Fatalf("%q is read as %s", seed, l.time)
		}
	})
}
