package tools

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/progress"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/derive"
)

const (
	// personPatience is the maximum time for a person to answer, modelPatience that for a host's model. They bound
	// calls of older clients, which wait for the answer; later clients call again with it. A person may be away from
	// the screen; a model that takes longer than this is not going to answer.
	personPatience = 10 * time.Minute
	modelPatience  = 2 * time.Minute
	// progressEvery is the minimum time between two progress notifications about the same step: hosts redraw for each.
	progressEvery = 100 * time.Millisecond
	// trailing is the maximum time that a call waits for its last notification to leave. A notification that arrives
	// after the result refers to a token that the client has forgotten.
	trailing = 50 * time.Millisecond
)

// caller is the connected program as one tool call sees it: what it can be asked, and its answers.
//
// A client of revision 2026-07-28 or later is asked with the call's result and calls again with the
// answer, so a handler that asks is run from its beginning for each answer: what it does before it asks
// must do no harm when it is done twice. A question is known by its key, which therefore names all that
// the answer depends on. Older clients are asked while the call waits.
type caller struct {
	srv      *server.MCPServer // nil in a call without a server
	can      mcp.ClientCapabilities
	repeats  bool // it calls again with its answers
	answers  mcp.InputResponses
	progress mcp.ProgressToken // nil if it does not want to know
}

// callerKey is the key of the caller in the context of a call.
type callerKey struct{}

// withCaller returns the context of a call, in which callerOf finds who called.
func withCaller(ctx context.Context, request mcp.CallToolRequest) context.Context {
	c := &caller{
		srv:     server.ServerFromContext(ctx),
		can:     ClientCapabilities(ctx),
		repeats: mcp.IsModernProtocol(server.RequestProtocolVersion(ctx)),
		answers: request.Params.InputResponses,
	}
	if request.Params.Meta != nil {
		c.progress = request.Params.Meta.ProgressToken
	}
	return context.WithValue(ctx, callerKey{}, c)
}

// ClientCapabilities returns what the client that sent a request can do; without a client nothing.
func ClientCapabilities(ctx context.Context) mcp.ClientCapabilities {
	// Revision 2026-07-28 has no session: a request carries its client's capabilities itself.
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		if info.ClientCapabilities == nil { // never those of an earlier request
			return mcp.ClientCapabilities{}
		}
		return *info.ClientCapabilities
	}
	if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		return session.GetClientCapabilities()
	}
	return mcp.ClientCapabilities{}
}

// callerOf returns the caller of ctx; without one, as in tests, a caller that cannot be asked anything.
func callerOf(ctx context.Context) *caller {
	if c, ok := ctx.Value(callerKey{}).(*caller); ok {
		return c
	}
	return &caller{}
}

// inputRequired ends a call whose client will call again with the answers.
type inputRequired struct{ result *mcp.CallToolResult }

func (*inputRequired) Error() string { return "the call waits for the client's answer" }

// Is makes it derive.ErrSuspended, which the memory hands through.
func (*inputRequired) Is(target error) bool { return target == derive.ErrSuspended }

// errCannotAsk means that the client has no way to answer, or said so when it was asked.
var errCannotAsk = errors.New("the client cannot be asked")

// samples reports whether the client offers its language model.
func (c *caller) samples() bool { return c.srv != nil && c.can.Sampling != nil }

// sample asks the client's language model. The error is an *inputRequired, ctx's, or wraps errCannotAsk.
func (c *caller) sample(
	ctx context.Context, key string, params mcp.CreateMessageParams,
) (text, model string, err error) {
	if !c.samples() {
		return "", "", errCannotAsk
	}
	var answer *mcp.CreateMessageResult
	if c.repeats {
		// Not asked yet: the call ends with the question, and the client's second call has the answer.
		if answer = server.SamplingResponse(c.answers, key); answer == nil {
			return "", "", &inputRequired{server.NewInputRequestBuilder("").Sample(key, params).ToolResult()}
		}
	} else {
		asking, cancel := context.WithTimeout(ctx, modelPatience)
		defer cancel()
		//nolint:staticcheck // deprecated as the revisions are that have it
		answer, err = c.srv.RequestSampling(asking, mcp.CreateMessageRequest{
			Request: mcp.Request{Method: string(mcp.MethodSamplingCreateMessage)}, CreateMessageParams: params,
		})
		if err != nil || answer == nil {
			return "", "", unanswered(ctx)
		}
	}
	return textOf(answer.Content), answer.Model, nil
}

// unanswered returns the error for a question that an older client did not answer: ctx's error if the call was
// cancelled, else errCannotAsk. The client's own error may contain content, so it goes nowhere.
func unanswered(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errCannotAsk
}

