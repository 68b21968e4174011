package embed

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// field encodes one length-delimited field.
func field(number int, body ...[]byte) []byte {
	all := bytes.Join(body, nil)
	b := binary.AppendUvarint(nil, uint64(number)<<3|2)
	return append(binary.AppendUvarint(b, uint64(len(all))), all...)
}

func valueInfo(number int, name string) []byte { return field(number, field(valueName, []byte(name))) }

func testModel() []byte {
	return bytes.Join([][]byte{
		{1 << 3, 8}, // ir_version, a varint
		field(2, []byte("an exporter")),
		field(modelGraph,
			field(5, make([]byte, 5000)), // weights
			valueInfo(graphInput, "attention_mask"), valueInfo(graphInput, "weight.0"), valueInfo(graphInput, "input_ids"),
			valueInfo(graphOutput, "hidden"), valueInfo(graphOutput, "pooled")),
	}, nil)
}

func TestParseGraph(t *testing.T) {
	t.Parallel()
	data := testModel()
	got, err := parseGraph(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	want := graph{inputs: []string{"attention_mask", "input_ids"}, outputs: []string{"hidden", "pooled"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(graph{})); diff != "" {
		t.Error(diff)
	}
	for _, cut := range []int{0, 1, 20, len(data) - 1} {
		if _, err := parseGraph(bytes.NewReader(data[:cut]), int64(cut)); err == nil {
			t.Errorf("the first %d bytes were accepted", cut)
		}
	}
}

func TestReadGraphOfTheModel(t *testing.T) {
	t.Parallel()
	g, err := readGraph(requireAssets(t).Model)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"input_ids", "attention_mask", "token_type_ids"}, g.inputs); diff != "" {
		t.Error(diff)
	}
}

func FuzzParseGraph(f *testing.F) {
	f.Add(testModel())
	f.Add([]byte{})
	f.Add([]byte{modelGraph<<3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := parseGraph(bytes.NewReader(data), int64(len(data)))
		if err == nil && (len(g.outputs) == 0 || len(g.inputs) < 2) {
			t.Errorf("accepted %v", g)
		}
	})
}
