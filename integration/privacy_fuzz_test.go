package integration

import (
	"maps"
	"slices"
)

// inputSchema is as much of a JSON schema as is needed to make arguments.
type inputSchema struct {
	Type       string
	Enum       []string
	Minimum    float64
	Properties map[string]inputSchema
	Required   []string
	Items      *inputSchema
}

// valid is a value that satisfies the schema.
func (i inputSchema) valid() any {
	switch {
	case len(i.Enum) > 0:
		return i.Enum[0]
	case i.Type == "integer", i.Type == "number":
		return i.Minimum
	case i.Type == "boolean":
		return true
	case i.Type == "array":
		return []any{}
	case i.Type == "object":
		value := map[string]any{}
		for _, name := range i.Required {
			value[name] = i.Properties[name].valid()
		}
		return value
	default:
		return "canary"
	}
}

// values are what to try: every choice of an enumeration, the limits, and the guesses in the shape that
// is asked for and in shapes that are not.
func (i inputSchema) values(guesses []string) []any {
	values := []any{nil, "", 0, -1, 1 << 40, 0.5, true, []any{}, map[string]any{}, i.valid()}
	for _, choice := range i.Enum {
		values = append(values, choice)
	}
	for _, guess := range guesses {
		switch i.Type {
		case "array":
			values = append(values, []string{guess})
		case "object":
			values = append(values, map[string]any{guess: guess})
		default:
			values = append(values, guess)
		}
	}
	return values
}

// fuzzTools calls every tool there is with every field at every value that comes to mind, each choice of
// an enumeration combined with every other field, and with fields that there are not.
func fuzzTools(s *session, guesses []string, every int) {
	s.tb.Helper()
	var listed struct {
		Tools []struct {
			Name        string
			InputSchema inputSchema
		}
	}
	s.request("tools/list", nil).decode(s.tb, &listed)
	if len(listed.Tools) < 4 {
		s.tb.Fatalf("%d tools are listed", len(listed.Tools))
	}
	for _, name := range []string{
		"what_do_i_know", "memory_delete", "file_read", "index_rebuild", "memory_store ",
		"proposals",
	} {
		s.request("tools/call",
			map[string]any{"name": name, "arguments": map[string]any{"query": "canary", "path": "MEMORY.md"}})
	}
	other := s.beside()
	defer other.end()
	for _, tool := range listed.Tools {
		other.settled()
		try := func(args map[string]any) {
			s.request("tools/call", map[string]any{"name": tool.Name, "arguments": args})
		}
		bases := []map[string]any{tool.InputSchema.valid().(map[string]any)}
		for _, name := range slices.Sorted(maps.Keys(tool.InputSchema.Properties)) {
			for _, choice := range tool.InputSchema.Properties[name].Enum {
				base := tool.InputSchema.valid().(map[string]any)
				base[name] = choice
				bases = append(bases, base)
			}
		}
		names := []string{"visibility", "connection", "audience", "group", "workspace", "path", "__proto__"}
		for name := range tool.InputSchema.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
		for number, base := range bases {
			for _, name := range slices.Compact(slices.Clone(names)) {
				values := tool.InputSchema.Properties[name].values(guesses)
				if _, known := tool.InputSchema.Properties[name]; !known && number > 0 {
					continue
				}
				for i, value := range values {
					// The first base meets every value, the others few, not always the same ones.
					if number == 0 && i%every != 0 || number > 0 && (i+number)%(8*every) != 0 {
						continue
					}
					args := map[string]any{name: value}
					for key, other := range base {
						if key != name {
							args[key] = other
						}
					}
					try(args)
				}
			}
		}
	}
}
