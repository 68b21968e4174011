package embed

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

// Only padding and truncation change, wherever they are; a file without them stays as it is.
func TestUnpadded(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		`{ "truncation": {"max": 1}, "padding" : {"a": 2}, "x": {"padding": 3} }`: "" +
			`{ "truncation": null, "padding" : null, "x": {"padding": 3} }`,
		`{"model":{},"padding":null,"x":1,"truncation":7}`: `{"model":{},"padding":null,"x":1,"truncation":null}`,
		`{"model":{"vocab":{"a":1}}}`:                      `{"model":{"vocab":{"a":1}}}`,
	} {
		got, err := unpadded([]byte(data))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", data, got, err, want)
		}
	}
	for _, data := range []string{"", "[]", `{"padding": `, `{"a" 1}`} {
		if got, err := unpadded([]byte(data)); err == nil {
			t.Errorf("%q became %q", data, got)
		}
	}
}

// The model's own file means the same but for the two.
func TestUnpaddedTokenizer(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(requireAssets(t).Tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	got, err := unpadded(data)
	if err != nil {
		t.Fatal(err)
	}
	var before, after map[string]any
	if err := json.Unmarshal(data, &before); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &after); err != nil {
		t.Fatal(err)
	}
	if before["padding"] == nil || before["truncation"] == nil || after["padding"] != nil || after["truncation"] != nil {
		t.Error("padding and truncation are not switched off")
	}
	for _, key := range []string{"padding", "truncation"} {
		delete(before, key)
		delete(after, key)
	}
	if !reflect.DeepEqual(before, after) {
		t.Error("something else changed")
	}
}
