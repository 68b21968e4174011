// Package project identifies the project that a session is about from the folder that it runs in.
//
// An identity is the same for every clone and worktree of a repository, whatever protocol its remote is reached by, and
// never contains a path of this machine or a credential: it is kept with memories.
package project

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Finder finds projects. It only reads, and runs no program.
type Finder struct {
	Home      string // the user's home folder, "" if it is not known
	Workspace string // the YAMO workspace, which is no project
}

// maxHops is the maximum number of local clones that are followed to their origin.
const maxHops = 3

// Identify returns the identity of the project that the folder dir is in: the address of its git remote, as in
// "github.com/acme/mare", or without one the name of the folder with a hash of its path, as in "mare~1f2e3d4c". It is
// "" for a relative path and where people keep everything: the home folder, what it is in, the workspace.
func (f Finder) Identify(dir string) string { return f.identify(dir, maxHops) }

// Repository is Identify for a folder in a git repository, and "" for any other.
func (f Finder) Repository(dir string) string {
	if repo, ok := find(resolved(dir)); !ok || f.excludes(repo.root) {
		return ""
	}
	return f.Identify(dir)
}

// identify returns the identity of the project that dir is in. A remote that is a folder of this machine is followed up
// to hops times, since clones of clones are one project.
func (f Finder) identify(dir string, hops int) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	dir = resolved(dir)
	if f.excludes(dir) {
		return ""
	}
	repo, ok := find(dir)
	if !ok || f.excludes(repo.root) { // a home folder under version control is no project
		return local(dir)
	}
	switch remote, path := normalize(repo.remote()); {
	case remote != "":
		return remote
	case path != "" && hops > 0:
		if !filepath.IsAbs(path) {
			path = filepath.Join(repo.root, path)
		}
		if origin := f.identify(path, hops-1); origin != "" {
			return origin
		}
	}
	return local(repo.root)
}

// FromURI returns the identity of a root that an MCP client names: of the folder if this machine has it, or else of its
// path, "" if it is no file URI.
func (f Finder) FromURI(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return ""
	}
	path := filepath.FromSlash(u.Path)
	// /C:/Users/… is C:/Users/…
	if len(path) > 2 && path[0] == filepath.Separator && path[2] == ':' && filepath.Separator == '\\' {
		path = path[1:]
	}
	return f.Identify(path)
}

// excludes reports whether dir is no project, whatever is in it.
func (f Finder) excludes(dir string) bool {
	if dir == filepath.Dir(dir) || dir == resolved(os.TempDir()) {
		return true
	}
	if f.Home != "" && within(resolved(f.Home), dir) { // home, and what it is in
		return true
	}
	return f.Workspace != "" && within(dir, resolved(f.Workspace))
}

// within reports whether path is dir or in it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolved returns path without symbolic links, or only cleaned if it does not exist.
func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return filepath.Clean(path)
}

// local is the identity of a folder without a remote.
func local(dir string) string {
	name := strings.ToLower(strings.TrimSuffix(filepath.Base(dir), ".git"))
	if name == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(dir))
	return name + "~" + hex.EncodeToString(sum[:4])
}

// normalize returns the identity of a remote's URL, or the path of a remote on this machine.
func normalize(remote string) (identity, path string) {
	host, at := "", ""
	if scheme, rest, ok := strings.Cut(remote, "://"); ok {
		if strings.EqualFold(scheme, "file") {
			return "", rest
		}
		u, err := url.Parse(remote)
		if err != nil {
			return "", ""
		}
		host, at = u.Hostname(), u.Path
	} else {
		colon := strings.Index(remote, ":")
		if colon < 2 || strings.Contains(remote[:colon], "/") { // a path, or a Windows drive
			return "", remote
		}
		// SECURITY: what is before the @ may be a credential.
		host = remote[strings.LastIndex(remote[:colon], "@")+1 : colon]
		at = remote[colon+1:]
	}
	host = strings.ToLower(host)
	for _, alias := range []string{"ssh.", "altssh.", "www."} { // where forges offer SSH on the port of HTTPS
		host = strings.TrimPrefix(host, alias)
	}
	at = strings.Trim(strings.TrimSuffix(strings.TrimRight(at, "/"), ".git"), "/")
	if host == "" || at == "" {
		return "", ""
	}
	return host + "/" + strings.ToLower(at), ""
}

// Roots returns the first identity that f finds for a client's roots.
func (f Finder) Roots(uris []string) string {
	for _, uri := range uris {
		if identity := f.FromURI(uri); identity != "" {
			return identity
		}
	}
	return ""
}

// remotes are the names of remotes in the order in which they are looked for.
var remotes = []string{"origin", "upstream"}

// remote returns the URL of the repository's main remote, "" for none.
func (r repository) remote() string {
	urls := r.remotes()
	for _, name := range remotes {
		if u := urls[name]; u != "" {
			return u
		}
	}
	var names []string
	for name := range urls {
		names = append(names, name)
	}
	if len(names) == 0 {
		return ""
	}
	return urls[slices.Min(names)]
}
