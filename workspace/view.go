package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// MaxFileSize is the maximum size of a workspace file that is read or written as a whole, in bytes.
const MaxFileSize = 4 << 20

// ErrTooLarge is returned for a file of more than MaxFileSize bytes.
var ErrTooLarge = fmt.Errorf("file is larger than %d MiB", MaxFileSize>>20)

// View is the workspace as one audience may see it: the only way from a session to a file. It is safe for concurrent
// use. Names are slash-separated and relative to the workspace, exactly as in File.Name. A file that the audience may
// not see, that is refused (a link, a device, an alias) or that does not exist gives the same error, for which
// errors.Is(err, fs.ErrNotExist) is true. It is true as well for a *RefusedError, which a writer gets for a refused
// file.
type View struct {
	ws  *Workspace
	who audience.Audience
}

// File describes a workspace file.
type File struct {
	Name        string // relative to the workspace, unique
	Class       audience.Class
	Title       string
	Description string
	MIMEType    string
	Size        int64 // bytes
	Modified    time.Time
}

// Audience returns the audience of the view.
func (v *View) Audience() audience.Audience { return v.who }

// Dir returns the absolute path of the workspace folder in a DM, "" in a group.
func (v *View) Dir() string {
	// SECURITY: a path reveals the owner's account and machine.
	if !v.who.IsDM() {
		return ""
	}
	return v.ws.dir
}

// Stat describes the file called name. An archived log is described as if it were still in memory/.
func (v *View) Stat(name string) (File, error) {
	class := classify(v.who, name)
	// SECURITY: the access check. Denied names never reach the file system.
	if !v.who.May(audience.Read, class) {
		return File{}, missing("stat", name)
	}
	info, err := plain.Stat(v.ws.root, name)
	if missingLog(name, err) {
		return v.statArchived(name, class)
	}
	if err != nil {
		return File{}, v.fault("stat", name, class, err)
	}
	return describe(v.who, name, class, info), nil
}

// Read returns the content of the file called name, byte for byte. The error is ErrTooLarge for more than MaxFileSize.
func (v *View) Read(name string) ([]byte, error) {
	data, more, err := v.head(name, MaxFileSize)
	if err != nil {
		return nil, err
	}
	if more {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrTooLarge}
	}
	return data, nil
}

// Head returns the first MaxFileSize bytes of the file called name, and whether there are more.
func (v *View) Head(name string) (data []byte, more bool, err error) {
	return v.head(name, MaxFileSize)
}

// head returns up to limit bytes of the file called name and whether there are more.
func (v *View) head(name string, limit int64) (data []byte, more bool, err error) {
	class := classify(v.who, name)
	// SECURITY: the access check. Denied names never reach the file system.
	if !v.who.May(audience.Read, class) {
		return nil, false, missing("read", name)
	}
	data, more, err = plain.Read(v.ws.root, name, limit)
	if missingLog(name, err) {
		return v.readArchived(name, class, limit)
	}
	if err != nil {
		return nil, false, v.fault("read", name, class, err)
	}
	return data, more, nil
}

// exists reports whether the audience can read a file called name.
func (v *View) exists(name string) bool {
	_, err := v.Stat(name)
	return err == nil
}

// lacks reports whether there is no file called name for the audience. A file that the system cannot look at now, as
// without free descriptors, is not missing.
func (v *View) lacks(name string) bool {
	_, err := v.Stat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// list returns the names in folder that the audience may read, sorted; none if the folder is missing, and none in a
// group.
func (v *View) list(folder string) []string {
	// SECURITY: a folder's listing names the logs of the DM and of every group.
	if !v.who.IsDM() {
		return nil
	}
	entries, err := plain.List(v.ws.root, folder)
	if err != nil {
		_ = v.fault("list", folder, audience.Notes, err) // reported there; nothing to list is the answer
		return nil
	}
	var names []string
	for _, entry := range entries {
		name := folder + "/" + entry.Name()
		if v.who.May(audience.Read, classify(v.who, name)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// missing returns the one error for files that do not exist and for those that the audience may not see.
func missing(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// fault turns an error of the file system into the one for the caller of the view: a refused file becomes a missing
// one, and the reason is logged for the operator, once for each file.
func (v *View) fault(op, name string, class audience.Class, err error) error {
	var refused *plain.RefusedError
	if about, ok := errors.AsType[*memoryError](err); ok {
		return about
	}
	switch {
	case errors.As(err, &refused):
		if _, again := v.ws.reported.LoadOrStore(name+"\x00"+refused.Reason, true); !again {
			v.ws.log.Warn("workspace file refused", "class", class, "reason", refused.Reason)
		}
		// SECURITY: to a reader a refused file is a missing one. A writer learns the reason, if it may read the file.
		if writes(op) && v.who.May(audience.Read, class) {
			return &RefusedError{name, refused.Reason}
		}
		return missing(op, name)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		// A folder with the name of a file is none that could be written.
		if writes(op) {
			if reason := v.RefusalOf(name); reason != "" {
				return &RefusedError{name, reason}
			}
		}
		return missing(op, name)
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // the name is added below, relative to the workspace
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// writes reports whether an operation changes a file.
func writes(op string) bool { return op != "read" && op != "stat" && op != "list" }

// describe returns the File for what plain.Stat found.
func describe(a audience.Audience, name string, class audience.Class, info os.FileInfo) File {
	title, description := about(a, name, class)
	mime := "text/markdown"
	if name == heartbeatState {
		mime = "application/json"
	}
	return File{
		Name: name, Class: class, Title: title, Description: description, MIMEType: mime,
		Size: info.Size(), Modified: info.ModTime(),
	}
}

// text returns the first n characters of the file called name, as text.Plain shows it, and
// whether there are more. It reads only as much of the file as n characters can take.
func (v *View) text(name string, n int) (string, bool, error) {
	data, more, err := v.head(name, int64(n+1)*utf8.UTFMax)
	if err != nil {
		return "", false, err
	}
	full := text.Plain(string(data))
	shown := text.First(full, n)
	return shown, more || len(shown) < len(full), nil
}

// lines yields the lines of a Markdown text outside its front matter and fenced code blocks, without line ends.
func lines(text string) iter.Seq[string] {
	_, body, _ := frontmatter.Split(text)
	return markdown.Lines(body)
}
