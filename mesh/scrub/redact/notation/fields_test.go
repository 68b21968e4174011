package notation_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/redacttest"
)

// TestFields redacts all secrets, between the marks « and », of the texts in testdata/fields.ndjson, and nothing of the
// benign texts that look like them: fields with a name and fields whose place is known, in the notations of programs.
func TestFields(t *testing.T) {
	t.Parallel()
	marked := regexp.MustCompile(`«([^»]*)»`)
	unmarked := strings.NewReplacer("«", "", "»", "")
	r := redact.New(nil)
	secrets, benign := 0, 0
	for _, c := range redacttest.ReadFields(t, "testdata/fields.ndjson") {
		if c.Benign != "" {
			benign++
			_, found := r.RedactOnly(c.Benign, []redact.Kind{redact.APIKey, redact.Token, redact.PrivateKey, redact.Password})
			if len(found) > 0 {
				t.Errorf("altered: %q: %v", c.Benign, found)
			}
			continue
		}
		got, _ := r.Redact(unmarked.Replace(c.Text))
		for _, m := range marked.FindAllStringSubmatch(c.Text, -1) {
			secrets++
			if strings.Contains(got, m[1]) {
				t.Errorf("kept: %q\n in %q", m[1], got)
			}
		}
	}
	if secrets < 400 || benign < 300 {
		t.Errorf("%d secrets and %d benign texts in the file", secrets, benign)
	}
}

// A value goes as a whole, and what follows it stays.
func TestFieldsKeepTheRest(t *testing.T) {
	t.Parallel()
	r := redact.New(nil)
	for text, want := range map[string]string{
		"Server=db;Password=W9f}nQ2*rLmz;Encrypt=True":    "Server=db;Password=[REDACTED:password];Encrypt=True",
		"${DB_PASSWORD:-hunter-22}":                       "${DB_PASSWORD:-[REDACTED:password]}",
		"DB_PASSWORD=${DB_PASSWORD:?must be set}":         "DB_PASSWORD=${DB_PASSWORD:?must be set}",
		"password='it''s 4 me'":                           "password='[REDACTED:password]'",
		"DB_PASSWORD=x9!kette\nNEXT=1":                    "DB_PASSWORD=[REDACTED:password]\nNEXT=1",
		"user,password\nana,kettle-42\n\nThe end, 5 past": "user,password\nana,[REDACTED:password]\n\nThe end, 5 past",
	} {
		if got, _ := r.Redact(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
