package intake

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// A value of metadata is judged with its key, a number like its digits, and invisible characters go.
func TestMetadata(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"password": {`{"password":"mango-Tree-77"}`, `{"password":"[REDACTED:password]"}`},
		"nested":   {`{"db":[{"api_key":"9f8e7d6c5b4a39281706f5e4d3c2b1a0"}]}`, ""},
		"card":     {`{"card":4111111111111111}`, ""},
		"plain numbers": {
			`{"price":12.5,"year":2026,"count":100000,"at":1795341445668,"id":20261122104100}`,
			`{"price":12.5,"year":2026,"count":100000,"at":1795341445668,"id":20261122104100}`,
		},
		"plain texts": {`{"colour":"red","password_hint":""}`, `{"colour":"red","password_hint":""}`},
		"invisible":   {`{"a\u202eb":"c\u200bd"}`, `{"ab":"cd"}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var in, want map[string]any
			if err := json.Unmarshal([]byte(test.in), &in); err != nil {
				t.Fatal(err)
			}
			c := New(scrub.New(scrub.MemoryMesh(nil)))
			got := c.Metadata(in)
			if c.Err() != nil {
				t.Fatal(c.Err())
			}
			if test.want == "" { // whatever the placeholder is called
				if len(c.Redactions()) == 0 || cmp.Equal(in, got) {
					t.Errorf("kept: %v", got)
				}
				return
			}
			if err := json.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, in := range []map[string]any{
		{"a": 1, "a\u200b": 2}, {"__proto\u200b__": 1}, {"x": map[string]any{"constructor\u202e": 1}},
	} {
		c := New(scrub.New(scrub.MemoryMesh(nil)))
		if c.Metadata(in); c.Err() == nil {
			t.Errorf("%v is accepted", in)
		}
	}
}
