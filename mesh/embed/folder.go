package embed

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Folder is a model of the operator's choice, in the layout of sentence-transformers: tokenizer.json, onnx/model.onnx
// (or model.onnx), config.json, and, where the model has them, modules.json, 1_Pooling/config.json,
// sentence_bert_config.json and config_sentence_transformers.json.
type Folder struct {
	model     Model
	onnx      string
	tokenizer string
	maxTokens int // the framing tokens included
	pool      pooling
	query     string // what the model expects before a question
	passage   string // likewise, before what is found
}

// Model returns the model. Its name is that of the folder with a hash of the files, so that the vectors are made again
// when the folder gets another model.
func (f *Folder) Model() Model { return f.model }

// defaultTokens is sentence-transformers' limit for a model that names none.
const defaultTokens = 512

// OpenFolder reads the configuration of the model in dir, and loads nothing of it. The error names the file that is
// missing or cannot be used.
func OpenFolder(dir string) (*Folder, error) {
	f := &Folder{tokenizer: filepath.Join(dir, "tokenizer.json"), maxTokens: defaultTokens, pool: meanPooling}
	for _, name := range []string{"onnx/model.onnx", "model.onnx"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil && f.onnx == "" {
			f.onnx = filepath.Join(dir, name)
		}
	}
	if f.onnx == "" {
		return nil, fmt.Errorf("%s has no onnx/model.onnx", dir)
	}
	files := []string{"tokenizer.json"}
	read := func(name string, to any) error {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			err = json.Unmarshal(raw, to)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, name)
		return nil
	}
	var modules []struct{ Type string }
	var config struct {
		Hidden    int `json:"hidden_size"`
		Positions int `json:"max_position_embeddings"`
	}
	var length struct {
		Tokens int `json:"max_seq_length"`
	}
	var prompts struct {
		Prompts map[string]string
		Default string `json:"default_prompt_name"`
	}
	var pool poolingConfig
	err := errors.Join(read("modules.json", &modules), read("config.json", &config), read("1_Pooling/config.json", &pool),
		read("sentence_bert_config.json", &length), read("config_sentence_transformers.json", &prompts))
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		kind := m.Type[strings.LastIndex(m.Type, ".")+1:]
		if !slices.Contains([]string{"Transformer", "Pooling", "Normalize"}, kind) {
			return nil, fmt.Errorf("modules.json: the module %s is not supported; Transformer, Pooling and Normalize are", kind)
		}
	}
	if f.pool, err = pool.mode(); err != nil {
		return nil, fmt.Errorf("1_Pooling/config.json: %w", err)
	}
	if f.model.Dim = cmp.Or(pool.Dimension, config.Hidden); f.model.Dim <= 0 {
		return nil, errors.New("config.json: hidden_size is missing, the number of the vectors' dimensions")
	}
	if f.maxTokens = cmp.Or(length.Tokens, config.Positions, defaultTokens); f.maxTokens < 3 || f.maxTokens > 1<<16 {
		return nil, fmt.Errorf("sentence_bert_config.json: max_seq_length: must be between 3 and %d", 1<<16)
	}
	f.query, f.passage = prompts.Prompts["query"], prompts.Prompts[prompts.Default]
	for _, name := range []string{"document", "passage"} {
		f.passage = cmp.Or(prompts.Prompts[name], f.passage)
	}
	sum, err := fingerprint(dir, f.onnx, files)
	f.model.Name = filepath.Base(dir) + "#" + sum
	return f, err
}

// fingerprint returns digits that change with the files: of the model, which is large, its size and its two ends.
func fingerprint(dir, onnx string, files []string) (string, error) {
	h := sha256.New()
	for _, name := range files {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n", name, len(raw))
		h.Write(raw)
	}
	model, err := os.Open(onnx)
	if err != nil {
		return "", err
	}
	defer func() { _ = model.Close() }() // opened for reading
	info, err := model.Stat()
	if err != nil {
		return "", err
	}
	const end = 1 << 20
	fmt.Fprintf(h, "%d\n", info.Size())
	for _, at := range []int64{0, max(0, info.Size()-end)} {
		if _, err := io.Copy(h, io.NewSectionReader(model, at, end)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:8], nil
}

// pooling is how the vector of a text is made of those of its tokens.
type pooling int

const (
	meanPooling pooling = iota
	clsPooling
	maxPooling
)

// poolingConfig is 1_Pooling/config.json.
type poolingConfig struct {
	Dimension int  `json:"word_embedding_dimension"`
	Mean      bool `json:"pooling_mode_mean_tokens"`
	CLS       bool `json:"pooling_mode_cls_token"`
	Max       bool `json:"pooling_mode_max_tokens"`
	Sqrt      bool `json:"pooling_mode_mean_sqrt_len_tokens"`
	Weighted  bool `json:"pooling_mode_weightedmean_tokens"`
	Last      bool `json:"pooling_mode_lasttoken"`
}

// mode returns the pooling that a model of sentence-transformers is configured for. One that is not supported is an
// error: other vectors would look right and find little.
func (c poolingConfig) mode() (pooling, error) {
	switch {
	case c.Weighted || c.Last:
		return 0, errors.New("weighted mean and last token are not supported; mean, cls and max are")
	case (c.Mean || c.Sqrt) && (c.CLS || c.Max) || c.CLS && c.Max:
		return 0, errors.New("several modes at once are not supported")
	case c.CLS:
		return clsPooling, nil
	case c.Max:
		return maxPooling, nil
	}
	return meanPooling, nil // the division by a length, or by its root, makes no difference at unit length
}

// vector returns the vector of a text, at unit length, from the rows of its tokens, each of dim values.
func (p pooling) vector(rows []float32, dim int) ([]float32, error) {
	v := slices.Clone(rows[:dim])
	if p != clsPooling {
		for row := range slices.Chunk(rows[dim:], dim) {
			for j, x := range row {
				if p == maxPooling {
					v[j] = max(v[j], x)
				} else {
					v[j] += x
				}
			}
		}
	}
	return v, normalize(v)
}

// Querier is an Embedder that embeds questions in another way than what is found. Models were trained with prompts that
// tell them apart.
type Querier interface {
	// EmbedQuery is like Embed, for questions.
	EmbedQuery(ctx context.Context, texts []string) ([][]float32, error)
}

// Queries embeds questions with e.
func Queries(ctx context.Context, e interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}, texts []string,
) ([][]float32, error) {
	if q, ok := e.(Querier); ok {
		return q.EmbedQuery(ctx, texts)
	}
	return e.Embed(ctx, texts)
}
