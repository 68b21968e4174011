package vector

import "github.com/yamo-protocol/yamo-mcp/internal/parallel"

// documents are the numbers of documents by their keys, in several maps, so that many can be added on all cores.
type documents [8]map[key]int32

func newDocuments(n int) (d documents) {
	for i := range d {
		d[i] = make(map[key]int32, n/len(d)+n/64)
	}
	return d
}

// documentsOf numbers ids from 0.
func documentsOf(ids []string) documents {
	keys := make([]key, len(ids))
	parallel.Ranges(len(ids), chunk, func(from, to int) {
		for i := from; i < to; i++ {
			keys[i] = keyOf(ids[i])
		}
	})
	d := newDocuments(len(ids))
	d.each(func(shard int) {
		m := d[shard]
		for i, k := range keys {
			if k.shard() == shard {
				m[k] = int32(i) // fewer than 2^31 documents
			}
		}
	})
	return d
}

// shard is the index of the map that has k.
func (k key) shard() int { return int(k[0]) % len(documents{}) }

// each calls f with each index, at the same time.
func (d *documents) each(f func(shard int)) {
	parallel.Ranges(len(d), 1, func(shard, _ int) { f(shard) })
}

func (d *documents) find(k key) (doc int, ok bool) {
	number, ok := d[k.shard()][k]
	return int(number), ok
}

//nolint:gosec // fewer than 2^31 documents
func (d *documents) set(k key, doc int) { d[k.shard()][k] = int32(doc) }

func (d *documents) remove(k key) { delete(d[k.shard()], k) }
