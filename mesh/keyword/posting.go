package keyword

// posting is a document that has a stem, and how often, in four bytes: half of a large index is postings. The upper
// bits are the document's number, so that postings are ordered by it. The lower ones are how often the stem is in the
// head of the document, and how often behind it, each up to mostMentions. Both are 0 if one of them is more: then
// Index.many has them.
type posting uint32

const (
	mentionBits  = 2
	mostMentions = 1<<mentionBits - 1
	docShift     = 2 * mentionBits
	maxDocuments = 1 << (32 - docShift) // a process would need 200 GB for as many
)

// mentions is how often a stem is in a document: in its head, and behind it. Counts end at 65,535.
type mentions struct{ head, tail uint16 }

// place is a stem in a document.
type place struct{ stem, doc int32 }

func (p posting) doc() int32 { return int32(p >> docShift) }

// compareDoc orders postings by document.
func compareDoc(p posting, doc int32) int { return int(p.doc() - doc) }

// mentions returns how often the document of p has its stem.
func (x *Index) mentions(stem int32, p posting) mentions {
	if p&(1<<docShift-1) == 0 {
		return x.many[place{stem, p.doc()}]
	}
	return mentions{uint16(p >> mentionBits & mostMentions), uint16(p & mostMentions)}
}

// posting returns the posting of a document that has a stem so often.
func (x *Index) posting(stem, doc int32, m mentions) posting {
	p := posting(doc) << docShift //nolint:gosec // not negative
	if m.head <= mostMentions && m.tail <= mostMentions {
		return p | posting(m.head)<<mentionBits | posting(m.tail)
	}
	x.many[place{stem, doc}] = m
	return p
}

// mention counts an occurrence of a stem in doc, which must be the newest document.
func (x *Index) mention(stem, doc int32, inHead bool) {
	list := x.postings[stem]
	var m mentions
	if n := len(list); n > 0 && list[n-1].doc() == doc {
		list = list[:n-1]
		m = x.mentions(stem, x.postings[stem][n-1])
	}
	if inHead {
		m.head = bump(m.head)
	} else {
		m.tail = bump(m.tail)
	}
	x.postings[stem] = append(list, x.posting(stem, doc, m))
}
