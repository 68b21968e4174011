package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// FileName is the path of a workspace's config file in the workspace. Messages name it this way, without the
// workspace's folder.
var FileName = filepath.Join(".yamo", "config.toml")

// value is what a config file sets for a key, and the file and key for error messages.
type value struct{ text, place string }

// values is what config files set, by key.
type values map[string]value

// fileType is a struct with a field for each setting, for the TOML decoder: a struct, unlike a map, makes it report
// unknown keys and values of the wrong type with their line. The fields are pointers, which are nil for absent keys.
var fileType = sync.OnceValue(func() reflect.Type { return reflect.StructOf(fileFields()) })

// operatorType is fileType with a table of sections, by workspace folder.
var operatorType = sync.OnceValue(func() reflect.Type {
	return reflect.StructOf(append(fileFields(), reflect.StructField{
		Name: "Sections", Type: reflect.MapOf(reflect.TypeFor[string](), fileType()), Tag: `toml:"workspace"`,
	}))
})

// fileFields are the fields of the struct that a config file is decoded into: one for each setting. A pointer tells a
// key that is missing from one with the zero value.
func fileFields() []reflect.StructField {
	// TOML finds fields by their tags; the names must only be exported.
	var fields []reflect.StructField
	for i, s := range All() {
		fields = append(fields, reflect.StructField{
			Name: "Field" + strconv.Itoa(i), Type: reflect.PointerTo(s.fileType()),
			Tag: reflect.StructTag(`toml:"` + s.Key() + `"`),
		})
	}
	return fields
}

// files is what the config files set for a workspace.
type files struct {
	general values // in the operator's file, for every workspace
	own     values // in the operator's section for this workspace, else in the workspace's own file
	ignored string // what the operator should know about the workspace's own file, "" if it applies
}

// readFiles reads the config files for a workspace.
func readFiles(workspace string, getenv func(string) string) (files, error) {
	general, section, err := readOperatorFile(workspace, getenv)
	if err != nil {
		return files{}, err
	}
	own, ignored, err := readTrusted(workspace, getenv)
	if err != nil {
		return files{}, err
	}
	maps.Copy(own, section)
	return files{general, own, ignored}, nil
}

// merged is what the files set together: what is for the workspace wins over what is for every workspace.
func (f files) merged() values {
	set := maps.Clone(f.general)
	maps.Copy(set, f.own)
	return set
}

// readOperatorFile reads config.toml in the operator's configuration folder: what it sets for every workspace, and in
// the section of this one. Without the file both are empty.
func readOperatorFile(workspace string, getenv func(string) string) (general, section values, err error) {
	path, err := OperatorFile(getenv)
	if err != nil {
		return values{}, values{}, nil //nolint:nilerr // without a home there is no such file
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return values{}, values{}, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, WithoutPath(err))
	}
	// SECURITY: this file decides who the sessions are for and where texts are sent.
	if err := checkSoleWriter(path); err != nil {
		return nil, nil, err
	}
	content := reflect.New(operatorType()).Elem()
	if err := decode(path, data, content); err != nil {
		return nil, nil, err
	}
	section, err = sectionFor(workspace, path, content.FieldByName("Sections"), getenv)
	return valuesOf(path, content), section, err
}

// sectionFor is what the section for a workspace sets, of those in the operator's file at path. Without one that is
// nothing.
//
// SECURITY: a relative name would be another folder wherever the program is started, and of two sections for one folder
// it is not known which the operator means: either could make a group a DM.
func sectionFor(workspace, path string, sections reflect.Value, getenv func(string) string) (values, error) {
	section, found := values{}, ""
	names := sections.MapKeys()
	slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range names {
		name := key.String()
		if !filepath.IsAbs(name) && !strings.HasPrefix(name, "~/") {
			return nil, fmt.Errorf("%s: workspace.%q: a section is named by the absolute path of a workspace, "+
				"or by one that begins with ~/", path, name)
		}
		if resolved(Expand(name, getenv)) != resolved(workspace) {
			continue
		}
		if found != "" {
			return nil, fmt.Errorf("%s: workspace.%q and workspace.%q are the same folder: make one section of them",
				path, found, name)
		}
		found = name
		section = valuesOf(fmt.Sprintf("%s: workspace.%q", path, name), sections.MapIndex(key))
	}
	return section, nil
}

