package transcript

import (
	"context"
	"errors"
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
