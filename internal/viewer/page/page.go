// Package page is the look of the viewer's pages: the templates, the style, the script, and how stored text is shown.
//
// The invariant: stored text is hostile. It reaches a page only through html/template's escaping or Text, and whatever
// a person could not see in it is made visible. Nothing here is loaded from elsewhere.
package page

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/internal/viewer/guard"
)

//go:embed templates/*.html
var templates embed.FS

//go:embed assets/*
var assets embed.FS

// Assets serves the style and the script below /assets/.
func Assets() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// They are part of the program, which is another one at another address.
		w.Header().Set("Cache-Control", "private, max-age=3600")
		http.FileServerFS(assets).ServeHTTP(w, r)
	})
}

// Zone is whose data a page shows. It determines the colour and the words at the top of the page.
type Zone struct {
	Class string // private, shared, group or as
	Label string
	Hint  string // who can read it
}

// Page is what every page has. Content is the data of its own template.
type Page struct {
	Title   string
	Here    string // the path of the navigation's entry
	Zone    Zone
	Guest   bool   // as a group sees it: a page without a way into anything else
	Done    string // what was just done, "" for nothing
	Problem string // what was refused and why, "" for nothing
	Token   string
	Version string
	Waiting int // how many decisions are known to wait for the person
	Content any
}

// Entry is a link of the navigation.
type Entry struct {
	Path, Name string
	Waiting    int // what waits there for the person
}

// Navigation returns the pages that every page of the person leads to.
func (p Page) Navigation() []Entry {
	return []Entry{
		{Path: "/", Name: "Timeline"},
		{Path: "/search", Name: "Search"},
		{Path: "/lessons", Name: "Lessons and skills"},
		{Path: "/shared", Name: "Shared"},
		{Path: "/groups", Name: "Groups"},
		{Path: "/files", Name: "Files"},
		{Path: "/decide", Name: "To decide", Waiting: p.Waiting},
		{Path: "/sessions", Name: "Sessions"},
		{Path: "/forget", Name: "Forget"},
		{Path: "/health", Name: "Health"},
	}
}

// Templates are the pages of one server.
type Templates struct{ byName map[string]*template.Template }

// Parse returns the templates. zone returns the time zone that times are shown in.
func Parse(zone func() *time.Location) (*Templates, error) {
	base, err := template.New("base.html").Funcs(functions(zone)).ParseFS(templates, "templates/base.html",
		"templates/parts.html")
	if err != nil {
		return nil, fmt.Errorf("parse pages: %w", err)
	}
	names, err := templates.ReadDir("templates")
	if err != nil {
		return nil, fmt.Errorf("parse pages: %w", err)
	}
	t := &Templates{byName: map[string]*template.Template{}}
	for _, entry := range names {
		name := entry.Name()
		if name == "base.html" || name == "parts.html" {
			continue
		}
		clone, err := base.Clone()
		if err == nil {
			clone, err = clone.ParseFS(templates, "templates/"+name)
		}
		if err != nil {
			return nil, fmt.Errorf("parse pages: %w", err)
		}
		t.byName[strings.TrimSuffix(name, ".html")] = clone
	}
	return t, nil
}

// Render writes the page called name. Nothing is written if the template fails.
func (t *Templates) Render(w io.Writer, name string, p Page) error {
	return t.execute(w, name, "base.html", p)
}

// RenderPart writes one of the parts that the page called name consists of.
func (t *Templates) RenderPart(w io.Writer, name, part string, p Page) error {
	return t.execute(w, name, part, p)
}

func (t *Templates) execute(w io.Writer, name, part string, p Page) error {
	var out bytes.Buffer
	if err := t.byName[name].ExecuteTemplate(&out, part, p); err != nil {
		return fmt.Errorf("make the page %s: %w", name, err)
	}
	_, err := out.WriteTo(w)
	return err
}

// functions are what templates can call.
func functions(zone func() *time.Location) template.FuncMap {
	return template.FuncMap{
		"text":    Text,
		"field":   func() string { return guard.TokenField },
		"day":     func(t time.Time) string { return t.In(zone()).Format("Monday 2 January 2006") },
		"clock":   func(t time.Time) string { return t.In(zone()).Format("15:04") },
		"stamp":   func(t time.Time) string { return stamp(t.In(zone())) },
		"moments": func(s string) string { return Moments(s, zone()) },
		"iso":     func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"percent": func(value float64) string {
			return fmt.Sprintf("%.0f %%", 100*value)
		},
		"words":    func(name string) string { return strings.ReplaceAll(name, "_", " ") },
		"plural":   text.Count,
		"number":   strconv.Atoi,
		"diff":     diffLines,
		"byteSize": byteSize,
	}
}

// moment matches a time as the record has it.
var moment = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`)

// Moments returns a text with its times of UTC as pages show times: in a zone, without seconds.
func Moments(s string, zone *time.Location) string {
	return moment.ReplaceAllStringFunc(s, func(at string) string {
		t, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return at
		}
		return stamp(t.In(zone))
	})
}

// stamp formats a time, or a date, which is stored as its first moment.
func stamp(t time.Time) string {
	if t.Hour()|t.Minute()|t.Second()|t.Nanosecond() == 0 {
		return t.Format("2 January 2006")
	}
	return t.Format("2 January 2006, 15:04")
}

// byteSize formats a number of bytes for a person.
func byteSize(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.0f kB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// DiffLine is a line of a unified diff.
type DiffLine struct {
	Class string // added, removed, where or same
	Label string // for those who hear the page
	Sign  string // for those who see it, in any colour
	Text  string
}

// diffLines returns the lines of a unified diff without its head.
func diffLines(diff string) []DiffLine {
	var list []DiffLine
	for i, line := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n") {
		switch {
		case i < 3 && (strings.HasPrefix(line, "diff ") || strings.HasPrefix(line, "--- ") ||
			strings.HasPrefix(line, "+++ ")), line == "":
		case strings.HasPrefix(line, "@@"):
			list = append(list, DiffLine{Class: "where", Text: place(line)})
		case line[0] == '+':
			list = append(list, DiffLine{"added", "added", "+", line[1:]})
		case line[0] == '-':
			list = append(list, DiffLine{"removed", "removed", "−", line[1:]})
		default:
			list = append(list, DiffLine{"same", "", " ", line[1:]})
		}
	}
	return list
}

// place returns where the part of a diff is that begins with a line such as "@@ -3,4 +5,6 @@", in words.
func place(head string) string {
	_, lines, _ := strings.Cut(head, " +")
	lines, _, _ = strings.Cut(lines, " ")
	first, _, _ := strings.Cut(lines, ",")
	return "from line " + first
}
