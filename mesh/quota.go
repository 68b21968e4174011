package mesh

import (
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Quota limits what a session may keep in its own compartment. The zero value is no limit.
type Quota struct {
	Memories int // memories and skills
	Bytes    int // of their text
	Content  int // bytes of one memory's content or skill's definition
}

// GroupQuota is that of a group's session: strangers write there, and a DM reads, embeds and ranks all of it.
var GroupQuota = Quota{Memories: 20_000, Bytes: 32 << 20, Content: 64 << 10}

// limited returns prepare with the quota checked under the ledger's lock. What is there already counts, and stays.
//
// SECURITY: without it, a group could fill the disk and slow down the searches of every DM.
func (q Quota) limited(prepare store.Prepare) store.Prepare {
	if q == (Quota{}) {
		return prepare
	}
	return func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
		drafts, err := prepare(s, now)
		added, size := 0, 0
		for _, d := range drafts {
			switch data := d.Data.(type) {
			case *record.Record:
				added, size = added+1, size+len(data.Whole())
			case *record.Skill:
				added, size = added+1, size+len(data.Whole())
			}
		}
		if err != nil || added == 0 {
			return drafts, err
		}
		count, used := added, size
		for r := range s.Memories() {
			count, used = count+1+len(s.Sightings(r.ID)), used+len(r.Whole())
		}
		for _, state := range s.Skills.All() {
			count, used = count+1, used+len(state.Whole())
		}
		if count > q.Memories || used > q.Bytes {
			return nil, fault.New("the memory of this group is full: it has at most %d memories and %d MiB; "+
				"delete what is out of date with memory_delete, or ask the workspace owner to", q.Memories, q.Bytes>>20)
		}
		return drafts, nil
	}
}

// checkContent returns a fault for a text that is longer than the quota allows.
func (q Quota) checkContent(name, text string) error {
	if q.Content > 0 && len(text) > q.Content {
		return fault.New("%s: %d bytes are too many; a group stores at most %d bytes at a time, in several if need be",
			name, len(text), q.Content)
	}
	return nil
}
