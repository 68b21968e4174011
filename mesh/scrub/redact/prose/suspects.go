package prose

// Suspect is a word that may be a secret.
type Suspect struct {
	Start, End int     // bytes of the text
	Odds       float64 // the sum of weights: the logarithm of odds
	Points     int     // of the best candidate that it is in
	Phrase     bool    // several words
	noted      bool    // in a notation, or known to be something else
}

// leastOdds is the sum of weights below which a word is not in doubt: nearly all words of documents are below it.
const leastOdds = -5.

// InDoubt reports whether s may be a secret, though neither points nor weights are enough for that.
func (s Suspect) InDoubt() bool {
	return s.Points < enough && s.Odds >= leastOdds && s.Odds < certain && !s.noted
}

// Suspects returns the words of a text that may be secrets, in order.
func Suspects(text string) (list []Suspect) {
	last := 0
	eachPassage(text, func(p *passage, at int) {
		for _, j := range p.judge(p.scored()) {
			if at+j.start < last { // passages overlap
				continue
			}
			last = at + j.end
			noted := p.isNoted(j.start, j.end) || p.isKnown(j.word, j.sentence, j.start, j.end)
			list = append(list, Suspect{at + j.start, last, j.learned(), j.points, j.phrase, noted})
		}
	})
	return list
}
