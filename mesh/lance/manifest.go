package lance

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// manifest is what this package needs to know of one version of a Lance table. lancedb-go neither lists
// fragments nor checks files, so manifests are decoded here, by table.proto of Lance 0.37.
type manifest struct {
	version   uint64
	fragments []fragment
	files     []string // everything this version needs, relative to the table's folder, itself excluded
}

// fragment is a part of a table: data files, and which of their rows are deleted.
type fragment struct {
	id      uint64
	rows    uint64 // physical, deleted ones included
	deleted uint64
	data    []dataFile
}

// dataFile is a file of a fragment, as the manifest records it.
type dataFile struct {
	path         string
	size         int64 // 0: not recorded
	major, minor uint64
}

// The newest storage version that the native library reads. It panics on a later one.
const (
	storageMajor = 2
	storageMinor = 1
)

// checkStorage returns ErrStorage if a data file has a storage version that cannot be read.
func (m *manifest) checkStorage() error {
	for _, f := range m.fragments {
		for _, d := range f.data {
			if d.major > storageMajor || d.major == storageMajor && d.minor > storageMinor {
				return fmt.Errorf("%w: version %d.%d, and this program reads versions up to %d.%d; write the table again with "+
					"data_storage_version %d.%d", ErrStorage, d.major, d.minor, storageMajor, storageMinor, storageMajor, storageMinor)
			}
		}
	}
	return nil
}

func (f fragment) live() uint64 { return f.rows - min(f.deleted, f.rows) }

// rows returns the number of rows that are not deleted.
func (m *manifest) rows() (n int) {
	for _, f := range m.fragments {
		n += int(f.live()) //nolint:gosec // a count of rows
	}
	return n
}

const lanceMagic = "LANC" // ends manifests and data files alike

// errBroken marks what a power loss leaves behind, as opposed to a file that cannot be read right now.
var errBroken = errors.New("broken")

var errManifest = fmt.Errorf("%w manifest", errBroken)

// versions lists the versions of the table in dir, newest first. A missing folder has none.
func versions(dir string) ([]uint64, error) {
	f, err := os.Open(filepath.Join(dir, "_versions"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	var out []uint64
	for _, name := range names {
		digits, ok := strings.CutSuffix(name, ".manifest")
		n, err := strconv.ParseUint(digits, 10, 64)
		if !ok || err != nil {
			continue // a commit that was cut off
		}
		if len(digits) == 20 { // naming scheme 2 counts down, so that the newest sorts first
			n = math.MaxUint64 - n
		}
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b uint64) int { return cmp.Compare(b, a) })
	return out, nil
}

// manifestPath returns where version is, under either naming scheme.
func manifestPath(dir string, version uint64) string {
	path := filepath.Join(dir, "_versions", strconv.FormatUint(version, 10)+".manifest")
	if _, err := os.Lstat(path); err == nil {
		return path
	}
	return filepath.Join(dir, "_versions", fmt.Sprintf("%020d.manifest", math.MaxUint64-version))
}

// readManifest reads a version and checks that its files are there with the recorded sizes; deep also
// looks at the end of every data file. What fails these checks is errBroken.
func readManifest(dir string, version uint64, deep bool) (*manifest, error) {
	data, err := os.ReadFile(manifestPath(dir, version))
	if err != nil {
		return nil, err
	}
	m, err := parseManifest(data)
	if err != nil {
		return nil, fmt.Errorf("version %d: %w", version, err)
	}
	if m.version != version {
		return nil, fmt.Errorf("version %d: %w: it names version %d", version, errManifest, m.version)
	}
	for _, f := range m.fragments {
		for _, d := range f.data {
			if err := d.check(dir, deep); err != nil {
				return nil, fmt.Errorf("version %d: %w", version, err)
			}
		}
	}
	return m, nil
}

// check compares the data file with its entry in the manifest; deep also reads its end mark. The error wraps errBroken
// if the file is missing or incomplete, as after a power failure.
func (d dataFile) check(dir string, deep bool) error {
	f, err := os.Open(filepath.Join(dir, "data", d.path))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: data file is missing", errBroken)
	}
	if err != nil {
		return err
	}
	err = d.checkOpen(f, deep)
	return errors.Join(err, f.Close())
}

