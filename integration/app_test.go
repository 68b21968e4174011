package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/yamo-protocol/yamo-mcp/integration/thirdparty"
	"github.com/yamo-protocol/yamo-mcp/internal/app"
)

const (
	extApps = "@modelcontextprotocol/ext-apps@2.0.4"
	esbuild = "esbuild@0.25.12"
)

// A host that does not announce MCP Apps finds nothing of them, also by guessing; to one that does, the tools name the
// page, which is the same for every audience.
func TestAppIsForHostsThatShowIt(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	pages := map[string]bool{}
	for _, test := range []struct{ group, protocol, over string }{
		{"", legacy, ""}, {"", modern, ""}, {club, modern, ""}, {club, legacy, overHTTP}, {"", modern, overHTTP},
	} {
		t.Run(test.group+" "+test.protocol+" "+test.over, func(t *testing.T) {
			h := launch{workspace: dir, group: test.group, protocol: test.protocol, over: test.over}
			kind := []string{"--connection", "dm"}
			if test.group != "" {
				kind = []string{"--connection", "group", "--group", test.group}
			}
			if h.over != "" {
				h.at = startHTTP(t, h)
				h.token = h.at.NewToken(kind...)
			}
			without := connect(t, h)
			for what, at := range map[string]struct {
				method string
				params map[string]any
				absent string // the same of what does not exist
			}{
				app.URI:     {"resources/read", map[string]any{"uri": app.URI}, "ui://yamo/nothing"},
				"proposals": {"tools/call", map[string]any{"name": "proposals"}, "nothing"},
			} {
				got := without.request(at.method, at.params)
				for key := range at.params {
					at.params[key] = at.absent
				}
				want := without.request(at.method, at.params)
				if g, w := withoutURI(got, what), withoutURI(want, at.absent); g != w {
					t.Errorf("%s is answered %s, and what does not exist %s", what, g, w)
				}
			}
			for _, method := range []string{"tools/list", "resources/list"} {
				if line := without.request(method, nil).line; strings.Contains(line, "ui://") ||
					strings.Contains(line, `"name":"proposals"`) {
					t.Errorf("%s of a host without the extension: %s", method, line)
				}
			}
			without.end()

			h.apps = true
			if h.over != "" {
				h.at = startHTTP(t, h)
				h.token = h.at.NewToken(kind...)
			}
			with := connect(t, h)
			defer with.end()
			var tools struct {
				Tools []struct {
					Name string
					Meta struct {
						UI struct {
							ResourceURI string   `json:"resourceUri"`
							Visibility  []string `json:"visibility"`
						} `json:"ui"`
					} `json:"_meta"`
				}
			}
			with.request("tools/list", nil).decode(t, &tools)
			got := map[string]string{}
			for _, tool := range tools.Tools {
				if tool.Meta.UI.ResourceURI != "" {
					got[tool.Name] = tool.Meta.UI.ResourceURI + " " + strings.Join(tool.Meta.UI.Visibility, ",")
				}
			}
			want := map[string]string{"memory_search": app.URI + " "}
			if test.group == "" {
				want["workspace_edit"], want["proposals"] = app.URI+" ", app.URI+" app"
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("tools with the page (-want +got):\n%s", diff)
			}
			if line := with.request("resources/list", nil).line; !strings.Contains(line, `"uri":"`+app.URI+`"`) {
				t.Errorf("the page is not listed: %s", line)
			}
			var read struct {
				Contents []struct{ URI, MIMEType, Text string }
			}
			with.request("resources/read", map[string]any{"uri": app.URI}).decode(t, &read)
			if len(read.Contents) != 1 || read.Contents[0].URI != app.URI || read.Contents[0].MIMEType != app.MIMEType {
				t.Fatalf("the page: %+v", read)
			}
			pages[read.Contents[0].Text] = true
		})
	}
	if len(pages) != 1 {
		t.Errorf("there are %d pages, not 1 for everyone", len(pages))
	}
}

// shownApp is an app that a host shows in a browser.
type shownApp struct {
	*browser
	asked *asked
}

