package keyword

// Words are the words of a passage as an index counts them, in order: the numbers of their stems.
type Words []int32

// WordsOf returns the words of a passage of a document of x.
func (x *Index) WordsOf(passage string) Words {
	var words Words
	eachWord(passage, func(w string) {
		t, ok := x.words[w]
		if !ok { // x was restored, and has not seen the word since
			t, ok = x.terms[stem(w)]
		}
		if ok {
			words = append(words, t)
		}
	})
	return words
}

// Matcher scores passages by the words of a query.
type Matcher struct {
	rarity map[int32]float64 // of the query's terms, by the stem's number
	pairs  []pair
}

// Matcher returns the scores of q's words for passages of x's documents.
func (x *Index) Matcher(q Query, s Statistics) Matcher {
	m := Matcher{rarity: map[int32]float64{}, pairs: x.Pairs(q, s).list}
	for _, stem := range q.terms {
		if t, ok := x.terms[stem]; ok {
			m.rarity[t] = s.rarity(stem)
		}
	}
	return m
}

// Score returns what Match gives a document whose head is the passage, without a predecessor, and what Pairs.In does.
func (m Matcher) Score(passage Words) (own, pairs float64) {
	if len(m.rarity) == 0 {
		return 0, 0
	}
	mentions := map[int32]uint32{}
	for _, t := range passage {
		if _, asked := m.rarity[t]; asked {
			mentions[t]++
		}
	}
	if len(mentions) == 0 {
		return 0, 0
	}
	for t, n := range mentions {
		own += m.rarity[t] * saturate(n)
	}
	for _, pair := range m.pairs {
		for i := 1; i < len(passage); i++ {
			if passage[i-1] == pair.first && passage[i] == pair.second {
				pairs += pair.score
				break
			}
		}
	}
	return own, pairs
}

// Pairs returns how many pairs of neighbouring words the query has that x knows, and the score of a passage with all.
func (m Matcher) Pairs() (count int, score float64) {
	for _, pair := range m.pairs {
		score += pair.score
	}
	return len(m.pairs), score
}
