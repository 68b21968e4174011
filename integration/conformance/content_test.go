package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	// A PNG of one pixel and a WAV of none.
	image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	audio = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
	// dialect is what the suite's schema scenario wants to get back word for word.
	dialect = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object",
			"properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},
			"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
		"then":{"required":["phone"]},"else":{"required":["email"]},
		"additionalProperties":false}`
	mirrored = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}},"required":["region"]}`
)

type toolResult = mcp.CallToolResult

// add offers a tool.
func add(
	srv *server.MCPServer,
	name string,
	handle func(context.Context, mcp.CallToolRequest) (*toolResult, error),
	options ...mcp.ToolOption,
) {
	srv.AddTool(
		mcp.NewTool(
			name,
			append([]mcp.ToolOption{mcp.WithDescription("A fixture of the conformance suite.")}, options...)...),
		handle,
	)
}

// always is a handler with one answer.
func always(content ...mcp.Content) func(context.Context, mcp.CallToolRequest) (*toolResult, error) {
	return func(context.Context, mcp.CallToolRequest) (*toolResult, error) {
		return &toolResult{Content: content}, nil
	}
}

func embedded(uri, mime, text string) mcp.Content {
	return mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: uri, MIMEType: mime, Text: text})
}

// addContents adds tools that answer with every kind of content, and tools that notify meanwhile.
func addContents(srv *server.MCPServer) {
	add(srv, "test_simple_text", always(mcp.NewTextContent("This is a simple text response for testing.")))
	add(srv, "test_image_content", always(mcp.NewImageContent(image, "image/png")))
	add(srv, "test_audio_content", always(mcp.NewAudioContent(audio, "audio/wav")))
	add(srv, "test_embedded_resource",
		always(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")))
	add(srv, "test_multiple_content_types", always(
		mcp.NewTextContent("Multiple content types test:"), mcp.NewImageContent(image, "image/png"),
		embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`),
	))
	add(srv, "test_error_handling", func(context.Context, mcp.CallToolRequest) (*toolResult, error) {
		return mcp.NewToolResultError("This tool intentionally returns an error for testing"), nil
	})
	srv.AddTool(
		mcp.NewToolWithRawSchema("json_schema_2020_12_tool", "A fixture of the conformance suite.", json.RawMessage(dialect)),
		always(mcp.NewTextContent("ok")),
	)
	srv.AddTool(
		mcp.NewToolWithRawSchema("test_custom_headers", "A fixture of the conformance suite.", json.RawMessage(mirrored)),
		always(mcp.NewTextContent("ok")),
	)

	logs := func(ctx context.Context, _ mcp.CallToolRequest) (*toolResult, error) {
		for i, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			if i > 0 {
				time.Sleep(20 * time.Millisecond)
			}
			if err := srv.SendLogMessageToClient(
				ctx,
				mcp.NewLoggingMessageNotification(mcp.LoggingLevelInfo, "fixture", text),
			); err != nil {
				return nil, err
			}
		}
		return mcp.NewToolResultText("Tool with logging executed successfully"), nil
	}
	add(srv, "test_tool_with_logging", logs)
	add(srv, "test_logging_tool", logs)
	add(srv, "test_tool_with_progress", func(ctx context.Context, request mcp.CallToolRequest) (*toolResult, error) {
		if request.Params.Meta != nil && request.Params.Meta.ProgressToken != nil {
			for _, progress := range []int{0, 50, 100} {
				if err := srv.SendNotificationToClient(ctx, string(mcp.MethodNotificationProgress), map[string]any{
					"progressToken": request.Params.Meta.ProgressToken, "progress": progress, "total": 100,
				}); err != nil {
					return nil, err
				}
				time.Sleep(20 * time.Millisecond)
			}
		}
		return mcp.NewToolResultText("progress reported"), nil
	})
	add(srv, "test_trigger_tool_change", func(context.Context, mcp.CallToolRequest) (*toolResult, error) {
		add(srv, "test_changed", always(mcp.NewTextContent("ok")))
		return mcp.NewToolResultText("changed"), nil
	})
	add(srv, "test_trigger_prompt_change", func(context.Context, mcp.CallToolRequest) (*toolResult, error) {
		srv.AddPrompt(mcp.NewPrompt("test_changed", about), say("ok"))
		return mcp.NewToolResultText("changed"), nil
	})
}

// addResources adds a text, a binary and a template.
func addResources(srv *server.MCPServer) {
	static := func(contents mcp.ResourceContents) server.ResourceHandlerFunc {
		return func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{contents}, nil
		}
	}
	srv.AddResource(
		mcp.NewResource("test://static-text", "static-text", mcp.WithMIMEType("text/plain")),
		static(mcp.TextResourceContents{
			URI:      "test://static-text",
			MIMEType: "text/plain",
			Text:     "This is the content of the static text resource.",
		}),
	)
	srv.AddResource(mcp.NewResource("test://static-binary", "static-binary", mcp.WithMIMEType("image/png")),
		static(mcp.BlobResourceContents{URI: "test://static-binary", MIMEType: "image/png", Blob: image}))
	srv.AddResource(mcp.NewResource("test://watched-resource", "watched-resource", mcp.WithMIMEType("text/plain")),
		static(mcp.TextResourceContents{URI: "test://watched-resource", MIMEType: "text/plain", Text: "Watched."}))
	srv.AddResourceTemplate(
		mcp.NewResourceTemplate("test://template/{id}/data", "template", mcp.WithTemplateMIMEType("application/json")),
		func(_ context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(request.Params.URI, "test://template/"), "/data")
			return []mcp.ResourceContents{
				mcp.TextResourceContents{
					URI:      request.Params.URI,
					MIMEType: "application/json",
					Text:     fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id),
				},
			}, nil
		},
	)
}

var about = mcp.WithPromptDescription("A fixture of the conformance suite.")

// say is a prompt of one text.
func say(text string) server.PromptHandlerFunc {
	return func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return mcp.NewGetPromptResult("",
			[]mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text))}), nil
	}
}

// addPrompts adds prompts with every kind of content.
func addPrompts(srv *server.MCPServer) {
	srv.AddPrompt(mcp.NewPrompt("test_simple_prompt", about), say("This is a simple prompt for testing."))
	srv.AddPrompt(
		mcp.NewPrompt("test_prompt_with_arguments", about, mcp.WithArgument("arg1", mcp.RequiredArgument()),
			mcp.WithArgument("arg2", mcp.RequiredArgument())),
		func(ctx context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			args := request.Params.Arguments
			return say(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"]))(ctx, request)
		},
	)
	srv.AddPrompt(
		mcp.NewPrompt("test_prompt_with_embedded_resource", about, mcp.WithArgument("resourceUri", mcp.RequiredArgument())),
		func(_ context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return mcp.NewGetPromptResult("", []mcp.PromptMessage{
				mcp.NewPromptMessage(mcp.RoleUser,
					embedded(request.Params.Arguments["resourceUri"], "text/plain", "Embedded resource content for testing.")),
				mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("Please process the embedded resource above.")),
			}), nil
		},
	)
	srv.AddPrompt(
		mcp.NewPrompt("test_prompt_with_image", about),
		func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return mcp.NewGetPromptResult("", []mcp.PromptMessage{
				mcp.NewPromptMessage(mcp.RoleUser, mcp.NewImageContent(image, "image/png")),
				mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("Please analyze the image above.")),
			}), nil
		},
	)
}
