package stdio

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
	tooLong bool   // data is only the ID as JSON, nil if it was not found
	err     error  // io.EOF or the read error
}

// pump sends the lines of r, of at most maxLine bytes each, until r ends or ctx is done. It reads up to readAhead bytes
// that are not received yet, and calls ended when r has ended, which may be before all lines are received. A read
// cannot be interrupted, so its goroutine may remain until the process ends.
func pump(ctx context.Context, r io.Reader, maxLine int, lines chan<- line, ended func()) {
	read := make(chan line)
	go readLines(ctx, r, maxLine, read)
	var waiting []line
	size := 0 // of waiting, in bytes
	for {
		var in <-chan line // nil while nothing may be read
		if size < readAhead {
			in = read
		}
		var out chan<- line
		var next line
		if len(waiting) > 0 {
			out, next = lines, waiting[0]
		}
		select {
		case l := <-in:
			if l.err != nil {
				ended()
				read = nil
			}
			waiting, size = append(waiting, l), size+len(l.data)
		case out <- next:
			if next.err != nil {
				return
			}
			waiting, size = waiting[1:], size-len(next.data)
		case <-ctx.Done():
			return
		}
	}
}

// readLines sends the lines of r and then the error that ends it, until ctx is done.
func readLines(ctx context.Context, r io.Reader, maxLine int, lines chan<- line) {
	reader := bufio.NewReaderSize(r, 64<<10)
	for {
		l := readLine(reader, maxLine)
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

// readLine reads a line of at most maxLine bytes, including its line break, and skips the rest of a longer
// one. The last line need not have a line break.
func readLine(reader *bufio.Reader, maxLine int) line {
	var data, tail []byte
	tooLong := false
	for {
		part, err := reader.ReadSlice('\n')
		switch {
		case tooLong:
			tail = append(tail, part...)
			tail = tail[max(0, len(tail)-tailLength):]
		case len(data)+len(part) > maxLine:
			tooLong = true
			data = append(data, part...) // exceeds maxLine by at most one buffer
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
			return line{data: bytes.TrimSpace(data)} // the next read returns the error again
		}
	}
}

// Clients put the ID of a request at the beginning (most of them) or at the end (the TypeScript SDK). Only
// these two places are certain to belong to the outermost object.
const (
	headLength = 256
	tailLength = 256
)

var (
	idFirst = regexp.MustCompile(`^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(-?\d+|"[^"\\]*")\s*,`)
	idLast  = regexp.MustCompile(`,\s*"id"\s*:\s*(-?\d+|"[^"\\]*")\s*\}\s*$`)
)

// findID returns the ID of a message of which only both ends are known, nil if it is in neither.
func findID(head, tail []byte) []byte {
	if found := idFirst.FindSubmatch(head); found != nil {
		return found[1]
	}
	if found := idLast.FindSubmatch(tail); found != nil {
		return found[1]
	}
	return nil
}
