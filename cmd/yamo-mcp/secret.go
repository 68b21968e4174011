package main

import (
	"fmt"
	"regexp"
)

// apiKey is how the operator says where a provider's key is.
type apiKey struct {
	what    string  // that the key is for, as the settings call it
	setting setting // the setting that names an environment variable
}

// customaryKeys are where the providers' own programs look for a key.
var customaryKeys = map[string]string{"openai": "OPENAI_API_KEY", "cohere": "CO_API_KEY"}

var variable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// read is the key, "" for none. name is what the setting says, address where the provider is if not at its own.
//
// SECURITY: a setting names where the key is and is never the key, so that none stands in a command line or in a file
// of the workspace. The customary variable is not looked at when the operator gave an address: the key of one
// service is not sent to another.
func (k apiKey) read(getenv func(string) string, provider, name, address string) (string, error) {
	if name == "" && address == "" {
		name = customaryKeys[provider]
	}
	if name == "" {
		return "", nil
	}
	if !variable.MatchString(name) { // it may be the key itself, which is not repeated
		return "", fmt.Errorf("%s key: give the name of the environment variable that holds it, like OPENAI_API_KEY, not the key (--%s or %s)",
			k.what, k.setting, k.setting.env())
	}
	key := getenv(name)
	if key == "" {
		return "", fmt.Errorf("%s %s: the environment variable %s with the API key is not set (--%s names another one)", k.what, provider, name, k.setting)
	}
	return key, nil
}
