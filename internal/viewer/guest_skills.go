package viewer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/viewer/page"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// skillTool is the tool with which sessions find skills.
const skillTool = "skills"

// foundSkills is what the tool skills answers to a group.
type foundSkills struct {
	Offered bool         `json:"-"` // the group's sessions have the tool
	Skills  []guestSkill `json:"skills"`
	Total   int          `json:"total"`
	Next    int          `json:"next_offset"`
	Hint    string       `json:"hint"`
}

// guestSkill is a skill as the tool describes it.
type guestSkill struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Intent      string            `json:"intent"`
	Description string            `json:"description"`
	Reliability float64           `json:"reliability"`
	UseCount    int               `json:"use_count"`
	Visibility  record.Visibility `json:"visibility"`
	Text        string            `json:"text"` // of a skill that was asked for by its id
}

// Zone returns who reads the skill.
func (s guestSkill) Zone() page.Zone { return zoneOf(s.Visibility) }

// guestSkills shows the skills that a session of the group gets from its server, or the whole of one.
func guestSkills(r *http.Request, m Member, content guest, p page.Page) (answer, error) {
	ctx, id := r.Context(), r.PathValue("id")
	c, _, err := dial(ctx, m)
	if err != nil {
		return answer{}, err
	}
	defer c.Close() //nolint:errcheck // nothing is buffered
	tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return answer{}, fmt.Errorf("list the group's tools: %w", err)
	}
	p.Title = "Skills that sessions of " + content.Name + " can use"
	content.Here = content.Path + "/skills"
	offered := slices.ContainsFunc(tools.Tools, func(t mcp.Tool) bool { return t.Name == skillTool })
	switch {
	case !offered:
	case id == "":
		content.Skills, err = callSkills(ctx, c, map[string]any{"action": "list", "limit": mesh.MaxLimit})
	default:
		content.Skills, err = wholeSkill(ctx, c, id)
	}
	if err != nil {
		return answer{}, err
	}
	content.Skills.Offered = offered
	p.Content = content
	return answer{template: "guestskills", page: p}, nil
}

// wholeSkill returns one skill with all of its text, which the tool returns in parts.
func wholeSkill(ctx context.Context, c *client.Client, id string) (whole foundSkills, err error) {
	for text, offset := "", 0; ; {
		part, err := callSkills(ctx, c, map[string]any{"action": "get", "id": id, "offset": offset})
		if err != nil {
			return foundSkills{}, err
		}
		if len(part.Skills) != 1 {
			return foundSkills{}, fmt.Errorf("the tool %s returned %d skills for one", skillTool, len(part.Skills))
		}
		text += part.Skills[0].Text
		if part.Next <= offset {
			part.Skills[0].Text = text
			return part, nil
		}
		offset = part.Next
	}
}

// callSkills calls the tool skills of a group's server. What the tool refuses is a fault.
func callSkills(ctx context.Context, c *client.Client, arguments map[string]any) (found foundSkills, err error) {
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Arguments = skillTool, arguments
	result, err := c.CallTool(ctx, request)
	if err != nil {
		return found, fmt.Errorf("call the group's tool %s: %w", skillTool, err)
	}
	if result.IsError {
		for _, part := range result.Content {
			if text, ok := part.(mcp.TextContent); ok {
				return found, fault.New("%s", text.Text)
			}
		}
		return found, fault.New("the group's server refused it")
	}
	data := []byte(result.RawStructuredContent)
	if len(data) == 0 {
		if data, err = json.Marshal(result.StructuredContent); err != nil {
			return found, fmt.Errorf("read the answer of the tool %s: %w", skillTool, err)
		}
	}
	if err := json.Unmarshal(data, &found); err != nil {
		return found, fmt.Errorf("read the answer of the tool %s: %w", skillTool, err)
	}
	return found, nil
}
