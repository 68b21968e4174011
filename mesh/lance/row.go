package lance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// row is what lancedb-go reads back: JSON, in which null and NaN are nil.
type row map[string]any

// text returns a string of the row, "" for null.
func (r row) text(column string) string {
	s, _ := r[column].(string)
	return s
}

// float32 returns a number of the row, nil for null. lancedb-go returns all numbers as float64.
func (r row) float32(column string) *float32 {
	f, ok := r[column].(float64)
	if !ok {
		return nil
	}
	v := float32(f)
	return &v
}

// int32 returns a number of the row, nil for null. lancedb-go returns all numbers as float64.
func (r row) int32(column string) *int32 {
	f, ok := r[column].(float64)
	if !ok {
		return nil
	}
	v := int32(f)
	return &v
}

// vector returns the row's vector, nil if the query left it out.
func (r row) vector() ([]float32, error) {
	raw, ok := r["vector"].([]any)
	if !ok {
		return nil, nil // not projected
	}
	v := make([]float32, len(raw))
	for i, x := range raw {
		f, ok := x.(float64)
		if !ok {
			return nil, fmt.Errorf("vector element %d is no number", i)
		}
		v[i] = float32(f)
	}
	return v, nil
}

// unitTolerance is how far a vector's length may be from 1.
const unitTolerance = 1e-3

// checkVector accepts unit vectors of the model's dimension: similarity is computed from squared L2 distance,
// which means cosine for these only, and a nil or NaN vector would make LanceDB scan or rank nonsense.
func checkVector(v []float32, dim int) error {
	if len(v) != dim {
		return fmt.Errorf("%w vector: %d dimensions, not %d", ErrInvalid, len(v), dim)
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if n := math.Sqrt(sum); !(math.Abs(n-1) <= unitTolerance) { // NaN and infinity fail this too
		return fmt.Errorf("%w vector: length %g, not 1", ErrInvalid, n)
	}
	return nil
}

// Builders' columns. An empty string or zero time is null.

// putText appends s, or null for "": the RFC's optional columns have no empty strings.
func putText(b array.Builder, s string) {
	if s == "" {
		b.AppendNull()
		return
	}
	b.(*array.StringBuilder).Append(s)
}

// putTime appends t in milliseconds, or null for the zero time.
func putTime(b array.Builder, t time.Time) {
	if t.IsZero() {
		b.AppendNull()
		return
	}
	b.(*array.TimestampBuilder).Append(arrow.Timestamp(t.UnixMilli()))
}

// putVector appends a vector, whose length was checked.
func putVector(b array.Builder, v []float32) {
	l := b.(*array.FixedSizeListBuilder)
	l.Append(true)
	l.ValueBuilder().(*array.Float32Builder).AppendValues(v, nil)
}

func textField(name string) arrow.Field {
	return arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
}

func keyField(name string) arrow.Field {
	return arrow.Field{Name: name, Type: arrow.BinaryTypes.String}
}

func timeField(name string, nullable bool) arrow.Field {
	return arrow.Field{Name: name, Type: &arrow.TimestampType{Unit: arrow.Millisecond}, Nullable: nullable}
}

// vectorField returns the column of vectors of a length.
func vectorField(dim int) arrow.Field {
	n := int32(dim) //nolint:gosec // a model's dimension, a few thousand
	return arrow.Field{Name: "vector", Type: arrow.FixedSizeListOf(n, arrow.PrimitiveTypes.Float32)}
}

// lancedb-go cannot read timestamps back. A row's creation time is in its id (RFC-0011 §1.1); times that are
// not are kept a second time as the first member of the metadata object, `"_at":[created,updated,accessed]`
// in Unix milliseconds or null, and taken out again on reading.
const timesKey = `{"_at":[`

var idMillis = regexp.MustCompile(`^[a-z]+(?:_[a-z]+)?_([0-9]{1,14})_`)

// idTime returns the time in an id, or zero.
func idTime(id string) time.Time {
	m := idMillis.FindStringSubmatch(id)
	if m == nil {
		return time.Time{}
	}
	ms, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// rowTimes are the times of one row. Zero is null.
type rowTimes struct{ created, updated, accessed time.Time }

// check fills in created from the id and reports whether the metadata can carry the times.
func (t *rowTimes) check(id, metadata string) error {
	if t.created.IsZero() {
		t.created = idTime(id)
	}
	if t.created.IsZero() {
		return fmt.Errorf("%w created_at: none given and none in the id", ErrInvalid)
	}
	if metadata == "" {
		return nil
	}
	if !strings.HasPrefix(metadata, "{") || !json.Valid([]byte(metadata)) {
		return fmt.Errorf("%w metadata: not a JSON object", ErrInvalid)
	}
	if strings.HasPrefix(metadata, timesKey) {
		return fmt.Errorf("%w metadata: the member _at is reserved", ErrInvalid)
	}
	return nil
}

// pack returns the metadata to store. None is stored as {}.
func (t rowTimes) pack(id, metadata string) string {
	metadata = cmp.Or(metadata, "{}")
	// The usual case needs no copy: the time is in the id.
	if t.updated.IsZero() && t.accessed.IsZero() && t.created.UnixMilli() == idTime(id).UnixMilli() {
		return metadata
	}
	var b strings.Builder
	b.WriteString(timesKey)
	for i, at := range []time.Time{t.created, t.updated, t.accessed} {
		if i > 0 {
			b.WriteByte(',')
		}
		if at.IsZero() {
			b.WriteString("null")
		} else {
			b.WriteString(strconv.FormatInt(at.UnixMilli(), 10))
		}
	}
	b.WriteByte(']')
	// Spliced into the text and not decoded: encoding it again would reorder the keys and change numbers.
	rest := strings.TrimLeft(metadata[1:], " \t\r\n")
	if !strings.HasPrefix(rest, "}") {
		b.WriteByte(',')
	}
	b.WriteString(metadata[1:])
	return b.String()
}

// unpackTimes is pack's inverse.
func unpackTimes(id, stored string) (t rowTimes, metadata string) {
	t.created = idTime(id)
	rest, ok := strings.CutPrefix(stored, timesKey)
	if !ok {
		return t, stored
	}
	list, rest, ok := strings.Cut(rest, "]")
	values := strings.Split(list, ",")
	if !ok || len(values) != 3 {
		return t, stored
	}
	for i, at := range []*time.Time{&t.created, &t.updated, &t.accessed} {
		*at = time.Time{}
		if ms, err := strconv.ParseInt(values[i], 10, 64); err == nil {
			*at = time.UnixMilli(ms).UTC()
		}
	}
	return t, "{" + strings.TrimPrefix(rest, ",")
}
