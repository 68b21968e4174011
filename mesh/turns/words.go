package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"unicode"
)

// index reads what was added to a log, and writes it to the digest. The lock is held.
func (x *Index) index(ctx context.Context, s *state, path string) error {
	l := s.log
	if s.pos.end > 0 {
		head, err := x.Source.Head(l, s.pos.headLen)
		if err != nil {
			return err
		}
		if l.Size < s.pos.end || headOf(head) != s.pos.head { // truncated or replaced
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("remove a digest: %w", err)
			}
			x.mu.Lock()
			x.forget(s)
			x.mu.Unlock()
			x.move(s, position{})
		}
	}
	seen := map[uint64]struct{}{}
	if s.pos.turns > 0 {
		if _, err := readDigest(path, position{}, func(_ int, e entry) { seen[e.key] = struct{}{} }); err != nil {
			return err
		}
	}
	for {
		more, err := x.indexBatch(ctx, s, path, seen)
		if err != nil {
			return err
		}
		if !more {
			s.read = l
			return nil
		}
	}
}

// indexBatch is a part of index, and reports whether there may be more.
func (x *Index) indexBatch(
	ctx context.Context, s *state, path string, seen map[uint64]struct{},
) (more bool, err error) {
	f := frame{modified: s.log.Modified.UnixNano()}
	var said []spoken
	size, ordinal := 0, s.pos.turns
	unread := 0
	f.end, unread, err = x.Source.Follow(ctx, s.log, s.pos.end, func(t Turn) bool {
		key := keyOf(t.Key)
		if _, repeated := seen[key]; repeated && key != 0 {
			return true
		}
		seen[key] = struct{}{}
		if t.Unread {
			f.unread++
		}
		e, clean := x.digest(t)
		e.key = key
		if t.Spoken != "" {
			said = append(said, spoken{t, ordinal, clean})
		}
		ordinal++
		f.folder = cmp.Or(f.folder, t.Folder)
		f.entries = append(f.entries, e)
		size += len(t.Text) + len(e.words)
		more = size >= batchBytes
		return !more
	})
	if err != nil {
		return false, err
	}
	f.unread += unread
	if f.end == s.pos.end && len(f.entries) == 0 {
		return false, nil
	}
	if s.pos.folder != "" {
		f.folder = "" // it is known
	}
	f.headLen, f.head = s.pos.headLen, s.pos.head
	if s.pos.size == 0 {
		head, err := x.Source.Head(s.log, f.end)
		if err != nil {
			return false, err
		}
		f.headLen, f.head = int64(len(head)), headOf(head)
	}
	written, err := appendFrame(path, s.pos.size, &f)
	if err != nil {
		return false, err
	}
	x.move(s, position{
		end: f.end, modified: f.modified, headLen: f.headLen, head: f.head,
		folder: cmp.Or(s.pos.folder, f.folder), turns: ordinal, unread: s.pos.unread + f.unread, size: written,
	})
	x.mu.Lock()
	room := maxTurns - x.count
	fits := x.text < maxText && room > 0
	x.mu.Unlock()
	if fits {
		x.add(s, said[max(0, len(said)-room):])
	}
	return more, nil
}

// digest returns the fingerprints of a turn, and whether there is no credential in what was said.
//
// SECURITY: a credential has no fingerprint: what was said is redacted, and of the rest, which is too much for that,
// what looks like data is left out. A search shows nothing of a turn before it was redacted, see Word.
func (x *Index) digest(t Turn) (e entry, clean bool) {
	e = entry{offset: t.Offset, time: math.MinInt64}
	if !t.Time.IsZero() {
		e.time = t.Time.Unix()
	}
	switch t.Role {
	case "user":
		e.flags = roleUser
	case "assistant":
		e.flags = roleAssistant
	case "tool":
		e.flags = roleTool
	}
	text := t.Text
	if len(text) > maxIndexed {
		text = text[:maxIndexed]
		e.flags |= flagCut
	}
	if t.Spoken != "" {
		e.flags |= flagSpoken
		var said string
		if said, clean = x.Redact(t.Spoken); clean {
			e.flags |= flagClean
		}
		if len(t.Spoken) >= len(strings.TrimSpace(t.Text))*9/10 {
			e.flags |= flagWhole
			e.flags &^= flagCut
			text = said
		}
	}
	var words []uint32
	for run := range strings.FieldsFuncSeq(text, unicode.IsSpace) {
		if looksSecret(run) {
			e.flags |= flagData
			continue
		}
		x.stemmer.Each(run, func(stem string) { words = append(words, hashOf(stem)) })
	}
	e.words = packed(words)
	return e, clean
}

// looksSecret reports whether a part of a text without white space is data and not words: a long one with a run of
// letters and digits mixed.
func looksSecret(run string) bool {
	const least = 16
	if len(run) < least {
		return false
	}
	length, letters, digits := 0, 0, 0
	for i := range len(run) {
		switch c := run[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c == '+' || c == '=' || c == '_' || c == '-':
			letters++
		default:
			length, letters, digits = -1, 0, 0
		}
		if length++; length >= least && letters > 0 && digits > 2 {
			return true
		}
	}
	return false
}
