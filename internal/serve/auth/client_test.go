package auth

import (
	"net/http"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// The header lowers a DM to the server's group. It never raises a group, nor moves it to another one.
func TestLowered(t *testing.T) {
	t.Parallel()
	group := func(name string) audience.Audience {
		who, err := audience.Group(name)
		if err != nil {
			t.Fatal(err)
		}
		return who
	}
	lowered, own := group("lowered"), group("own")
	for _, test := range []struct {
		name   string
		token  audience.Audience
		values []string
		want   audience.Audience
	}{
		{"a DM without the header", audience.DM(), nil, audience.DM()},
		{"a DM that asks for a DM", audience.DM(), []string{"dm"}, audience.DM()},
		{"a DM that asks for a group", audience.DM(), []string{"group"}, lowered},
		{"a DM with a misspelt value", audience.DM(), []string{"DM"}, lowered},
		{"a DM with an empty value", audience.DM(), []string{""}, lowered},
		{"a DM with two values", audience.DM(), []string{"dm", "group"}, lowered},
		{"a group without the header", own, nil, own},
		{"a group that asks for a DM", own, []string{"dm"}, own},
		{"a group that asks for a group", own, []string{"group"}, own},
		{"a group with several values", own, []string{"dm", "group", "own"}, own},
		{"the default group", group(""), []string{"group"}, group("")},
	} {
		header := http.Header{}
		for _, value := range test.values {
			header.Add(ConnectionHeader, value)
		}
		got := Client{Tenant: Tenant{Audience: test.token}}.Lowered(header, lowered).Tenant.Audience
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
