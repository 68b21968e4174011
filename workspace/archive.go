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

// A daily log that was put away lies compressed in memory/archive/ (RFC-0009 §5.2). It keeps its name: an audience
// that may read memory/2026-01-02.md reads it from there when it is not in memory/ any more.

const (
	archiveFolder = memoryFolder + "/archive"
	archived      = ".gz"
)

// archiveName is where the log called name is put away, "" if it is no log.
func archiveName(name string) string {
	if m := logName.FindStringSubmatch(name); m == nil || !validDate(m[1]) {
		return ""
	}
	return archiveFolder + "/" + path.Base(name) + archived
}

// archivedLogs are the names of the logs that were put away, in no particular order. In a group there are none to list.
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
		base, ok := strings.CutSuffix(entry.Name(), archived)
		if name := memoryFolder + "/" + base; ok && archiveName(name) != "" {
			names = append(names, name)
		}
	}
	return names
}

// statArchived describes the log called name that was put away.
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
	var size [4]byte // RFC 1952 ends a member with the length of what it holds
	if _, err := file.ReadAt(size[:], info.Size()-int64(len(size))); err != nil {
		return File{}, v.fault("stat", name, class, errDamaged)
	}
	described.Size = int64(binary.LittleEndian.Uint32(size[:]))
	return described, nil
}

var errDamaged = errors.New("the compressed log is damaged")

// readArchived returns at most limit bytes of the log called name that was put away, and whether there are more.
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

// unpack is at most limit bytes of what pack made packed of.
func unpack(packed []byte, limit int64) (data []byte, more bool, err error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, false, errDamaged
	}
	// Not more than asked for is unpacked, whatever the file claims to hold.
	data, err = io.ReadAll(io.LimitReader(reader, limit+1))
	if err != nil {
		return nil, false, errDamaged
	}
	if int64(len(data)) > limit {
		return data[:limit], true, nil
	}
	return data, false, nil
}

// pack compresses data; the same data gives the same bytes.
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

// missingLog reports whether err says that a log is not in memory/, so that it may have been put away.
func missingLog(name string, err error) bool {
	return errors.Is(err, fs.ErrNotExist) && archiveName(name) != ""
}
