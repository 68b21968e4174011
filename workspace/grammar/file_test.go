package grammar

import "testing"

func TestCanonicalFile(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"users/mira/parts/guard/profile.md":          "users/mira/parts/guard/profile.md",
		"users/mira/parts/guard":                     "users/mira/parts/guard/profile.md",
		"users/mira/parts/guard.md":                  "users/mira/parts/guard/profile.md",
		"users/mira/parts/guard/":                    "users/mira/parts/guard/profile.md",
		"users/Mira/parts/Inner Critic/profile.md":   "users/Mira/parts/inner-critic/profile.md",
		"users/mira/parts/Inner Critic/notes.md":     "users/mira/parts/inner-critic/notes.md",
		"users/mira/relationships/Guard-Child":       "users/mira/relationships/Guard-Child/profile.md",
		"users/Mira/overview":                        "users/Mira/overview.md",
		"MEMORY.md":                                  "MEMORY.md",
		"notes/Plans.md":                             "notes/Plans.md",
		"users/mira/parts/../../SOUL.md":             "users/mira/parts/../../SOUL.md",
		"users/mira/parts/guard/secret/profile.md":   "users/mira/parts/guard/secret/profile.md",
		"users/../parts/guard":                       "users/../parts/guard",
		"users/mira/parts/..":                        "users/mira/parts/..",
		"../users/mira/parts/guard":                  "../users/mira/parts/guard",
		"users/mira/other/guard":                     "users/mira/other/guard",
		"users/mira/relationships/guard-child/x.txt": "users/mira/relationships/guard-child/x.txt",
	} {
		if got := CanonicalFile(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
