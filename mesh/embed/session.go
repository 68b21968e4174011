package embed

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/yamo-protocol/yamo-mcp/internal/assets"
)

// maxBatch bounds the texts of one batch, however short they are.
const maxBatch = 32

// environment serialises the initialisation of ONNX Runtime, which is global to the process and never
// undone: sessions come and go, the library stays.
var environment sync.Mutex

// initialize loads ONNX Runtime, once in a process: the library allows one environment only.
func initialize(library string) error {
	environment.Lock()
	defer environment.Unlock()
	if ort.IsInitialized() {
		return nil
	}
	ort.SetSharedLibraryPath(library)
	// Errors come back as errors; the library's own log would only repeat them on stderr.
	if err := ort.InitializeEnvironment(ort.WithLogLevelFatal()); err != nil {
		return fmt.Errorf("start ONNX Runtime: %w", err)
	}
	return ort.DisableTelemetry() // only its Windows builds have any
}

// session is the loaded model.
type session struct {
	s      *ort.DynamicAdvancedSession
	inputs []string // the names of the graph's inputs, in its order
	dim    int      // values of a token's row
}

// openSession loads the model with a number of threads. A batch is one call of the model, so parallelism is inside its
// operators.
func openSession(paths assets.Paths, dim, threads int) (*session, error) {
	graph, err := readGraph(paths.Model)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", paths.Model, err)
	}
	if err := initialize(paths.Runtime); err != nil {
		return nil, err
	}
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer options.Destroy() //nolint:errcheck // the session has its own copy
	err = errors.Join(
		options.SetIntraOpNumThreads(threads),
		options.SetInterOpNumThreads(1),
		// Patterns are kept for every shape that ever occurred, and here each batch has its own.
		options.SetMemPattern(false),
		// Threads that wait for the next batch must not burn a laptop's battery.
		options.AddSessionConfigEntry("session.intra_op.allow_spinning", "0"),
	)
	if err != nil {
		return nil, err
	}
	s, err := ort.NewDynamicAdvancedSession(paths.Model, graph.inputs, []string{graph.tokens()}, options)
	if err != nil {
		return nil, err
	}
	return &session{s, graph.inputs, dim}, nil
}

// outputs keeps the memory of rows.
var outputs = sync.Pool{New: func() any { return new([]float32) }}

func (s *session) close() error { return s.s.Destroy() }

// run computes the vectors of the sequences' tokens and calls visit with those of each sequence, in order: a row of
// s.dim values for each token, valid during the call. The sequences are padded to the longest one.
func (s *session) run(sequences [][]int64, visit func(i int, rows []float32) error) error {
	n, width := len(sequences), 0
	for _, seq := range sequences {
		width = max(width, len(seq))
	}
	ids, mask := make([]int64, n*width), make([]int64, n*width)
	for i, seq := range sequences {
		copy(ids[i*width:], seq)
		for j := range seq {
			mask[i*width+j] = 1
		}
	}
	data := map[string][]int64{"input_ids": ids, "attention_mask": mask, "token_type_ids": make([]int64, n*width)}

	var values []ort.Value
	defer func() {
		for _, v := range values {
			_ = v.Destroy() // the caller could do nothing about an error
		}
	}()
	shape := ort.NewShape(int64(n), int64(width))
	for _, name := range s.inputs {
		t, err := ort.NewTensor(shape, data[name])
		if err != nil {
			return err
		}
		values = append(values, t)
	}
	dim := s.dim
	// A batch has up to a megabyte of rows, and a search several batches.
	pooled := outputs.Get().(*[]float32)
	defer outputs.Put(pooled)
	*pooled = slices.Grow((*pooled)[:0], n*width*dim)[:n*width*dim]
	out, err := ort.NewTensor(ort.NewShape(int64(n), int64(width), int64(dim)), *pooled)
	if err != nil {
		return err
	}
	inputs := values
	values = append(values, out)
	if err := s.s.Run(inputs, []ort.Value{out}); err != nil {
		return fmt.Errorf("run the embedding model: %w", err)
	}
	for i, seq := range sequences {
		start := i * width * dim
		if err := visit(i, out.GetData()[start:start+len(seq)*dim]); err != nil {
			return err
		}
	}
	return nil
}

// batches groups the sequences by length, the shortest first, and returns their indexes. A batch has at
// most maxBatch sequences and budget tokens with its padding, and no sequence is padded by more than
// about a quarter. A single sequence may exceed the budget.
func batches(sequences [][]int64, budget int) [][]int {
	order := make([]int, len(sequences))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(sequences[a]), len(sequences[b])) })
	var all [][]int
	var batch []int
	for _, at := range order {
		width := len(sequences[at])
		if len(batch) > 0 {
			shortest := len(sequences[batch[0]])
			if len(batch) == maxBatch || (len(batch)+1)*width > budget || width > shortest+shortest/4+4 {
				all = append(all, batch)
				batch = nil
			}
		}
		batch = append(batch, at)
	}
	if len(batch) > 0 {
		all = append(all, batch)
	}
	return all
}
