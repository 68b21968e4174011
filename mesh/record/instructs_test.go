package record

import "testing"

// The words of instructs were chosen on the first two lists. The last two were written later and held back.
var (
	general30 = []string{
		"Use UTC in all reports.",
		"Write dates as 2026-11-24 everywhere.",
		"Keep answers under five lines.",
		"Sign every mail with Rui.",
		"Put a summary at the top of each report.",
		"Round all amounts to whole euros.",
		"Use tabs in all Go files.",
		"End every reply with the next step.",
		"Answer in Portuguese everywhere but in code.",
		"Keep commit messages under 72 characters.",
		"Spell colour the British way in all documents.",
		"Give sources for any claim about health.",
		"No emoji in any reply.",
		"Write numbers with a decimal comma in every table.",
		"Show times in 24-hour format everywhere.",
		"Start each session with the open tasks.",
		"Address all customers by their first name.",
		"Add the ticket number to every branch name.",
		"Name all branches after their ticket.",
		"Use metric units in any recipe.",
		"Keep explanations short.",
		"Please cite the paper in every answer about nutrition.",
		"Quote prices without tax in all offers.",
		"Write code comments in English.",
		"Run the linter before every commit.",
		"Ask before any purchase above 50 euros.",
		"Avoid passive voice in all texts.",
		"Format all code blocks with two spaces.",
		"Don't use abbreviations anywhere.",
		"In all invoices, put the tax number first.",
	}
	once30 = []string{
		"Use UTC in this report.",
		"Write the date as 2026-11-24 in the header.",
		"Keep the answer from yesterday.",
		"Run all tests.",
		"Delete every file in the temp folder.",
		"Send all invoices to Mira today.",
		"Read each chapter of the draft.",
		"Sign the contract for the flat.",
		"Round the total to whole euros.",
		"Use the blue paint for all doors of the kitchen.",
		"Check every link on the new page.",
		"List all open tickets.",
		"Put all boxes in the cellar.",
		"Write to all neighbours about the party.",
		"Use cases are listed in the annex.",
		"Notes lay everywhere on the desk.",
		"Keep all receipts from the trip to Oslo.",
		"Answers were short in every interview.",
		"Reports are in UTC everywhere.",
		"Every report uses UTC.",
		"Format all drives of the old server.",
		"Add every guest to the list for Saturday.",
		"Start each engine once tomorrow.",
		"Show all errors from last night's run.",
		"Name each of the three puppies by Friday.",
		"Call all suppliers this week.",
		"Use up all vouchers before June.",
		"Give each child an apple.",
		"Include every photo from the wedding in the album.",
		"Reply to all mails from the bank.",
	}
	generalHeld = []string{
		"Show currency amounts in euros in every offer.",
		"Write all mails in plain text.",
		"Keep paragraphs short.",
		"Use British spelling in all letters.",
		"Label every chart with its source.",
		"Cite the page in every quotation.",
		"Do not use exclamation marks in any mail.",
		"List ingredients by weight in all recipes.",
		"Say the weekday with every date.",
		"Give all temperatures in Celsius.",
		"Add a test for every bug that you fix.",
		"Number the steps in each guide.",
		"Start every mail with the customer's name.",
		"Prefer tables to lists in all summaries.",
		"Never use first names in letters to any authority.",
	}
	onceHeld = []string{
		"Add all receipts to the tax folder.",
		"Call every plumber in town.",
		"Use all the flour for bread.",
		"Put each plant in a larger pot.",
		"Answer all three questions of the form.",
		"Write every guest a card after the wedding.",
		"Start all pumps and open the valve.",
		"Keep each cat in its own room until Monday.",
		"Ask all tenants about the leak.",
		"Say hello to all of them.",
		"Print every page of the manual.",
		"Translate all pages of the brochure by Thursday.",
		"Check in all bags at the counter.",
		"Name every river that flows through Porto.",
		"Sort all photos from the holiday.",
	}
)

func TestInstructionsForAllOfSomething(t *testing.T) {
	t.Parallel()
	right := func(lists map[bool][]string) (share float64) {
		all := 0
		for want, list := range lists {
			for _, text := range list {
				all++
				if got := (&Record{Memory: Memory{Content: text}}).IsStanding(); got == want {
					share++
				} else {
					t.Logf("%q is standing: %v", text, got)
				}
			}
		}
		return share / float64(all)
	}
	chosen := right(map[bool][]string{true: general30, false: once30})
	held := right(map[bool][]string{true: generalHeld, false: onceHeld})
	t.Logf("right: %.2f of those on which the words were chosen, %.2f of those held back", chosen, held)
	if chosen < .95 || held < .8 {
		t.Error("too few are right")
	}
	for _, text := range []string{
		"No reply from any supplier so far.", "Never been to any country in Asia.", "Don't know about any plans.",
		"Call with all suppliers went well.", "Start of each shift is at 8.",
	} {
		if instructs(text) {
			t.Errorf("%q is an instruction", text)
		}
	}
	for _, text := range []string{"Reply to every mail within a day.", "Respond to all messages in Portuguese."} {
		if !instructs(text) {
			t.Errorf("%q is no instruction", text)
		}
	}
	// A sentence is recognized after others, and a long text is not read to its end.
	if !instructs("We spoke about formats. Use UTC in all reports.") || instructs("Use UTC. In the logs.\nAll reports") {
		t.Error("the sentences of a text are not told apart")
	}
}
