package config

import "github.com/yamo-protocol/yamo-mcp/mesh"

// Search is how memories are searched.
type Search struct {
	Ranking string // a mesh.Ranking
}

// SearchSettings are the settings of searches.
var SearchSettings = []Setting{
	spec[string]{
		Name: "ranking", initial: string(mesh.Context),
		help:  "ranking of search results: " + string(mesh.Context) + " or " + string(mesh.RFC0011),
		more:  "`rfc0011` is the fusion of RFC-0011 §5 to the letter",
		field: func(c *Config) *string { return &c.Search.Ranking },
		valid: oneOf(string(mesh.Context), string(mesh.RFC0011)),
	},
}
