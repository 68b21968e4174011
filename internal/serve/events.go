package serve

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/server"
)

const (
	maxEvents      = 256     // stored per stream
	maxEventsBytes = 1 << 20 // of the stored events of a stream
)

// events stores the last events of each stream, for clients that reconnect with Last-Event-ID. It implements
// server.EventStore. mcp-go's own implementation never deletes an event.
//
// An event's ID has the number of its POST in the session: "7-12" belongs to the seventh POST, "0-3" to the
// session's own stream, the one of GET.
type events struct {
	mu       sync.Mutex
	next     int64
	sessions map[string]map[string]*eventStream // by mcp-go's session ID, then its stream ID
	stored   map[string]int                     // number of events so far, by session
}

// eventStream has the newest events of one stream, for clients that resume it.
type eventStream struct {
	kept    []event
	bytes   int    // of kept
	dropped string // the ID of the newest event that was dropped
}

// event is a message and the ID by which a client names it when it resumes.
type event struct {
	id      string
	message json.RawMessage
}

var _ server.EventStore = (*events)(nil)

func newEvents() *events {
	return &events{sessions: map[string]map[string]*eventStream{}, stored: map[string]int{}}
}

// StoreEvent implements server.EventStore.
func (e *events) StoreEvent(_ context.Context, sessionID, streamID string, message json.RawMessage) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	streams, ok := e.sessions[sessionID]
	if !ok {
		streams = map[string]*eventStream{}
		e.sessions[sessionID] = streams
	}
	stream, ok := streams[streamID]
	if !ok {
		stream = &eventStream{}
		streams[streamID] = stream
	}
	e.next++
	// One counter for all sessions: an ID of another session is unknown here, instead of naming some other event.
	id := strconv.Itoa(postOf(sessionID)) + "-" + strconv.FormatInt(e.next, 10)
	stream.kept = append(stream.kept, event{id, append(json.RawMessage(nil), message...)})
	stream.bytes += len(message)
	// At least one event stays, however large: without it a client could not tell whether it missed something.
	for len(stream.kept) > maxEvents || stream.bytes > maxEventsBytes && len(stream.kept) > 1 {
		stream.dropped = stream.kept[0].id
		stream.bytes -= len(stream.kept[0].message)
		stream.kept = stream.kept[1:]
	}
	e.stored[sessionID]++
	return id, nil
}

// ReplayEventsAfter implements server.EventStore.
func (e *events) ReplayEventsAfter(
	_ context.Context, sessionID, lastEventID string, send func(string, json.RawMessage) error,
) (string, error) {
	streamID, missed, ok := e.after(sessionID, lastEventID)
	if !ok {
		return "", server.ErrUnknownEventID
	}
	// Outside the lock: send writes to a client, which may be slow.
	for _, m := range missed {
		if err := send(m.id, m.message); err != nil {
			return "", err
		}
	}
	return streamID, nil
}

// after returns the stored events that follow one, and their stream.
func (e *events) after(sessionID, lastEventID string) (streamID string, missed []event, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, stream := range e.sessions[sessionID] {
		// The client has seen the newest event that was dropped, so that nothing is missing.
		if lastEventID != "" && stream.dropped == lastEventID {
			return id, append([]event(nil), stream.kept...), true
		}
		for i, each := range stream.kept {
			if each.id == lastEventID {
				return id, append([]event(nil), stream.kept[i+1:]...), true
			}
		}
	}
	return "", nil, false
}

// PurgeSession implements server.EventStore.
func (e *events) PurgeSession(_ context.Context, sessionID string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.sessions, sessionID)
	delete(e.stored, sessionID)
	return nil
}

// any reports whether the session has had events.
func (e *events) any(sessionID string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stored[sessionID] > 0
}

// mcp-go sends a notification of a session to any of its open streams. To keep each request's notifications on
// its own stream, every POST is a session of its own to mcp-go: the session's ID with the POST's number appended.

// postID returns mcp-go's ID of the n-th POST of a session.
func postID(sessionID string, n int) string { return sessionID + "." + strconv.Itoa(n) }

// postOf returns the number of the POST in mcp-go's ID, 0 for the session itself.
func postOf(id string) int {
	_, number, ok := strings.Cut(id, ".")
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return n
}

// resumed returns mcp-go's ID of the POST or session that an event belongs to.
func resumed(sessionID, lastEventID string) (string, error) {
	number, _, ok := strings.Cut(lastEventID, "-")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 0 {
		return "", errors.New("not an event ID of this server")
	}
	if n == 0 {
		return sessionID, nil
	}
	return postID(sessionID, n), nil
}
