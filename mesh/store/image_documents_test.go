package store

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// fillValue sets everything in v to something that is not zero, different for each n.
func fillValue(t *testing.T, v reflect.Value, n int) {
	t.Helper()
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 1000*n, time.UTC)))
		return
	case map[string]any:
		v.Set(reflect.ValueOf(map[string]any{"text": fmt.Sprint("é", n), "list": []any{true, nil, 2.5}}))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillValue(t, v.Field(i), n+i+1)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fillValue(t, v.Index(0), n)
		fillValue(t, v.Index(1), n+1)
	case reflect.Array:
		for i := range v.Len() {
			fillValue(t, v.Index(i), n+i)
		}
	case reflect.String:
		v.SetString(fmt.Sprint(v.Type(), " \x00ü", n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n) << 30)
	case reflect.Uint8:
		v.SetUint(uint64(n%255 + 1))
	case reflect.Float64, reflect.Float32:
		v.SetFloat(float64(n) / 4)
	default:
		t.Fatalf("a field of type %v: set it here", v.Type())
	}
}

// Every field of a record, new ones too, comes back from an image, alone and with all others.
func TestImageDocuments(t *testing.T) {
	t.Parallel()
	list := []imageDocument{{Record: new(record.Record)}}
	full := imageDocument{Record: new(record.Record)}
	for i := range reflect.TypeFor[imageDocument]().NumField() {
		fillValue(t, reflect.ValueOf(&full).Elem().Field(i), 100+i)
	}
	// The document has these.
	bare := func(r *record.Record) { r.Heritage, r.Seq, r.UpdatedAt = nil, 0, time.Time{} }
	bare(full.Record)
	list = append(list, full)
	for i := range reflect.TypeFor[record.Record]().NumField() {
		r := new(record.Record)
		fillValue(t, reflect.ValueOf(r).Elem().Field(i), i)
		bare(r)
		list = append(list, imageDocument{Record: r, Seq: int64(i)})
	}
	for i := range reflect.TypeFor[record.Memory]().NumField() {
		r := new(record.Record)
		fillValue(t, reflect.ValueOf(&r.Memory).Elem().Field(i), i)
		list = append(list, imageDocument{Record: r})
	}
	zone := time.Date(1901, 2, 3, 4, 5, 6, 7, time.FixedZone("", -3600))
	list = append(list, imageDocument{Record: &record.Record{CreatedAt: zone}, Updated: zone.UTC()})
	raw, err := appendDocuments(nil, list)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readDocuments(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(list, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	// What is damaged is refused, or is another text; nothing panics.
	for n := 0; n < len(raw); n += 5 {
		if _, err := readDocuments(string(raw[:n])); err == nil {
			t.Errorf("the first %d of %d bytes are read", n, len(raw))
		}
		damaged := append([]byte{}, raw...)
		damaged[n] ^= 0xff
		_, _ = readDocuments(string(damaged))
	}
}
