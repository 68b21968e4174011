package crash

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Kind is what is left of what was not synced when the machine stops.
type Kind string

// The kinds of states, from what a killed process leaves to what the standard allows after a power failure.
const (
	Kept   Kind = "kept"   // everything: only the process ended
	Torn   Kind = "torn"   // names, and files with their sizes, but the second half of each file's last write is zeros
	Hollow Kind = "hollow" // names, but no data: file systems may write a rename before the data
	Lost   Kind = "lost"   // neither names nor data
)

// Kinds are all of them.
var Kinds = []Kind{Kept, Torn, Hollow, Lost}

// node is a file or a folder, in memory and on disk.
type node struct {
	data, synced, barrier []byte
	written               [2]int64 // the last write that is not synced

	names, onDisk map[string]*node // of a folder; nil for a file
}

func newFolder() *node { return &node{names: map[string]*node{}, onDisk: map[string]*node{}} }

// Disk is the content of a folder while a program changes it.
type Disk struct {
	root string
	top  *node
	open map[position]*int64
}

// position identifies an open file by its descriptor, whose name may have changed meanwhile.
type position struct {
	fd   string
	file *node
}

// Load returns a disk with the present content of the folder root, all of it synced.
func Load(root string) (*Disk, error) {
	d := &Disk{root: root, top: newFolder(), open: map[position]*int64{}}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		made := newFolder()
		if !entry.IsDir() {
			made, err = loadFile(path, entry.Type())
			if err != nil {
				return err
			}
		}
		dir, name, err := d.parent(path)
		if err != nil {
			return err
		}
		dir.names[name], dir.onDisk[name] = made, made
		return nil
	})
	return d, err
}

// loadFile returns a file that is on the disk, or a link as a file with its target in it.
func loadFile(path string, kind fs.FileMode) (*node, error) {
	if kind&fs.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		return &node{data: []byte(target), synced: []byte(target)}, err
	}
	data, err := os.ReadFile(path)
	return &node{data: data, synced: data}, err
}

// find returns what has the path, nil if nothing has.
func (d *Disk) find(path string) *node {
	at := d.top
	rest := strings.Trim(strings.TrimPrefix(path, d.root), "/")
	if rest == "" {
		return at
	}
	for name := range strings.SplitSeq(rest, "/") {
		if at = at.names[name]; at == nil {
			return nil
		}
	}
	return at
}

func (d *Disk) parent(path string) (dir *node, name string, err error) {
	if dir = d.find(filepath.Dir(path)); dir == nil || dir.names == nil {
		return nil, "", fmt.Errorf("%s is in no known folder", path)
	}
	return dir, filepath.Base(path), nil
}

// Apply makes one change.
func (d *Disk) Apply(op Op) error {
	if strings.HasSuffix(op.Path, " (deleted)") || op.Call == "output" {
		return nil // a file without a name is of no consequence
	}
	switch op.Call {
	case "rename", "link", "symlink", "unlink", "rmdir", "mkdir":
		return d.rename(op)
	case "open", "creat":
		return d.opened(op)
	}
	file := d.find(op.Path)
	if file == nil {
		return fmt.Errorf("%s of %s, which is not there", op.Call, op.Path)
	}
	switch op.Call {
	case "write", "pwrite":
		return d.write(file, op)
	case "lseek":
		if at := d.open[position{op.FD, file}]; at != nil && *at >= 0 {
			*at = op.Offset
		}
	case "ftruncate", "truncate":
		file.resize(op.Offset)
	case "barrier":
		file.barrier = slices.Clone(file.data)
	case "fsync":
		file.sync()
	default:
		return fmt.Errorf("%s of %s is not supported", op.Call, op.Path)
	}
	return nil
}

