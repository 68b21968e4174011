package ledger

import (
	"bytes"
	"errors"
	"os"
	"testing"
)

// checkpoint returns where r is.
func checkpoint(t *testing.T, r *reader) (c Checkpoint) {
	t.Helper()
	if err := r.Checkpoint(t.Context(), func(at Checkpoint) error { c = at; return nil }); err != nil {
		t.Fatal(err)
	}
	return c
}

func resume(t *testing.T, r *reader, c Checkpoint) (restored bool, err error) {
	t.Helper()
	err = r.Resume(t.Context(), c, func() error { return nil }, func() { restored = true })
	return restored, err
}

// Every way to a place gives the same checkpoint, and a process that resumes there gets what comes after it.
func TestResume(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	a := newReader(opt)
	a.add(t, "mem_1", "mem_2")
	own := checkpoint(t, a)
	a.add(t, "mem_3")
	if _, err := a.tryErase(t.Context(), "mem_1"); err != nil {
		t.Fatal(err)
	}
	after := checkpoint(t, a)
	reads := newReader(opt)
	reads.sync(t)
	for name, at := range map[string]Checkpoint{
		"of a process that read it": checkpoint(t, reads),
		"after an erasure":          after,
	} {
		if !bytes.Equal(at.File, after.File) || at.Seq != 4 {
			t.Errorf("the checkpoint %s is %+v, want %+v", name, at, after)
		}
	}
	a.add(t, "mem_5")
	b := newReader(opt)
	if restored, err := resume(t, b, after); err != nil || !restored {
		t.Fatalf("resume: %v, %v", restored, err)
	}
	b.sync(t)
	if got := b.ids(); got != "mem_5" {
		t.Errorf("after resuming %q is delivered, want mem_5", got)
	}
	if restored, err := resume(t, newReader(opt), own); restored || !errors.Is(err, ErrChanged) {
		t.Errorf("from before the erasure: %v, %v", restored, err)
	}
	// What it has read since counts in its own checkpoint.
	if diff := bytes.Compare(checkpoint(t, b).File, checkpoint(t, a).File); diff != 0 {
		t.Error("a process that resumed has another hash of the same file")
	}
	if err := b.Replace(t.Context(), own, func() error { t.Error("written"); return nil }); !errors.Is(err, ErrChanged) {
		t.Errorf("replace for a checkpoint before the erasure: %v", err)
	}
}

// One altered byte anywhere before the checkpoint keeps the ledger from resuming, and then it is found by reading.
// A process that read only a part of what another one wrote, and may still have what that one erased, has no
// checkpoint until it has read the rest.
func TestNoCheckpointOfAPart(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	a, b := newReader(opt), newReader(opt)
	a.add(t, "mem_1", "mem_2")
	b.sync(t)
	if _, err := a.tryErase(t.Context(), "mem_1"); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no room")
	if err := b.Ledger.Sync(t.Context(), func(Entry) error { return full }); !errors.Is(err, full) {
		t.Fatalf("sync: %v", err)
	}
	saved := func() (saved bool) {
		t.Helper()
		if err := b.Checkpoint(t.Context(), func(Checkpoint) error { saved = true; return nil }); err != nil {
			t.Fatal(err)
		}
		return saved
	}
	if saved() {
		t.Error("after a part there is a checkpoint")
	}
	b.sync(t)
	if !saved() {
		t.Error("after the rest there is no checkpoint")
	}
}

func TestResumeNoticesEveryByte(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	a := newReader(opt)
	a.add(t, "mem_1", "mem_2")
	at := checkpoint(t, a)
	raw, err := os.ReadFile(opt.Path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(raw); i += 7 {
		altered := bytes.Clone(raw)
		altered[i] ^= 1
		if err := os.WriteFile(opt.Path, altered, 0o600); err != nil {
			t.Fatal(err)
		}
		if restored, err := resume(t, newReader(opt), at); restored || !errors.Is(err, ErrChanged) {
			t.Fatalf("byte %d: resumed %v, %v", i, restored, err)
		}
	}
}

// A seal is of one ledger, one key and one content.
func TestSeal(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	a := newReader(opt)
	a.add(t, "mem_1")
	seal := func(o Options, data string) string {
		t.Helper()
		mac, err := New(o).Seal(t.Context(), []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		return string(mac)
	}
	other, rekeyed := opt, opt
	other.Name = "other"
	rekeyed.Key = func(bool) ([]byte, error) { return bytes.Repeat([]byte{9}, 32), nil }
	want := seal(opt, "data")
	if seal(opt, "data") != want {
		t.Error("the same data has another seal")
	}
	for name, got := range map[string]string{
		"other data": seal(opt, "dat"), "another ledger": seal(other, "data"), "another key": seal(rekeyed, "data"),
	} {
		if got == want {
			t.Errorf("%s has the same seal", name)
		}
	}
}
