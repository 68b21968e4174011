package embed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// graph names the inputs and outputs of an ONNX file. Exports of one model name their outputs
// differently, and asking ONNX Runtime would load the whole model twice.
type graph struct {
	inputs  []string // those of input_ids, attention_mask, token_type_ids that it has, in its order
	outputs []string
}

// tokens returns the output with the token embeddings: by its usual name, else the first one.
func (g graph) tokens() string {
	for _, name := range []string{"last_hidden_state", "token_embeddings"} {
		if slices.Contains(g.outputs, name) {
			return name
		}
	}
	return g.outputs[0]
}

// Field numbers of onnx.proto.
const (
	modelGraph  = 7
	graphInput  = 11
	graphOutput = 12
	valueName   = 1
)

var errGraph = errors.New("not an ONNX model of this kind")

// readGraph reads the names of the inputs and outputs from an ONNX model, without its weights: ONNX Runtime needs the
// names before it loads the model.
func readGraph(path string) (graph, error) {
	f, err := os.Open(path)
	if err != nil {
		return graph{}, err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	info, err := f.Stat()
	if err != nil {
		return graph{}, err
	}
	return parseGraph(f, info.Size())
}

// parseGraph reads the names from the protocol buffer of size bytes and skips the weights, 90 MB of it.
func parseGraph(r io.ReaderAt, size int64) (graph, error) {
	var g graph
	err := fields(r, 0, size, func(number protowire.Number, start, end int64) error {
		if number != modelGraph {
			return nil
		}
		return fields(r, start, end, func(number protowire.Number, start, end int64) error {
			if number != graphInput && number != graphOutput {
				return nil
			}
			name, err := valueInfoName(r, start, end)
			if err != nil {
				return err
			}
			if number == graphOutput {
				g.outputs = append(g.outputs, name)
			} else if slices.Contains([]string{"input_ids", "attention_mask", "token_type_ids"}, name) {
				g.inputs = append(g.inputs, name)
			}
			return nil
		})
	})
	if err != nil {
		return graph{}, err
	}
	if !slices.Contains(g.inputs, "input_ids") || !slices.Contains(g.inputs, "attention_mask") || len(g.outputs) == 0 {
		return graph{}, errGraph
	}
	return g, nil
}

// valueInfoName returns the name in a ValueInfoProto, the bytes from start to end. A name of more than 1,000 bytes is
// no model of ours.
func valueInfoName(r io.ReaderAt, start, end int64) (string, error) {
	var name string
	err := fields(r, start, end, func(number protowire.Number, start, end int64) error {
		if number != valueName {
			return nil
		}
		if end-start > 1000 {
			return errGraph
		}
		raw := make([]byte, end-start)
		_, err := r.ReadAt(raw, start)
		name = string(raw)
		return err
	})
	return name, err
}

// fields calls visit with the number and the byte range of each length-delimited field of the message
// between start and end. It reads the fields' headers only.
func fields(r io.ReaderAt, start, end int64, visit func(number protowire.Number, start, end int64) error) error {
	const longestHeader = 2 * binary.MaxVarintLen64 // a tag, and a varint or a length
	buffer := make([]byte, longestHeader)
	for at := start; at < end; {
		header := buffer[:min(end-at, longestHeader)]
		if n, err := r.ReadAt(header, at); n < len(header) {
			return fmt.Errorf("%w: %w", errGraph, err)
		}
		number, kind, n := protowire.ConsumeTag(header)
		if n < 0 {
			return fmt.Errorf("%w: %w", errGraph, protowire.ParseError(n))
		}
		value, length := n, 0
		var size uint64
		switch kind {
		case protowire.BytesType:
			size, length = protowire.ConsumeVarint(header[value:])
		case protowire.VarintType:
			_, length = protowire.ConsumeVarint(header[value:])
		case protowire.Fixed32Type:
			size = 4
		case protowire.Fixed64Type:
			size = 8
		default:
			return fmt.Errorf("%w: wire type %d", errGraph, kind)
		}
		if length < 0 {
			return fmt.Errorf("%w: %w", errGraph, protowire.ParseError(length))
		}
		body := at + int64(value+length)
		if size > uint64(end-body) { //nolint:gosec // body is at most end
			return fmt.Errorf("%w: a field ends outside its message", errGraph)
		}
		at = body + int64(size)
		if kind == protowire.BytesType {
			if err := visit(number, body, at); err != nil {
				return err
			}
		}
	}
	return nil
}
