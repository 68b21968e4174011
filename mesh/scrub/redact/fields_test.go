package redact

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestFields redacts all secrets, between the marks « and », of the texts in testdata/fields.ndjson, and nothing of the
// benign texts that look like them: fields with a name and fields whose place is known, in the notations of programs.
func TestFields(t *testing.T) {
	t.Parallel()
	marked := regexp.MustCompile(`«([^»]*)»`)
	unmarked := strings.NewReplacer("«", "", "»", "")
	r := New(nil)
	secrets, benign := 0, 0
	for _, c := range fields(t) {
		if c.Benign != "" {
			benign++
			_, found := r.RedactOnly(c.Benign, []Kind{APIKey, Token, PrivateKey, Password})
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

// field is a text with secrets between the marks « and », or a benign one.
type field struct{ Text, Benign string }

func fields(t *testing.T) (list []field) {
	t.Helper()
	data, err := os.ReadFile("testdata/fields.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
		var f field
		if err := d.Decode(&f); err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	return list
}

func benignFields(t *testing.T) (list []string) {
	t.Helper()
	for _, f := range fields(t) {
		if f.Benign != "" {
			list = append(list, f.Benign)
		}
	}
	return list
}

// The names of fields, and what they say of their values.
func TestMeaningOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]meaning{
		"password": isPassword, "DB_PASSWORD_2": isPassword, "dbPassword": isPassword, "smtp-pass": isPassword,
		"PasswordForAdmin": isPassword, "Mot de passe": isPassword, "WLAN-Schlüssel": isPassword, "dbpasswd": isPassword,
		"passphrase": isPhrase, "psk": isPhrase, "X-Auth-Token": isKey, "AUTH_KEY": isKey, "SECURE_AUTH_SALT": isKey,
		"secret_key_base": isKey, "Integration Key": isKey, "PIN1": isDoorCode, "alarm_panel_code": isDoorCode,
		"Code d'accès local": isDoorCode, "SNMP community": isPassword, "community string": isPassword,
		"password_hash": other, "passwordFile": other, "primary_key": other, "publicKey": other, "nextToken": other,
		"max_tokens": other, "error code": other, "zip code": other, "salt": other, "community": other, "": other,
	} {
		if got := meaningOf(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}

// A value goes as a whole, and what follows it stays.
func TestFieldsKeepTheRest(t *testing.T) {
	t.Parallel()
	r := New(nil)
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
