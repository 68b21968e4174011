package hookcmd

import (
	"encoding/json"
	"testing"
)

// lessonsOf are lessons about these things, in order.
func lessonsOf(about ...string) []lesson {
	var list []lesson
	for _, text := range about {
		list = append(list, lesson{ID: text, Text: text, About: text})
	}
	return list
}

func TestApplies(t *testing.T) {
	t.Parallel()
	lessons := lessonsOf(
		"database dumps: pg_dump without --no-owner cannot be restored as another user. Always pass --no-owner to pg_dump.",
		"protobuf: run make generate after editing a .proto file, or the Go code is stale",
		"releases: never force-push to main; open a pull request instead",
		"terraform: an apply without a reviewed plan deleted the staging database",
		"Kubernetes: check the current context before deleting a namespace with kubectl",
		"時差: 会議の時間は UTC で書く",
	)
	for name, test := range map[string]struct {
		input string
		want  int // of lessons, -1 for none
	}{
		"the program":              {`{"command": "pg_dump -Fc ferry > ferry.dump"}`, 0},
		"a path to the program":    {`{"command": "cd /srv && sudo /usr/bin/pg_dump ferry"}`, 0},
		"after a variable":         {`{"command": "PGUSER=ana pg_dump ferry | gzip"}`, 0},
		"an argument vector":       {`{"command": ["bash", "-lc", "terraform apply -auto-approve"]}`, 3},
		"two words of a command":   {`{"command": "git push --force origin feature"}`, 2},
		"another git command":      {`{"command": "git status"}`, -1},
		"the kind of file":         {`{"file_path": "/home/ana/ferry/api/ticket.proto", "new_string": "int32 price"}`, 1},
		"another kind of file":     {`{"file_path": "/home/ana/ferry/api/ticket.go", "new_string": "Price int32"}`, -1},
		"two words of the text":    {`{"file_path": "/a/notes.txt", "content": "then delete the namespace shop"}`, 4},
		"everyday commands":        {`{"command": "cd src && ls -la && cat main.go | head"}`, -1},
		"a word that says nothing": {`{"command": "make"}`, -1},
		"nothing":                  {`{}`, -1},
		"a tool of another kind":   {`{"query": "pg_dump"}`, -1},
		"not an object":            {`"pg_dump"`, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var in toolInput
			_ = json.Unmarshal([]byte(test.input), &in)
			got := applies(in.action(), lessons)
			switch {
			case test.want < 0 && got != nil:
				t.Errorf("applies: %s", got.About)
			case test.want >= 0 && got == nil:
				t.Errorf("nothing applies, want: %s", lessons[test.want].About)
			case test.want >= 0 && got.ID != lessons[test.want].ID:
				t.Errorf("applies: %s\nwant: %s", got.About, lessons[test.want].About)
			}
		})
	}
}
