package install

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// maxUnpacked bounds what is read from a compressed stream while looking for a member.
const maxUnpacked = 2 << 30

// extract writes the member of the archive (.tgz, .tar.gz; .zip, .whl, .jar) to the file dst, which
// must not exist. The member must be a regular file of exactly size bytes.
//
// SECURITY: only that one member is written, to a name the caller chose; an archive's own paths, links
// and sizes decide nothing.
func extract(archive, member, dst string, size int64) error {
	var err error
	if isTar(archive) {
		err = extractTar(archive, member, dst, size)
	} else {
		err = extractZip(archive, member, dst, size)
	}
	if err != nil {
		_ = os.Remove(dst)
	}
	return err
}

func isTar(name string) bool {
	return strings.HasSuffix(name, ".tgz") || strings.HasSuffix(name, ".tar.gz")
}

// extractTar writes the file called member of a gzipped tar archive to dst, up to size bytes.
func extractTar(archive, member, dst string, size int64) error {
	f, err := os.Open(archive)
	if err != nil {
		return &localError{err}
	}
	defer f.Close() //nolint:errcheck // opened for reading
	gz, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("not a gzip archive: %w", err)
	}
	defer gz.Close() //nolint:errcheck // opened for reading
	tr := tar.NewReader(io.LimitReader(gz, maxUnpacked))
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("archive has no %s", member)
		}
		if err != nil {
			return fmt.Errorf("damaged archive: %w", err)
		}
		if path.Clean(h.Name) == member && h.Typeflag == tar.TypeReg {
			return writeMember(tr, member, dst, size)
		}
	}
}

// extractZip writes the file called member of a zip archive to dst, up to size bytes.
func extractZip(archive, member, dst string, size int64) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("damaged archive: %w", err)
	}
	defer z.Close() //nolint:errcheck // opened for reading
	for _, entry := range z.File {
		if path.Clean(entry.Name) != member || !entry.Mode().IsRegular() {
			continue
		}
		r, err := entry.Open()
		if err != nil {
			return fmt.Errorf("damaged archive: %w", err)
		}
		defer r.Close() //nolint:errcheck // opened for reading
		return writeMember(r, member, dst, size)
	}
	return fmt.Errorf("archive has no %s", member)
}

// writeMember copies r to the new file dst, at most size bytes and one more.
func writeMember(r io.Reader, member, dst string, size int64) error {
	w, err := createPublic(dst)
	if err != nil {
		return &localError{err}
	}
	n, err := io.Copy(diskWriter{w}, io.LimitReader(r, size+1))
	if closeErr := w.Close(); err == nil && closeErr != nil {
		err = &localError{closeErr}
	}
	switch {
	case err != nil:
		return fmt.Errorf("unpack %s: %w", member, err)
	case n > size:
		return fmt.Errorf("refused: %s is larger than %d bytes", member, size)
	}
	return nil
}

// diskWriter marks errors of writing as this machine's, to tell them from a damaged download.
type diskWriter struct{ w io.Writer }

// Write marks errors of the disk: another source of the file does not help against them.
func (d diskWriter) Write(p []byte) (int, error) {
	n, err := d.w.Write(p)
	if err != nil {
		err = &localError{err}
	}
	return n, err
}
