package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// change is a commit that is about to be made.
type change struct {
	note   workspace.Note
	author string
	files  []blob
}

// blob is a file of a commit; data is nil if the commit deletes it.
type blob struct {
	name string
	data []byte
}

// altering lists the attributes that make git store something other than a file's content; filter even runs a program.
var altering = []string{"filter", "ident", "working-tree-encoding"}

// wanted returns those of files that the person's ignore files and attributes do not exclude. refused explains the
// attributes: an ignored file is the person's wish, a file with a filter may surprise them.
func (r *Repository) wanted(
	ctx context.Context, files []workspace.FileChange,
) (some []workspace.FileChange, refused, err error) {
	var list, paths bytes.Buffer
	for _, file := range files {
		list.WriteString(file.Name + "\x00")
		paths.WriteString(literal(file.Name) + "\x00")
	}
	out, err := r.run(ctx, paths.Bytes(), "check-ignore", "-z", "--stdin")
	if exit, ok := errors.AsType[*exitError](err); ok && exit.code == 1 { // none
		err = nil
	}
	if err != nil {
		return nil, nil, err
	}
	var left []string
	for path := range strings.SplitSeq(string(out), "\x00") {
		left = append(left, strings.TrimPrefix(path, literal("")))
	}
	out, err = r.run(ctx, list.Bytes(), append([]string{"check-attr", "-z", "--stdin"}, altering...)...)
	if err != nil {
		return nil, nil, err
	}
	// SECURITY: a filter is a program that the repository names, and is never run. A file that a person encrypts with one
	// would then be committed in the clear, so that files with such attributes are left to the person.
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		if name, value := fields[i], fields[i+2]; value != "unspecified" && value != "unset" && !slices.Contains(left, name) {
			left = append(left, name)
			refused = fmt.Errorf("a file is left to a person to commit, because of its attribute %s in .gitattributes: git "+
				"would store another form of it", fields[i+1])
		}
	}
	some = slices.DeleteFunc(slices.Clone(files), func(f workspace.FileChange) bool {
		return slices.Contains(left, f.Name)
	})
	return some, refused, nil
}

// literal returns name in a form that git check-ignore does not read as a pathspec with magic, which begins with a
// colon. The command has no other way to quote a name.
func literal(name string) string { return "./" + name }

// contents reads the head commit and what it has of the files. If a person moves the branch afterwards, the commit that
// was read is no longer its head, and fast-import refuses the new one.
func (r *Repository) contents(ctx context.Context, at *place, files []workspace.FileChange) error {
	list := bytes.NewBufferString("HEAD^{commit}\n")
	for _, file := range files {
		list.WriteString("HEAD:" + file.Name + "\n")
	}
	out, err := r.run(ctx, list.Bytes(), "cat-file", "--batch")
	if err != nil {
		return err
	}
	head, _, out, err := object(out)
	if err != nil {
		return err
	}
	at.head, at.committed = head, map[string][]byte{}
	for _, file := range files {
		var data []byte
		if _, data, out, err = object(out); err != nil {
			return err
		}
		if data != nil {
			at.committed[file.Name] = data
		}
	}
	return nil
}

// object reads one answer of git cat-file --batch from the beginning of out: the name of the object, "" for none, its
// content, nil if it is not a file, and the rest of out.
func object(out []byte) (id string, content, rest []byte, err error) {
	line, rest, ok := bytes.Cut(out, []byte{'\n'})
	if ok && bytes.HasSuffix(line, []byte(" missing")) {
		return "", nil, rest, nil
	}
	fields := strings.Fields(string(line))
	size := -1
	if len(fields) == 3 {
		size, err = strconv.Atoi(fields[2])
	}
	if err != nil || size < 0 || size+1 > len(rest) {
		return "", nil, nil, errors.New("git cat-file: an answer is not understood")
	}
	if fields[1] == "blob" {
		content = rest[:size:size]
	}
	return fields[0], content, rest[size+1:], nil
}

// write makes the commits that have files, in order.
func (r *Repository) write(ctx context.Context, at place, when time.Time, commits ...change) error {
	commits = slices.DeleteFunc(commits, func(c change) bool { return len(c.files) == 0 })
	if len(commits) == 0 {
		return nil
	}
	final := map[string][]byte{}
	for _, c := range commits {
		for _, file := range c.files {
			final[file.name] = file.data
		}
	}
	// The index is updated first, and only for these files: if it were updated after the commit and a crash came in
	// between, a person's next commit would silently undo this one.
	var index bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(final)) {
		data := final[name]
		if data == nil {
			fmt.Fprintf(&index, "0 %s\t%s\x00", at.none, name)
			continue
		}
		id, err := r.run(ctx, data, "hash-object", "-w", "--no-filters", "--stdin")
		if err != nil {
			return err
		}
		fmt.Fprintf(&index, "100644 %s\t%s\x00", bytes.TrimSpace(id), name)
	}
	if _, err := r.run(ctx, index.Bytes(), "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	var stream bytes.Buffer
	stream.WriteString("feature done\n")
	for i, c := range commits {
		c.stream(&stream, when)
		if i == 0 && at.head != "" {
			fmt.Fprintf(&stream, "from %s\n", at.head)
		}
		for _, file := range c.files {
			if file.data == nil {
				fmt.Fprintf(&stream, "D %s\n", quoted(file.name))
				continue
			}
			fmt.Fprintf(&stream, "M 100644 inline %s\n", quoted(file.name))
			writeData(&stream, file.data)
		}
		stream.WriteByte('\n')
	}
	stream.WriteString("done\n")
	// Without --force fast-import does not update a branch that was moved meanwhile.
	_, err := r.run(ctx, stream.Bytes(), "fast-import", "--quiet", "--date-format=raw")
	return err
}

// stream writes the commit up to its parent in the format of git fast-import.
func (c change) stream(out *bytes.Buffer, when time.Time) {
	who := c.author + " <" + c.author + authorDomain + "> " + strconv.FormatInt(when.Unix(), 10) + " +0000"
	fmt.Fprintf(out, "commit HEAD\nauthor %s\ncommitter %s\n", who, who)
	writeData(out, []byte(message(c.note)))
}

// writeData writes a data command of git fast-import.
func writeData(out *bytes.Buffer, data []byte) {
	fmt.Fprintf(out, "data %d\n", len(data))
	out.Write(data)
	out.WriteByte('\n')
}

// maxSubject is the maximum length of a subject, in characters.
const maxSubject = 120

// message returns the note as a commit message.
func message(n workspace.Note) string {
	subject, _ := text.Fit(text.Printable(n.Subject), maxSubject)
	var out strings.Builder
	out.WriteString(subject + "\n")
	for paragraph := range strings.SplitSeq(n.Body, "\n\n") {
		if paragraph = text.Printable(paragraph); paragraph != "" {
			out.WriteString("\n" + paragraph + "\n")
		}
	}
	if len(n.Trailers) > 0 {
		out.WriteByte('\n')
	}
	for _, trailer := range n.Trailers {
		out.WriteString(text.Printable(trailer) + "\n")
	}
	return out.String()
}

// quoted returns a path in the format of git fast-import.
func quoted(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(name) + `"`
}

// names returns the names of files, separated by commas.
func names(files []blob) string {
	var list []string
	for _, file := range files {
		list = append(list, file.name)
	}
	return strings.Join(list, ", ")
}
