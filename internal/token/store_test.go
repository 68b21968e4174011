package token

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

var day = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// testStore is a store whose clock the test sets.
func testStore(t *testing.T) (*Store, *time.Time) {
	t.Helper()
	now := day
	s := Open(filepath.Join(t.TempDir(), "config", "tokens.json"))
	s.now = func() time.Time { return now }
	return s, &now
}

func create(t *testing.T, s *Store, r Record) (string, Record) {
	t.Helper()
	text, made, err := s.Create(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return text, made
}

func TestTokenOpensWhatItsRecordSays(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	dm, _ := create(t, s, Record{Name: "me", Connection: "dm", AgentID: "kate"})
	group, made := create(t, s, Record{Name: "club", Connection: "group", Group: "book-club", Workspace: "/w"})
	for text, want := range map[string]string{dm: "dm", group: "group:book-club"} {
		r, err := s.Verify(text)
		if err != nil {
			t.Fatal(err)
		}
		if who, err := r.Audience(); err != nil || who.String() != want {
			t.Errorf("got %v, %v, want %s", who, err, want)
		}
	}
	another := Open(s.path) // as after a restart
	another.now = s.now
	got, err := another.Verify(group)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(made, got); diff != "" {
		t.Errorf("the record (-made +read):\n%s", diff)
	}
}

func TestFileKeepsNoToken(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	text, _ := create(t, s, Record{Name: "me", Connection: "dm"})
	data, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	_, secret, ok := parse(text)
	if !ok {
		t.Fatalf("%q is no token", text)
	}
	if strings.Contains(string(data), secret[:12]) {
		t.Errorf("the file has the token: %s", data)
	}
	for name, want := range map[string]os.FileMode{s.path: 0o600, filepath.Dir(s.path): os.ModeDir | 0o700} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", filepath.Base(name), info.Mode(), want)
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(s.path), ".tokens*-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestTokensThatOpenNothing(t *testing.T) {
	t.Parallel()
	s, now := testStore(t)
	good, _ := create(t, s, Record{Name: "good", Connection: "dm"})
	end := day.Add(time.Hour)
	short, _ := create(t, s, Record{Name: "short", Connection: "dm", Expires: &end})
	gone, _ := create(t, s, Record{Name: "gone", Connection: "dm"})
	if _, err := s.Verify(short); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Revoke(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	*now = end // the end itself is past it
	id, secret, _ := parse(good)
	tests := map[string]string{
		"expired": short, "revoked": gone, "empty": "", "prefix": Prefix, "unknown": Prefix + "000000000000_" + secret,
		"another's id":    gone[:len(Prefix)+12] + "_" + secret,
		"another secret":  Prefix + id + "_" + strings.Repeat("A", len(secret)),
		"cut":             good[:len(good)-1],
		"longer":          good + "A",
		"upper case":      Prefix + strings.ToUpper(id) + "_" + secret,
		"the hash":        Prefix + id + "_" + hashOf(secret)[:len(secret)],
		"a space":         good + " ",
		"no prefix":       strings.TrimPrefix(good, Prefix),
		"only the id":     Prefix + id,
		"something else":  "eyJhbGciOiJub25lIn0.e30.",
		"a line break":    good + "\n",
		"secret with dot": Prefix + id + "_." + secret[1:],
	}
	for name, text := range tests {
		if _, err := s.Verify(text); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Verify(good); err != nil {
		t.Errorf("the good one: %v", err)
	}
}

// A server keeps its store open; another process revokes.
func TestRevocationReachesAnotherProcess(t *testing.T) {
	t.Parallel()
	server, _ := testStore(t)
	operator := Open(server.path)
	operator.now = server.now
	text, made := create(t, operator, Record{Name: "me", Connection: "dm"})
	if _, err := server.Verify(text); err != nil {
		t.Fatal(err)
	}
	if err := server.CheckActive(made.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := operator.Revoke(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Verify(text); !errors.Is(err, ErrInvalid) {
		t.Errorf("a request: %v", err)
	}
	if err := server.CheckActive(made.ID); !errors.Is(err, ErrInvalid) {
		t.Errorf("a stream: %v", err)
	}
	again, _ := create(t, operator, Record{Name: "me", Connection: "group"}) // the name is free again
	if r, err := server.Verify(again); err != nil || r.Connection != "group" {
		t.Errorf("%v, %v", r, err)
	}
	if err := os.Remove(server.path); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Verify(again); !errors.Is(err, ErrInvalid) {
		t.Errorf("without the file: %v", err)
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"others may read or": func(path string) error { return os.Chmod(path, 0o640) },
		"chmod 600":          func(path string) error { return os.Chmod(path, 0o602) },
		"too many levels": func(path string) error {
			return errors.Join(os.Rename(path, path+"x"), os.Symlink(path+"x", path))
		},
		"not a regular file": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"is damaged":         func(path string) error { return os.WriteFile(path, []byte(`{"version":1,"tokens":[`), 0o600) },
		"unknown field": func(path string) error {
			return os.WriteFile(path, []byte(`{"version":1,"token":[]}`),
				0o600)
		},
		"version 2": func(path string) error { return os.WriteFile(path, []byte(`{"version":2}`), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := testStore(t)
			text, made := create(t, s, Record{Name: "me", Connection: "dm"})
			if err := spoil(s.path); err != nil {
				t.Fatal(err)
			}
			_, err := s.Verify(text)
			if err == nil || errors.Is(err, ErrInvalid) {
				t.Fatalf("err = %v, want that the file cannot be read", err)
			}
			if !strings.Contains(err.Error(), name) {
				t.Errorf("err = %v, want %q in it", err, name)
			}
			if strings.Contains(err.Error(), s.path) {
				t.Errorf("err = %v has the path", err)
			}
			if s.CheckActive(made.ID) == nil {
				t.Error("what it opened stays open")
			}
		})
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	create(t, s, Record{Name: "me", Connection: "dm"})
	past := day.Add(-time.Second)
	for want, r := range map[string]Record{
		"already":                        {Name: "me", Connection: "group"},
		"name:":                          {Name: "a\nb", Connection: "dm"},
		"must be dm or group":            {Name: "a", Connection: "DM"},
		"has no group":                   {Name: "a", Connection: "dm", Group: "g"},
		`group "G"`:                      {Name: "a", Connection: "group", Group: "G"},
		"agent id":                       {Name: "a", Connection: "dm", AgentID: "a b"},
		"an absolute path":               {Name: "a", Connection: "dm", Workspace: "w"},
		"expires: must be in the future": {Name: "a", Connection: "dm", Expires: &past},
	} {
		if _, _, err := s.Create(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", r, err, want)
		}
	}
	if _, err := s.Revoke(t.Context(), "unknown"); err == nil {
		t.Error("a token that is not there was revoked")
	}
	if list, err := s.List(); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

// A record that was edited by hand errs towards a group.
func TestUnclearRecordIsAGroups(t *testing.T) {
	t.Parallel()
	for _, r := range []Record{{Connection: "DM"}, {Connection: ""}, {Connection: "dm", Group: "g"}, {Connection: "dm "}} {
		if who, err := r.Audience(); err != nil || who.IsDM() {
			t.Errorf("%+v is %v, %v", r, who, err)
		}
	}
	if who, err := (Record{Connection: "dm"}).Audience(); err != nil || who != audience.DM() {
		t.Errorf("%v, %v", who, err)
	}
}

// Several processes make tokens at once: none is lost.
func TestConcurrentChanges(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			other := Open(s.path)
			if _, _, err := other.Create(t.Context(), Record{Name: fmt.Sprint("t", i), Connection: "group"}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if list, err := s.List(); err != nil || len(list) != 16 {
		t.Errorf("%d tokens, %v", len(list), err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("yamo_0123456789ab_" + strings.Repeat("A", 43))
	f.Add("yamo__")
	f.Fuzz(func(t *testing.T, text string) {
		id, secret, ok := parse(text)
		if ok && Prefix+id+"_"+secret != text {
			t.Errorf("%q is taken for %q and %q", text, id, secret)
		}
		if ok && len(text) != len(Prefix)+12+1+43 {
			t.Errorf("%q has %d bytes", text, len(text))
		}
	})
}
