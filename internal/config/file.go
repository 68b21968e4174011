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

// FileName is the config file's path in the workspace. Messages name it this way, without the workspace's folder.
var FileName = filepath.Join(".yamo", "config.toml")

// fileType is a struct with a field for each setting, for the TOML decoder: a struct, unlike a map, makes it report
// unknown keys and values of the wrong type with their line.
var fileType = sync.OnceValue(func() reflect.Type {
	// TOML finds fields by their tags; the names only have to be exported ones.
	var fields []reflect.StructField
	for _, s := range All() {
		fields = append(fields, reflect.StructField{
			Name: "Field" + strconv.Itoa(len(fields)), Type: s.fileType(), Tag: reflect.StructTag(`toml:"` + s.Key() + `"`),
		})
	}
	return reflect.StructOf(fields)
})

// readFile reads the workspace's config file. The result has a value for each key, "" for keys that the file does not
// have; without a file, all are "". An unknown key is an error: a misspelt one would silently leave the default.
func readFile(workspace string) (map[string]string, error) {
	content := reflect.New(fileType()).Elem()
	path := filepath.Join(workspace, FileName)
	info, err := os.Lstat(path)
	// A workspace needs no config file.
	if errors.Is(err, fs.ErrNotExist) {
		return valuesOf(content), nil
	}
	// Serving without the file would ignore a group that it sets.
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%s: %w; run the program as the user who owns the workspace", FileName, WithoutPath(err))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", FileName, WithoutPath(err))
	}
	// SECURITY: this file can make a session a DM. It is the operator's only if no other account can write it and it is
	// not a link to a file elsewhere.
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", FileName)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%s: other users can write this file: run chmod go-w on it", FileName)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", FileName, WithoutPath(err))
	}
	decoder := toml.NewDecoder(strings.NewReader(string(data))).DisallowUnknownFields()
	if err := decoder.Decode(content.Addr().Interface()); err != nil {
		return nil, fileError(err)
	}
	values := valuesOf(content)
	if t := values["transcripts"]; t != "" && !filepath.IsAbs(t) && !strings.HasPrefix(t, "~/") {
		values["transcripts"] = filepath.Join(workspace, t) // relative paths in the file start at the workspace
	}
	return values, nil
}

// valuesOf is the content of a fileType by key.
func valuesOf(content reflect.Value) map[string]string {
	values := map[string]string{}
	for i := range content.NumField() {
		value := ""
		// The zero value, such as false, counts as not set, as an empty environment variable does.
		if field := content.Field(i); !field.IsZero() {
			value = fmt.Sprint(field.Interface())
		}
		values[content.Type().Field(i).Tag.Get("toml")] = value
	}
	return values
}

// fileError names the line of a decoder's error, and what is allowed there.
func fileError(err error) error {
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		line, _ := strict.Errors[0].Position()
		return fmt.Errorf("%s:%d: unknown key %q (valid keys: %s)", FileName, line,
			strings.Join(strict.Errors[0].Key(), "."), strings.Join(keys(), ", "))
	}
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := wrong.Position()
		if key := strings.Join(wrong.Key(), "."); key != "" {
			return fmt.Errorf("%s:%d: %s must be %s", FileName, line, key, wanted(key))
		}
		return fmt.Errorf("%s:%d: %s", FileName, line, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	return fmt.Errorf("%s: %w", FileName, err)
}

// keys are the keys of the file, in alphabetical order.
func keys() []string {
	return slices.Sorted(maps.Keys(valuesOf(reflect.New(fileType()).Elem())))
}

// wanted describes the value that a key takes.
func wanted(key string) string {
	for _, s := range All() {
		if s.Key() == key {
			return s.fileValue()
		}
	}
	return "another value"
}

// WithoutPath returns the reason of a file error without the operation and path, which the caller's message names.
func WithoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
