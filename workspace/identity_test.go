package workspace

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

func TestParseIdentity(t *testing.T) {
	t.Parallel()
	kate := Identity{
		Name: "Kate", Creature: "octopus", Vibe: "warm but sharp", Emoji: "🐙", Avatar: "https://example.org/kate.png",
	}
	tests := map[string]struct {
		text string
		want Identity
	}{
		"seed": {
			"- **Name:** Kate\n- **Creature:** octopus\n- **Vibe:** warm but sharp\n- **Emoji:** 🐙\n" +
				"- **Avatar:** https://example.org/kate.png\n",
			kate,
		},
		"any case, order, marker and line end": {
			"# Identity\r\n\r\n* **EMOJI**: 🐙\r\n+ name: Kate\r\n- *Vibe*: _warm but sharp_\r\n**creature:** octopus\r\n" +
				"  - Avatar: https://example.org/kate.png\r\n", kate,
		},
		"template": {
			"- **Name:** _(pick something)_\n- **Creature:** *(AI? robot?)*\n- **Vibe:** (how?)\n- **Emoji:**\n" +
				"- **Avatar:**   \n- **Theme:** __(a colour)__\n",
			Identity{},
		},
		"placeholder, then a value": {"- **Name:** _(pick)_\n- **Name:** Kate\n- **Name:** Second\n", Identity{Name: "Kate"}},
		"parentheses inside": {
			"- **Name:** Kate (the octopus)\n- **Vibe:** (softly) spoken\n",
			Identity{Name: "Kate (the octopus)", Vibe: "(softly) spoken"},
		},
		"bold value": {
			"- **Name:** **Kate**\n- **Avatar:** https://example.org/kate_\n",
			Identity{Name: "Kate", Avatar: "https://example.org/kate_"},
		},
		"theme": {"- **Theme:** ink blue\n", Identity{Theme: "ink blue"}},
		"unknown and prose": {
			"Name of the ship: Argo\n- **Nickname:** K\n- no colon\nMy name: is not a label\n", Identity{},
		},
		"code and front matter": {
			"---\nname: matter\n---\n```\nName: code\n```\n~~~md\n```\nName: code\n~~~\n- Name: Kate\n", Identity{Name: "Kate"},
		},
		"control characters": {"- **Name:** Ka\x00te\x1b[31m\n", Identity{Name: "Kate[31m"}},
		"empty":              {"", Identity{}},
		"long":               {"- **Name:** " + strings.Repeat("é", 300), Identity{Name: strings.Repeat("é", 256)}},
	}
	for name, test := range tests {
		if diff := cmp.Diff(test.want, ParseIdentity(test.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestIdentityLine(t *testing.T) {
	t.Parallel()
	tests := map[string]Identity{
		"name=Kate, emoji=🐙, vibe=warm but sharp": {
			Name: "Kate", Creature: "octopus", Vibe: "warm but sharp", Emoji: "🐙", Avatar: "x", Theme: "y",
		},
		"vibe=calm": {Vibe: "calm", Creature: "crow"},
		"":          {Creature: "crow"},
	}
	for want, id := range tests {
		if got := id.Line(); got != want {
			t.Errorf("line of %+v is %q, want %q", id, got, want)
		}
	}
}

func TestIdentityAndSoulOfAView(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"IDENTITY.md": "\uFEFF- **Name:** Kate", "SOUL.md": strings.Repeat("ü", 3000)})
	for _, who := range []audience.Audience{audience.DM(), {}} {
		id, err := w.View(who).Identity()
		if err != nil || id.Name != "Kate" {
			t.Errorf("%v: identity %+v, %v", who, id, err)
		}
		soul, err := w.View(who).SoulExcerpt()
		if err != nil || soul != strings.Repeat("ü", 2048) {
			t.Errorf("%v: soul excerpt of %d characters, %v", who, utf8.RuneCountInString(soul), err)
		}
	}
	empty := folderOf(t, nil).View(audience.DM())
	id, err := empty.Identity()
	soul, soulErr := empty.SoulExcerpt()
	switch {
	case id != (Identity{}):
		t.Errorf("without files: id = %v, want %v", id, (Identity{}))
	case soul != "":
		t.Errorf("without files: soul = %q, want none", soul)
	case err != nil:
		t.Errorf("without files: %v", err)
	case soulErr != nil:
		t.Errorf("without files: %v", soulErr)
	}
}

func FuzzParseIdentity(f *testing.F) {
	f.Add("- **Name:** Kate\n- **Creature:** _(pick)_\n")
	f.Add("---\nname: x\n---\n**VIBE**: __a__\n```\nemoji: x")
	f.Add("* name: ((\n_name_:*\n- **:**\nname:(\u0085)")
	f.Fuzz(func(t *testing.T, text string) {
		id := ParseIdentity(text)
		for _, value := range []string{id.Name, id.Creature, id.Vibe, id.Emoji, id.Avatar, id.Theme} {
			switch {
			case utf8.RuneCountInString(value) > identityValue:
				t.Fatalf("%d characters", utf8.RuneCountInString(value))
			case strings.ContainsFunc(value, unicode.IsControl):
				t.Fatal("control characters in the value")
			case strings.TrimSpace(value) != value:
				t.Fatalf("blanks around %q", value)
			}
			if strings.HasPrefix(value, "(") && strings.HasSuffix(value, ")") {
				t.Fatalf("placeholder %q became a value", value)
			}
		}
		if strings.ContainsAny(id.Line(), "\n\r") {
			t.Fatalf("line %q", id.Line())
		}
	})
}
