// Package crash rebuilds, from a recording of a program's system calls, the folders that it would leave behind if the
// machine lost power after any of them.
//
// Its invariant: a state has nothing that POSIX lets a disk lose and that the state's kind loses. So data survives for
// sure only once its file was fsynced, and a name only once its folder was.
package crash

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Calls are the system calls to record, as an argument of strace's -e.
const Calls = "trace=openat,open,creat,write,pwrite64,writev,pwritev,pwritev2,lseek,ftruncate,truncate,fallocate," +
	"rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,symlink,symlinkat,fsync,fdatasync," +
	"sync_file_range,copy_file_range,sendfile,splice,ioctl,io_uring_setup,mmap"

// Options are strace's for a recording: of all threads and children, with the paths of descriptors and whole strings.
func Options(output string) []string {
	return []string{"-f", "-y", "-s", "16777216", "-e", Calls, "-e", "signal=none", "-o", output}
}

// Op is a system call that changed files, or that wrote to standard output.
type Op struct {
	Call     string // its name without variants; "output" for standard output, "barrier" for the begin of an fsync
	Path, To string // absolute
	FD       string // the descriptor of an open, write or seek
	Data     []byte
	Offset   int64  // of a pwrite, the result of a seek, or the size of a truncate
	Flags    string // of an open or unlink
}

