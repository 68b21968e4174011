package ledger

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// A damaged ledger whose key is lost is salvaged by its hashes alone: what was written by whom cannot be known, but a
// line that was altered, moved or put between others does not follow from them. Of several lines that follow the same
// one, the one that more lines follow from is kept: the lines that were written after it prove that it was there first.

// Reasons not to keep a line that has the right hashes.
var (
	errBranch = errors.New("another line has its place, and at least as many follow from that one")
	errAlone  = errors.New("neither the line before it nor the one after it leads to it")
)

// link is a line's place in the chain.
type link struct {
	line, seq  int64 // the number in the file, from 1, and the one that it says
	prev, hash [hashLen / 2]byte
	parent     int   // index of the link with its prev, -1 for none
	reach      int   // number of links in the longest chain from this one on, itself included
	damaged    error // why the line is not kept, although its head is good and shows the place of others
	alone      bool  // kept, and what it follows is missing
}

// chain is what can be kept of a ledger without the key.
type chain struct {
	links []link
	index map[[hashLen / 2]byte]int // of a link, by its hash
	kept  []int                     // the links that are kept so far, in order
	at    map[int]int               // the place in kept of a link
	lost  map[int64]error           // why lines with good hashes are not kept, by their numbers
}

// PlanRekey returns what Rekey would keep of a damaged ledger, and set aside, without the key; nil for an intact one.
func PlanRekey(ctx context.Context, o Options) (*Salvaged, error) {
	if bad, err := damage(ctx, o); err != nil || bad == nil {
		return nil, err
	}
	plan, err := salvageUnkeyed(ctx, o, make([]byte, KeySize), true)
	return &plan, err
}

// salvageUnkeyed makes a valid ledger with the key of a damaged one, whose macs it does not check. The caller has the
// lock. It may be called again if it was interrupted.
func salvageUnkeyed(ctx context.Context, o Options, key []byte, dry bool) (Salvaged, error) {
	o.Key = func(bool) ([]byte, error) { return key, nil }
	l := New(o)
	if err := l.macs.load(false); err != nil {
		return Salvaged{}, err
	}
	f, size, err := openRegular(osFS{}, o.Path, os.O_RDONLY)
	if err != nil {
		return Salvaged{}, err
	}
	defer func() { _ = f.Close() }() // opened for reading
	c, err := readChain(ctx, o.Name, f, size)
	if err != nil {
		return Salvaged{}, err
	}
	c.decide()
	done, err := l.salvage(ctx, f, size, dry, func() judge { return c.judge(o.Name) })
	done.Unlinked = c.unlinked()
	return done, err
}

// readChain reads the places of all lines with a good head. The error is a ForeignError if there are lines of another
// ledger and none of this one's.
func readChain(ctx context.Context, name string, f io.ReaderAt, size int64) (*chain, error) {
	c := &chain{index: map[[hashLen / 2]byte]int{}, at: map[int]int{}, lost: map[int64]error{}}
	s, own, other := scanner{r: f, size: size}, false, error(nil)
	for n := int64(1); ctx.Err() == nil; n++ {
		raw, err := s.next()
		if errors.Is(err, io.EOF) {
			if !own && other != nil {
				return nil, other
			}
			return c, nil
		}
		if err != nil {
			return nil, err
		}
		l, damaged := whole(raw)
		if damaged != nil {
			var err error
			if l, err = headOf(raw); err != nil {
				continue
			}
		}
		if l.version > 1 && l.ledger != name {
			other = &ForeignError{Ledger: l.ledger, Want: name}
			continue
		}
		own = own || l.version > 1
		c.add(n, l, damaged)
	}
	return nil, ctx.Err()
}

// headOf decodes a line whose body is damaged, if its head is good.
func headOf(raw rawLine) (line, error) {
	if raw.text == nil {
		return line{}, errTooLong
	}
	l, _, err := decodeHead(raw.text)
	if err == nil && !hashes(append(append([]byte{}, l.head...), '}'), l.hash) {
		err = errMalformed
	}
	return l, err
}

