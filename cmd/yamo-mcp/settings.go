package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"
)

// setting is the name of a flag that can be given in the environment or the workspace's config file as
// well: --agent-id as YAMO_AGENT_ID and as agent_id. The flag wins over the environment, that over the
// file, that over the flag's default.
type setting string

func (s setting) env() string { return "YAMO_" + strings.ToUpper(s.key()) }
func (s setting) key() string { return strings.ReplaceAll(string(s), "-", "_") }

// wrong is an error about the setting's value, with the places that it may come from.
func (s setting) wrong(format string, values ...any) error {
	return fmt.Errorf(format+" (--%s, %s or %s in %s)", append(values, s, s.env(), s.key(), configName)...)
}

// apply gives each flag that is not on the command line its value from the environment or file. An
// environment variable that is set but empty counts as unset, an empty string in the file too.
func apply(flags *pflag.FlagSet, settings []setting, getenv func(string) string, file map[string]string) error {
	for _, s := range settings {
		if flags.Changed(string(s)) {
			continue
		}
		value, source := getenv(s.env()), s.env()
		if value == "" {
			value, source = file[s.key()], configName+": "+s.key()
		}
		if value == "" {
			continue
		}
		if err := flags.Set(string(s), value); err != nil {
			return fmt.Errorf("%s: %w", source, valueError(err))
		}
	}
	return nil
}

// valueError says what kind of value a flag takes, without how Go says it.
func valueError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	kinds := map[string]string{"int": "a whole number", "float": "a number", "float64": "a number", "bool": "true or false"}
	if kind := kinds[invalid.GetFlag().Value.Type()]; kind != "" {
		return fmt.Errorf("%q is not %s", invalid.GetValue(), kind)
	}
	return err
}

// expand is a path whose first element may be ~, the user's home: hosts start servers without a shell that would replace it.
func expand(path string, getenv func(string) string) string {
	if below, ok := strings.CutPrefix(path, "~/"); ok && getenv("HOME") != "" {
		return filepath.Join(getenv("HOME"), below)
	}
	return path
}

// configName is the config file's place in the workspace. Messages name it this way, without the folder.
var configName = filepath.Join(".yamo", "config.toml")

// config is the file's content: a field for each of serveSettings. Relative paths in it start at the workspace.
type config struct {
	Connection          string  `toml:"connection"`
	Group               string  `toml:"group"`
	AgentID             string  `toml:"agent_id"`
	Model               string  `toml:"model"`
	Transcripts         string  `toml:"transcripts"`
	Toolsets            string  `toml:"toolsets"`
	Ranking             string  `toml:"ranking"`
	Embedder            string  `toml:"embedder"`
	EmbeddingModel      string  `toml:"embedding_model"`
	EmbeddingDimensions int     `toml:"embedding_dimensions"`
	EmbeddingURL        string  `toml:"embedding_url"`
	EmbeddingKeyEnv     string  `toml:"embedding_key_env"`
	LLM                 string  `toml:"llm"`
	LLMModel            string  `toml:"llm_model"`
	LLMURL              string  `toml:"llm_url"`
	LLMKeyEnv           string  `toml:"llm_key_env"`
	LLMMaxTokens        int     `toml:"llm_max_tokens"`
	LessonMinConfidence float64 `toml:"lesson_min_confidence"`
	LessonRetentionDays int     `toml:"lesson_retention_days"`
	HeritageDepth       int     `toml:"heritage_depth"`
	DreamMinScore       float64 `toml:"dream_min_score"`
	DreamMinHits        int     `toml:"dream_min_hits"`
	DreamMinDays        int     `toml:"dream_min_days"`
	Git                 bool    `toml:"git"`
	GitPrivate          bool    `toml:"git_private"`
	Transport           string  `toml:"transport"`
	LogLevel            string  `toml:"log_level"`
	Listen              string  `toml:"listen"`
	Tokens              string  `toml:"tokens"`
	TLSCert             string  `toml:"tls_cert"`
	TLSKey              string  `toml:"tls_key"`
	BehindProxy         bool    `toml:"behind_proxy"`
	PublicURL           string  `toml:"public_url"`
	AllowHost           string  `toml:"allow_host"`
	AllowOrigin         string  `toml:"allow_origin"`
	AllowAnonymousGroup bool    `toml:"allow_anonymous_group"`
	OAuthIssuer         string  `toml:"oauth_issuer"`
	OAuthAudience       string  `toml:"oauth_audience"`
	OAuthJWKS           string  `toml:"oauth_jwks"`
	CallsPerMinute      int     `toml:"calls_per_minute"`
	ConcurrentCalls     int     `toml:"concurrent_calls"`
}

// values is the content by key: every key, with "" for those the file does not have.
func (c config) values() map[string]string {
	values := map[string]string{}
	content := reflect.ValueOf(c)
	for i := range content.NumField() {
		value := ""
		if field := content.Field(i); !field.IsZero() {
			value = fmt.Sprint(field.Interface())
		}
		values[content.Type().Field(i).Tag.Get("toml")] = value
	}
	return values
}

// configKeys are the keys, for people.
func configKeys() string {
	return strings.Join(slices.Sorted(maps.Keys(config{}.values())), ", ")
}

// readConfig reads the workspace's config file; without one, every value is "". An unknown key is an
// error: a misspelt one would silently mean its default.
func readConfig(workspace string) (map[string]string, error) {
	path := filepath.Join(workspace, configName)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return config{}.values(), nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%s: %w; the memory is for the account that owns the workspace alone", configName, withoutPath(err))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configName, withoutPath(err))
	}
	// SECURITY: this file can make a session a DM. It is the operator's only if nobody else can write it
	// and it is no link to a file elsewhere.
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", configName)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%s: others may write it: run chmod go-w on it", configName)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configName, withoutPath(err))
	}
	var c config
	decoder := toml.NewDecoder(strings.NewReader(string(data))).DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return nil, configError(err)
	}
	if c.Transcripts != "" && !filepath.IsAbs(c.Transcripts) && !strings.HasPrefix(c.Transcripts, "~/") {
		c.Transcripts = filepath.Join(workspace, c.Transcripts)
	}
	return c.values(), nil
}

func configError(err error) error {
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		line, _ := strict.Errors[0].Position()
		return fmt.Errorf("%s:%d: unknown key %q (valid keys: %s)", configName, line, strings.Join(strict.Errors[0].Key(), "."), configKeys())
	}
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := wrong.Position()
		if key := strings.Join(wrong.Key(), "."); key != "" {
			return fmt.Errorf("%s:%d: %s has a value of the wrong kind: it is %s", configName, line, key, wanted(key))
		}
		return fmt.Errorf("%s:%d: %s", configName, line, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	return fmt.Errorf("%s: %w", configName, err)
}

// wanted is what a key's value looks like, for people.
func wanted(key string) string {
	content := reflect.TypeFor[config]()
	for i := range content.NumField() {
		if field := content.Field(i); field.Tag.Get("toml") == key {
			switch field.Type.Kind() {
			case reflect.Int:
				return "a whole number"
			case reflect.Float64:
				return "a number"
			case reflect.Bool:
				return "true or false"
			}
		}
	}
	if slices.Contains([]string{"toolsets", "embedding_url", "allow_host", "allow_origin"}, key) {
		return "text in quotes, with commas between several"
	}
	return "text in quotes"
}

// withoutPath is the reason of a file error.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
