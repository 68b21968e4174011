package mesh

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Skills are the skills of a View: those of its audience's own compartment, and the shared ones.
type Skills struct{ view *View }

// Skills returns the skills that the audience may see.
func (v *View) Skills() Skills { return Skills{v} }

// SkillRequest is a skill to keep (RFC-0011 §4.1 ingestSkill).
type SkillRequest struct {
	// Text is the definition: YAMO blocks (§3.1), whose first names the agent and its intent, or Markdown that
	// begins with YAML front matter, which has name and intent or description, and may have tags and type.
	Text       string
	Type       string            // what kind of skill it is; "" is the front matter's
	Source     string            // the name of the file that it came from
	Visibility record.Visibility // "" is the audience's own compartment; a DM may say Private or Shared
	Consent    string            // of a skill that is to be shared, see record.Record
}

// IngestedSkill is the result of ingesting a skill.
type IngestedSkill struct {
	ID         string
	Name       string
	Intent     string
	Visibility record.Visibility
	Created    bool // false: a skill of this name was there, and ID is its id
	Updated    bool // that skill's text was replaced
	Redactions []scrub.Redaction
}

// Ingest redacts a skill and appends it to its compartment's ledger. It returns after the fsync; no
// model is needed. A name, without regard to letter case, is one skill in a compartment: the same text
// again changes nothing, another text replaces the one there, under the same id. The skill's uses are
// kept then, see SkillHit.
func (k Skills) Ingest(ctx context.Context, q SkillRequest) (IngestedSkill, error) {
	to, err := k.view.destination(q.Visibility)
	if err != nil {
		return IngestedSkill{}, err
	}
	if err := k.view.Quota.checkContent("text", q.Text); err != nil {
		return IngestedSkill{}, err
	}
	clean := intake.New(k.view.scrubber)
	kept, err := clean.Skill(q.Text, q.Type, q.Source)
	if err != nil {
		return IngestedSkill{}, err
	}
	kept.AgentID = k.view.AgentID
	if to == record.Shared {
		kept.Consent = q.Consent
	}
	result := IngestedSkill{Name: kept.Name, Intent: kept.Intent, Visibility: to, Redactions: clean.Redactions()}
	err = k.view.write(ctx, to, func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
		known := s.Skills.Named(kept.Name)
		result.Created, result.Updated = known == nil, false
		if known == nil {
			kept.CreatedAt, kept.UpdatedAt = now, time.Time{}
			kept.ID, err = s.NewSkillID(now, k.view.Random)
		} else {
			result.ID = known.ID
			// A text without a type keeps the one that the skill has: ingesting a file again must not undo a choice.
			kept.Type = cmp.Or(kept.Type, known.Type)
			if known.Text == kept.Text && known.Type == kept.Type {
				return nil, nil
			}
			kept.ID, kept.CreatedAt, kept.UpdatedAt, result.Updated = known.ID, known.CreatedAt, now, true
		}
		result.ID = kept.ID
		return []ledger.Draft{{Op: store.OpSkill, ID: kept.ID, Data: kept}}, err
	})
	if err != nil {
		return IngestedSkill{}, err
	}
	return result, nil
}

// Named returns the id of the skill in the audience's own compartment that has q's name, "" if none has.
func (k Skills) Named(ctx context.Context, q SkillRequest) (string, error) {
	kept, err := intake.New(k.view.scrubber).Skill(q.Text, q.Type, q.Source)
	if err != nil {
		return "", err
	}
	id := ""
	err = k.view.withCompartment(ctx, k.view.home(), func(c *compartment) error {
		if err := c.Sync(ctx); err != nil {
			return err
		}
		s := c.Snapshot()
		defer s.Release()
		if known := s.Skills.Named(kept.Name); known != nil {
			id = known.ID
		}
		return nil
	})
	return id, err
}

// RFC-0011 §5.3.
const (
	skillKeywordWeight = .7
	skillVectorWeight  = .3
)

// FoundSkills is the answer to a search for skills.
type FoundSkills struct {
	Skills []record.SkillHit // best first
	// Off and Degraded are as in Found: only keywords decided.
	Off, Degraded bool
	// Pending is how many skills were searched by keywords only, because they have no vector yet.
	Pending int
	// Damaged lists compartments of whose ledger only the part before a damaged line was searched.
	Damaged []record.Visibility
}

