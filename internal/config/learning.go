package config

import (
	"errors"
	"fmt"
	"os"

	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact"
)

// Learning is the options of what is kept: lessons and heritage (RFC-0011 §4.2), contact details. Those of lessons
// apply on reading: a change makes lessons that are already stored active or inactive.
type Learning struct {
	MinConfidence float64 // of an active lesson, above 0 and at most 1
	RetentionDays int     // for how many days a lesson stays active, 1 to 36500
	HeritageDepth int     // levels of heritage, 1 to 50
	KeepContacts  bool    // private memories keep e-mail addresses and phone numbers
	RedactList    string  // file of what is redacted as well, "" for none
}

// Redact returns what the operator's list finds, nil without a list.
func (l Learning) Redact() (redact.Detector, error) {
	if l.RedactList == "" {
		return nil, nil
	}
	data, err := os.ReadFile(l.RedactList)
	if err != nil {
		return nil, fmt.Errorf("redact-list: %w", err)
	}
	list, err := redact.ParseList(string(data))
	if err != nil {
		return nil, fmt.Errorf("redact-list: %s: %w", l.RedactList, err)
	}
	return list, nil
}

// LearningSettings are the settings of what is kept.
var LearningSettings = []Setting{
	spec[float64]{
		Name: "lesson-min-confidence", folder: true, initial: record.DefaultConfidence,
		help:  "minimum confidence of an active lesson",
		field: func(c *Config) *float64 { return &c.Learning.MinConfidence },
		valid: func(v float64) error {
			// 0 is refused because mesh.Options has the default for it. The negation refuses NaN as well.
			if !(v > 0 && v <= 1) {
				return errors.New("must be above 0 and at most 1")
			}
			return nil
		},
	},
	spec[int]{
		Name: "lesson-retention-days", folder: true, initial: record.DefaultRetentionDays,
		help:  "number of days that a lesson stays active",
		field: func(c *Config) *int { return &c.Learning.RetentionDays },
		valid: between(1, 36_500),
	},
	spec[int]{
		Name: "heritage-depth", folder: true, initial: mesh.MaxHeritageDepth,
		help:  "maximum number of heritage levels kept with a memory",
		field: func(c *Config) *int { return &c.Learning.HeritageDepth },
		valid: between(1, 50),
	},
	spec[bool]{
		Name: "keep-contacts", help: "keep e-mail addresses and phone numbers in private memories",
		more: "In memories that groups can read, in lessons, reflections and skills they are " +
			"[redacted](redaction.md#keeping-contact-details) all the same; credentials always are. An embedding provider " +
			"gets what is kept",
		field: func(c *Config) *bool { return &c.Learning.KeepContacts },
	},
	spec[string]{
		Name: "redact-list", help: "file of words and /regular expressions/ to redact as well, one a line",
		more:  "[Names of projects or customers](redaction.md#your-own-list), for example",
		field: func(c *Config) *string { return &c.Learning.RedactList },
	},
}

// DreamSettings are the thresholds of dreaming (seed 002): a memory must reach all three. `yamo-mcp dream` and the
// sweeps of a server have the same.
var DreamSettings = []Setting{
	spec[float64]{
		Name: "dream-min-score", folder: true, initial: dream.DefaultScore,
		help:  "minimum score of a memory that dreaming promotes",
		more:  "[Dreaming](dreaming.md) moves memories to MEMORY.md",
		field: func(c *Config) *float64 { return &c.Dreams.Score },
		valid: between(0.0, 1.0),
	},
	spec[int]{
		Name: "dream-min-hits", folder: true, initial: dream.DefaultHits,
		help:  "minimum number of times that a memory was recalled before dreaming promotes it",
		more:  "Recalls of the last 30 days count",
		field: func(c *Config) *int { return &c.Dreams.Hits },
		valid: between(1, 1000),
	},
	spec[int]{
		Name: "dream-min-days", folder: true, initial: dream.DefaultDays,
		help:  "minimum number of days on which it was recalled",
		field: func(c *Config) *int { return &c.Dreams.Days },
		valid: between(1, dream.Window),
	},
}