// opened creates or empties a file, and notes the position of its descriptor: -1 appends.
func (d *Disk) opened(op Op) error {
	file := d.find(op.Path)
	if file == nil {
		if !strings.Contains(op.Flags, "O_CREAT") && op.Call != "creat" {
			return nil // it has no name any more
		}
		dir, name, err := d.parent(op.Path)
		if err != nil {
			return err
		}
		file = &node{}
		dir.names[name] = file
	}
	if strings.Contains(op.Flags, "O_TRUNC") {
		file.resize(0)
	}
	at := int64(0)
	if strings.Contains(op.Flags, "O_APPEND") {
		at = -1
	}
	d.open[position{op.FD, file}] = &at
	return nil
}

func (d *Disk) write(file *node, op Op) error {
	at, next := op.Offset, (*int64)(nil)
	if op.Call == "write" {
		if next = d.open[position{op.FD, file}]; next == nil {
			return fmt.Errorf("descriptor %s of %s was opened elsewhere", op.FD, op.Path)
		}
		if at = *next; at < 0 {
			at = int64(len(file.data))
		}
	}
	end := at + int64(len(op.Data))
	data := make([]byte, max(int64(len(file.data)), end))
	copy(data, file.data)
	copy(data[at:], op.Data)
	file.data, file.written = data, [2]int64{at, end}
	if next != nil && *next >= 0 {
		*next = end
	}
	return nil
}

// resize never changes the bytes that synced shares.
func (n *node) resize(size int64) {
	data := make([]byte, size)
	copy(data, n.data)
	n.data, n.written = data, [2]int64{}
}

// sync makes durable what was there when the call began.
func (n *node) sync() {
	if n.names != nil {
		n.onDisk = maps.Clone(n.names)
		return
	}
	n.synced = n.data
	if n.barrier != nil {
		n.synced, n.barrier = n.barrier, nil
	}
	n.written = [2]int64{}
}

// rename changes the names in folders.
func (d *Disk) rename(op Op) error {
	dir, name, err := d.parent(op.Path)
	if err != nil {
		return err
	}
	switch op.Call {
	case "mkdir":
		dir.names[name] = newFolder()
		return nil
	case "symlink":
		dir.names[name] = &node{data: op.Data, synced: op.Data} // restored as a file with the target in it
		return nil
	case "unlink", "rmdir":
		delete(dir.names, name)
		return nil
	}
	file := dir.names[name]
	to, target, err := d.parent(op.To)
	if err != nil {
		return err
	}
	if file == nil {
		return fmt.Errorf("%s of %s, which is not there", op.Call, op.Path)
	}
	if op.Call == "rename" {
		delete(dir.names, name)
	}
	to.names[target] = file
	return nil
}

// State is what is left in each file, by its path below the root; folders end in a slash.
func (d *Disk) State(kind Kind) map[string]string {
	state := map[string]string{}
	d.top.collect(kind, "", state)
	return state
}

func (n *node) collect(kind Kind, path string, state map[string]string) {
	if n.names == nil {
		state[path] = string(n.left(kind))
		return
	}
	names := n.names
	if kind == Lost {
		names = n.onDisk
	}
	if path != "" {
		path += "/"
		state[path] = ""
	}
	for name, child := range names {
		child.collect(kind, path+name, state)
	}
}

// left is what a file contains afterwards.
func (n *node) left(kind Kind) []byte {
	switch kind {
	case Torn:
		data := slices.Clone(n.data)
		clear(data[min(int64(len(data)), (n.written[0]+n.written[1]+1)/2):min(int64(len(data)), n.written[1])])
		return data
	case Hollow, Lost:
		return n.synced
	default:
		return n.data
	}
}

// Restore replaces the content of the folder root by a state.
func Restore(root string, state map[string]string) error {
	if err := os.RemoveAll(root); err != nil {
		return err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(state)) { // folders before what is in them
		full := filepath.Join(root, path)
		if strings.HasSuffix(path, "/") {
			if err := os.MkdirAll(full, 0o700); err != nil {
				return err
			}
		} else if err := os.WriteFile(full, []byte(state[path]), 0o600); err != nil {
			return err
		}
	}
	return nil
}
