// Package llm asks the language models that an operator configured.
//
// The invariant: there is no default provider. What is asked goes to the one that was named, and neither
// it nor the answer is in an error.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/remote"
)

// Options configure a provider (RFC-0011 §4.2 llmProvider, llmModel, llmApiKey, llmMaxTokens).
type Options struct {
	Provider  string        // "openai" (and everything that speaks its protocol), "ollama" or "cohere"
	Model     string        // the provider's name for it; required
	BaseURL   string        // empty: the provider's own address
	APIKey    string        // sent as a bearer token; empty: none
	MaxTokens int           // of an answer, if that is less than the question allows; 0: what the question allows
	Timeout   time.Duration // of one request; 0 means 2 minutes
	// Pause waits between two attempts; nil means a timer.
	Pause func(ctx context.Context, d time.Duration) error
}

// Providers are the names that Options.Provider may have.
var Providers = []string{"openai", "ollama", "cohere"}

// Client is a language model behind an HTTP interface. It implements mesh.Completer.
type Client struct {
	options  Options
	own      bool // the address is the provider's own
	api      api
	provider *remote.Provider
}

// api is what differs between the providers.
type api struct {
	base    string // default base URL
	path    string
	request func(q question) any
	answer  func(body []byte) (text, model string, err error)
}

// question is one request.
type question struct {
	model, system, text string
	maxTokens           int
	own                 bool // to the provider's own address
}

// temperature is low: the same notes are to give much the same text.
const temperature = .2

// New returns the model that o names. It connects to nothing until the first Complete.
func New(o Options) (*Client, error) {
	a, ok := apis[o.Provider]
	if !ok {
		return nil, fmt.Errorf("language model provider %q is not known: use %s", o.Provider, strings.Join(Providers, ", "))
	}
	if o.Model == "" {
		return nil, fmt.Errorf("language model provider %s: name the model", o.Provider)
	}
	own := o.BaseURL == ""
	if own {
		o.BaseURL = a.base
	}
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Minute
	}
	provider, err := remote.New(remote.Options{BaseURL: o.BaseURL, APIKey: o.APIKey, Timeout: o.Timeout, Pause: o.Pause})
	if err != nil {
		return nil, fmt.Errorf("language model provider %s: %w", o.Provider, err)
	}
	return &Client{o, own, a, provider}, nil
}

// Complete implements mesh.Completer. A request that is answered 429 or 5xx is repeated twice. The model is
// the one that the provider says has answered.
func (c *Client) Complete(ctx context.Context, p mesh.Prompt) (mesh.Completion, error) {
	most := p.MaxTokens
	if c.options.MaxTokens > 0 {
		most = min(most, c.options.MaxTokens)
	}
	body, err := c.provider.Post(ctx, c.api.path, c.api.request(question{c.options.Model, p.System, p.Text, most, c.own}))
	if err != nil {
		return mesh.Completion{}, fmt.Errorf("%s: %w", c.options.Provider, err)
	}
	text, model, err := c.api.answer(body)
	if err != nil {
		// A decoder's error may quote the answer.
		return mesh.Completion{}, fmt.Errorf("%s: the answer was not understood", c.options.Provider)
	}
	if model == "" {
		model = c.options.Model
	}
	return mesh.Completion{Text: text, Model: model}, nil
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (q question) messages() []message {
	return []message{{"system", q.system}, {"user", q.text}}
}

type openAIRequest struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	MaxTokens           int       `json:"max_tokens,omitempty"`
	MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
	Temperature         float64   `json:"temperature,omitempty"`
}

var errNoAnswer = errors.New("there is no answer")

// apis are the providers by their configured names: openai's chat completions, ollama's chat, cohere's chat
// of version 2.
var apis = map[string]api{
	"openai": {
		base: "https://api.openai.com/v1", path: "/chat/completions",
		request: func(q question) any {
			r := openAIRequest{Model: q.model, Messages: q.messages()}
			// openai's newer models refuse max_tokens and any temperature but theirs; who else speaks the
			// protocol may know nothing newer.
			if q.own {
				r.MaxCompletionTokens = q.maxTokens
			} else {
				r.MaxTokens, r.Temperature = q.maxTokens, temperature
			}
			return r
		},
		answer: func(body []byte) (text, model string, err error) {
			var a struct {
				Model   string
				Choices []struct{ Message struct{ Content string } }
			}
			if err := json.Unmarshal(body, &a); err != nil {
				return "", "", err
			}
			if len(a.Choices) == 0 {
				return "", "", errNoAnswer
			}
			return a.Choices[0].Message.Content, a.Model, nil
		},
	},
	"ollama": {
		base: "http://localhost:11434", path: "/api/chat",
		request: func(q question) any {
			type options struct {
				NumPredict  int     `json:"num_predict"`
				Temperature float64 `json:"temperature"`
			}
			return struct {
				Model    string    `json:"model"`
				Messages []message `json:"messages"`
				Stream   bool      `json:"stream"`
				Options  options   `json:"options"`
			}{q.model, q.messages(), false, options{q.maxTokens, temperature}}
		},
		answer: func(body []byte) (text, model string, err error) {
			var a struct {
				Model   string
				Message *struct{ Content string }
			}
			if err := json.Unmarshal(body, &a); err != nil {
				return "", "", err
			}
			if a.Message == nil {
				return "", "", errNoAnswer
			}
			return a.Message.Content, a.Model, nil
		},
	},
	"cohere": {
		base: "https://api.cohere.com", path: "/v2/chat",
		request: func(q question) any {
			return struct {
				Model       string    `json:"model"`
				Messages    []message `json:"messages"`
				Stream      bool      `json:"stream"`
				MaxTokens   int       `json:"max_tokens"`
				Temperature float64   `json:"temperature"`
			}{q.model, q.messages(), false, q.maxTokens, temperature}
		},
		answer: func(body []byte) (text, model string, err error) {
			var a struct {
				Message struct {
					Content []struct{ Type, Text string }
				}
			}
			if err := json.Unmarshal(body, &a); err != nil {
				return "", "", err
			}
			var texts []string
			for _, part := range a.Message.Content {
				if part.Type == "text" {
					texts = append(texts, part.Text)
				}
			}
			if texts == nil {
				return "", "", errNoAnswer
			}
			return strings.Join(texts, "\n"), "", nil
		},
	},
}
