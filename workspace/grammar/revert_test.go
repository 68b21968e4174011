package grammar

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRevertItems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body, before, after, want string
		altered                   []Altered
	}{
		"added": {body: "\n- a\n- b\n- mine\n", before: "\n- a\n", after: "\n- a\n- b\n", want: "\n- a\n- mine\n"},
		"changed": {
			body: "\n- The pump is blue now\n- b\n", before: "", after: "\n- The pump is blue\n- b\n",
			want: "\n- The pump is blue now\n", altered: []Altered{{"The pump is blue", "The pump is blue now"}},
		},
		"removed by hand": {body: "\n- b\n", before: "", after: "\n- a\n- b\n", want: "\n", altered: []Altered{{"a", ""}}},
		"put back": {
			body: "\n- a\n- mine\n- d\n", before: "\n- a\n- b\n- c\n- d\n", after: "\n- a\n- d\n",
			want: "\n- a\n- b\n- c\n- mine\n- d\n",
		},
		"put back into an empty list": {body: "\n", before: "\n- a\n- b\n", after: "\n- b\n", want: "\n- a\n"},
		"twice the same":              {body: "- a\n- x\n", before: "- a\n", after: "- a\n- a\n", want: "- x\n"},
	} {
		got, altered := RevertItems(c.body, c.before, c.after)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.altered, altered); diff != "" {
			t.Errorf("%s, altered (-want +got):\n%s", name, diff)
		}
	}
}
