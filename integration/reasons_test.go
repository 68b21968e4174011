package integration

import (
	"path/filepath"
	"testing"
)

// deleteForAReason deletes what a group sees, in a DM, for private reasons.
func (p *planted) deleteForAReason(tb testing.TB) {
	tb.Helper()
	member := connect(tb, launch{workspace: p.workspace, group: club})
	said := member.store("The next book is about lighthouses.", nil)
	member.end()
	s := connect(tb, launch{workspace: p.workspace})
	shared := s.store("We meet in the library.", map[string]any{"visibility": "shared", "confirm": true})
	skill := s.ingestSkill("---\nname: shelve\nintent: shelve books\ndescription: puts books away\n---\nBy author.\n",
		"shared")
	for what, id := range map[string]string{"group's": said.ID, "shared": shared.ID} {
		call[map[string]any](s, "memory_delete", map[string]any{
			"id": id, "confirm": true, "reason": p.privately("the reason to delete a " + what + " memory"),
		})
	}
	call[map[string]any](s, "memory_delete", map[string]any{
		"id": skill, "confirm": true, "reason": p.privately("the reason to delete a shared skill"),
	})
	s.end()
	p.control += filesBelow(tb, filepath.Join(p.workspace, ".yamo", "private"))
}
