package derive

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Sources are the memories that something is derived from.
type Sources struct {
	Topic string            // redacted; "" for recent memories
	Home  record.Visibility // the audience's own compartment: what another group said is marked as its words
	Hits  []record.Hit      // oldest first
	Key   string            // identifies the derivation: equal for an equal kind, topic and hits
}

// NewSources returns the sources of a derivation. kind, the operation in the ledger, is part of the key, because the
// same memories may be both reflected on and made a skill. It sorts hits.
func NewSources(kind, topic string, home record.Visibility, hits []record.Hit) *Sources {
	slices.SortFunc(hits, record.CompareStored)
	s := &Sources{Topic: topic, Home: home, Hits: hits}
	parts := append([]string{kind, strings.ToLower(topic)}, s.ids()...)
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	s.Key = hex.EncodeToString(sum[:])[:16]
	return s
}

// ids returns the sources' IDs, in their order.
func (s *Sources) ids() []string {
	ids := make([]string, len(s.Hits))
	for i, h := range s.Hits {
		ids[i] = h.ID
	}
	return ids
}

// Origins returns the sources' ids and compartments, for the record of what was derived.
func (s *Sources) Origins() []record.Source {
	list := make([]record.Source, len(s.Hits))
	for i, h := range s.Hits {
		list[i] = record.Source{ID: h.ID, Origin: h.Visibility}
	}
	return list
}

// group returns the group that said h, "" if it was the audience itself.
//
// SECURITY: a group's words are marked by this wherever they are quoted, so that they do not turn into the agent's own.
func (s *Sources) group(h record.Hit) string {
	if h.Visibility == s.Home {
		return ""
	}
	return h.Visibility.Group()
}

// Label names a source and, if another group said it, that group: a DM's reader sees which words are a group's.
func (s *Sources) Label(h record.Hit) string {
	label := h.ID + ", " + h.CreatedAt.Format("2006-01-02")
	if group := s.group(h); group != "" {
		label += ", said in the group " + group
	}
	return label
}

// Heritage is what the sources descend from and were stored for, then intent: the last depth of each list.
func (s *Sources) Heritage(intent string, depth int) record.Heritage {
	kept := record.Heritage{IntentChain: []string{}, Hypotheses: []string{}, Rationales: []string{}}
	for _, h := range s.Hits {
		add := func(list *[]string, statements ...string) {
			for _, said := range statements {
				if said == "" {
					continue
				}
				if group := s.group(h); group != "" {
					said = "(said in the group " + group + ") " + said
				}
				if said = text.Shorten(said, record.MaxField-1); !slices.Contains(*list, said) {
					*list = append(*list, said)
				}
			}
		}
		if h.Heritage != nil {
			add(&kept.IntentChain, h.Heritage.IntentChain...)
			add(&kept.Hypotheses, h.Heritage.Hypotheses...)
			add(&kept.Rationales, h.Heritage.Rationales...)
		}
		add(&kept.Hypotheses, h.Hypothesis)
		add(&kept.Rationales, h.Rationale)
	}
	kept.IntentChain = append(kept.IntentChain, intent)
	kept.Rationales = append(kept.Rationales,
		text.Shorten("Drawn from "+strings.Join(s.ids(), ", "), record.MaxField-1))
	for _, list := range []*[]string{&kept.IntentChain, &kept.Hypotheses, &kept.Rationales} {
		*list = (*list)[max(0, len(*list)-depth):]
	}
	return kept
}

// TopicName returns the topic as blocks, prompts and skills name it.
func TopicName(topic string) string {
	if topic == "" {
		return "recent memories"
	}
	return topic
}
