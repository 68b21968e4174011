package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
)

// line is one message of the input, without its line break.
type line struct {
	data    []byte // owned by the receiver
	tooLong bool   // data is only the id, as JSON, if it could be found
	err     error  // the end of the input, or why it cannot be read
}

// pump reads r line by line into lines until r ends or ctx is done. It stays behind in a read that
// does not return; that is the process's last.
func pump(ctx context.Context, r io.Reader, most int, lines chan<- line) {
	reader := bufio.NewReaderSize(r, 64<<10)
	for {
		l := readLine(reader, most)
		select {
		case lines <- l:
		case <-ctx.Done():
			return
		}
		if l.err != nil {
			return
		}
	}
}

// readLine reads a line of at most `most` bytes, its break included, and skips the rest of a longer one. What stands before
// the end of the input without a line break is a line too.
func readLine(reader *bufio.Reader, most int) line {
	var data, tail []byte
	tooLong := false
	for {
		part, err := reader.ReadSlice('\n')
		switch {
		case tooLong:
			tail = append(tail, part...)
			tail = tail[max(0, len(tail)-tailLength):]
		case len(data)+len(part) > most:
			tooLong = true
			data = append(data, part...) // at most one buffer more than allowed
			tail = bytes.Clone(data[max(0, len(data)-tailLength):])
			data = data[:min(len(data), headLength)]
		default:
			data = append(data, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(data) == 0:
			return line{err: err}
		case tooLong:
			return line{data: findID(data, tail), tooLong: true}
		default:
			return line{data: bytes.TrimSpace(data)} // an error comes again at the next read
		}
	}
}

// Where clients put the id of a request: right at the beginning (most), or right at the end (the
// TypeScript SDK). The end of a message closes its outermost object, so both are the message's own.
const (
	headLength = 256
	tailLength = 256
)

var (
	idFirst = regexp.MustCompile(`^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(-?\d+|"[^"\\]*")\s*,`)
	idLast  = regexp.MustCompile(`,\s*"id"\s*:\s*(-?\d+|"[^"\\]*")\s*\}\s*$`)
)

// findID returns the id of a message of which only the ends are known, nil if it is in neither.
func findID(head, tail []byte) []byte {
	if found := idFirst.FindSubmatch(head); found != nil {
		return found[1]
	}
	if found := idLast.FindSubmatch(tail); found != nil {
		return found[1]
	}
	return nil
}