// Search finds at most limit skills (1..MaxLimit; 0 is 10) for a task (RFC-0011 §4.1
// searchSkills), with §5.3's score: 0.7 of the keyword score, which is keyword.Fields.Score and 1 for a
// skill's very name, and 0.3 of the vector score, which is §5.2's similarity. A skill is found by a word of
// the query or a cosine of 0.1. Nothing is written.
func (k Skills) Search(ctx context.Context, query string, limit int) (FoundSkills, error) {
	switch {
	case !utf8.ValidString(query):
		return FoundSkills{}, fault.New("query: the text is not valid UTF-8")
	case strings.TrimSpace(query) == "":
		return FoundSkills{}, fault.New("query: describe the task in words")
	case utf8.RuneCountInString(query) > maxQuery:
		return FoundSkills{}, fault.New("query: %d characters are too many; use at most %d",
			utf8.RuneCountInString(query), maxQuery)
	}
	if err := checkLimit(&limit); err != nil {
		return FoundSkills{}, err
	}
	query, _ = k.view.scrubber.Redact(strings.TrimSpace(query))
	stores, damaged, err := k.view.compartments(ctx)
	if err != nil {
		return FoundSkills{}, err
	}
	found := FoundSkills{Damaged: damaged}
	if !slices.ContainsFunc(stores, func(c *compartment) bool { return c.skillCount() > 0 }) {
		return found, nil // no model is needed for that
	}
	meaning, err := k.embedQuery(ctx, stores, query, &found)
	if err != nil {
		return FoundSkills{}, err
	}
	k.find(stores, query, meaning, &found)
	if found.Skills, err = k.assess(ctx, query, found.Skills); err != nil {
		return FoundSkills{}, err
	}
	found.Skills = found.Skills[:min(limit, len(found.Skills))]
	return found, nil
}

// assess returns the skills that possibly apply to the query. One that is called by its name does.
func (k Skills) assess(ctx context.Context, query string, skills []record.SkillHit) ([]record.SkillHit, error) {
	list := make([]candidate, len(skills))
	for i, s := range skills {
		text := s.Name + ": " + s.Intent + "\n" + s.Description
		list[i] = candidate{text: text, passage: text, occasion: s.Intent, strength: s.Keyword}
	}
	probabilities, err := k.view.assess(ctx, query, list, confidence.Task)
	if err != nil {
		return nil, err
	}
	kept := skills[:0]
	for i, s := range skills {
		if s.Keyword == 1 || confidence.Of(probabilities[i]).AtLeast(confidence.Possible) {
			kept = append(kept, s)
		}
	}
	return kept, nil
}

// find adds the skills that have a word of the query or are near to its meaning, best first.
func (k Skills) find(stores []*compartment, query string, meaning []float32, found *FoundSkills) {
	words := keyword.Parse(query)
	list, release := snapshots(stores)
	defer release()
	outdated := outdatedSkills(list)
	for i, from := range list {
		for _, s := range from.Skills.All() {
			if outdated[s.ID] {
				continue
			}
			hit := skillHit(from, list[0], s)
			hit.Keyword = s.Words.Score(words)
			if strings.EqualFold(query, s.Name) {
				hit.Keyword = 1
			}
			vector := stores[i].index.SkillVector(s.Intent)
			cosine := dot(meaning, vector)
			if meaning != nil && vector == nil {
				found.Pending++
			}
			if hit.Keyword == 0 && cosine < rank.MinCosine {
				continue
			}
			if meaning != nil && vector != nil {
				hit.Vector = similarity(cosine)
			}
			hit.Score = rank.Round(float32(skillKeywordWeight*hit.Keyword + skillVectorWeight*hit.Vector))
			hit.Keyword = rank.Round(float32(hit.Keyword))
			found.Skills = append(found.Skills, hit)
		}
	}
	slices.SortFunc(found.Skills, func(a, b record.SkillHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Reliability, a.Reliability), compareNames(a, b))
	})
}

// skillCount is how many skills there are.
func (c *compartment) skillCount() int {
	s := c.Snapshot()
	defer s.Release()
	return s.Skills.Len()
}

// embedQuery returns the query's vector, nil if it has none, after giving skills without a vector a moment to get
// theirs.
//
// SECURITY: a DM does not wait for the skills of groups, or one of them could slow down every search. Until the
// background work has embedded them their words are matched.
func (k Skills) embedQuery(
	ctx context.Context, stores []*compartment, query string, found *FoundSkills,
) ([]float32, error) {
	meaning, off, err := k.view.queryVector(ctx, query)
	if err != nil {
		return nil, err
	}
	if meaning == nil {
		found.Off, found.Degraded = off, !off
		return nil, nil
	}
	wait, cancel := context.WithTimeout(ctx, k.view.patience)
	defer cancel()
	for _, c := range stores {
		embed := c.index.EmbedSkills
		if k.view.foreign(c.Visibility) {
			embed = c.index.RecallSkills
		}
		err := embed(wait)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			c.index.Wake() // they are counted as pending
		}
	}
	return meaning, nil
}

// dot is the cosine of unit vectors, 0 if one is missing.
func dot(a, b []float32) float64 {
	sum := 0.
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// outdatedSkills returns the ids of the skills whose rules quote a memory that is not current any more, and that were
// not synthesized again since.
func outdatedSkills(list []*store.Snapshot) map[string]bool {
	past := func(source record.Source) bool {
		hit := find(list, source.ID)
		return hit.Record == nil || hit.Past != nil
	}
	outdated := map[string]bool{}
	for _, s := range list {
		for made := range s.Syntheses() {
			quotes := made.Method == record.ByExtract && slices.ContainsFunc(made.Sources, past)
			known, seen := outdated[made.SkillID]
			outdated[made.SkillID] = quotes && (known || !seen)
		}
	}
	return outdated
}

// similarity is RFC-0011 §5.2's, of a cosine.
func similarity(cosine float64) float64 {
	distance := 1 - cosine
	return rank.Round(float32(max(0, min(1, 1-distance/2))))
}
