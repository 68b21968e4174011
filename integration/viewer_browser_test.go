package integration

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/yamo-protocol/yamo-mcp/integration/thirdparty"
)

var screenshots = flag.String("screenshots", "", "folder to write the viewer's screenshots to, such as ../docs")

// axe checks the accessibility of pages.
const axe = "axe-core@4.14.1"

// browser is a person's browser.
type browser struct {
	*testing.T
	ctx  context.Context
	base string
	axe  string // its script

	mu       sync.Mutex
	problems []string // what the console reported
}

// openBrowser starts a browser without a window. A machine without Chromium skips the test, in CI as well: the pages
// are tested there without one too.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium is installed")
	}
	script, err := os.ReadFile(filepath.Join(thirdparty.NPM(t, axe), "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	// Without the sandbox, which root cannot have: it shows only pages of the program under test.
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1000, 800),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(patience),
		// The frames of an MCP App's host are then parts of the page that the test drives.
		chromedp.Flag("disable-features", "site-per-process,Translate,IsolateSandboxedIframes"))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{T: t, ctx: ctx, axe: string(script)}
	chromedp.ListenTarget(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			b.problems = append(b.problems, e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			b.problems = append(b.problems, fmt.Sprint("console.", e.Type))
		case *log.EventEntryAdded:
			b.problems = append(b.problems, e.Entry.Text+" "+e.Entry.URL)
		case *page.EventJavascriptDialogOpening:
			b.problems = append(b.problems, "a dialog: "+e.Message)
		}
	})
	return b
}

// run performs actions.
func (b *browser) run(actions ...chromedp.Action) {
	b.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// visit shows a page, and checks it for everyone who may use it.
func (b *browser) visit(path string) {
	b.Helper()
	b.run(chromedp.Navigate(b.base+path), chromedp.WaitVisible("main h1", chromedp.ByQuery))
	b.check(path)
}

// check looks for problems of accessibility in both color schemes, for content that a phone does not show, and for what
// the console reported.
func (b *browser) check(path string) {
	b.Helper()
	var missing bool
	b.run(chromedp.Evaluate(`!window.axe`, &missing))
	if missing {
		b.run(chromedp.Evaluate(b.axe, nil))
	}
	for _, scheme := range []string{"dark", "light"} {
		rules := `{}`
		if scheme == "dark" { // the only rule that depends on it
			rules = `{runOnly: ["color-contrast"]}`
		}
		var found string
		b.run(
			emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
			chromedp.Evaluate(`axe.run(`+rules+`).then(r => JSON.stringify(r.violations.map(
				v => [v.id, v.help, ...v.nodes.slice(0, 3).map(n => n.html + ": " + n.failureSummary)])))`, &found,
				func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }),
		)
		if found != "[]" {
			b.Errorf("%s, %s: axe found %s", path, scheme, found)
		}
	}
	var tooWide bool
	b.run(
		chromedp.EmulateViewport(360, 740),
		chromedp.Evaluate(`document.documentElement.scrollWidth > window.innerWidth`, &tooWide),
		chromedp.EmulateViewport(1000, 800),
	)
	if tooWide {
		b.Errorf("%s: wider than a phone", path)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, problem := range b.problems {
		b.Errorf("%s: %s", path, problem)
	}
	b.problems = nil
}

// shows checks that the page has the words, in its text or its fields.
func (b *browser) shows(words string) {
	b.Helper()
	var text string
	b.run(chromedp.Evaluate(`document.querySelector("main").innerText`, &text))
	if !strings.Contains(text, words) {
		b.Errorf("the page does not show %q: %s", words, text[:min(len(text), 600)])
	}
}

// press clicks the first link, button or summary with the words, and waits for the next page if it leads to one.
func (b *browser) press(words string, leads bool) {
	b.Helper()
	quoted, err := json.Marshal(words)
	if err != nil {
		b.Fatal(err)
	}
	click := chromedp.Evaluate(fmt.Sprintf(`(() => {
		const all = [...document.querySelectorAll("main a, main button, main summary, nav a")];
		const found = all.find(e => e.checkVisibility() && e.innerText.includes(%s));
		if (!found) throw new Error("nothing to press: " + %s);
		found.click();
	})()`, quoted, quoted), nil)
	if !leads {
		b.run(click)
		return
	}
	// The page of before is marked, so that its end is seen, whatever the address of the next one is.
	b.run(chromedp.Evaluate(`window.before = true`, nil), click)
	for shown := false; !shown && b.ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		// An error is that of a page which has just ended.
		_ = chromedp.Run(b.ctx, chromedp.Evaluate(
			`!window.before && document.readyState === "complete" && !!document.querySelector("main h1")`, &shown))
	}
	if b.ctx.Err() != nil {
		b.Fatalf("press %q: no page came", words)
	}
}

// write fills in a field.
func (b *browser) write(field, text string) {
	b.Helper()
	arguments, err := json.Marshal([]string{field, text})
	if err != nil {
		b.Fatal(err)
	}
	b.run(chromedp.Evaluate(fmt.Sprintf(`(([field, text]) => {
		document.querySelector(field).value = text;
	})(%s)`, arguments), nil))
}

// picture writes a screenshot for the documents, if they are asked for.
func (b *browser) picture(name string) {
	b.Helper()
	if *screenshots == "" {
		return
	}
	var data []byte
	b.run(chromedp.CaptureScreenshot(&data))
	if err := os.WriteFile(filepath.Join(*screenshots, name), data, 0o644); err != nil {
		b.Fatal(err)
	}
}

