package hookcmd

import (
	"context"
	"errors"
	"time"
)

// What a hook did not record because the host did not wait for it, ended it, or was killed itself, is still in the
// host's log of the session and in the session's state. The next session of the audience records it, before its brief.

// maxUnfinished is how many sessions the start of another one records, of whose logs it reads maxTail at most. The
// others wait for the next start.
const maxUnfinished = 4

// begin begins the state of this session, or continues it, and records what is unfinished. The lock is held.
func (r *run) begin(ctx context.Context) error {
	s := r.current()
	if !s.Ended.IsZero() { // resumed: a block of its own
		s.Started, s.Ended, s.Logged = r.now, time.Time{}, false
	}
	var err error
	if log := mark(s.Path); s.Path != "" && s.Log != log {
		// What a resumed session of which nothing is known has said is not new.
		s.Log, s.Read = log, r.transcriptSize(s.Path)
		s.Unheard = s.Read
		err = r.folder.replace(stateName(r.in.SessionID), s)
	} else {
		err = r.finish(ctx, stateName(r.in.SessionID), &s)
	}
	return errors.Join(err, r.finishOthers(ctx))
}

// finish records what a session's log has and its state does not. A prompt without an answer waits for it.
func (r *run) finish(ctx context.Context, name string, s *state) error {
	return r.record(ctx, name, s, asked{Number: s.Answered})
}

// finishOthers records what is unfinished of other sessions, those that were active last first.
func (r *run) finishOthers(ctx context.Context) error {
	var errs []error
	done, room := 0, int64(maxTail)
	for _, name := range r.folder.states(r.now) {
		if name == stateName(r.in.SessionID) || ctx.Err() != nil {
			continue
		}
		s, ok := r.folder.load(name)
		if !ok {
			continue
		}
		unread := int64(0)
		if s.Path != "" && s.Log == mark(s.Path) {
			unread = min(max(0, r.transcriptSize(s.Path)-s.Read), maxTail)
		}
		if s.Pending != nil || unread > 0 {
			if done == maxUnfinished || unread > room {
				continue
			}
			done, room = done+1, room-unread
			if err := r.finish(ctx, name, &s); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		if !s.Ended.IsZero() && r.now.Sub(s.Ended) > keepEnded {
			_ = r.folder.root.Remove(name)
		}
	}
	return errors.Join(errs...)
}
