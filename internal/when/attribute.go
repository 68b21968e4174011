package when

import "github.com/yamo-protocol/yamo-mcp/internal/text"

// A time right before a noun may be no date but a kind of what the noun names: "the winter 2025 tyres", "the Friday
// cocktail", "Sunday roast is her favourite".

// nounless are other words that are part of no name.
var nounless = text.Set("but so because while although though than as then too also already again only not nor if " +
	"whether that which there here until unless when")

// adjective reports whether a time is one of a thing that follows it at token i.
func (p *parser) adjective(i int) bool {
	w := p.word(i)
	return w != "" && isLetter(w[0]) && !p.tokens[i].capital && !prepositions[w] && !endsLast[w] && !isVerb(w) &&
		!nounless[w]
}

var (
	// events are what takes place on one day, so that the weekday before it is that day. In the plural it is a habit.
	events = text.Set("meeting call standup sync retro retrospective planning kickoff handover demo review deadline " +
		"release launch deploy deployment cutover migration presentation briefing debrief catchup followup checkin " +
		"checkup breakfast brunch lunch dinner supper barbecue picnic party drinks reception ceremony wedding funeral " +
		"concert gig show performance premiere screening rehearsal festival talk lecture seminar webinar workshop " +
		"class lesson session training practice exam exams test quiz interview hearing trial vote election inspection " +
		"audit appointment visit surgery operation scan shift match game race final tournament walk run hike ride swim " +
		"trip tour outing flight train bus coach boat ferry delivery pickup move outage incident crash accident storm " +
		"flood fire attack strike protest conference event date slot")
	// owners are the words before a thing of which one is meant.
	owners = text.Set("the my our your his her its their s")
	// modifiers come after a weekday and are no thing: "the Friday last week".
	modifiers = text.Set("last next this coming past noon midday week one two three four five six seven eight nine ten " +
		"half early late")
)

// isKind reports whether the weekday at token i only tells which thing is meant that follows it. Without a word for
// that, such as "the", the thing must have a verb: "Monday works for me" tells of a day.
func (p *parser) isKind(i int) bool {
	before := p.word(i - 1)
	if prepositions[before] || p.partOfDay(i+1) != "" {
		return false
	}
	owned := owners[before]
	k := i + 1
	for ; k <= i+3; k++ {
		w := p.word(k)
		named := owned && w != "" && isLetter(w[0]) && p.tokens[k].capital
		if !named && !p.adjective(k) || modifiers[w] {
			break
		}
		if p.word(k+1) == "-" && p.gluedTo(k, k+2) { // "stand-up"
			w += p.word(k + 2)
		}
		if events[w] {
			return false
		}
	}
	return k > i+1 && (owned || isVerb(p.word(k)))
}

// isCited reports whether the names from token i on are those of authors: "Sun and Mon et al."
func (p *parser) isCited(i int) bool {
	for range len(weekdays) {
		if _, ok := weekdays[p.word(i)]; !ok {
			break
		}
		if i++; listing[p.word(i)] || p.word(i) == "," {
			i++
		}
	}
	return p.word(i) == "et" && p.word(i+1) == "al"
}
