package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/golden"
)

// settingsDocument is written by hand except for its tables, which are made from the declarations of the settings.
var settingsDocument = filepath.Join("..", "..", "docs", "settings.md")

// table is a table of settings and its heading, with the text between them.
var table = regexp.MustCompile(`(?m)^## (.+)\n((?s:.)*?\n)\| Flag \|.*\n\|.*\n(?:\| .*\n)+`)

func TestSettingsDocument(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(settingsDocument)
	if err != nil {
		t.Fatal(err)
	}
	left := sections()
	want := table.ReplaceAllStringFunc(string(data), func(found string) string {
		parts := table.FindStringSubmatch(found)
		if len(left) == 0 || parts[1] != left[0].title {
			t.Fatalf("a table below %q, want the sections in the order %v", parts[1], sections())
		}
		var b strings.Builder
		b.WriteString("## " + parts[1] + "\n" + parts[2])
		b.WriteString("| Flag | Environment | config.toml | Default | Meaning |\n|---|---|---|---|---|\n")
		for _, s := range left[0].settings {
			b.WriteString(s.(interface{ row() string }).row())
		}
		left = left[1:]
		return b.String()
	})
	if len(left) > 0 {
		t.Fatalf("docs/settings.md has no table of settings below %q", "## "+left[0].title)
	}
	if golden.FlagUpdate() {
		if err := os.WriteFile(settingsDocument, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(data), want); diff != "" {
		t.Errorf("docs/settings.md (-) and the settings (+) differ; run this test with -update:\n%s", diff)
	}
}

// row is the setting's row in docs/settings.md.
func (s spec[T]) row() string {
	value := s.shown
	if text := fmt.Sprint(s.initial); value == "" && !reflect.ValueOf(s.initial).IsZero() {
		value = text
	}
	if value != "" {
		value = " `" + strings.Trim(value, `"`) + "`"
	}
	key := " `" + s.Key() + "`"
	if s.folder {
		key += " †"
	}
	// It is the only setting without a key.
	if s.Name == Workspace {
		key = ""
	}
	// In --help the prefix tells settings of HTTP from others; in the document they have a table of their own.
	help := strings.TrimPrefix(s.help, "http: ")
	meaning := strings.ToUpper(help[:1]) + help[1:]
	if s.more != "" {
		meaning += ". " + s.more
	}
	return fmt.Sprintf("| `--%s` | `%s` |%s |%s | %s |\n", s.Flag(), s.Env(), key, value, meaning)
}
