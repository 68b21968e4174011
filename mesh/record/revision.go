package record

import "time"

// RevisionPrefix begins the ids of revisions.
const RevisionPrefix = "rev"

// Revision records that a memory is not current any more: another one of the same compartment replaced it, or it was
// retired. It has an id of its own, so that it is erased together with either memory.
type Revision struct {
	ID  string    `json:"id"`
	Old string    `json:"old"`           // id of the memory that was replaced
	New string    `json:"new,omitempty"` // id of the memory that replaced it, "" if it was only retired
	At  time.Time `json:"at"`            // when it stopped being true: UTC, milliseconds
	Why string    `json:"why,omitempty"` // redacted

	AgentID string `json:"agent_id,omitempty"`
}

// Separation records that the sightings of a memory became memories of their own.
type Separation struct {
	Into    []string `json:"into"` // their ids
	AgentID string   `json:"agent_id,omitempty"`
}
