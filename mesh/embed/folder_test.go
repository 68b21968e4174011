package embed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// modelFolder makes a folder of the installed model with the given configuration files.
func modelFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	paths := requireAssets(t)
	dir := filepath.Join(t.TempDir(), "mine")
	for _, sub := range []string{"onnx", "1_Pooling"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"onnx/model.onnx": paths.Model, "tokenizer.json": paths.Tokenizer} {
		if _, replaced := files[name]; replaced {
			continue
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func openLocal(t *testing.T, dir string) *Local {
	t.Helper()
	folder, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	l := NewLocal(Options{Folder: folder})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func one(t *testing.T, vectors [][]float32, err error) []float32 {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return vectors[0]
}

const (
	sizes = `{"hidden_size": 384, "max_position_embeddings": 512}`
	mean  = `{"word_embedding_dimension": 384, "pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false}`
)

// The installed model in a folder gives the vectors of sentence-transformers, as it does without one.
func TestFolder(t *testing.T) {
	t.Parallel()
	l := openLocal(t, modelFolder(t, map[string]string{
		"config.json": sizes, "1_Pooling/config.json": mean, "sentence_bert_config.json": `{"max_seq_length": 256}`,
		"modules.json": `[{"type": "sentence_transformers.models.Transformer"},
			{"type": "sentence_transformers.models.Pooling"}, {"type": "sentence_transformers.models.Normalize"}]`,
	}))
	if m := l.Model(); !strings.HasPrefix(m.Name, "mine#") || m.Dim != 384 {
		t.Errorf("the model is %+v", m)
	}
	for _, r := range references(t) {
		vectors, err := l.Embed(t.Context(), []string{r.Text})
		if d := difference(one(t, vectors, err), r.Vector); d > 1e-4 {
			t.Errorf("%s differs from sentence-transformers by %g", r.Name, d)
		}
	}
	if _, err := l.Tokens(t.Context(), []string{"a"}); err == nil {
		t.Error("tokens of a model that the confidence was not measured with")
	}
}

// Prompts, pooling and the maximum length are the folder's.
func TestFolderConfiguration(t *testing.T) {
	t.Parallel()
	plain := openLocal(t, modelFolder(t, map[string]string{"config.json": sizes}))
	embed := func(l *Local, text string) []float32 {
		t.Helper()
		vectors, err := l.Embed(t.Context(), []string{text})
		return one(t, vectors, err)
	}
	prompted := openLocal(t, modelFolder(t, map[string]string{
		"config.json":                       sizes,
		"config_sentence_transformers.json": `{"prompts": {"query": "query: ", "passage": "passage: "}}`,
	}))
	query, err := prompted.EmbedQuery(t.Context(), []string{"where is the ladder?"})
	for name, pair := range map[string][2][]float32{
		"query":   {one(t, query, err), embed(plain, "query: where is the ladder?")},
		"passage": {embed(prompted, "the ladder"), embed(plain, "passage: the ladder")},
	} {
		if d := difference(pair[0], pair[1]); d > 1e-5 {
			t.Errorf("%s: the prompt is not used (%g)", name, d)
		}
	}
	// A cache keeps the vector of a question apart from that of the same text that is found.
	cache := Cached(prompted, 10)
	asked, err := cache.EmbedQuery(t.Context(), []string{"the ladder"})
	if d := difference(one(t, asked, err), embed(prompted, "the ladder")); d < 1e-3 {
		t.Error("a cache does not tell a question from a passage")
	}
	stored, err := cache.Embed(t.Context(), []string{"the ladder"})
	if d := difference(one(t, stored, err), embed(prompted, "the ladder")); d > 1e-6 {
		t.Error("a cache returns the vector of a question for a passage")
	}
	var others []*Local
	for _, mode := range []string{"cls_token", "max_tokens"} {
		others = append(others, openLocal(t, modelFolder(t, map[string]string{
			"1_Pooling/config.json": `{"word_embedding_dimension": 384, "pooling_mode_` + mode + `": true}`,
		})))
	}
	for _, l := range others {
		if d := difference(embed(l, "the ladder"), embed(plain, "the ladder")); d < 1e-3 {
			t.Errorf("%v: another pooling has the same vectors", l.folder.pool)
		}
	}
	if d := difference(embed(others[0], "the ladder"), embed(others[1], "the ladder")); d < 1e-3 {
		t.Error("cls and max have the same vectors")
	}
	short := openLocal(t, modelFolder(t, map[string]string{
		"config.json": sizes, "sentence_bert_config.json": `{"max_seq_length": 6}`,
	}))
	if d := difference(embed(short, "one two three four five"), embed(short, "one two three four six")); d > 1e-6 {
		t.Error("a text is not cut at max_seq_length")
	}
	if short.Model().Name == plain.Model().Name {
		t.Error("another configuration has the same name, so that vectors would be mixed")
	}
}

func TestPooling(t *testing.T) {
	t.Parallel()
	rows := []float32{3, 4, 0, -5}
	for p, want := range map[pooling][]float32{
		meanPooling: {float32(3 / 3.1622777), float32(-1 / 3.1622777)}, clsPooling: {.6, .8}, maxPooling: {.6, .8},
	} {
		got, err := p.vector(rows, 2)
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(got, want); d > 1e-6 {
			t.Errorf("%v: %v, want %v", p, got, want)
		}
	}
	if diff := cmp.Diff([]float32{3, 4, 0, -5}, rows); diff != "" {
		t.Errorf("the rows were changed (-want +got):\n%s", diff)
	}
}

func TestFolderErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no model":     {map[string]string{"onnx/model.onnx": ""}, "has no onnx/model.onnx"},
		"no tokenizer": {map[string]string{"config.json": sizes, "tokenizer.json": ""}, "tokenizer.json"},
		"no dimension": {nil, "hidden_size is missing"},
		"not JSON":     {map[string]string{"config.json": "x"}, "config.json: "},
		"a dense layer": {
			map[string]string{"modules.json": `[{"type":"sentence_transformers.models.Dense"}]`}, "module Dense",
		},
		"last token": {
			map[string]string{"1_Pooling/config.json": `{"pooling_mode_lasttoken": true}`}, "last token are not supported",
		},
		"two modes": {
			map[string]string{"1_Pooling/config.json": `{"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":true}`},
			"several modes",
		},
		"a length": {
			map[string]string{"config.json": sizes, "sentence_bert_config.json": `{"max_seq_length": 1}`}, "max_seq_length",
		},
	} {
		if _, err := OpenFolder(modelFolder(t, test.files)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
