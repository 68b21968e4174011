package conformance

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// object is a schema of an object with these properties, all of them required.
func object(properties map[string]any) map[string]any {
	var required []string
	for name := range properties {
		required = append(required, name)
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

func form(message string, properties map[string]any) mcp.ElicitationParams {
	return mcp.ElicitationParams{Message: message, RequestedSchema: object(properties)}
}

func completion(prompt string) mcp.CreateMessageParams {
	return mcp.CreateMessageParams{
		Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(prompt)}}, MaxTokens: 100,
	}
}

// addQuestions adds tools that ask the client while the call waits, as it is done before 2026-07-28.
func addQuestions(srv *server.MCPServer) {
	add(srv, "test_sampling", func(ctx context.Context, request mcp.CallToolRequest) (*toolResult, error) {
		answer, err := srv.RequestSampling(ctx, mcp.CreateMessageRequest{ //nolint:staticcheck // deprecated with 2026-07-28
			Request:             mcp.Request{Method: string(mcp.MethodSamplingCreateMessage)},
			CreateMessageParams: completion(request.GetString("prompt", "")),
		})
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		text, _ := answer.Content.(mcp.TextContent)
		return mcp.NewToolResultText("LLM response: " + text.Text), nil
	}, mcp.WithString("prompt", mcp.Required()))
	ask := func(name string, params func(mcp.CallToolRequest) mcp.ElicitationParams, options ...mcp.ToolOption) {
		add(srv, name, func(ctx context.Context, request mcp.CallToolRequest) (*toolResult, error) {
			answer, err := srv.RequestElicitation(ctx, mcp.ElicitationRequest{
				Request: mcp.Request{Method: string(mcp.MethodElicitationCreate)}, Params: params(request),
			})
			if err != nil {
				return mcp.NewToolResultError(err.Error()), nil
			}
			return mcp.NewToolResultText(fmt.Sprintf("User response: action=%s, content=%v", answer.Action, answer.Content)), nil
		}, options...)
	}
	ask("test_elicitation", func(request mcp.CallToolRequest) mcp.ElicitationParams {
		return form(request.GetString("message", ""), map[string]any{
			"username": map[string]any{"type": "string", "description": "User's response"},
			"email":    map[string]any{"type": "string", "description": "User's email address"},
		})
	}, mcp.WithString("message", mcp.Required()))
	ask("test_elicitation_sep1034_defaults", func(mcp.CallToolRequest) mcp.ElicitationParams {
		return form("Provide your information", map[string]any{
			"name":     map[string]any{"type": "string", "default": "John Doe"},
			"age":      map[string]any{"type": "integer", "default": 30},
			"score":    map[string]any{"type": "number", "default": 95.5},
			"status":   map[string]any{"type": "string", "enum": []string{"active", "inactive", "pending"}, "default": "active"},
			"verified": map[string]any{"type": "boolean", "default": true},
		})
	})
	titled := []any{
		map[string]any{"const": "value1", "title": "Value One"},
		map[string]any{"const": "value2", "title": "Value Two"},
	}
	ask("test_elicitation_sep1330_enums", func(mcp.CallToolRequest) mcp.ElicitationParams {
		return form("Select options", map[string]any{
			"untitledSingle": map[string]any{"type": "string", "enum": []string{"option1", "option2"}},
			"titledSingle":   map[string]any{"type": "string", "oneOf": titled},
			"legacyEnum": map[string]any{
				"type":      "string",
				"enum":      []string{"opt1", "opt2"},
				"enumNames": []string{"Option One", "Option Two"},
			},
			"untitledMulti": map[string]any{
				"type":  "array",
				"items": map[string]any{"type": "string", "enum": []string{"option1", "option2"}},
			},
			"titledMulti": map[string]any{"type": "array", "items": map[string]any{"anyOf": titled}},
		})
	})
}

var (
	name = form("What is your name?", map[string]any{"name": map[string]any{"type": "string"}})
	ok   = form("Please confirm", map[string]any{"ok": map[string]any{"type": "boolean"}})
)

