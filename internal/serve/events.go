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
	maxEvents      = 256     // of one stream that are kept
	maxEventsBytes = 1 << 20 // of them together
)

// events keeps what was last sent on the streams of sessions, for clients that lost the connection and come
// again with Last-Event-ID. It implements server.EventStore, whose own implementation keeps everything.
//
// An event's id says which of the session's requests it belongs to: "7-12" is of the seventh POST, "0-3" of
// the listening stream.
type events struct {
	mu       sync.Mutex
	next     int64
	sessions map[string]map[string]*eventStream // by mcp-go's session id, then its stream id
	stored   map[string]int                     // how many a session has had
}

type eventStream struct {
	kept  []event
	bytes int
	last  string // the id of the newest that is not kept any more
}

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
	id := strconv.Itoa(postOf(sessionID)) + "-" + strconv.FormatInt(e.next, 10)
	stream.kept = append(stream.kept, event{id, append(json.RawMessage(nil), message...)})
	stream.bytes += len(message)
	for len(stream.kept) > maxEvents || stream.bytes > maxEventsBytes && len(stream.kept) > 1 {
		stream.last = stream.kept[0].id
		stream.bytes -= len(stream.kept[0].message)
		stream.kept = stream.kept[1:]
	}
	e.stored[sessionID]++
	return id, nil
}

// ReplayEventsAfter implements server.EventStore.
func (e *events) ReplayEventsAfter(_ context.Context, sessionID, lastEventID string, send func(string, json.RawMessage) error) (string, error) {
	streamID, missed, ok := e.after(sessionID, lastEventID)
	if !ok {
		return "", server.ErrUnknownEventID
	}
	for _, m := range missed {
		if err := send(m.id, m.message); err != nil {
			return "", err
		}
	}
	return streamID, nil
}

func (e *events) after(sessionID, lastEventID string) (streamID string, missed []event, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, stream := range e.sessions[sessionID] {
		if lastEventID != "" && stream.last == lastEventID {
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

// any reports whether events of a session were stored.
func (e *events) any(sessionID string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stored[sessionID] > 0
}

// mcp-go hands the notifications of one session to whichever of its streams is there first. To keep each
// request's with the request, every POST of a session is a session of its own to mcp-go, with the number of
// the POST behind the id.

// postID is mcp-go's id for the n-th POST of a session.
func postID(sessionID string, n int) string { return sessionID + "." + strconv.Itoa(n) }

// postOf is the number of the POST in mcp-go's id, 0 for the session itself.
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

// resumed is mcp-go's id for the stream that an event was on.
func resumed(sessionID, lastEventID string) (string, error) {
	number, _, ok := strings.Cut(lastEventID, "-")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 0 {
		return "", errors.New("not an event id of this server")
	}
	if n == 0 {
		return sessionID, nil
	}
	return postID(sessionID, n), nil
}
