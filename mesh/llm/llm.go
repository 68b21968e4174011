// Package llm sends prompts to the language models that an operator configured.
//
// Invariant: there is no default provider. A prompt is sent only to the configured one, and neither the prompt nor
// the answer appears in an error.
package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/derive"
	"github.com/yamo-protocol/yamo-mcp/mesh/remote"
)

// Options configure a provider (RFC-0011 §4.2 llmProvider, llmModel, llmApiKey, llmMaxTokens).
type Options struct {
	Provider  string        // one of Providers; "openai" for every service that implements its API
	Model     string        // the provider's name of the model; required
	BaseURL   string        // "" is the provider's official address
	APIKey    string        // sent as a bearer token; "" sends none
	MaxTokens int           // maximum length of an answer; 0 is what the prompt allows, which is never exceeded
	Timeout   time.Duration // of one request; 0 is 2 minutes
	// Pause waits between two attempts; nil uses a timer.
	Pause func(ctx context.Context, d time.Duration) error
}

// Providers are the valid values of Options.Provider.
var Providers = []string{"openai", "ollama", "cohere"}

// Client is a language model with an HTTP API. It implements derive.Completer.
type Client struct {
	options  Options
	official bool // the address is the provider's official one
	api      api
	provider *remote.Provider
}

// api is what differs between providers.
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
	official            bool // to the provider's official address
}

// temperature is low so that the same notes give similar texts.
const temperature = .2

// UsualAddress is the address of a provider for which the operator gave none, "" of one that is not known.
func UsualAddress(provider string) string { return apis[provider].base }

// New returns a client for the model that o names. It makes no connection. The error names the invalid option.
func New(o Options) (*Client, error) {
	a, ok := apis[o.Provider]
	if !ok {
		return nil, fmt.Errorf("unknown language model provider %q: use %s", o.Provider, strings.Join(Providers, ", "))
	}
	if o.Model == "" {
		return nil, fmt.Errorf("language model provider %s: the model is required", o.Provider)
	}
	official := o.BaseURL == ""
	if official {
		o.BaseURL = a.base
	}
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Minute
	}
	provider, err := remote.New(remote.Options{BaseURL: o.BaseURL, APIKey: o.APIKey, Timeout: o.Timeout, Pause: o.Pause})
	if err != nil {
		return nil, fmt.Errorf("language model provider %s: %w", o.Provider, err)
	}
	return &Client{o, official, a, provider}, nil
}

// Complete implements derive.Completer. A request that fails with status 429 or 5xx is repeated up to twice. The
// result names the model that the provider reports, which may be more specific than the configured one.
func (c *Client) Complete(ctx context.Context, p derive.Prompt) (derive.Completion, error) {
	maxTokens := p.MaxTokens
	if c.options.MaxTokens > 0 {
		maxTokens = min(maxTokens, c.options.MaxTokens)
	}
	request := c.api.request(question{c.options.Model, p.System, p.Text, maxTokens, c.official})
	body, err := c.provider.Post(ctx, c.api.path, request)
	if err != nil {
		return derive.Completion{}, fmt.Errorf("%s: %w", c.options.Provider, err)
	}
	text, model, err := c.api.answer(body)
	if err != nil {
		// SECURITY: a decoder's error may quote the answer, so it is dropped.
		return derive.Completion{}, fmt.Errorf("%s: the answer has an unexpected format", c.options.Provider)
	}
	return derive.Completion{Text: text, Model: cmp.Or(model, c.options.Model)}, nil
}

// message is one of the messages of a chat, in the form that OpenAI and Ollama share.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (q question) messages() []message {
	return []message{{"system", q.system}, {"user", q.text}}
}

// openAIRequest is a request for OpenAI's chat completions.
type openAIRequest struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	MaxTokens           int       `json:"max_tokens,omitempty"`
	MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
	Temperature         float64   `json:"temperature,omitempty"`
}

var errNoAnswer = errors.New("the response has no answer")

// apis are the APIs by provider: OpenAI's chat completions, Ollama's chat, Cohere's chat version 2.
var apis = map[string]api{
	"openai": {
		base: "https://api.openai.com/v1", path: "/chat/completions",
		request: func(q question) any {
			r := openAIRequest{Model: q.model, Messages: q.messages()}
			// OpenAI's newer models reject max_tokens and any temperature but their default. Other
			// implementations of the API may not know max_completion_tokens.
			if q.official {
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
