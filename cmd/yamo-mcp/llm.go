package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/llm"
)

// llmOptions say which language model writes reflections and skills, if the host has none to offer (RFC-0011 §4.2
// llmProvider, llmModel, llmApiKey, llmMaxTokens).
type llmOptions struct {
	provider  string
	model     string
	address   string
	keyEnv    string // the name of the environment variable with the API key
	maxTokens int
}

// noLLM is no language model, which leaves extracts.
const noLLM = "none"

var llmProviders = append([]string{noLLM}, llm.Providers...)

// llmSettings are serve's settings of the language model.
var llmSettings = []setting{"llm", "llm-model", "llm-url", "llm-key-env", "llm-max-tokens"}

func (o *llmOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.provider, "llm", noLLM, "the language model for reflect and synthesize: "+strings.Join(llmProviders, ", "))
	flags.StringVar(&o.model, "llm-model", "", "of openai, ollama or cohere: the model (required)")
	flags.StringVar(&o.address, "llm-url", "", "of openai, ollama or cohere: where it is, else the provider's own address")
	flags.StringVar(&o.keyEnv, "llm-key-env", "", "the name of the environment variable that holds the API key")
	flags.IntVar(&o.maxTokens, "llm-max-tokens", 0, "the most tokens of an answer, if fewer than the 700 that are asked for")
}

// open returns the language model, nil for none. It connects to nothing yet.
//
// SECURITY: memories leave the machine here, and only to a provider that the operator named.
func (o llmOptions) open(getenv func(string) string) (mesh.Completer, error) {
	switch {
	case !slices.Contains(llmProviders, o.provider):
		return nil, setting("llm").wrong("llm %q: it is one of %s", o.provider, strings.Join(llmProviders, ", "))
	case o.maxTokens < 0:
		return nil, setting("llm-max-tokens").wrong("llm: the most tokens of an answer are a number from 1 up")
	case o.provider == noLLM && (o.model != "" || o.address != "" || o.keyEnv != "" || o.maxTokens != 0):
		return nil, setting("llm").wrong("llm none: name the provider that the other settings of the language model are for, one of %s", strings.Join(llm.Providers, ", "))
	case o.provider == noLLM:
		return nil, nil
	}
	key, err := apiKey{"llm", "llm-key-env"}.read(getenv, o.provider, o.keyEnv, o.address)
	if err != nil {
		return nil, err
	}
	model, err := llm.New(llm.Options{Provider: o.provider, Model: o.model, BaseURL: o.address, APIKey: key, MaxTokens: o.maxTokens})
	if err != nil {
		return nil, fmt.Errorf("%w (--llm-model and --llm-url)", err)
	}
	return model, nil
}