// A person corrects a fact, sees its history, forgets another, accepts a proposal and looks at what the book club sees,
// by the words on the pages.
func TestViewerInBrowser(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	h := launch{workspace: sample(t), transcripts: filepath.Join(t.TempDir(), "transcripts")}
	copyFolder(t, "../testdata/workspaces/kate-transcripts", h.transcripts)
	write(t, filepath.Join(h.workspace, "notes", "hidden.md"),
		"# Hidden\n\n\u202Eolleh <script>alert(4)</script>\n")
	dm := connect(t, h)
	const hostile = "see `</p><img src=x onerror=alert(1)><script>alert(2)</script>` \u202Eolleh"
	dm.store(hostile, map[string]any{"source": `"><svg onload=alert(3)>`})
	dm.store("Mira's dentist is Dr Weber, on 24 November 2026 at 10:00", map[string]any{
		"source": "user", "tags": []string{"health"},
	})
	dm.store("Mira's old landlord was called Otto", nil)
	dm.store("The greenhouse needs a new valve before March", map[string]any{"type": "event"})
	dm.store("The reading list is on the door", map[string]any{"visibility": "shared"})
	call[map[string]any](dm, "distill_lesson", map[string]any{
		"situation": "watering the greenhouse", "error_pattern": "the valve was left open", "oversight": "no one looked",
		"fix": "close it by hand", "preventative_rule": "Look at the valve after watering", "severity": "high",
		"applicable_scope": "the greenhouse",
	})
	for item, propose := range map[string]bool{"Water in the morning": false, "Ask before ordering parts": true} {
		call[map[string]any](dm, "workspace_edit", map[string]any{
			"file": "MEMORY.md", "section": "Lessons", "op": "append_item", "items": []string{item},
			"rationale": "seen twice this week", "propose": propose,
		})
	}
	dm.end()
	group := connect(t, launch{workspace: h.workspace, group: club, transcripts: h.transcripts})
	group.store("The club meets on Thursdays", nil)
	group.end()

	v := view(t, h)
	b.base = v.base
	b.run(log.Enable(), chromedp.Navigate(v.link), chromedp.WaitVisible(`nav[aria-label="Pages"]`, chromedp.ByQuery))
	b.visit("/")
	b.shows("Choose a memory")
	b.picture("viewer-timeline.png")
	b.press("Type, project and time", false)
	b.check("the filters")
	b.press("dentist is Dr Weber", true)
	b.check("a memory")
	b.press("Correct it", false)
	b.write("textarea[name=text]", "Mira's dentist is Dr Weber, on 25 November 2026 at 11:00")
	b.write("form[action$=correct] input[name=why]", "moved")
	b.press("Save the correction", true)
	b.shows("Corrected.")
	b.shows("24 November 2026 at 10:00") // in its history
	b.shows("Not current since")
	b.check("a corrected memory")
	b.picture("viewer-memory.png")
	b.press("Pin it", true)
	b.shows("Each session that may read it starts with it.")
	b.press("Remove the pin", true)
	b.press("Share it with every group", true)
	b.shows("Every group that your agent is in can read this")
	b.check("before sharing")

	b.press("Timeline", true)
	b.press("landlord was called Otto", true)
	b.press("Forget it", true)
	b.shows("This cannot be undone.")
	b.check("before forgetting")
	b.press("Forget it permanently", true)
	b.shows("Forgotten.")

	b.press("To decide 1", true)
	b.shows("Ask before ordering parts")
	b.check("to decide")
	b.picture("viewer-decide.png")
	b.press("Accept", true)
	b.shows("Accepted.")
	b.press("Files", true)
	b.press("MEMORY.md", true)
	b.shows("Ask before ordering parts")
	b.shows("by you, by accepting a proposal")
	b.check("a file")
	b.picture("viewer-file.png")
	b.press("an item added in Lessons", true)
	b.check("an edit")
	b.press("Undo this edit", true)
	b.shows("Undone.")
	b.press("Pin", true)
	b.shows("Pinned.")

	b.press("Groups", true)
	b.check("groups")
	b.press("See it as the group "+club, true)
	b.shows("Kate")
	b.check("as a group")
	b.picture("viewer-group.png")
	b.press("What it can find", true)
	b.shows("The club meets on Thursdays")
	b.shows("The reading list is on the door")
	b.check("what a group finds")

	b.visit("/search")
	b.run(chromedp.SendKeys("#q", "when is the dentist", chromedp.ByQuery),
		chromedp.WaitVisible("#results details", chromedp.ByQuery))
	b.press("Why was this found?", false)
	b.check("a search")
	b.picture("viewer-search.png")
	for _, path := range []string{
		"/?all=1&text=dentist", "/shared", "/groups/" + club, "/lessons", "/files", "/files/SOUL.md", "/sessions", "/health",
		"/forget", "/forget?about=Mira", "/as/" + club + "/search?q=club", "/as/" + club + "/files/SOUL.md",
		"/as/" + club + "/skills", "/search?q=olleh",
	} {
		b.visit(path)
	}
	b.visit("/sessions")
	b.run(chromedp.Evaluate(`document.querySelector("main li a").click()`, nil),
		chromedp.WaitVisible("ol.plain", chromedp.ByQuery))
	b.check("a session")
	// What is stored is cleaned; a file can have anything.
	b.visit("/files/notes/hidden.md")
	b.shows("U+202E")
}
