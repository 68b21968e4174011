package rank

// inherited is what the words and the meaning of a statement count for what replaced it. "He retired." is found by
// "Where does Rui work?", as "Rui works as a nurse" was: who corrects a statement often does not repeat what it is
// about. What says it itself is a little better. See docs/ranking.md.
const inherited = .9

// inherit lets what was replaced count for what replaced it, in however many steps. A long text makes several
// statements, and most of them may have gone, so it counts for nothing.
func (p *part) inherit() {
	for doc, successors := range p.Successions() {
		var raw, own, context float32
		for _, next := range successors {
			if p.Record(doc).IsMemory() && p.Keywords.Words(doc) <= nearWords {
				raw, own, context = max(raw, p.raw[doc]), max(own, p.Own[doc]), max(context, p.Context[doc])
			}
			doc = next
			p.raw[doc] = max(p.raw[doc], inherited*raw)
			p.Own[doc] = max(p.Own[doc], inherited*own)
			p.Context[doc] = max(p.Context[doc], inherited*context)
		}
	}
}
