package embed

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/yamo-protocol/yamo-mcp/internal/assets"
)

// LocalModel is the model of Local (seed 001 §7.2).
var LocalModel = Model{Name: "all-MiniLM-L6-v2", Dim: 384}

// Options configure Local; the zero value is the default.
type Options struct {
	// Locate finds the files; nil means assets.Locate with this process's environment.
	Locate func() (assets.Paths, error)
	// Folder is another model than LocalModel; nil for that. ONNX Runtime is Locate's.
	Folder *Folder
	// Threads is how many threads one batch is computed with; 0 means the number of CPUs.
	Threads int
	// BatchTokens bounds a batch: its texts times the longest one's tokens; 0 means 512. More buys no
	// speed and costs memory (about 60 kB a token) and the time until a query gets its turn.
	BatchTokens int
}

// Local embeds on this machine, with all-MiniLM-L6-v2 unless it has a Folder: the mean over a text's tokens without
// padding, at unit length, of texts cut at 256 tokens. sentence-transformers computes the same
// (testdata/reference.json).
type Local struct {
	*engine
	turn chan struct{} // one batch runs at a time; waiting callers get their turns in order
}

// engine is what all lanes share: the model.
type engine struct {
	options Options
	folder  *Folder

	use    sync.RWMutex // read: the engine is in use; write: Close frees it
	closed bool

	load      sync.Mutex // guards the two below
	tokenizer *tokenizer
	session   *session
}

// NewLocal returns an embedder that has loaded nothing: the first Embed loads the model (seed 001 §7.3).
func NewLocal(o Options) *Local {
	if o.Locate == nil {
		o.Locate = func() (assets.Paths, error) { return assets.Locate(os.Getenv) }
	}
	if o.Threads <= 0 {
		o.Threads = runtime.NumCPU()
	}
	if o.BatchTokens <= 0 {
		o.BatchTokens = 512
	}
	e := &engine{options: o, folder: o.Folder}
	if e.folder == nil {
		e.folder = &Folder{model: LocalModel, maxTokens: maxTokens}
	}
	return (&Local{engine: e}).Lane()
}

// Lane returns an embedder with the same model, whose callers wait for each other only, and not for those of other
// lanes. All are closed together.
//
// SECURITY: each audience has one. In one queue a group's search waited for what a DM had just stored, and its time
// told that there was something, and how much. What is left is that they share the processor.
func (l *Local) Lane() *Local { return &Local{engine: l.engine, turn: make(chan struct{}, 1)} }

// Model returns LocalModel, or the folder's.
func (l *Local) Model() Model { return l.folder.model }

// Close frees the model of all lanes after the calls in progress have returned; later calls return ErrClosed.
func (l *Local) Close() error {
	l.use.Lock()
	defer l.use.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	l.load.Lock()
	defer l.load.Unlock()
	var err error
	if l.session != nil {
		err = l.session.close()
	}
	if l.tokenizer != nil {
		l.tokenizer.close()
	}
	return err
}

// Embed implements Embedder. Without the model's files the error matches ErrNoAssets; nothing is
// remembered of that, so a call after the installation succeeds.
func (l *Local) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return l.embed(ctx, l.folder.passage, texts)
}

// EmbedQuery implements Querier.
func (l *Local) EmbedQuery(ctx context.Context, texts []string) ([][]float32, error) {
	return l.embed(ctx, l.folder.query, texts)
}

// embed returns the vectors of the texts, each with the prompt that the model wants before a text of its kind.
func (l *Local) embed(ctx context.Context, prompt string, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if prompt != "" {
		prompted := make([]string, len(texts))
		for i, text := range texts {
			prompted[i] = prompt + text
		}
		texts = prompted
	}
	vectors := make([][]float32, len(texts))
	err := l.each(ctx, texts, func(i int, _ []int64, rows []float32) (err error) {
		vectors[i], err = l.folder.pool.vector(rows, l.folder.model.Dim)
		return err
	})
	if err != nil {
		return nil, err
	}
	return vectors, nil
}

// each runs the model on texts and calls visit with the tokens of each text and their vectors, in any order. Both
// include the two framing tokens, and are valid during the call.
func (l *Local) each(ctx context.Context, texts []string, visit func(i int, ids []int64, rows []float32) error) error {
	l.use.RLock()
	defer l.use.RUnlock()
	if l.closed {
		return ErrClosed
	}
	tok, sess, err := l.loaded()
	if err != nil {
		return err
	}
	sequences := make([][]int64, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if sequences[i], err = tok.sequence(text); err != nil {
			return err
		}
	}
	for _, batch := range batches(sequences, l.options.BatchTokens) {
		if err := l.runBatch(ctx, sess, sequences, batch, visit); err != nil {
			return err
		}
	}
	return nil
}

// runBatch waits for its turn, so that a query waits for one batch of an ingestion and not for all.
func (l *Local) runBatch(ctx context.Context, s *session, sequences [][]int64, batch []int,
	visit func(i int, ids []int64, rows []float32) error,
) error {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	chosen := make([][]int64, len(batch))
	for i, at := range batch {
		chosen[i] = sequences[at]
	}
	return s.run(chosen, func(i int, rows []float32) error { return visit(batch[i], chosen[i], rows) })
}

// loaded returns the tokenizer and the model, and loads them on the first call.
func (l *engine) loaded() (*tokenizer, *session, error) {
	l.load.Lock()
	defer l.load.Unlock()
	if l.session != nil {
		return l.tokenizer, l.session, nil
	}
	paths, err := l.options.Locate()
	if err != nil {
		return nil, nil, fmt.Errorf("%w (%w)", ErrNoAssets, err)
	}
	if l.options.Folder != nil {
		paths.Model, paths.Tokenizer = l.folder.onnx, l.folder.tokenizer
	}
	if l.tokenizer == nil { // it is kept when the model failed to load
		if l.tokenizer, err = openTokenizer(paths.Tokenizer, l.folder.maxTokens); err != nil {
			return nil, nil, fmt.Errorf("load the tokenizer: %w", err)
		}
	}
	if l.session, err = openSession(paths, l.folder.model.Dim, l.options.Threads); err != nil {
		return nil, nil, fmt.Errorf("load the embedding model: %w", err)
	}
	return l.tokenizer, l.session, nil
}
