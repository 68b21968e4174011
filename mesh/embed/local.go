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
	// Threads is how many threads one batch is computed with; 0 means the number of CPUs.
	Threads int
	// BatchTokens bounds a batch: its texts times the longest one's tokens; 0 means 512. More buys no
	// speed and costs memory (about 60 kB a token) and the time until a query gets its turn.
	BatchTokens int
}

// Local embeds with all-MiniLM-L6-v2 on this machine: mean over the true tokens, unit length, texts cut
// at 256 tokens, which is what sentence-transformers computes (testdata/reference.json).
type Local struct {
	options Options
	turn    chan struct{} // one batch runs at a time; waiting callers get their turns in order

	use    sync.RWMutex // read: the engine is in use; write: Close frees it
	closed bool

	load      sync.Mutex   // guards the three below
	paths     assets.Paths // set with tokenizer
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
	return &Local{options: o, turn: make(chan struct{}, 1)}
}

// Model returns LocalModel.
func (l *Local) Model() Model { return LocalModel }

// Close frees the model after the calls in progress have returned; later calls return ErrClosed.
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
	if len(texts) == 0 {
		return nil, nil
	}
	l.use.RLock()
	defer l.use.RUnlock()
	if l.closed {
		return nil, ErrClosed
	}
	tok, sess, err := l.engine()
	if err != nil {
		return nil, err
	}
	sequences := make([][]int64, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if sequences[i], err = tok.sequence(text); err != nil {
			return nil, err
		}
	}
	vectors := make([][]float32, len(texts))
	for _, batch := range batches(sequences, l.options.BatchTokens) {
		if err := l.embedBatch(ctx, sess, sequences, batch, vectors); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// embedBatch waits for its turn, so that a query waits for one batch of an ingestion and not for all.
func (l *Local) embedBatch(ctx context.Context, s *session, sequences [][]int64, batch []int, vectors [][]float32) error {
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
	pooled, err := s.run(chosen)
	if err != nil {
		return err
	}
	for i, at := range batch {
		vectors[at] = pooled[i]
	}
	return nil
}

// CountTokens returns how many of the model's tokens text has, without the two that frame every text;
// Embed sees the first 254. It loads only the tokenizer. Without the model's files the error matches
// ErrNoAssets, and the caller has to estimate.
func (l *Local) CountTokens(text string) (int, error) {
	l.use.RLock()
	defer l.use.RUnlock()
	if l.closed {
		return 0, ErrClosed
	}
	l.load.Lock()
	err := l.loadTokenizer()
	tok := l.tokenizer
	l.load.Unlock()
	if err != nil {
		return 0, err
	}
	return tok.count(text)
}

// engine returns the loaded model, loading it if it is not.
func (l *Local) engine() (*tokenizer, *session, error) {
	l.load.Lock()
	defer l.load.Unlock()
	if err := l.loadTokenizer(); err != nil {
		return nil, nil, err
	}
	if l.session == nil {
		s, err := openSession(l.paths, l.options.Threads)
		if err != nil {
			return nil, nil, fmt.Errorf("load the embedding model: %w", err)
		}
		l.session = s
	}
	return l.tokenizer, l.session, nil
}

// loadTokenizer finds the files and loads the tokenizer, once. The caller holds l.load.
func (l *Local) loadTokenizer() error {
	if l.tokenizer != nil {
		return nil
	}
	paths, err := l.options.Locate()
	if err != nil {
		return fmt.Errorf("%w (%w)", ErrNoAssets, err)
	}
	t, err := openTokenizer(paths.Tokenizer)
	if err != nil {
		return fmt.Errorf("load the tokenizer: %w", err)
	}
	l.paths, l.tokenizer = paths, t
	return nil
}
