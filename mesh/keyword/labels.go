package keyword

import "slices"

// labelWeight is the weight of a term that is only in a document's labels: a tag tells what a text is about, as a word
// of its head does.
const labelWeight = 1.

// SetLabels replaces the labels of a document: short texts such as tags and names, which are not part of its text.
// before must be what was set last.
func (x *Index) SetLabels(doc int, before, labels []string) {
	if slices.Equal(before, labels) {
		return
	}
	if x.labels == nil {
		x.labels = map[string][]int32{}
	}
	number := int32(doc) //nolint:gosec // fewer than 2^31 memories
	for stem := range labelStems(before) {
		if at, ok := slices.BinarySearch(x.labels[stem], number); ok {
			x.labels[stem] = slices.Delete(x.labels[stem], at, at+1)
		}
		if len(x.labels[stem]) == 0 {
			delete(x.labels, stem)
		}
	}
	for stem := range labelStems(labels) {
		if at, ok := slices.BinarySearch(x.labels[stem], number); !ok {
			x.labels[stem] = slices.Insert(x.labels[stem], at, number)
		}
	}
}

// labelStems returns the stems of labels, without function words.
func labelStems(labels []string) map[string]bool {
	stems := map[string]bool{}
	for _, label := range labels {
		eachWord(label, func(w string) {
			if !function[w] {
				stems[stem(w)] = true
			}
		})
	}
	return stems
}

// matchLabels adds the scores of one term, which some label has, to the documents whose labels have it and whose texts
// do not. A term that labels have and texts hardly ever is a name, by which the query asks for what has it.
func (b *block) matchLabels(t *scoredTerm) {
	if !t.labelled {
		return
	}
	inText := b.postings(t)
	for _, p := range inText {
		i := p.doc() - b.from
		b.named[i] = max(b.named[i], t.name)
	}
	from, _ := slices.BinarySearch(t.labels, b.from)
	to, _ := slices.BinarySearch(t.labels, b.to)
	for _, doc := range t.labels[from:to] {
		i := doc - b.from
		b.named[i] = max(b.named[i], t.name)
		if _, ok := slices.BinarySearchFunc(inText, doc, compareDoc); !ok {
			b.own[i] += float32(labelWeight * t.rarity)
			b.context[i] += float32(labelWeight * t.rarity)
		}
	}
}

// Labelled returns those of labels that have a term of q which text does not have.
func (q Query) Labelled(text string, labels []string) []string {
	if len(labels) == 0 {
		return nil
	}
	has := q.In(text)
	var named []string
	for _, label := range labels {
		if slices.ContainsFunc(q.In(label), func(stem string) bool { return !slices.Contains(has, stem) }) {
			named = append(named, label)
		}
	}
	return named
}

// Names reports whether a query has every word of a name but for function words.
func (q Query) Names(name string) bool {
	words := 0
	missing := false
	eachWord(name, func(w string) {
		if function[w] {
			return
		}
		words++
		missing = missing || !slices.Contains(q.terms, stem(w))
	})
	return words > 0 && !missing
}
