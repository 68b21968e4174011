package viewer

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/viewer/guard"
	"github.com/yamo-protocol/yamo-mcp/internal/viewer/page"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// answer is a page, or where the browser goes next.
type answer struct {
	template string
	part     string // of the template, for a request of the page's script; "" for the whole page
	page     page.Page
	next     string // the path after something was done; nothing else is used then
	status   int    // 0: 200
}

// handler makes the answer to a request. A fault is shown to the person, every other error is logged.
type handler func(r *http.Request) (answer, error)

// get registers the handler of a page.
func (s *Site) get(path string, h handler) { s.mux.HandleFunc("GET "+path, s.serve(h)) }

// post registers the handler of a form. If it fails with a fault, the answer that it returns is the form again, with
// what was typed.
func (s *Site) post(path string, h handler) { s.mux.HandleFunc("POST "+path, s.serve(h)) }

func (s *Site) serve(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, err := h(r)
		problem, refused := fault.As(err)
		switch {
		case refused && a.template == "":
			a = answer{template: "problem", page: problemPage(r, "This was not possible")}
			a.page.Problem, a.status = s.readable(problem, a.page.Guest), http.StatusNotFound
		case refused:
			a.page.Problem, a.status = s.readable(problem, a.page.Guest), http.StatusUnprocessableEntity
		case err != nil && r.Context().Err() != nil:
			return // the person has gone to another page
		case err != nil:
			s.Logger.ErrorContext(r.Context(), "make a page", slog.String("route", r.Pattern), slog.Any("error", err))
			a = answer{template: "problem", page: problemPage(r, "An internal error")}
			a.page.Problem = "This page could not be made. The reason is in the terminal where yamo-mcp view runs."
			a.status = http.StatusInternalServerError
		case a.next != "":
			http.Redirect(w, r, a.next, http.StatusSeeOther)
			return
		}
		a.page.Token, a.page.Version = guard.Token(r.Context()), s.Version
		if !a.page.Guest {
			a.page.Waiting = s.waiting(r.Context())
		}
		if a.page.Done = done[r.URL.Query().Get("done")]; a.page.Done != "" {
			a.page.Done += notKept(r.URL.Query())
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Vary", "HX-Request")
		if a.status != 0 {
			w.WriteHeader(a.status)
		}
		templates := s.own
		if a.page.Guest {
			templates = s.guest
		}
		render := func() error { return templates.Render(w, a.template, a.page) }
		if a.part != "" && r.Header.Get("HX-Request") != "" {
			render = func() error { return templates.RenderPart(w, a.template, a.part, a.page) }
		}
		if err := render(); err != nil && r.Context().Err() == nil {
			s.Logger.ErrorContext(r.Context(), "write a page", slog.String("route", r.Pattern), slog.Any("error", err))
		}
	}
}

// readable returns a fault in words, with the times of the reader's zone.
//
// SECURITY: a group does not know the person's.
func (s *Site) readable(problem error, guest bool) string {
	zone := time.Local
	if !guest {
		zone = s.zone()
	}
	return page.Moments(problem.Error(), zone)
}

// problemPage is the frame of a page with a problem. Below the pages of what a group sees it leads to nothing else.
func problemPage(r *http.Request, title string) page.Page {
	if !strings.HasPrefix(r.URL.Path, "/as/") {
		return page.Page{Title: title, Zone: private}
	}
	p := page.Page{Title: title, Zone: page.Zone{Class: "as", Label: "As a group sees it"}, Guest: true, Here: "/groups"}
	if who, err := groupOf(r); err == nil {
		p.Here, p.Zone.Label = "/as/"+url.PathEscape(who.Group()), "As the group "+who.Group()+" sees it"
	}
	return p
}

// done is what a page says after something was done, by the value of its parameter: the text is never taken from the
// address, which another page can choose.
var done = map[string]string{
	"corrected": "Corrected. What it said before is kept in its history, and is not found by ordinary searches any more.",
	"same":      "Nothing changed: the memory already had this text.",
	"retired":   "Retired. It is kept in the history, and is not found by ordinary searches any more.",
	"revived":   "It is current again. What it was before is kept in its history.",
	"forgotten": "Forgotten. It was permanently erased.",
	"shared":    "Shared. Every group can read this from now on.",
	"accepted":  "Accepted. The file was changed: choose it in Files to see the edit, or to undo it.",
	"rejected":  "Rejected. The agent is told the reason if it proposes this again.",
	"undone":    "Undone. The undo is in the history as well, and can itself be undone.",
	"pinned":    "Pinned. Sessions can add to it, but not change what is there.",
	"locked":    "Locked. Sessions cannot change it.",
	"unpinned":  "Released. Sessions can change it again.",
	"briefed":   "Pinned. Each session that may read it starts with it.",
	"unbriefed": "The pin was removed. It is found as before.",
	"dismissed": "Rejected. No sweep of dreaming offers it again.",
	"promoted":  "Promoted. What was promoted is in MEMORY.md, and the sweep is in DREAMS.md.",
	"unchanged": "Nothing was promoted.",
	"drift":     "Decided. The file can be replayed from its record again.",
}

// The zones of pages.
var (
	private = page.Zone{
		Class: "private", Label: "Private", Hint: "Only you and your agent in a direct conversation have this.",
	}
	shared = page.Zone{Class: "shared", Label: "Shared", Hint: "Every group that your agent is in can read this."}
)

// zoneOf returns the zone of a compartment as the person sees it.
func zoneOf(v record.Visibility) page.Zone {
	switch name := v.Group(); {
	case name != "":
		return page.Zone{
			Class: "group", Label: "Group " + name,
			Hint: "This was said in the group " + name + ". You can read it, and no other group can.",
		}
	case v == record.Shared:
		return shared
	}
	return private
}

// pathOf returns the page of a compartment.
func pathOf(v record.Visibility) string {
	switch name := v.Group(); {
	case name != "":
		return "/groups/" + url.PathEscape(name)
	case v == record.Shared:
		return "/shared"
	}
	return "/"
}
