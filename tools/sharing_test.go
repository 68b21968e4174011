package tools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

func TestSharingAsks(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			v := memoryView(t, t.TempDir(), audience.DM())
			tool := MemoryStore(v)
			answer[stored](t, tool, `{"content":"Mira is allergic to nuts.","tags":["health"]}`)
			const share = `{"content":"Mira is allergic to nuts.","visibility":"shared"%s}`
			if got := refusal(t, tool, fmt.Sprintf(share, "")); !strings.Contains(got, "is like mem_") ||
				!strings.Contains(got, "confirm: true") {
				t.Errorf("a private memory without confirm: %q", got)
			}
			if got := answer[stored](t, tool,
				`{"content":"The club meets on Mondays.","visibility":"shared"}`); got.Visibility != "shared" {
				t.Errorf("something new: %+v", got)
			}
			arguments := map[string]any{"content": "Mira is allergic to nuts.", "visibility": "shared", "confirm": true}
			h := (&host{person: refuses}).connected(t, era, tool)
			got, failed := h.use(t, "memory_store", arguments)
			equal(t, "declined: failed", failed, true)
			if len(h.asked) != 1 {
				t.Fatalf("declined: %q, asked %q", got, h.asked)
			}
			contains(t, "declined: question", h.asked[0], "one of your private memories", "Mira is allergic to nuts.")
			if got, failed := h.use(t, "memory_store", map[string]any{"content": "Ada likes figs."}); failed ||
				len(h.asked) != 1 {
				t.Errorf("a private memory: %q, asked %q", got, h.asked)
			}
			h = (&host{person: agrees}).connected(t, era, tool)
			got, failed = h.use(t, "memory_store", map[string]any{"content": "The hut is open.", "visibility": "shared"})
			equal(t, "agreed: failed", failed, false)
			contains(t, "agreed: result", got, `"shared"`)
			equal(t, "agreed: questions", len(h.asked), 1)
			if got := answer[stored](t, tool, fmt.Sprintf(share, `,"confirm":true`)); got.Visibility != "shared" {
				t.Errorf("a private memory with confirm: %+v", got)
			}
		})
	}
}

// Without a dialog, what is like something private needs confirm: true, in whatever field and form it comes.
func TestSharingWithoutADialog(t *testing.T) {
	t.Parallel()
	v := memoryView(t, t.TempDir(), audience.DM())
	tool := MemoryStore(v)
	for _, content := range []string{
		"Mira is allergic to nuts.", "Garage 4711",
		"On 3 March the doctor said that the knee of Mira needs an operation before the summer, at the clinic in Porto.",
	} {
		answer[stored](t, tool, fmt.Sprintf(`{"content":%q}`, content))
	}
	tests := map[string]struct {
		fields string
		like   bool
	}{
		"another full stop":    {`"content":"Mira is allergic to nuts.."`, true},
		"other case and words": {`"content":"MIRA: allergic, nuts"`, true},
		"in a longer text":     {`"content":"The club meets on Mondays. Mira is allergic to nuts! Bring figs."`, true},
		"a part of a long one": {`"content":"The knee of Mira needs an operation."`, true},
		"metadata":             {`"content":"The club meets.","metadata":{"a":[{"b":"Mira is allergic to nuts"}]}`, true},
		"a key of metadata":    {`"content":"The club meets.","metadata":{"garage 4711":1}`, true},
		"tags":                 {`"content":"The club meets.","tags":["mira","allergic","nuts"]`, true},
		"rationale":            {`"content":"The club meets.","rationale":"Mira is allergic to nuts"`, true},
		"source":               {`"content":"The club meets.","source":"garage 4711"`, true},
		"hypothesis":           {`"content":"The club meets.","hypothesis":"nuts: Mira allergic"`, true},
		"split over fields":    {`"content":"Mira","rationale":"allergic","source":"nuts"`, true},
		"new":                  {`"content":"The club meets on Mondays.","tags":["club"],"rationale":"for all"`, false},
		"same subject":         {`"content":"Mira brings the figs on Monday."`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			arguments := "{" + test.fields + `,"visibility":"shared"}`
			if !test.like {
				equal(t, "visibility", answer[stored](t, tool, arguments).Visibility, "shared")
				return
			}
			contains(t, "refusal", refusal(t, tool, arguments), "which is private", "confirm: true")
		})
	}
	private := "---\nname: unlock\nintent: open the garage\n---\nLook for garage 4711.\n"
	sharing := fmt.Sprintf(`{"action":"ingest","visibility":"shared","text":%q}`, private)
	contains(t, "skill", refusal(t, Skills(v), sharing), "which is private")
}

// A person is shown all of what groups could read, or is not asked.
func TestSharingShowsAll(t *testing.T) {
	t.Parallel()
	h := (&host{person: agrees}).connected(t, eras[1], MemoryStore(memoryView(t, t.TempDir(), audience.DM())))
	long := strings.Repeat("The club meets on Mondays. ", 100) + "The last words."
	fields := map[string]any{
		"content": long, "visibility": "shared", "rationale": "the reason", "tags": []string{"one", "two"},
		"metadata": map[string]any{"key\u202e": "a\U000e0041 value"}, "source": "a source",
	}
	if got, failed := h.use(t, "memory_store", fields); failed || len(h.asked) != 1 {
		t.Fatalf("%s, asked %q", got, h.asked)
	}
	contains(t, "question", h.asked[0], "The last words.", "the reason", "one, two", `{"key":"a value"}`, "a source")
	fields["content"] = long + long
	got, failed := h.use(t, "memory_store", fields)
	equal(t, "too long: failed", failed, true)
	equal(t, "too long: questions", len(h.asked), 1)
	contains(t, "too long", got, "yamo-mcp shared add")
}
