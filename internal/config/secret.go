package config

import (
	"fmt"
	"regexp"
)

// apiKey is how the operator tells where the API key of a provider is.
type apiKey struct {
	what    string // uses the key: "embedder" or "llm"
	setting Name   // names an environment variable
}

// customaryKeys are the environment variables in which the providers' own programs look for a key. Ollama needs none.
var customaryKeys = map[string]string{"openai": "OPENAI_API_KEY", "cohere": "CO_API_KEY"}

// variable is how environment variables are usually named. Keys have lower-case letters or hyphens as a rule, so that a
// key given by mistake does not match.
var variable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// read returns the key, "" for none. name is the value of the setting, address the provider's if it is not its usual
// one.
//
// SECURITY: a setting names the place of the key and never contains it, so that no key is in a command line or in a
// file of the workspace. The customary variable is not read if the operator gave an address: the key of one service is
// not sent to another.
func (k apiKey) read(getenv func(string) string, provider, name, address string) (string, error) {
	if name == "" && address == "" {
		name = customaryKeys[provider]
	}
	if name == "" {
		return "", nil
	}
	if !variable.MatchString(name) { // it may be the key itself, which is not repeated
		return "", fmt.Errorf("%s key: give the name of the environment variable that holds the key, such as "+
			"OPENAI_API_KEY, not the key (--%s or %s)", k.what, k.setting, k.setting.Env())
	}
	key := getenv(name)
	// A request without the key would fail at the first search, far from the setting that caused it.
	if key == "" {
		return "", fmt.Errorf("%s %s: the environment variable %s with the API key is not set (--%s names another one)",
			k.what, provider, name, k.setting)
	}
	return key, nil
}
