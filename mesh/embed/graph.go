package embed

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// graph is what an ONNX file says about its inputs and outputs. Exports of one model name their outputs
// differently, and asking ONNX Runtime would load the whole model twice.
type graph struct {
	inputs  []string // those of input_ids, attention_mask, token_type_ids that it has, in its order
	outputs []string // the first one holds the token embeddings
}

// Field numbers of onnx.proto.
const (
	modelGraph  = 7
	graphInput  = 11
	graphOutput = 12
	valueName   = 1
)

var errGraph = errors.New("not an ONNX model of this kind")

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

// parseGraph reads the names out of the protocol buffer of size bytes, skipping the weights.
func parseGraph(r io.ReaderAt, size int64) (graph, error) {
	var g graph
	err := fields(r, 0, size, func(number int, start, end int64) error {
		if number != modelGraph {
			return nil
		}
		return fields(r, start, end, func(number int, start, end int64) error {
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

func valueInfoName(r io.ReaderAt, start, end int64) (string, error) {
	var name string
	err := fields(r, start, end, func(number int, start, end int64) error {
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

// fields calls visit with the number and the place of each length-delimited field of the message
// between start and end.
func fields(r io.ReaderAt, start, end int64, visit func(number int, start, end int64) error) error {
	for at := start; at < end; {
		br := &countingReader{r: bufio.NewReaderSize(io.NewSectionReader(r, at, min(end-at, 2*binary.MaxVarintLen64)), 32)}
		tag, err := binary.ReadUvarint(br)
		if err != nil {
			return fmt.Errorf("%w: %w", errGraph, err)
		}
		var length uint64
		switch tag & 7 {
		case 0: // varint
			_, err = binary.ReadUvarint(br)
		case 1: // 64 bits
			length = 8
		case 2: // length-delimited
			length, err = binary.ReadUvarint(br)
		case 5: // 32 bits
			length = 4
		default:
			err = fmt.Errorf("wire type %d", tag&7)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errGraph, err)
		}
		body := at + br.n
		if length > uint64(end-body) { //nolint:gosec // end is behind body
			return fmt.Errorf("%w: a field ends outside its message", errGraph)
		}
		next := body + int64(length)
		if tag&7 == 2 {
			if err := visit(int(tag>>3), body, next); err != nil {
				return err
			}
		}
		at = next
	}
	return nil
}

// countingReader counts the bytes that were read from it.
type countingReader struct {
	r io.ByteReader
	n int64
}

func (c *countingReader) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}
