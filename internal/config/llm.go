package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/derive"
	"github.com/yamo-protocol/yamo-mcp/mesh/llm"
)

// LLM is the language model that writes reflections and skills when the host does not offer one (RFC-0011 §4.2
// llmProvider, llmModel, llmApiKey, llmMaxTokens). With the provider "none" Open fails unless the other fields are
// empty.
type LLM struct {
	Provider  string // "none", or one of llm.Providers
	Model     string // required with a provider: no provider has a usual one
	Address   string // "" for the provider's own
	KeyEnv    string // the name of the environment variable with the API key
	MaxTokens int    // of an answer; 0, or more than 700, is the program's own limit
}

// noLLM makes reflections and skills from the memories' own sentences. It is the default: no memory leaves the machine
// unless the operator names a provider.
const noLLM = "none"

var llmProviders = append([]string{noLLM}, llm.Providers...)

// LLMSettings are the settings of the language model.
var LLMSettings = []Setting{
	spec[string]{
		Name: "llm", initial: noLLM, help: "language model for reflections and skills: " + strings.Join(llmProviders, ", "),
		more: "It is used where the host does not offer its own. `openai` is any service with the same API. " +
			"The memories that a reflection needs are sent to the provider",
		field: func(c *Config) *string { return &c.LLM.Provider },
		valid: oneOf(llmProviders...),
	},
	spec[string]{
		Name: "llm-model", help: "name of the language model (required with a provider)",
		field: func(c *Config) *string { return &c.LLM.Model },
	},
	spec[string]{
		Name: "llm-url", help: "address of the language model's provider, if not its usual one",
		field: func(c *Config) *string { return &c.LLM.Address },
	},
	spec[string]{
		Name: "llm-key-env", help: "name of the environment variable with the language model's API key",
		more:  "Without an address, `OPENAI_API_KEY` or `CO_API_KEY` unless another is named",
		field: func(c *Config) *string { return &c.LLM.KeyEnv },
	},
	spec[int]{
		Name: "llm-max-tokens", help: "maximum number of tokens of an answer, if below 700",
		field: func(c *Config) *int { return &c.LLM.MaxTokens },
		valid: func(n int) error {
			if n < 0 {
				return errors.New("must be 1 or more")
			}
			return nil
		},
	},
}

// Open returns the language model, nil if the provider is "none". It does not connect yet. It fails for settings that
// contradict each other, without a model, and for a key that is named but not set.
//
// SECURITY: memories leave the machine here, and only to a provider that the operator named.
func (l LLM) Open(getenv func(string) string) (derive.Completer, error) {
	if l.Provider == noLLM {
		// A model without a provider has no effect, which the operator cannot know: as with the embedder, refuse it.
		if l != (LLM{Provider: noLLM}) {
			return nil, Name("llm").Errorf("llm: none has no model and no address; "+
				"name the provider that the other llm settings are for: %s", strings.Join(llm.Providers, ", "))
		}
		// not a typed nil: callers compare the interface with nil
		return nil, nil
	}
	key, err := apiKey{"llm", "llm-key-env"}.read(getenv, l.Provider, l.KeyEnv, l.Address)
	if err != nil {
		return nil, err
	}
	model, err := llm.New(llm.Options{
		Provider: l.Provider, Model: l.Model, BaseURL: l.Address, APIKey: key, MaxTokens: l.MaxTokens,
	})
	if err != nil {
		return nil, fmt.Errorf("%w (--llm-model and --llm-url)", err)
	}
	return model, nil
}