// addRounds adds tools that ask with their result and are called again with the answer, as it is done since 2026-07-28.
func addRounds(srv *server.MCPServer) {
	elicit := func(_ context.Context, request mcp.CallToolRequest) (*toolResult, error) {
		if answer := server.ElicitationResponse(request.Params.InputResponses, "user_name"); answer != nil {
			if content, ok := answer.Content.(map[string]any); ok && content["name"] != nil {
				return mcp.NewToolResultText(fmt.Sprintf("Hello, %v!", content["name"])), nil
			}
		}
		return server.NewInputRequestBuilder("").Elicit("user_name", name).ToolResult(), nil
	}
	add(srv, "test_input_required_result_elicitation", elicit)
	add(srv, "test_streaming_elicitation", elicit)
	add(
		srv,
		"test_input_required_result_sampling",
		func(_ context.Context, request mcp.CallToolRequest) (*toolResult, error) {
			if answer := server.SamplingResponse(request.Params.InputResponses, "capital_question"); answer != nil {
				return mcp.NewToolResultText(fmt.Sprint("The model says: ", answer.Content)), nil
			}
			return server.NewInputRequestBuilder("").
				Sample("capital_question", completion("What is the capital of France?")).ToolResult(), nil
		},
	)
	add(
		srv,
		"test_input_required_result_list_roots",
		func(_ context.Context, request mcp.CallToolRequest) (*toolResult, error) {
			if answered(request.Params.InputResponses, "client_roots") {
				return mcp.NewToolResultText("got the roots"), nil
			}
			return server.NewInputRequestBuilder("").Roots("client_roots").ToolResult(), nil
		},
	)
	add(
		srv,
		"test_input_required_result_request_state",
		func(_ context.Context, request mcp.CallToolRequest) (*toolResult, error) {
			if answered(request.Params.InputResponses, "confirm") && untampered(request.Params.RequestState, "confirm") {
				return mcp.NewToolResultText("state-ok"), nil
			}
			return server.NewInputRequestBuilder(sealed("confirm")).Elicit("confirm", ok).ToolResult(), nil
		},
	)
	add(
		srv,
		"test_input_required_result_multiple_inputs",
		func(_ context.Context, request mcp.CallToolRequest) (*toolResult, error) {
			if answered(request.Params.InputResponses, "user_name", "greeting", "client_roots") &&
				untampered(request.Params.RequestState, "multiple") {
				return mcp.NewToolResultText("got all of them"), nil
			}
			return server.NewInputRequestBuilder(sealed("multiple")).Elicit("user_name", name).
				Sample("greeting", completion("Generate a greeting")).Roots("client_roots").ToolResult(), nil
		},
	)
	add(
		srv,
		"test_input_required_result_multi_round",
		func(_ context.Context, request mcp.CallToolRequest) (*toolResult, error) {
			in, state := request.Params.InputResponses, request.Params.RequestState
			switch {
			case answered(in, "step2") && untampered(state, "round 2"):
				return mcp.NewToolResultText("done"), nil
			case answered(in, "step1") && untampered(state, "round 1"):
				return server.NewInputRequestBuilder(sealed("round 2")).
					Elicit(
						"step2",
						form("Step 2: What is your favorite color?", map[string]any{"color": map[string]any{"type": "string"}}),
					).ToolResult(), nil
			}
			return server.NewInputRequestBuilder(sealed("round 1")).
				Elicit("step1", form("Step 1: What is your name?", map[string]any{"name": map[string]any{"type": "string"}})).
				ToolResult(), nil
		},
	)
	add(
		srv,
		"test_input_required_result_tampered_state",
		func(_ context.Context, request mcp.CallToolRequest) (*toolResult, error) {
			switch state := request.Params.RequestState; {
			case state == "":
				return server.NewInputRequestBuilder(sealed("state")).Elicit("confirm", ok).ToolResult(), nil
			case !untampered(state, "state"):
				return nil, errors.New("the state was changed")
			}
			return mcp.NewToolResultText("state-ok"), nil
		},
	)
	add(
		srv,
		"test_input_required_result_capabilities",
		func(ctx context.Context, _ mcp.CallToolRequest) (*toolResult, error) {
			b := server.NewInputRequestBuilder("")
			if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientCapabilities != nil {
				if info.ClientCapabilities.Sampling != nil {
					b.Sample("greeting", completion("Generate a greeting"))
				}
				if info.ClientCapabilities.Elicitation != nil {
					b.Elicit("user_name", name)
				}
			}
			return b.ToolResult(), nil
		},
	)
	add(srv, "test_missing_capability", func(ctx context.Context, _ mcp.CallToolRequest) (*toolResult, error) {
		if info := server.RequestProtocolInfoFromContext(ctx); info == nil || info.ClientCapabilities == nil ||
			info.ClientCapabilities.Sampling == nil {
			return nil, mcp.MissingRequiredClientCapabilityError{Capability: "sampling"}
		}
		return server.NewInputRequestBuilder("").Sample("greeting", completion("Generate a greeting")).ToolResult(), nil
	})
	srv.AddPrompt(
		mcp.NewPrompt("test_input_required_result_prompt", about),
		func(ctx context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if answer := server.ElicitationResponse(request.Params.InputResponses, "user_context"); answer != nil {
				return say(fmt.Sprint("Context: ", answer.Content))(ctx, request)
			}
			return server.NewInputRequestBuilder("").
				Elicit(
					"user_context",
					form("What context should the prompt use?", map[string]any{"context": map[string]any{"type": "string"}}),
				).PromptResult(), nil
		},
	)
}

// answered reports whether there are answers to all questions.
func answered(answers mcp.InputResponses, keys ...string) bool {
	for _, key := range keys {
		if _, ok := answers[key]; !ok {
			return false
		}
	}
	return true
}

// sealed is a state that no one can change unnoticed.
func sealed(text string) string {
	mac := hmac.New(sha256.New, []byte("fixture"))
	mac.Write([]byte(text))
	return text + "." + hex.EncodeToString(mac.Sum(nil))
}

func untampered(state, text string) bool {
	return hmac.Equal([]byte(strings.TrimSpace(state)), []byte(sealed(text)))
}