// textOf returns the text of a sampling result's content, which is one part or a list of them. Parts
// that are not text are dropped; "" means that there was none.
func textOf(content any) string {
	type part struct{ Type, Text string }
	raw, err := json.Marshal(content)
	if err != nil {
		return ""
	}
	var parts []part
	if json.Unmarshal(raw, &parts) != nil {
		parts = make([]part, 1)
		if json.Unmarshal(raw, &parts[0]) != nil {
			return ""
		}
	}
	var texts []string
	for _, p := range parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// elicits reports whether the client can ask its person. A capability without modes is that of forms.
func (c *caller) elicits() bool {
	e := c.can.Elicitation
	return c.srv != nil && e != nil && (e.Form != nil || e.URL == nil)
}

// verdict is a person's answer. The zero value agrees to nothing.
type verdict int

const (
	dismissed verdict = iota // closed the question, or did not answer it
	declined
	accepted
)

// ask puts a question to the person, to be answered with a tick. The error is an *inputRequired, ctx's,
// or wraps errCannotAsk.
func (c *caller) ask(ctx context.Context, key, question, tick string) (verdict, error) {
	said, content, err := c.form(ctx, key, question, map[string]any{
		"confirm": map[string]any{"type": "boolean", "title": tick, "default": false},
	}, "confirm")
	// SECURITY: accepting the form without the tick is no consent.
	if said == accepted && content["confirm"] != true {
		said = declined
	}
	return said, err
}

// form puts a question with fields (JSON schemas by name) to the person, and returns what they entered if they accepted
// the form. The error is as for ask.
func (c *caller) form(
	ctx context.Context, key, question string, fields map[string]any, required ...string,
) (said verdict, entered map[string]any, err error) {
	if !c.elicits() {
		return dismissed, nil, errCannotAsk
	}
	schema := map[string]any{"type": "object", "properties": fields}
	if len(required) > 0 {
		schema["required"] = required
	}
	params := mcp.ElicitationParams{Message: text.ShowGaps(question), RequestedSchema: schema}
	var answer *mcp.ElicitationResult
	if c.repeats {
		if answer = server.ElicitationResponse(c.answers, key); answer == nil {
			return dismissed, nil, &inputRequired{server.NewInputRequestBuilder("").Elicit(key, params).ToolResult()}
		}
	} else {
		asking, cancel := context.WithTimeout(ctx, personPatience)
		defer cancel()
		answer, err = c.srv.RequestElicitation(asking, mcp.ElicitationRequest{
			Request: mcp.Request{Method: string(mcp.MethodElicitationCreate)}, Params: params,
		})
		switch {
		case asking.Err() != nil && ctx.Err() == nil:
			return dismissed, nil, nil // the person did not answer in time
		case err != nil || answer == nil:
			return dismissed, nil, unanswered(ctx)
		}
	}
	switch answer.Action {
	case mcp.ElicitationResponseActionAccept:
		content, _ := answer.Content.(map[string]any) // anything else has no field
		return accepted, content, nil
	case mcp.ElicitationResponseActionDecline:
		return declined, nil, nil
	default:
		return dismissed, nil, nil
	}
}

// log sends the client a log message, if it asked for messages of that level. It is for what a person should notice
// even if the model does not mention it, such as a search without its embedding model.
//
// SECURITY: text is fixed words, never content, a name or a path.
func (c *caller) log(ctx context.Context, level mcp.LoggingLevel, text string) {
	if c.srv != nil {
		// The result has the same text, so a failure to send it loses nothing.
		_ = c.srv.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(level, "yamo-mcp", text))
	}
}

// reporter returns a context whose progress is sent to the client, and a function that waits, up to trailing, until the
// last notification has left. Without a progress token nothing is sent (MCP: progress is opt-in).
func (c *caller) reporter(ctx context.Context) (reporting context.Context, sent func()) {
	if c.srv == nil || c.progress == nil {
		return ctx, func() {}
	}
	var mu sync.Mutex
	last, at, step := -1, time.Time{}, ""
	report := func(done, total int, doing string) {
		mu.Lock()
		defer mu.Unlock()
		if done <= last || doing == step && time.Since(at) < progressEvery { // progress must increase
			return
		}
		last, at, step = done, time.Now(), doing
		params := map[string]any{"progressToken": c.progress, "progress": done, "message": doing}
		if total > 0 {
			params["total"] = total
		}
		_ = c.srv.SendNotificationToClient(ctx, string(mcp.MethodNotificationProgress), params) // it is a courtesy
	}
	return progress.With(ctx, report), func() {
		mu.Lock()
		defer mu.Unlock()
		session := server.ClientSessionFromContext(ctx)
		if last < 0 || session == nil {
			return
		}
		// mcp-go has no event for "written": only the length of its queue tells.
		for end := time.Now().Add(trailing); len(session.NotificationChannel()) > 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
}