// readTrusted returns what the workspace's own config file sets if the operator trusts the file, and otherwise a
// sentence for the operator. A key that only the operator may set is an error, trusted or not: to ignore a group that
// the file sets would make the session a DM.
func readTrusted(workspace string, getenv func(string) string) (own values, ignored string, err error) {
	own, data, err := readFolderFile(workspace)
	if err != nil || len(own) == 0 {
		return values{}, "", err
	}
	if trusted, err := isTrusted(workspace, data, getenv); err != nil {
		return nil, "", err
	} else if !trusted {
		return values{}, fmt.Sprintf("%s is ignored, because you have not approved it: %s. "+
			"Approve it with yamo-mcp trust --workspace %q", FileName, strings.Join(slices.Sorted(maps.Keys(own)), ", "),
			workspace), nil
	}
	return own, "", nil
}

// readFolderFile returns what the workspace's own config file sets, and its bytes. Both are empty without a file.
func readFolderFile(workspace string) (values, []byte, error) {
	path := filepath.Join(resolved(workspace), FileName)
	info, err := os.Lstat(path)
	// A workspace needs no config file.
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	// Serving without the file would ignore a group that it sets.
	if errors.Is(err, fs.ErrPermission) {
		return nil, nil, fmt.Errorf("%s: %w; run the program as the user who owns the workspace", FileName, WithoutPath(err))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", FileName, WithoutPath(err))
	}
	// SECURITY: another account that could change the file, or exchange a folder above it, could do so after the
	// operator has looked at it.
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s: not a regular file", FileName)
	}
	if folder, err := os.Lstat(filepath.Dir(path)); err == nil && !folder.IsDir() {
		return nil, nil, fmt.Errorf("%s: .yamo is a link, and must be a folder of the workspace", FileName)
	}
	if err := checkSoleWriter(path); err != nil {
		return nil, nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", FileName, WithoutPath(err))
	}
	content := reflect.New(fileType()).Elem()
	if err := decode(FileName, data, content); err != nil {
		return nil, nil, err
	}
	own := valuesOf(FileName, content)
	for _, s := range All() {
		if _, set := own[s.Key()]; set && !s.inFolder() {
			return nil, nil, fmt.Errorf("%s: %s cannot be set in a workspace, which other people may have made: "+
				"set it with --%s, %s or in your own config.toml (see docs/settings.md)", FileName, s.Key(), s.Flag(), s.Env())
		}
	}
	// Relative paths in the file start at the workspace.
	if t, set := own["transcripts"]; set && t.text != "" && !filepath.IsAbs(t.text) && !strings.HasPrefix(t.text, "~/") {
		own["transcripts"] = value{filepath.Join(workspace, t.text), t.place}
	}
	return own, data, nil
}

// decode parses a config file into content. An unknown key is an error: a misspelt one would silently leave the
// default.
func decode(path string, data []byte, content reflect.Value) error {
	decoder := toml.NewDecoder(strings.NewReader(string(data))).DisallowUnknownFields()
	if err := decoder.Decode(content.Addr().Interface()); err != nil {
		return fileError(path, err)
	}
	return nil
}

// valuesOf is what content, of fileType or operatorType, sets. An empty string counts as not set, as an empty
// environment variable does.
func valuesOf(path string, content reflect.Value) values {
	set := values{}
	for i := range content.NumField() {
		field := content.Field(i)
		if field.Kind() != reflect.Pointer || field.IsNil() {
			continue
		}
		if text := fmt.Sprint(field.Elem().Interface()); text != "" {
			key := content.Type().Field(i).Tag.Get("toml")
			set[key] = value{text, path + ": " + key}
		}
	}
	return set
}

// fileError names the line of a decoder's error, and what is allowed there.
func fileError(path string, err error) error {
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		line, _ := strict.Errors[0].Position()
		return fmt.Errorf("%s:%d: unknown key %q (valid keys: %s)", path, line,
			strings.Join(strict.Errors[0].Key(), "."), strings.Join(keys(), ", "))
	}
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := wrong.Position()
		if path := path + ":" + strconv.Itoa(line); len(wrong.Key()) > 0 {
			return fmt.Errorf("%s: %s must be %s", path, strings.Join(wrong.Key(), "."), wanted(wrong.Key()))
		}
		return fmt.Errorf("%s:%d: %s", path, line, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	return fmt.Errorf("%s: %w", path, err)
}

// keys are the keys of the file, in alphabetical order.
func keys() []string {
	var all []string
	for _, s := range All() {
		all = append(all, s.Key())
	}
	return slices.Sorted(slices.Values(all))
}

// wanted describes the value that a key takes. In a section the key is the last of the path.
func wanted(path []string) string {
	for _, s := range All() {
		if s.Key() == path[len(path)-1] {
			return s.fileValue()
		}
	}
	return "another value"
}

// resolved returns the absolute path of a folder without links, as far as it exists.
func resolved(dir string) string {
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	return dir
}

// WithoutPath returns the reason of a file error without the operation and path, which the caller's message names.
func WithoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
