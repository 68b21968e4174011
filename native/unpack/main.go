// Command unpack puts this platform's committed native libraries into native/lib/<os>_<arch>/.
//
// It runs before anything that links them can be built, so it imports neither of them, and it is a Go
// program so that a newcomer needs no zstd. It exits with status 3 if nothing is committed for this
// platform; `make` then runs build.sh.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const nothingCommitted = 3

func main() {
	platform := runtime.GOOS + "_" + runtime.GOARCH
	from, to := filepath.Join("native", "prebuilt", platform), filepath.Join("native", "lib", platform)
	sums, err := readSums(filepath.Join(from, "SHA256SUMS"))
	if os.IsNotExist(err) {
		fmt.Fprintf(os.Stderr, "unpack: no libraries are committed for %s\n", platform)
		os.Exit(nothingCommitted)
	}
	if err == nil {
		err = unpackAll(from, to, sums)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "unpack:", err)
		os.Exit(1)
	}
}

// unpackAll unpacks every library in sums that has a .zst next to it and is not in to already.
func unpackAll(from, to string, sums map[string]string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for name, want := range sums {
		if strings.HasSuffix(name, ".zst") {
			continue
		}
		target := filepath.Join(to, name)
		if got, err := digest(target); err == nil && got == want {
			continue
		}
		if err := unpack(filepath.Join(from, name+".zst"), target, want); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Printf("unpacked %s\n", filepath.ToSlash(target))
	}
	return nil
}

// unpack writes the decompressed source to target, atomically and only if its SHA-256 is want.
func unpack(source, target, want string) error {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // read only
	plain, err := zstd.NewReader(in)
	if err != nil {
		return err
	}
	defer plain.Close()
	tmp, err := os.CreateTemp(filepath.Dir(target), ".unpack-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // renamed away when all went well
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(tmp, sum), plain); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		return fmt.Errorf("sha256 is %s, SHA256SUMS has %s", got, want)
	}
	if err := tmp.Chmod(0o755); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), target)
}

// readSums reads a file in sha256sum's format: file name -> hex digest.
func readSums(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	sums := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok || filepath.Base(name) != name {
			return nil, fmt.Errorf("%s: unexpected line %q", path, lines.Text())
		}
		sums[name] = sum
	}
	return sums, lines.Err()
}

// digest returns the SHA-256 of a file in hexadecimal.
func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // read only
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
