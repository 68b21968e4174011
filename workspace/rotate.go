package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// Ages of daily logs, in days (RFC-0009 §5.2).
const (
	ReviewAge    = 30 // older logs should be reviewed, and can be archived
	ProtectedAge = 7  // younger logs are not archived or deleted without the user's explicit consent
)

// currentAge is the age in days below which a log may still be written to. It covers all time zones: a group's log
// follows the machine's zone, the DM's log the one in USER.md.
const currentAge = 3

// Errors of rotation.
var (
	ErrProtected = fmt.Errorf("it is younger than %d days, or of the future: only with the explicit consent of the user",
		ProtectedAge)
	ErrCurrent = fmt.Errorf("it is of the last %d days, and sessions in some time zone may still write to it: it "+
		"cannot be archived", currentAge)
	ErrArchive = errors.New("another log was archived under this name; nothing was done")
)

// Log is a daily log on disk, or another dated file of memory/ or notes/: a saved session, a flush, a topic or the
// notes of a day.
type Log struct {
	File
	Date     string // YYYY-MM-DD
	Days     int    // its age; negative for a future date
	Group    string // the group whose log it is, "" for the direct conversation's
	Archived bool   // it is compressed in memory/archive/
}

// Logs returns the daily logs older than days, archived ones included, oldest first. In a group there are none.
func (v *View) Logs(days int) []Log {
	var logs []Log
	today, _ := v.Days()
	names := slices.Concat(v.list(memoryFolder), v.list(notesFolder), v.archivedLogs())
	slices.Sort(names)
	for _, name := range slices.Compact(names) { // an interrupted archiving leaves both files
		log, err := v.log(name, today)
		if err == nil && log.Days > days {
			logs = append(logs, log)
		}
	}
	return logs
}

// log describes the daily log called name, as of the date today.
func (v *View) log(name, today string) (Log, error) {
	m := datedName.FindStringSubmatch(name)
	// SECURITY: the access check. A group rotates nothing.
	if m == nil || !v.who.May(audience.Delete, classify(v.who, name)) {
		return Log{}, missing("stat", name)
	}
	file, err := v.Stat(name)
	if err != nil {
		return Log{}, err
	}
	_, err = plain.Stat(v.ws.root, name)
	day, dateErr := time.Parse(time.DateOnly, m[1])
	now, todayErr := time.Parse(time.DateOnly, today)
	if err := errors.Join(dateErr, todayErr); err != nil {
		return Log{}, err
	}
	return Log{
		File: file, Date: m[1], Group: GroupOf(name), Archived: errors.Is(err, fs.ErrNotExist),
		Days: int(now.Sub(day).Hours()) / 24,
	}, nil
}

// ArchiveLog compresses the daily log called name into memory/archive/ and removes it from its folder (RFC-0009 §5.2).
// It is still read under its name. Without the user's consent a log younger than ProtectedAge is ErrProtected, and one
// of the last days is ErrCurrent in any case. Archiving twice is no error. In a group the error is fs.ErrNotExist.
func (v *View) ArchiveLog(ctx context.Context, name string, consent bool) error {
	today, _ := v.Days()
	log, err := v.log(name, today)
	switch {
	case err != nil:
		return err
	case log.Archived:
		return nil
	case log.Days < currentAge && log.Days > -currentAge:
		return ErrCurrent
	case log.Days < ProtectedAge && !consent:
		return ErrProtected
	}
	// keep writes the archive under the log's lock, before plain.Retire removes the log: a crash in between leaves both
	// files, and never none.
	keep := func(data []byte) error {
		if len(data) > MaxFileSize {
			return ErrTooLarge
		}
		packed, err := pack(data)
		if err != nil {
			return err
		}
		_, err = plain.Replace(v.ws.root, archiveName(name), packed, func(present []byte) (bool, error) {
			if present == nil {
				return true, nil
			}
			// An interrupted archiving is completed: the log may only have grown since.
			if before, more, err := unpack(present, MaxFileSize); err != nil || more || !bytes.HasPrefix(data, before) {
				return false, ErrArchive
			}
			return true, nil
		})
		return err
	}
	note := Note{Subject: name + ": put away"}
	err = v.lockedAndRecorded(ctx, note, func() error { return plain.Retire(ctx, v.ws.root, name, keep) }, name,
		archiveName(name))
	return v.rotated("archive", name, err)
}

// DeleteLog deletes the daily log called name, from its folder and from memory/archive/. Without the user's consent a
// log younger than ProtectedAge is ErrProtected (RFC-0009 §5.2). In a group the error is fs.ErrNotExist.
func (v *View) DeleteLog(ctx context.Context, name string, consent bool) error {
	today, _ := v.Days()
	log, err := v.log(name, today)
	if err != nil {
		return err
	}
	// SECURITY: RFC-0009 §5.2 asks for the user's consent.
	if log.Days < ProtectedAge && !consent {
		return ErrProtected
	}
	remove := func() error {
		for _, file := range []string{name, archiveName(name)} {
			err := plain.Retire(ctx, v.ws.root, file, func([]byte) error { return nil })
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return v.rotated("delete", path.Base(file), err)
			}
		}
		return nil
	}
	note := Note{Subject: name + ": deleted"}
	return v.lockedAndRecorded(ctx, note, remove, name, archiveName(name))
}

// rotated turns the error of a rotation into the one for its caller.
func (v *View) rotated(op, name string, err error) error {
	if err == nil || errors.Is(err, ErrArchive) || errors.Is(err, ErrTooLarge) {
		return err
	}
	return v.fault(op, name, classify(v.who, name), err)
}
