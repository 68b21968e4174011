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
	var records []*record.Record
	known := []derived{{Session: "before", Words: record.WordsKey{1, 2}, Standing: true}, {Parts: true}}
	one := func(v func(*record.Record) reflect.Value) {
		for i := range v(new(record.Record)).NumField() {
			r := new(record.Record)
			fillValue(t, v(r).Field(i), i)
			records = append(records, r)
		}
	}
	one(func(r *record.Record) reflect.Value { return reflect.ValueOf(r).Elem() })
	one(func(r *record.Record) reflect.Value { return reflect.ValueOf(&r.Memory).Elem() })
	full := new(record.Record)
	fillValue(t, reflect.ValueOf(full).Elem(), 100)
	zone := time.Date(1901, 2, 3, 4, 5, 6, 7, time.FixedZone("", -3600))
	zero := float32(0)
	records = append(records, new(record.Record), full, &record.Record{CreatedAt: zone, UpdatedAt: zone.UTC()},
		&record.Record{Memory: record.Memory{Importance: &zero}})
	list := make([]imageDocument, len(records))
	for i, r := range records {
		list[i] = imageDocument{hold(r), known[i%len(known)]}
	}
	raw, err := appendDocuments(nil, list)
	if err != nil {
		t.Fatal(err)
	}
	to, derived := make([]held, len(list)+1), make([]derived, len(list)+1)
	if n, err := readDocuments(raw, to, derived); n != len(list) || err != nil {
		t.Fatalf("%d of %d documents are read: %v", n, len(list), err)
	}
	clear(raw) // it is not kept
	for i, want := range records {
		var got record.Record
		to[i].record(&got)
		if diff := cmp.Diff(want, &got); diff != "" || derived[i] != list[i].derived {
			t.Errorf("%+v: %s(-written +read)", derived[i], diff)
		}
	}
	if n, err := readDocuments(raw, to[:2], derived); err == nil {
		t.Errorf("%d documents are read to 2", n)
	}
	if raw, err = appendDocuments(nil, list); err != nil {
		t.Fatal(err)
	}
	// What is damaged is refused, or is another text; nothing panics.
	for n := 0; n < len(raw); n += 5 {
		if _, err := readDocuments(raw[:n], to, derived); err == nil {
			t.Errorf("the first %d of %d bytes are read", n, len(raw))
		}
		damaged := append([]byte{}, raw...)
		damaged[n] ^= 0xff
		_, _ = readDocuments(damaged, to, derived)
	}
}
