package dream

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// maxText is how many characters an entry of MEMORY.md has that nobody looked at.
const maxText = 300

// candidate is a recalled memory with what speaks against it.
func (s *Sweeper) candidate(r mesh.Recalled, score float64) Candidate {
	c := Candidate{ID: r.ID, Text: line(r.Content), Score: score, Hits: r.Hits, Days: r.Days}
	// SECURITY: a stranger must not be able to plant beliefs.
	if groups := r.Groups(); len(groups) > 0 {
		c.Held = append(c.Held, "it came from the group "+strings.Join(groups, ", "))
	}
	if instructs(r.Content) {
		c.Held = append(c.Held, "it reads like an instruction to the agent")
	}
	if n := utf8.RuneCountInString(c.Text); n > maxText {
		c.Held = append(c.Held, fmt.Sprintf("it is long: %d characters", n))
	}
	c.Unfit = s.unfit(c)
	return c
}

// unfit says why a candidate cannot be an item of MEMORY.md, "" if it can.
func (s *Sweeper) unfit(c Candidate) string {
	edit := grammar.Edit{Op: grammar.AppendItem, Section: "S", Items: []string{c.Item()}, Create: true, Rationale: "r"}
	if _, err := grammar.Parse("").Apply(nil, edit, time.Time{}); err != nil {
		return "it would not be a list item"
	}
	if token, err := grammar.ParseToken(c.ID); err != nil || token.MemoryID() != c.ID {
		return "its id makes no evidence token"
	}
	if len(grammar.Tokens(c.Text)) > 0 {
		return "it contains an evidence token"
	}
	if err := s.Workspace.CheckText(c.Item()); err != nil {
		return err.Error()
	}
	return ""
}

// line is text in one line, without a bullet or heading mark at its beginning.
func line(text string) string {
	text = strings.Join(strings.Fields(visible(text)), " ")
	return strings.TrimSpace(strings.TrimLeft(text, "-*+#> "))
}

// visible is text without characters that are not seen, which could hide what it says.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// orders are the forms of speaking to an agent rather than about something. They are a sieve, and meant to hold back too
// much: what they hold back, a person can confirm.
var orders = regexp.MustCompile(`(?im)` + strings.Join([]string{
	// What a conversation's parts are marked with, and markup that is not prose.
	`^\W*(system|assistant|user|developer|human|agent|tool)\s*:`, "```", `<\|`, `</?[a-z]+[^>]*>`, `!\[`, `\[/?INST\]`,
	// To an agent, or about what it has to do.
	`\b(you|the agent|the assistant|the model|the bot|the ai)\s+(must|should|shall|have to|has to|need to|needs to|are to|is to|may not|can ?not|will|are now|ought)\b`,
	`\b(wants?|asks?|asked|expects?|tells?|told|wishes|reminds?) (you|the (agent|assistant|model|bot|ai))\b`,
	`\b(system prompt|developer mode|jailbreak|act as|pretend (to|that)|from now on|going forward|in (the )?future,)`,
	`\b(ignore|disregard|forget|override|bypass|ignoriere|vergiss|ignora|olvida|ignorez|oublie[zr]?)\b`,
	`\b(your|deine|tus?|vos|tes) (instructions?|rules?|guidelines?|role|prompt|anweisungen|regeln|instrucciones|reglas|consignes|règles)\b`,
	// An order at the beginning of a sentence.
	`(^|[.!?:;,]\s+)\W*(please|always|never|do not|don't|don’t|make sure|ensure|be sure|remember to|note to|if (asked|someone|anyone|the user)|when (asked|someone|anyone|the user)|` +
		`tell|say|send|reply|respond|answer|call|run|execute|use|read|write|delete|remove|open|fetch|visit|click|post|email|e-mail|mail|forward|share|reveal|` +
		`print|output|install|download|upload|pay|transfer|buy|book|approve|accept|grant|allow|enable|disable|follow|obey|treat|trust|stop|start|include|add|` +
		`keep|give|put|check|contact|hide|skip|avoid|refuse|immer|niemals|bitte|siempre|nunca|por favor|toujours|jamais)\b`,
}, "|"))

// instructs reports whether text looks like an instruction to whoever reads it.
func instructs(text string) bool { return orders.MatchString(norm.NFKC.String(visible(text))) }

var (
	marked  = regexp.MustCompile(`\s*_\(score=[0-9.]+, hits=[0-9]+, days=[0-9]+\)_$`)
	dateOf  = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[: ]\s*`)
	endings = ".!,;: "
)

// sameText is a text as it is compared with another one.
func sameText(text string) string {
	text = dateOf.ReplaceAllString(marked.ReplaceAllString(line(text), ""), "")
	return strings.TrimRight(strings.ToLower(text), endings)
}

// saidIn are the entries of a MEMORY.md.
func saidIn(text string) map[string]bool {
	said := map[string]bool{}
	for _, section := range workspace.ParseSections(strings.ToValidUTF8(text, "\uFFFD")) {
		for _, bullet := range section.Bullets {
			said[sameText(bullet)] = true
		}
	}
	return said
}
