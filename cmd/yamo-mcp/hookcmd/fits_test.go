package hookcmd

import (
	"testing"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// A short correction fits a prompt by the words of what it replaced.
func TestCorrectionFitsByWhatItReplaced(t *testing.T) {
	hit := record.Hit{
		Record: &record.Record{Memory: record.Memory{Content: "He retired."}}, Probability: .5, Strength: .5,
	}
	if fits("Where does Rui work?", hit, false) {
		t.Error("it fits without any word of the prompt")
	}
	hit.Replaced = []record.Past{{Record: &record.Record{Memory: record.Memory{Content: "Rui works at sea."}}}}
	if !fits("Where does Rui work?", hit, false) {
		t.Error("it does not fit")
	}
	if !isMute("Where does Rui work?", hit) || isMute("When did he retire?", hit) {
		t.Error("what it replaced is to be shown to a prompt none of whose words it has, and to no other")
	}
}
