package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"
)

// OpDelete is the operation of the entries that Erase appends.
const OpDelete = "delete"

// Entry is one line of the ledger. Entries own their memory.
type Entry struct {
	Seq      int64           // 1, 2, 3, … without gaps; also the line's number
	Time     time.Time       // UTC, milliseconds; by the writer's clock, so not necessarily ascending
	Op       string          // "retain", "recall", "lesson", "delete", …
	ID       string          // the record the entry is about, may be ""
	Block    string          // YAMO wire text, "" if none or erased
	PrevHash string          // the Hash of the entry before, Genesis for the first
	Hash     string          // the line's hash
	Data     json.RawMessage // the operation's record, compact JSON; nil if none or erased
	Erased   bool
}

// Name returns what Erase and a "delete" entry call the entry: its id, or one made of its operation, time and number.
func (e Entry) Name() string {
	if e.ID != "" {
		return e.ID
	}
	return fmt.Sprintf("%s_%d_%06x", e.Op, e.Time.UnixMilli(), e.Seq)
}

// BlockHash is RFC-0011 §2.3's block_hash: the SHA-256 of the block's text in hexadecimal, "" without a
// block. It is gone with an erased block.
func (e Entry) BlockHash() string {
	if e.Block == "" {
		return ""
	}
	return digest(e.Block)
}

// Draft is an entry to be written. Op matches [a-z][a-z0-9_]{0,31}, ID [A-Za-z0-9_.:-]{0,128}, Block is
// UTF-8, Data is anything that marshals to JSON, nil for none. Seq and hashes are the Ledger's, and the time too unless
// At, which only Rewrite allows, has that of an entry that is written again.
type Draft struct {
	Op, ID, Block string
	Data          any
	At            time.Time
}

// batch is what one write adds.
type batch struct {
	lines   []byte // with their newlines
	entries []Entry
	cursors []cursor // of the entries, behind l.cur
}

// encode makes lines of drafts that continue l.cur. Each is decoded again, so that what is acknowledged
// is what every process will read.
func (l *Ledger) encode(now time.Time, drafts []Draft) (batch, error) {
	// Read again for each write: `yamo-mcp ledger rekey` may have replaced it. The first line of all needs a new one.
	if _, err := l.macs.reload(l.cur.seq == 0); err != nil {
		return batch{}, err
	}
	var b batch
	var err error
	cur := l.cur
	for i, d := range drafts {
		from := len(b.lines)
		b.lines, err = l.appendDraft(b.lines, cur, now, d)
		if err != nil {
			return batch{}, fmt.Errorf("draft %d (%s): %w", i, d.Op, err)
		}
		text := b.lines[from : len(b.lines)-1]
		e, next, err := cur.next(text, cur.end, l.macs)
		if err != nil {
			return batch{}, fmt.Errorf("draft %d (%s): %w", i, d.Op, err)
		}
		cur = next
		b.entries, b.cursors = append(b.entries, e), append(b.cursors, next)
	}
	return b, nil
}

// appendDraft appends the line of d, which follows cur in the chain. The form of a line is in the comment of the
// package.
func (l *Ledger) appendDraft(dst []byte, cur cursor, now time.Time, d Draft) ([]byte, error) {
	if !isOp(d.Op) {
		return nil, errors.New("an operation is 1 to 32 of a-z, 0-9 and _, beginning with a letter")
	}
	if !isID(d.ID) {
		return nil, errors.New("an id is at most 128 of A-Z, a-z, 0-9, _, ., : and -")
	}
	body, err := appendBody(nil, d, l.opt.Rand)
	if err != nil {
		return nil, err
	}
	if !d.At.IsZero() {
		now = d.At.UTC().Truncate(time.Millisecond)
	}
	from := len(dst)
	dst = appendHead(dst, l.opt.Name, cur.seq+1, now, d.Op, d.ID, sha256.Sum256(body), cur.hash)
	dst = append(l.macs.appendProof(dst, from), body...)
	dst = append(dst, '}', '\n')
	if n := len(dst) - from; n > maxLine {
		return nil, fmt.Errorf("the entry takes %d bytes, more than the %d of a line", n, maxLine)
	}
	return dst, nil
}

// appendProof appends what follows a head of version 2 that begins at from, up to before the body.
func (m *macs) appendProof(dst []byte, from int) []byte {
	sum := sha256.Sum256(append(dst[from:len(dst):len(dst)], '}'))
	var hash [hashLen]byte
	hex.Encode(hash[:], sum[:])
	dst = append(append(dst, `,"hash":"`...), hash[:]...)
	dst = append(append(dst, `","mac":"`...), m.sum(2, hash[:])...)
	return append(dst, `","body":`...)
}

// appendBody appends the body of a line. The salt keeps anyone from guessing erased content by its hash.
func appendBody(dst []byte, d Draft, random io.Reader) ([]byte, error) {
	var salt [16]byte
	if _, err := io.ReadFull(random, salt[:]); err != nil {
		return nil, fmt.Errorf("salt: %w", err)
	}
	if !utf8.ValidString(d.Block) {
		return nil, errors.New("the block is not UTF-8")
	}
	dst = append(dst, `{"salt":"`...)
	dst = hex.AppendEncode(dst, salt[:])
	dst = append(dst, `","block":`...)
	dst, err := appendJSON(dst, d.Block)
	if err != nil {
		return nil, err
	}
	dst = append(dst, `,"data":`...)
	dst, err = appendJSON(dst, d.Data)
	if err != nil {
		return nil, err
	}
	return append(dst, '}'), nil
}

// appendJSON is json.Marshal without the escapes for HTML: people read the ledger.
func appendJSON(dst []byte, v any) ([]byte, error) {
	w := bytes.NewBuffer(dst)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(w.Bytes(), []byte{'\n'}), nil
}