// add adds the line number n.
func (c *chain) add(n int64, l line, damaged error) {
	x := link{line: n, seq: l.seq, parent: -1, damaged: damaged}
	_, _ = hex.Decode(x.prev[:], l.prev) // decodeHead has checked the digits
	_, _ = hex.Decode(x.hash[:], l.hash)
	if p, ok := c.index[x.prev]; ok && c.links[p].seq+1 == x.seq {
		x.parent = p
	}
	if _, again := c.index[x.hash]; again {
		c.lost[n] = errRepeats
		return
	}
	c.index[x.hash] = len(c.links)
	c.links = append(c.links, x)
}

// decide chooses the links that are kept.
func (c *chain) decide() {
	for i := len(c.links) - 1; i >= 0; i-- {
		x := &c.links[i]
		x.reach++ // what follows it was counted
		if x.parent >= 0 {
			c.links[x.parent].reach = max(c.links[x.parent].reach, x.reach)
		}
	}
	for i := range c.links {
		x := &c.links[i]
		place, known := c.at[x.parent]
		switch {
		case x.parent >= 0 && known:
			c.replace(place+1, i)
		case x.parent >= 0:
			c.lost[x.line] = errBranch
		case x.seq == 1 && hex.EncodeToString(x.prev[:]) == Genesis:
			c.replace(0, i)
		default:
			c.begin(i)
		}
	}
}

// replace keeps the link i in the place p and nothing after it, unless more follows from what is there.
func (c *chain) replace(p, i int) {
	if p < len(c.kept) && c.links[c.kept[p]].reach >= c.links[i].reach {
		c.lost[c.links[i].line] = errBranch
		return
	}
	for _, k := range c.kept[p:] {
		c.lost[c.links[k].line] = errBranch
		delete(c.at, k)
	}
	c.at[i] = p
	c.kept = append(c.kept[:p], i)
}

// begin keeps the link i, which follows from nothing that is there, if others follow from it. Lines that lead back to
// the first one are not given up for it.
func (c *chain) begin(i int) {
	p := len(c.kept)
	for p > 0 && c.links[c.kept[p-1]].seq >= c.links[i].seq {
		p--
	}
	switch {
	case c.links[i].reach < 2:
		c.lost[c.links[i].line] = errAlone
	case p < len(c.kept) && !c.links[c.kept[p]].alone:
		c.lost[c.links[i].line] = errRepeats
	default:
		c.replace(p, i)
		c.links[i].alone = true
	}
}

// unlinked returns the numbers of the lines that begin a series of which nothing leads to the lines before.
func (c *chain) unlinked() (lines []int64) {
	alone := false
	for _, i := range c.kept {
		x := c.links[i]
		if alone = alone || x.alone; alone && x.damaged == nil {
			lines, alone = append(lines, x.line), false
		}
	}
	return lines
}

// judge returns the judge of what was decided.
func (c *chain) judge(name string) judge {
	kept := map[int64]bool{}
	for _, i := range c.kept {
		kept[c.links[i].line] = c.links[i].damaged == nil
	}
	return func(n int64, raw rawLine) (line, error) {
		l, err := whole(raw)
		switch {
		case err != nil:
			return line{}, err
		case l.version > 1 && l.ledger != name:
			return line{}, &ForeignError{Ledger: l.ledger, Want: name}
		case !kept[n]:
			return line{}, c.lost[n]
		}
		return l, nil
	}
}

// proven returns an error if the key in the file path proves a line of a damaged ledger: Salvage keeps those only.
func proven(ctx context.Context, o Options, key []byte) error {
	m := newMACs(o.Name, func(bool) ([]byte, error) { return key, nil })
	if err := m.load(false); err != nil {
		return err
	}
	f, size, err := openRegular(osFS{}, o.Path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading
	for s := (scanner{r: f, size: size}); ctx.Err() == nil; {
		raw, err := s.next()
		if err != nil {
			return ignoreEOF(err)
		}
		if l, err := whole(raw); err == nil && m.check(l) == nil {
			return fmt.Errorf("the key still shows which lines of the ledger of %s were written with it: run "+
				"`yamo-mcp ledger salvage` first, which keeps these", o.Name)
		}
	}
	return ctx.Err()
}
