package config

import "github.com/yamo-protocol/yamo-mcp/mesh/rank"

// Search is how memories are searched. It changes the order of results only, never which memories an audience can find.
type Search struct {
	Ranking string // a rank.Ranking: see docs/ranking.md
}

// SearchSettings are the settings of searches.
var SearchSettings = []Setting{
	spec[string]{
		Name: "ranking", folder: true, local: true, initial: string(rank.Context),
		help:  "ranking of search results: " + string(rank.Context) + " or " + string(rank.RFC0011),
		more:  "`rfc0011` is the fusion of RFC-0011 §5 to the letter",
		field: func(c *Config) *string { return &c.Search.Ranking },
		valid: oneOf(string(rank.Context), string(rank.RFC0011)),
	},
}
