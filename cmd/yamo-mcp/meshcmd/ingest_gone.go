package meshcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// A text that is in no file of its folder any more may have been in one that was renamed, emptied or deleted. What is
// deleted on purpose and what is only moved away look the same, so that its memory is never deleted here: it is
// replaced by that of a new text with much of its words, or named in the report.

// renamed is a file whose memory replaced that of another file, whose text is gone.
type renamed struct {
	File string `json:"file"`
	Was  string `json:"was"`
}

// goneFile is a file that has not the text of its memory any more, and no other file has; the memory stays.
type goneFile struct {
	File string `json:"file"`
	ID   string `json:"id"`
}

// newFile is a memory of a file that had none before.
type newFile struct{ id, name, content string }

const (
	// sameShare is the least share of the longer text's words that a renamed file has kept. Files of one template have
	// half of them in common.
	sameShare = .75
	// maxPairs is how many pairs of a file that is gone and a new one are compared, which takes some seconds. Of more
	// no file is taken for renamed.
	maxPairs = 100_000
)

// before notes the current memories that were read from the folder.
func (r *ingestion) before(ctx context.Context, memory *mesh.View) error {
	hits, err := memory.All(ctx, 0)
	if err != nil {
		return err
	}
	for _, h := range hits {
		if h.Past == nil && h.Visibility == memory.Home() && h.Metadata[mesh.FolderKey] == r.folder {
			r.earlier = append(r.earlier, h)
		}
	}
	return nil
}

// gone returns those of them whose text is in no file any more. Of a file that is only not selected this time, or
// could not be read, that is not known.
func (r *ingestion) gone(root *os.Root) (list []record.Hit) {
	for _, h := range r.earlier {
		if r.present[h.ID] || r.replaced[h.ID] {
			continue
		}
		if !r.read[pathOf(h)] {
			if _, err := root.Lstat(pathOf(h)); !errors.Is(err, fs.ErrNotExist) {
				continue
			}
		}
		list = append(list, h)
	}
	return list
}

// pathOf returns the name of the file that a memory was read from.
func pathOf(h record.Hit) string {
	name, _ := h.Metadata[mesh.PathKey].(string)
	return name
}

// follow lets the memories of new texts replace those that are gone and have much of the same, and notes the others.
func (r *ingestion) follow(ctx context.Context, memory *mesh.View, gone []record.Hit, now time.Time) error {
	type pair struct {
		old   record.Hit
		now   newFile
		share float64
	}
	var pairs []pair
	compared := gone
	if len(gone)*len(r.fresh) > maxPairs {
		compared = nil
	}
	texts := make([]map[string]int, len(r.fresh))
	for i, f := range r.fresh {
		if len(compared) > 0 {
			texts[i] = wordsIn(f.content)
		}
	}
	for _, old := range compared {
		if err := ctx.Err(); err != nil {
			return err
		}
		was := wordsIn(old.Content)
		for i, f := range r.fresh {
			if share := sharedWords(was, texts[i]); share >= sameShare {
				pairs = append(pairs, pair{old, f, share})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { // the most similar first
		switch {
		case a.share > b.share:
			return -1
		case a.share < b.share:
			return 1
		}
		return 0
	})
	var revisions []record.Revision
	taken := map[string]bool{}
	for _, p := range pairs {
		if taken[p.old.ID] || taken[p.now.id] {
			continue
		}
		taken[p.old.ID], taken[p.now.id] = true, true
		revisions = append(revisions, record.Revision{
			Old: p.old.ID, New: p.now.id, At: now.UTC().Truncate(time.Millisecond), Why: "the file was renamed and has changed",
		})
		r.Renamed = append(r.Renamed, renamed{p.now.name, pathOf(p.old)})
	}
	r.Replaced += len(revisions)
	for _, h := range gone {
		if !taken[h.ID] {
			r.Gone = append(r.Gone, goneFile{pathOf(h), h.ID})
		}
	}
	return memory.Retire(ctx, revisions)
}

// wordsIn returns how often a text has each of its words. Short ones, which all texts have, do not count.
func wordsIn(content string) map[string]int {
	count := map[string]int{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(content), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		if utf8.RuneCountInString(word) > 3 || unicode.IsDigit(rune(word[0])) {
			count[word]++
		}
	}
	return count
}

// sharedWords returns the share of the longer text's words that both have.
func sharedWords(a, b map[string]int) float64 {
	inA, inB, both := 0, 0, 0
	for word, n := range a {
		inA += n
		both += min(n, b[word])
	}
	for _, n := range b {
		inB += n
	}
	return float64(both) / float64(max(1, inA, inB))
}

// maxGone is the maximum number of files of each kind that the text of a report names.
const maxGone = 20

// goneText tells what became of the memories of files that are gone.
func (r *ingestion) goneText() string {
	var b strings.Builder
	for _, f := range r.Renamed[:min(maxGone, len(r.Renamed))] {
		fmt.Fprintf(&b, "[MemoryMesh] %s replaced its earlier version, which was in %s\n", f.File, f.Was)
	}
	if n := len(r.Gone); n > 0 {
		fmt.Fprintf(&b, "[MemoryMesh] No file has the text of %s any more. They stay; to delete one: "+
			"yamo-mcp forget ID\n", text.Count(n, "memory", "memories"))
	}
	for _, f := range r.Gone[:min(maxGone, len(r.Gone))] {
		fmt.Fprintf(&b, "[MemoryMesh]   %s (%s)\n", f.File, f.ID)
	}
	return b.String()
}