var (
	begun   = regexp.MustCompile(`^(\d+) +(\w+)\((.*)$`)
	resumed = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)$`)
	result  = regexp.MustCompile(`^\) += (-?\d+|0x[0-9a-f]+|\?)(?:<(.*)>)?`)
)

// unknown is the result of a call that the end of its process cut off: it may have been done or not.
const unknown = "?"

// Read returns what a recording made with Options has changed below root, in the order in which the calls ended. It
// fails for a call that it cannot follow.
func Read(recording io.Reader, root string) ([]Op, error) {
	var ops []Op
	waiting := map[string]string{} // the beginning of a call, by thread
	lines := bufio.NewReader(recording)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				return ops, nil
			}
			return nil, err
		}
		line = strings.TrimSuffix(line, "\n")
		early := false
		if m := resumed.FindStringSubmatch(line); m != nil {
			line = waiting[m[1]] + m[3]
			delete(waiting, m[1])
			early = true
		}
		m := begun.FindStringSubmatch(line)
		if m == nil {
			continue // the end of a process
		}
		if rest, ok := strings.CutSuffix(line, " <unfinished ...>"); ok {
			waiting[m[1]] = rest
			m[3] = strings.TrimSuffix(m[3], " <unfinished ...>")
			switch {
			case isOutput(m[2], m[3]):
				m[3] += ") = 0"
			case strings.HasSuffix(m[2], "sync"):
				m[2], m[3] = "barrier", m[3]+") = 0"
			default:
				continue
			}
		} else if early && isOutput(m[2], m[3]) {
			continue // it was taken when it began
		}
		op, err := parse(m[2], m[3], root)
		if err != nil {
			return nil, fmt.Errorf("%w in %.300s", err, line)
		}
		if op.Call != "" {
			ops = append(ops, op)
		}
	}
}

// isOutput reports whether a call writes to the pipe of standard output, of which a server has a duplicate.
func isOutput(call, args string) bool {
	fd, file, _ := strings.Cut(args, "<")
	return call == "write" && fd != "2" && (fd == "1" || strings.HasPrefix(file, "pipe:"))
}

// parse reads one call. An Op without Call changed nothing below root.
func parse(call, text, root string) (Op, error) {
	args, rest := arguments(text)
	m := result.FindStringSubmatch(rest)
	if m == nil {
		return Op{}, fmt.Errorf("no result %q", rest)
	}
	if strings.HasPrefix(m[1], "-") {
		return Op{}, nil
	}
	if m[1] == unknown {
		return Op{}, cutOff(call, text, root)
	}
	below := func(path string) bool { return path == root || strings.HasPrefix(path, root+"/") }
	op := Op{Call: strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(call, "2"), "64"), "at")}
	if len(args) == 0 {
		return Op{}, nil
	}
	op.FD, op.Path = descriptor(args[0])
	switch op.Call {
	case "open", "creat":
		if m[2] == "" || !below(m[2]) {
			return Op{}, nil
		}
		op.FD, op.Path, op.Flags = m[1], m[2], args[min(len(args)-1, 2)]
		if call == "open" {
			op.Flags = args[1]
		}
		return op, nil
	case "write", "pwrite", "writev", "pwritev":
		if isOutput(call, text) {
			op.Call, op.Data = "output", unquote(args[1])
			return op, nil
		}
		if !below(op.Path) {
			return Op{}, nil
		}
		if strings.HasSuffix(op.Call, "v") {
			return Op{}, fmt.Errorf("not supported")
		}
		op.Data = unquote(args[1])
		if n, _ := strconv.Atoi(m[1]); n < len(op.Data) {
			op.Data = op.Data[:n]
		}
		return op, number(&op.Offset, args, 3)
	case "lseek":
		op.Offset, _ = strconv.ParseInt(m[1], 10, 64)
	case "ftruncate", "truncate":
		return keep(op, below, number(&op.Offset, args, 1))
	case "fsync", "fdatasync", "barrier":
		if op.Call != "barrier" {
			op.Call = "fsync"
		}
	case "rename", "link":
		op.Path, op.To = two(call, args)
		if !below(op.Path) && !below(op.To) {
			return Op{}, nil
		}
		return op, nil
	case "symlink":
		op.Data, op.Path = unquote(args[0]), at(call, args[1:])
	case "unlink", "rmdir", "mkdir":
		op.Path = at(call, args)
		if call == "unlinkat" && strings.Contains(args[2], "AT_REMOVEDIR") {
			op.Call = "rmdir"
		}
	case "mmap":
		if len(args) < 5 || !strings.Contains(args[2], "PROT_WRITE") || !strings.Contains(args[3], "MAP_SHARED") {
			return Op{}, nil
		}
		_, op.Path = descriptor(args[4])
		return keep(Op{Path: op.Path}, below, fmt.Errorf("not supported"))
	case "ioctl":
		if !strings.Contains(text, "FICLONE") {
			return Op{}, nil
		}
		return keep(op, below, fmt.Errorf("not supported"))
	default: // among the rest are copies in the kernel
		for _, arg := range args {
			if _, path := descriptor(arg); below(path) {
				return Op{}, fmt.Errorf("not supported")
			}
		}
		return Op{}, nil
	}
	return keep(op, below, nil)
}

// cutOff returns an error for a call without a known result that may have changed what is below root.
func cutOff(call, text, root string) error {
	args, rest := arguments(text)
	path := "" // of an open
	if strings.HasPrefix(call, "open") || call == "creat" {
		path = at(call, args)
		if call != "creat" && !strings.Contains(text, "O_CREAT") && !strings.Contains(text, "O_TRUNC") {
			return nil
		}
	}
	op, err := parse(call, strings.TrimSuffix(text, rest)+") = 0<"+path+">", root)
	if err != nil || op.Call == "" || op.Call == "fsync" || op.Call == "lseek" || op.Call == "output" {
		return err
	}
	return fmt.Errorf("%s has a result that is not known", op.Call)
}

// keep returns op and err if the path is one of those that matter.
func keep(op Op, below func(string) bool, err error) (Op, error) {
	if !below(op.Path) {
		return Op{}, nil
	}
	return op, err
}

// number reads argument i, if there is one.
func number(to *int64, args []string, i int) (err error) {
	if i < len(args) {
		*to, err = strconv.ParseInt(args[i], 10, 64)
	}
	return err
}

// at is the path that a call names, after the descriptor of a folder if it is a variant with one.
func at(call string, args []string) string {
	if !strings.Contains(call, "at") {
		return string(unquote(args[0]))
	}
	_, dir := descriptor(args[0])
	return join(dir, string(unquote(args[1])))
}

// two are both paths of a rename or link.
func two(call string, args []string) (from, to string) {
	if !strings.Contains(call, "at") {
		return at(call, args), at(call, args[1:])
	}
	return at(call, args), at(call, args[2:])
}

func join(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// descriptor splits 3</path>.
func descriptor(arg string) (fd, path string) {
	fd, path, _ = strings.Cut(arg, "<")
	return fd, string(unescape(strings.TrimSuffix(path, ">")))
}

// arguments splits a call's arguments at the commas outside of strings, paths, lists and structures. rest begins with
// the closing parenthesis.
func arguments(text string) (args []string, rest string) {
	depth, start, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("<[{(", c) >= 0:
			depth++
		case strings.IndexByte(">]}", c) >= 0 || c == ')' && depth > 0:
			depth--
		case c == ')':
			return append(args, strings.TrimSpace(text[start:i])), text[i:]
		case c == ',' && depth == 0:
			args = append(args, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return args, ""
}

// unquote is the content of a C string.
func unquote(arg string) []byte {
	return unescape(strings.TrimSuffix(strings.TrimPrefix(arg, `"`), `"`))
}

// unescape replaces the escapes of C, of which strace uses octal ones of one to three digits.
func unescape(text string) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			continue
		}
		i++
		if at := strings.IndexByte("abtnvfr", text[i]); at >= 0 {
			out = append(out, byte(7+at))
			continue
		}
		if text[i] < '0' || text[i] > '7' {
			out = append(out, text[i])
			continue
		}
		value, end := 0, min(i+3, len(text))
		for ; i < end && text[i] >= '0' && text[i] <= '7'; i++ {
			value = value<<3 | int(text[i]-'0')
		}
		i--
		out = append(out, byte(value))
	}
	return out
}
