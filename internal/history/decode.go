package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// byteOrderMark is what a file of UTF-8 may begin with.
var byteOrderMark = []byte("\uFEFF")

// decode decodes data, and reports whether it is JSON. A field of an unexpected type is left out, the others are read.
func decode(data []byte, to any) bool {
	err := json.Unmarshal(data, to)
	_, typed := errors.AsType[*json.UnmarshalTypeError](err)
	return err == nil || typed
}

// readJSON decodes a file of limited size.
func readJSON(path string, to any) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return fmt.Errorf("%s: %w", filepath.Base(path), fs.ErrInvalid)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !decode(bytes.TrimPrefix(data, byteOrderMark), to) {
		return fmt.Errorf("%s: %w", filepath.Base(path), fs.ErrInvalid)
	}
	return nil
}

// eachLine calls visit with each line of r that is not empty. The error is fs.ErrInvalid if there are more than maxFile
// bytes. What is valid of a line ends with the call.
func eachLine(r io.Reader, visit func(line []byte)) error {
	limited := &io.LimitedReader{R: r, N: maxFile + 1}
	lines := bufio.NewReader(limited)
	for {
		line, err := lines.ReadBytes('\n')
		if limited.N == 0 {
			return fs.ErrInvalid
		}
		// Zeros are what a crash of the machine leaves.
		if line = bytes.Trim(bytes.TrimPrefix(line, byteOrderMark), "\x00 \t\r\n"); len(line) > 0 {
			visit(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// layouts are the forms of times that programs write as text.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999",
}

// moment returns the time in a JSON value: text, or a number of seconds, milliseconds, microseconds or nanoseconds
// since 1970. It is zero if the value is neither.
func moment(value json.RawMessage) time.Time {
	text := strings.Trim(string(value), "\" ")
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0 && n < 1e20) {
		return time.Time{}
	}
	for n > 1e11 { // in seconds it would be after the year 5000
		n /= 1000
	}
	return time.UnixMilli(int64(n * 1000)).UTC()
}
