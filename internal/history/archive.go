package history

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// ErrNotArchive means that a file is none of the forms that a program exports.
var ErrNotArchive = errors.New("it is neither an exported archive (zip) nor its conversations.json; " +
	"if it is an archive, it is damaged: download it again")

// conversationFile is the name of a file of conversations in an archive. Large archives have several.
var conversationFile = regexp.MustCompile(`^conversations(?:-\d+)?\.json$`)

// eachConversation calls visit with each conversation of an archive, of the folder that it was unpacked to, or of one
// of its files.
func eachConversation(ctx context.Context, path string, visit func(json.RawMessage) error) (err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return eachInFolder(ctx, path, visit)
	case !isZip(path):
		return eachInFile(ctx, path, visit)
	}
	archive, err := zip.OpenReader(path)
	if err != nil {
		return errors.Join(ErrNotArchive, err)
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	files := slices.DeleteFunc(archive.File, func(f *zip.File) bool {
		return !conversationFile.MatchString(filepath.Base(f.Name))
	})
	if len(files) == 0 {
		return ErrNotArchive
	}
	slices.SortFunc(files, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range files {
		part, err := f.Open()
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(f.Name), err)
		}
		if err := errors.Join(eachElement(ctx, filepath.Base(f.Name), part, visit), part.Close()); err != nil {
			return err
		}
	}
	return nil
}

// isZip reports whether a file is an archive, by its name or beginning.
func isZip(path string) bool {
	if strings.EqualFold(filepath.Ext(path), ".zip") {
		return true
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // opened for reading
	mark := make([]byte, 4)
	_, err = io.ReadFull(file, mark)
	return err == nil && string(mark) == "PK\x03\x04"
}

// eachInFolder reads the files of an archive that was unpacked.
func eachInFolder(ctx context.Context, dir string, visit func(json.RawMessage) error) error {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if !e.Type().IsRegular() || !conversationFile.MatchString(e.Name()) {
			continue
		}
		found = true
		if err := eachInFile(ctx, filepath.Join(dir, e.Name()), visit); err != nil {
			return err
		}
	}
	if !found {
		return ErrNotArchive
	}
	return nil
}

func eachInFile(ctx context.Context, path string, visit func(json.RawMessage) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // opened for reading
	return eachElement(ctx, filepath.Base(path), file, visit)
}

// eachElement calls visit with each element of the JSON array in r, the file called name. Memory is bounded by the
// largest.
func eachElement(ctx context.Context, name string, r io.Reader, visit func(json.RawMessage) error) error {
	in := bufio.NewReader(r)
	if mark, err := in.Peek(3); err == nil && bytes.Equal(mark, []byte("\xef\xbb\xbf")) { // a byte order mark
		_, _ = in.Discard(len(mark)) // it is in the buffer
	}
	d := json.NewDecoder(in)
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		return errors.Join(ErrNotArchive, err)
	}
	read := 0
	damaged := func(err error) error {
		return fmt.Errorf("%s is damaged or cut off after %s (%w); download the archive again", name,
			text.Count(read, "conversation", "conversations"), err)
	}
	for ; d.More(); read++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		var element json.RawMessage
		if err := d.Decode(&element); err != nil {
			return damaged(err)
		}
		if err := visit(element); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // no end of the array
		return damaged(err)
	}
	return nil
}