// hostApp starts a host that shows the app with the extension's own SDK, and lets it call the tools of a's server.
func hostApp(t *testing.T, b *browser, a *asked) *shownApp {
	t.Helper()
	modules := thirdparty.NPM(t, extApps)
	bundle := exec.Command("node", filepath.Join(thirdparty.NPM(t, esbuild), "esbuild", "bin", "esbuild"),
		"apphost/entry.js", "--bundle", "--format=iife", "--global-name=bridge", "--log-level=error")
	bundle.Env = append(os.Environ(), "NODE_PATH="+modules)
	bundle.Stderr = os.Stderr
	sdk, err := bundle.Output()
	if err != nil {
		t.Fatalf("bundle the SDK: %v", err)
	}
	answer := func(w http.ResponseWriter, value any, err error) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		_ = json.NewEncoder(w).Encode(value)
	}
	routes := http.NewServeMux()
	routes.Handle("/", http.FileServer(http.Dir("apphost")))
	routes.HandleFunc("/bridge.js", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(sdk) })
	routes.HandleFunc("POST /tools", func(w http.ResponseWriter, r *http.Request) {
		list, err := a.ListTools(r.Context(), mcp.ListToolsRequest{})
		answer(w, list.Tools, err)
	})
	routes.HandleFunc("POST /read", func(w http.ResponseWriter, r *http.Request) {
		var request mcp.ReadResourceRequest
		data, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(data, &request.Params)
		read, err := a.ReadResource(r.Context(), request)
		if err != nil {
			answer(w, nil, err)
			return
		}
		answer(w, read.Contents[0], nil)
	})
	routes.HandleFunc("POST /call", func(w http.ResponseWriter, r *http.Request) {
		var request mcp.CallToolRequest
		data, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(data, &request.Params)
		result, err := a.CallTool(r.Context(), request)
		answer(w, result, err)
	})
	site := httptest.NewServer(routes)
	t.Cleanup(site.Close)
	b.base = site.URL
	b.run(log.Enable())
	return &shownApp{b, a}
}

// open calls a tool and shows its result.
func (s *shownApp) open(theme, tool string, args map[string]any) {
	s.Helper()
	arguments, err := json.Marshal([]any{tool, args, theme})
	if err != nil {
		s.Fatal(err)
	}
	var shown string
	s.run(chromedp.Navigate(s.base+"/"), chromedp.Evaluate(fmt.Sprintf("open(...%s)", arguments), &shown,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
}

// inside evaluates an expression in the app, which is a page of another origin: as an extension of the browser does.
func (s *shownApp) inside(expression string, result any) {
	s.Helper()
	err := chromedp.Run(s.ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		tree, err := page.GetFrameTree().Do(ctx)
		if err != nil {
			return err
		}
		world, err := page.CreateIsolatedWorld(tree.ChildFrames[0].Frame.ID).Do(ctx)
		if err != nil {
			return err
		}
		value, exception, err := runtime.Evaluate(expression).WithContextID(world).WithReturnByValue(true).
			WithAwaitPromise(true).Do(ctx)
		switch {
		case err != nil:
			return err
		case exception != nil:
			return exception
		case result == nil:
			return nil
		}
		return json.Unmarshal(value.Value, result)
	}))
	if err != nil {
		s.Fatalf("%s: %v", expression[:min(len(expression), 200)], err)
	}
}

// shows waits until the app shows the words.
func (s *shownApp) shows(words string) {
	s.Helper()
	var text string
	for end := time.Now().Add(patience); !strings.Contains(text, words); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("the app does not show %q: %s", words, text)
		}
		s.inside(`document.querySelector("main").innerText`, &text)
	}
}

// press clicks the first button with the words below the first item with other words.
func (s *shownApp) press(item, words string) {
	s.Helper()
	quoted, err := json.Marshal([]string{item, words})
	if err != nil {
		s.Fatal(err)
	}
	s.inside(fmt.Sprintf(`(([item, words]) => {
		const parts = [...document.querySelectorAll("li, .item"), document.querySelector("main")];
		const at = parts.find(e => e.innerText.includes(item));
		const found = at && [...at.querySelectorAll("button")].find(b => b.innerText === words && b.checkVisibility());
		if (!found) throw new Error("nothing to press: " + item + ", " + words + ": " + document.body.innerText);
		found.click();
	})(%s)`, quoted), nil)
}

// inspect looks for problems of accessibility, and for what the console and the host reported.
func (s *shownApp) inspect(what string) {
	s.Helper()
	var found string
	s.inside(s.axe+`; axe.run().then(r => JSON.stringify(r.violations.map(
		v => [v.id, v.help, ...v.nodes.slice(0, 3).map(n => n.html + ": " + n.failureSummary)])))`, &found)
	if found != "[]" {
		s.Errorf("%s: axe found %s", what, found)
	}
	var problems []string
	s.run(chromedp.Evaluate("problems", &problems))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, problem := range append(problems, s.problems...) {
		s.Errorf("%s: %s", what, problem)
	}
	s.problems = nil
}

