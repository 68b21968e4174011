package record

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sources that name a role and not a person, program or document. They are not searched.
var roles = []string{"user", "assistant", "human", "agent", "system", "tool", Conversation}

// ProjectName returns the short name of a project's identity: "mare" for "github.com/acme/mare" and "mare~1f2e3d4c".
func ProjectName(identity string) string {
	name := identity[strings.LastIndexByte(identity, '/')+1:]
	name, _, _ = strings.Cut(name, "~")
	return name
}

// OfProject reports whether the record belongs to a project, by its identity or short name in any letter case.
func (r *Record) OfProject(name string) bool {
	return r.Project != "" && (strings.EqualFold(r.Project, name) || strings.EqualFold(ProjectName(r.Project), name))
}

// Labels returns what a query may name besides the words of the content: the tags, the project's name, the source
// unless it is a role or who stored the record, and the session of a file.
func (r *Record) Labels() []string {
	var labels []string
	for _, tag := range r.Tags {
		if tag != LessonTag {
			labels = append(labels, tag)
		}
	}
	if r.Type == FileType && r.SessionID != "" {
		labels = append(labels, r.SessionID)
	}
	if !r.IsMemory() { // its source is its path, or a role
		return labels
	}
	if r.Project != "" {
		labels = append(labels, ProjectName(r.Project))
	}
	if r.Source != "" && r.Source != r.AgentID && !slices.Contains(roles, strings.ToLower(r.Source)) {
		labels = append(labels, r.Source)
	}
	return labels
}

// personalTags mark what is about a person and not about a project.
var personalTags = []string{"personal", "preference", "preferences", "profile", "user", "family", "health"}

var (
	// aboutPerson finds statements about the user, in the first or third person.
	aboutPerson = regexp.MustCompile(`(?i)^(I|I'm|I've|I'd|I’m|my|mine|(the )?user('s|’s)?|call me)\b`)
	// aboutCode finds what a statement about a person rarely has: code, options, paths.
	aboutCode = regexp.MustCompile("`|(^|\\s)--?[a-z]|\\w/\\w|\\w\\(\\)|\\$\\s?\\w|&&")
)

// personalHead is the maximum length in bytes of what is taken for a statement about a person.
const personalHead = 400

// IsPersonal reports whether the memory is about the user rather than about its project, so that it holds in every
// project: a standing instruction or preference, or a statement about the user, who may be called by one of names. Only
// English is recognized, names, and tags.
func (r *Record) IsPersonal(names ...string) bool {
	if r.Lesson != nil || r.Reflection != nil {
		return false
	}
	if r.IsStanding() || slices.ContainsFunc(personalTags, r.HasTag) {
		return true
	}
	text := strings.TrimLeft(strings.TrimPrefix(strings.TrimSpace(r.Content), "User: "), " -*\"'")
	about := aboutPerson.MatchString(text) ||
		slices.ContainsFunc(names, func(name string) bool { return beginsWith(text, name) })
	return len(text) <= personalHead && utf8.ValidString(text) && about && !aboutCode.MatchString(text)
}

// beginsWith reports whether a text begins with a name, as a word.
func beginsWith(text, name string) bool {
	rest, ok := strings.CutPrefix(text, name)
	next, _ := utf8.DecodeRuneInString(rest)
	return ok && name != "" && !unicode.IsLetter(next) && !unicode.IsDigit(next) && next != '-' && next != '_'
}
