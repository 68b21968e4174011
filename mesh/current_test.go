package mesh

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// A memory that was replaced meanwhile is not replaced by a second one: the caller is told what is current.
func TestSecondCorrectionIsToldWhatIsCurrent(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	rome := revised(t, v, "Petra lives in Rome.")
	milan := revised(t, v, "Petra lives in Milan.", rome.ID)
	turin, err := v.Scrub(record.Memory{Content: "Petra lives in Turin."}, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Remember(t.Context(), turin, Intent{Supersedes: []string{rome.ID}})
	wantFault(t, err, "supersedes: "+rome.ID+" is not current any more", milan.ID, "Petra lives in Milan.",
		"Nothing was stored")
	query := SearchRequest{Query: "where does Petra live"}
	if diff := cmp.Diff([]string{"Petra lives in Milan."}, texts(t, v, query)); diff != "" {
		t.Errorf("after the refusal (-want +got):\n%s", diff)
	}
	// The same again is no second truth.
	if again := revised(t, v, "Petra lives in Milan.", rome.ID); again.ID != milan.ID {
		t.Errorf("the same correction again is %s, not %s", again.ID, milan.ID)
	}
	now := revised(t, v, "Petra lives in Turin.", rome.ID, milan.ID)
	if diff := cmp.Diff([]string{"Petra lives in Turin."}, texts(t, v, query)); diff != "" {
		t.Errorf("after the correction of what is current (-want +got):\n%s", diff)
	}
	// Nothing is current any more that a second truth could contradict.
	if err := v.Retire(t.Context(), []record.Revision{{Old: now.ID, At: time.Now().UTC()}}); err != nil {
		t.Fatal(err)
	}
	revised(t, v, "Petra lives in Genoa.", rome.ID)
}
