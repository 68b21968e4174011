package audience

import (
	"strings"
	"testing"
)

// Groups have the names that channels have; each is a group of its own, with a name that is safe for a folder.
func TestGroupsOfChannels(t *testing.T) {
	t.Parallel()
	folders := map[string]string{}
	for _, name := range []string{
		"-1001234567890", "1001234567890", "-1001234567891", "-1001234567890:17", "telegram:-1001234567890",
		"120363025246125486@g.us", "120363025246125486@G.us", "491701234567-1434567890@g.us",
		"C02ABCD1234", "c02abcd1234", "!OGEhHVWSdvArJzumhm:matrix.org", "!ogehhvwsdvarjzumhm:matrix.org",
		"19:meeting_abc@thread.v2", "group.a/b+c==:1", "../../private:1234", "@@@@", "....:....",
		strings.Repeat("9", 128), strings.Repeat("9", 127),
	} {
		a, err := Group(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		folder := a.Group()
		if a.IsDM() || a.Connection() != "group" {
			t.Errorf("%s is %v", name, a)
		}
		if !groupName.MatchString(folder) {
			t.Errorf("%s: %q is not safe", name, folder)
		}
		if other, taken := folders[folder]; taken {
			t.Errorf("%s and %s share %s", name, other, folder)
		}
		folders[folder] = name
		if again, err := Group(folder); err != nil || again != a {
			t.Errorf("%s: the group of %s is %v, %v", name, folder, again, err)
		}
	}
	if a, err := Group("-1001234567890"); err != nil || a.Group() != "1001234567890-150aae61cb00611f" {
		t.Errorf("the name of a folder has changed, and with it where its memory is: %q, %v", a.Group(), err)
	}
	for _, name := range []string{
		"Hiking", "book club", "../private", "-a", "a/b", "1234 5678", "1234\n", "12:34\x00", "１２３４:", "Bücherclub:1234",
		strings.Repeat("9", 129),
	} {
		if a, err := Group(name); err == nil {
			t.Errorf("%q is %v, want an error", name, a)
		}
	}
}