// A person corrects and forgets what a search found, and decides about a proposal, in a host that has the extension's
// own SDK. Stored text stays text.
func TestAppInBrowser(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	h := launch{workspace: sample(t), protocol: legacy, apps: true}
	a := &asked{says: mcp.ElicitationResponseActionAccept}
	a.attach(t, h)
	s := hostApp(t, b, a)
	use := func(tool string, args map[string]any) map[string]any {
		t.Helper()
		var out map[string]any
		if err := a.use(t.Context(), tool, args, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	const hostile = "The valve code `<img src=x onerror=alert(1)><script>alert(2)</script>` is kept"
	for _, content := range []string{
		"Mira's dentist is Dr Weber, on 24 November 2026 at 10:00", "Mira's old dentist was Dr Otto", hostile,
	} {
		use("memory_store", map[string]any{"content": content, "source": "user"})
	}
	use("workspace_edit", map[string]any{
		"file": "MEMORY.md", "section": "Lessons", "op": "append_item", "items": []string{"Water in the evening"},
		"rationale": "it is cooler then", "propose": true,
	})

	s.open("light", "memory_search", map[string]any{"query": "Mira's dentist"})
	s.shows("Dr Weber, on 24 November")
	s.shows("Private")
	s.inspect("what was found")
	s.press("Dr Weber", "Correct")
	s.shows("What is true now")
	s.inside(`document.querySelector("textarea").value = "Mira's dentist is Dr Weber, on 25 November 2026 at 11:00"`, nil)
	s.press("Save the correction", "Save the correction")
	s.shows("Corrected.")
	s.shows("25 November 2026 at 11:00")
	s.press("25 November", "History and whole text")
	s.shows("24 November 2026 at 10:00")
	s.inspect("a corrected memory")
	s.press("Dr Otto", "Forget")
	s.shows("erases it permanently")
	s.press("Dr Otto", "Keep it")
	s.press("Dr Otto", "Forget")
	s.press("Dr Otto", "Forget it permanently")
	s.shows("Forgotten.")
	s.inspect("a forgotten memory")
	var told []string
	s.run(chromedp.Evaluate("told", &told))
	if len(told) != 2 || !strings.Contains(told[0], "corrected") || !strings.Contains(told[1], "erased") {
		t.Errorf("the model was told %q", told)
	}

	s.open("dark", "memory_search", map[string]any{"query": "the valve code that is kept"})
	s.shows("<img src=x onerror=alert(1)>")
	s.inspect("hostile text")
	write(t, filepath.Join(h.workspace, "notes", "hidden.md"), "# Hidden\n\nThe hidden word is \u202Eolleh\n")

	// What is stored is cleaned; a file can have anything.
	s.open("dark", "memory_search", map[string]any{"query": "what is the hidden word"})
	s.shows("U+202E")
	s.inspect("unseen characters")

	s.open("dark", "workspace_edit", map[string]any{
		"file": "MEMORY.md", "section": "Lessons", "op": "append_item", "items": []string{"Ask before ordering parts"},
		"rationale": "Mira said so", "propose": true,
	})
	s.shows("The agent proposes a change of MEMORY.md")
	s.press("Nothing has changed yet", "Show what waits for you")
	s.shows("2 proposals wait for you")
	s.shows("+- ")
	s.inspect("proposals")
	s.inside(`document.querySelector("input[type=text]").value = "the evening is too late"`, nil)
	s.press("Water in the evening", "Reject")
	s.shows("1 proposal waits for you")
	s.press("Ask before ordering parts", "Accept")
	s.shows("No proposal waits for you")
	s.inspect("decided")
	file, err := os.ReadFile(filepath.Join(h.workspace, "MEMORY.md"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(file); !strings.Contains(text, "Ask before ordering parts") ||
		strings.Contains(text, "Water in the evening") {
		t.Errorf("MEMORY.md is\n%s", file)
	}
	// The person was asked for the deletion and for each decision, with the whole change.
	if len(a.questions) != 3 || !strings.Contains(a.questions[2], "Ask before ordering parts") {
		t.Errorf("the person was asked %q", a.questions)
	}
}
