package transcript

import (
	"context"
	"errors"
	"slices"
)

// Count returns how many sessions the audience can read.
func (v *View) Count(ctx context.Context) (int, error) {
	logs, err := v.logs()
	if err != nil {
		return 0, err
	}
	total := 0
	for _, l := range logs {
		// SECURITY: a log in a group's folder counts only if its header names the group.
		_, err := v.scan(ctx, l, nil, func(Session, turn) bool { return false })
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return 0, err
		}
		total++
	}
	return total, nil
}

// IDs returns the ids of the sessions that the view may read, newest first. It opens no log.
func (v *View) IDs() ([]string, error) {
	logs, err := v.logs()
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, l := range logs {
		if !slices.Contains(ids, l.id) {
			ids = append(ids, l.id)
		}
	}
	return ids, nil
}

// wholeTurn is the maximum length of a turn that EachTurn visits, in characters; a longer one is cut.
const wholeTurn = 64 << 10

// EachTurn calls visit for each turn of a session, in order, until it returns false. The contents are whole, without
// credentials. Its errors are those of ReadSession.
func (v *View) EachTurn(ctx context.Context, id string, visit func(Session, Entry) bool) error {
	l, err := v.find(id)
	if err != nil {
		return err
	}
	_, err = v.scan(ctx, l, nil, func(s Session, t turn) bool { return visit(s, v.preview(t, wholeTurn)) })
	return err
}

// Tell calls visit for the turns of l, as Follow does from its beginning, but each row once, and returns what the log
// tells of its session. The error is ErrNotFound for a log that does not exist or is not the audience's.
func (v *View) Tell(ctx context.Context, l Log, visit func(Turn)) (Session, error) {
	of := log{name: l.Name, id: l.SessionID, group: l.Group, parent: l.Parent}
	return v.scanLines(ctx, of, nil, func(s Session, r line) bool {
		visit(placed(r, 0, source{group: s.Group, folder: s.Folder}))
		return true
	})
}