// checkOpen is check of the open file f.
func (d dataFile) checkOpen(f *os.File, deep bool) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < int64(len(lanceMagic)) || d.size > 0 && info.Size() != d.size {
		return fmt.Errorf("%w: data file of %d bytes has %d", errBroken, d.size, info.Size())
	}
	if !deep {
		return nil
	}
	end := make([]byte, len(lanceMagic))
	if _, err := f.ReadAt(end, info.Size()-int64(len(end))); err != nil {
		return err
	}
	if string(end) != lanceMagic {
		return fmt.Errorf("%w: data file without its end mark", errBroken)
	}
	return nil
}

// parseManifest reads a manifest: the protocol buffer message that the footer points to.
func parseManifest(data []byte) (*manifest, error) {
	const footer = 16 // position u64, version 2 x u16, magic
	if len(data) < footer+4 || string(data[len(data)-4:]) != lanceMagic {
		return nil, errManifest
	}
	at := binary.LittleEndian.Uint64(data[len(data)-footer:])
	body := data[:len(data)-footer]
	if at > uint64(len(body)-4) { //nolint:gosec // its length was checked above
		return nil, errManifest
	}
	n := uint64(binary.LittleEndian.Uint32(body[at:]))
	if body = body[at+4:]; n > uint64(len(body)) {
		return nil, errManifest
	}
	m := &manifest{}
	err := eachField(body[:n], func(field protowire.Number, value uint64, sub []byte) error {
		switch field {
		case 2:
			return m.addFragment(sub)
		case 3:
			m.version = value
		case 12:
			m.files = append(m.files, filepath.Join("_transactions", filepath.Base(string(sub))))
		}
		return nil
	})
	return m, err
}

// addFragment decodes a DataFragment of the manifest (lance's protobuf, table.proto) and adds it, with the names of its
// files.
func (m *manifest) addFragment(message []byte) error {
	var f fragment
	var deletion []byte
	err := eachField(message, func(field protowire.Number, value uint64, sub []byte) error {
		switch field {
		case 1:
			f.id = value
		case 2:
			var d dataFile
			err := eachField(sub, func(field protowire.Number, value uint64, sub []byte) error {
				switch field {
				case 1:
					d.path = filepath.Base(string(sub)) // names a file of data/, nothing else
				case 4:
					d.major = value
				case 5:
					d.minor = value
				case 6:
					d.size = int64(min(value, math.MaxInt64))
				}
				return nil
			})
			f.data = append(f.data, d)
			m.files = append(m.files, filepath.Join("data", d.path))
			return err
		case 3:
			deletion = sub
		case 4:
			f.rows = value
		}
		return nil
	})
	if err != nil {
		return err
	}
	if deletion != nil {
		var kind, read, id uint64
		err = eachField(deletion, func(field protowire.Number, value uint64, _ []byte) error {
			switch field {
			case 1:
				kind = value
			case 2:
				read = value
			case 3:
				id = value
			case 4:
				f.deleted = value
			}
			return nil
		})
		suffix := "arrow"
		if kind == 1 {
			suffix = "bin"
		}
		m.files = append(m.files, filepath.Join("_deletions", fmt.Sprintf("%d-%d-%d.%s", f.id, read, id, suffix)))
	}
	m.fragments = append(m.fragments, f)
	return err
}

// eachField calls visit for every field of a protocol buffer message: value is set for varints, sub for
// length-delimited fields. A message that is cut off or malformed is errManifest.
func eachField(message []byte, visit func(field protowire.Number, value uint64, sub []byte) error) error {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return errManifest
		}
		message = message[n:]
		var value uint64
		var sub []byte
		// The manifest has fields of other kinds too; they are skipped, as are those of later versions of LanceDB.
		switch kind {
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			sub, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(field, kind, message)
		}
		if n < 0 {
			return errManifest
		}
		if err := visit(field, value, sub); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}
