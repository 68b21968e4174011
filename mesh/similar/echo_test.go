package similar

import "testing"

func TestEchoedBy(t *testing.T) {
	t.Parallel()
	const said = "- **Eve:** the walrus hut has a new lock and Eve keeps its key"
	for text, want := range map[string]bool{
		"The walrus hut has a new lock, Eve keeps its key":                                               true,
		"Luis collects stamps and old maps of Peru, and Eve keeps the key of the walrus hut":             true,
		"Luis, who likes maps of Peru and stamps, says of Eve that she keeps its key":                    true,
		"Luis's uncle from Peru who sells stamps at the market knows that the walrus hut has a new lock": true,
		"Luis's old maps of Peru hang in the walrus hut's new wing while Eve keeps the lock":             true,
		"Luis collects stamps and old maps of Peru":                                                      false,
		"Eve lives in Peru":                          false,
		"The key of the cellar is under the mat":     false,
		"Luis bought a new lock for the garden gate": false,
		"": false,
	} {
		if got := Spoke(text).EchoedBy(Spoke(said)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
