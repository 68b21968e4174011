package grammar

import (
	"regexp"
	"strings"
)

// entityFile matches the file, or the folder, of an overview, a part or a relationship as people write it.
var entityFile = regexp.MustCompile(`(?i)^users/([^/]+)/` +
	`(?:(overview)|(parts|relationships)/([^/]+?)(?:/(profile|notes))?)(?:\.md)?/?$`)

var validID = regexp.MustCompile("^" + idForm + "$")

// CanonicalFile returns the path of the profile that name means: "users/mira/parts/Inner Critic" is
// users/mira/parts/inner-critic/profile.md. Any other name, and one that has the form already, is returned as it is.
func CanonicalFile(name string) string {
	if t, _ := TypeOf(name); t != nil {
		return name
	}
	m := entityFile.FindStringSubmatch(name)
	if m == nil {
		return name
	}
	// A valid ID keeps its letter case: the folder may be there.
	id := func(segment string) string {
		if validID.MatchString(segment) {
			return segment
		}
		return Slug(segment)
	}
	if id(m[1]) == "" {
		return name
	}
	user := Folder + "/" + id(m[1])
	if m[2] != "" {
		return user + "/overview.md"
	}
	file := strings.ToLower(m[5])
	if file == "" {
		file = "profile"
	}
	if id(m[4]) == "" {
		return name
	}
	return user + "/" + strings.ToLower(m[3]) + "/" + id(m[4]) + "/" + file + ".md"
}
