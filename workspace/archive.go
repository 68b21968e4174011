package workspace

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// An archived daily log or note is compressed in memory/archive/ (RFC-0009 §5.2). It keeps its name: an audience
// that may read memory/2026-01-02.md reads it from the archive when it is no longer in memory/, so that links and
// searches go on working.

const (
	archiveFolder = memoryFolder + "/archive"
	archived      = ".gz"
	archivedNote  = notesFolder + "-" // begins the name of what was in notes/; others begin with their date
)

// archiveName returns where the log or memory file called name is archived, "" if its name has no date.
func archiveName(name string) string {
	if m := datedName.FindStringSubmatch(name); m == nil || !validDate(m[1]) || !plainName(name) {
		return ""
	}
	base := path.Base(name)
	if strings.HasPrefix(name, notesFolder+"/") {
		base = archivedNote + base
	}
	return archiveFolder + "/" + base + archived
}

// unarchived returns the name that the file base of memory/archive/ had before, which archiveName reverses; "" if
// it is no archive of one.
func unarchived(base string) string {
	base, ok := strings.CutSuffix(base, archived)
	if !ok {
		return ""
	}
	name := memoryFolder + "/" + base
	if note, ok := strings.CutPrefix(base, archivedNote); ok {
		name = notesFolder + "/" + note
	}
	if archiveName(name) == "" {
		return ""
	}
	return name
}

// archivedLogs returns the names that the archived files had in memory/ and notes/, in no particular order. A group
// gets none: its own log is found by its exact name.
func (v *View) archivedLogs() []string {
	// SECURITY: a folder's listing names the logs of the DM and of every group.
	if !v.who.IsDM() {
		return nil
	}
	entries, err := plain.List(v.ws.root, archiveFolder)
	if err != nil {
		_ = v.fault("list", archiveFolder, audience.DailyLog, err) // reported there; nothing to list is the answer
		return nil
	}
	var names []string
	for _, entry := range entries {
		if name := unarchived(entry.Name()); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// statArchived describes the archived log called name; Size is the size before compression.
func (v *View) statArchived(name string, class audience.Class) (File, error) {
	file, err := plain.Open(v.ws.root, archiveName(name), os.O_RDONLY)
	if err != nil {
		return File{}, v.fault("stat", name, class, err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	info, err := file.Stat()
	if err != nil {
		return File{}, v.fault("stat", name, class, err)
	}
	described := describe(v.who, name, class, info)
	// RFC 1952 ends a member with the length of its content, so that a listing does not unpack every log.
	var size [4]byte
	if _, err := file.ReadAt(size[:], info.Size()-int64(len(size))); err != nil {
		return File{}, v.fault("stat", name, class, errDamaged)
	}
	described.Size = int64(binary.LittleEndian.Uint32(size[:]))
	return described, nil
}

var errDamaged = errors.New("the compressed log is damaged")

// readArchived returns up to limit bytes of the archived log called name, and whether there are more.
func (v *View) readArchived(name string, class audience.Class, limit int64) (data []byte, more bool, err error) {
	packed, _, err := plain.Read(v.ws.root, archiveName(name), MaxFileSize)
	if err != nil {
		return nil, false, v.fault("read", name, class, err)
	}
	if data, more, err = unpack(packed, limit); err != nil {
		return nil, false, v.fault("read", name, class, err)
	}
	return data, more, nil
}

// unpack reverses pack, up to limit bytes, and reports whether there are more.
func unpack(packed []byte, limit int64) (data []byte, more bool, err error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, false, errDamaged
	}
	// The limit bounds memory, whatever size the file claims to have.
	data, err = io.ReadAll(io.LimitReader(reader, limit+1))
	if err != nil {
		return nil, false, errDamaged
	}
	if int64(len(data)) > limit {
		return data[:limit], true, nil
	}
	return data, false, nil
}

// pack compresses data. The same data gives the same bytes, so that archiving twice changes nothing.
func pack(data []byte) ([]byte, error) {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	if _, err := writer.Write(data); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return out.Bytes(), nil
}

// missingLog reports whether err means that a log is not in memory/, and so may be archived.
func missingLog(name string, err error) bool {
	return errors.Is(err, fs.ErrNotExist) && archiveName(name) != ""
}
