package named

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each line has a name at its beginning, before a bar.
const (
	surePerson = `
May|May is Ana's niece.
Grace|Grace never calls.
Grace|Grace from HR quit.
Grace|Grace also came.
Mark|Mark paid.
Art|Art drove us home.
Mark|Mark reports to Grace.
Bill|Bill paid the rent.
Bill|Bill paid it back
Bill|Bill Silva called.
Bill|Bill Silva is my dentist.
Rose|Rose Silva
Mark|Mark and April came.
May|May Ferreira called.
May|May's brother lives in Oslo.
May|Dr. May is on holiday.
May|Aunt May
Grace|Sister Grace
May|We talked with May.
May|They met May at the lake.
Art|Art is allergic to nuts.
Bill|Bill was born in Porto.
Will|Will is married.
Hope|Hope is the new teacher.
Will|Will doesn't eat meat.
Mark|Mark can't drive.
Summer|Summer has two brothers.
Art|Art has a headache.
Joy|Joy is in Lisbon.
Dawn|Dawn thinks it is too late.
Art|Art and his wife moved.
Bill|Owner: Bill
Honey|Honey (my cousin) called
Bill|Bill, my plumber, was here.
Mark|- Mark: 912345678
Grace|In Lisbon Grace bought a flat.
Rose|When Rose left, it rained.
Grace|Yesterday Grace fell.
Mark|Ask Mark.
Mark|Bia and Mark
Rose|We saw the house with Rose.
Frank|Franklin and Frank
Art|Will Art come?
Will|the cat that Will found
Faith|# Dinner with Faith
Mark|Mark, who came late
Pat|Pat really likes olives.
Ginger|Ginger works at the bank.
Rich|Rich bought the tickets.
Chase|Chase moved to Oslo.
Bill|Bill sold his car.
Mark|Mark is coming on Friday.
Art|**Art** drove home.
Rose|Rose broke her wrist.
Mark|Mark is lactose intolerant.
May|May moved to Coimbra.
Heather|Heather is moving to Braga.
April|Ana and April went climbing.
Bill|Bill from the second floor plays the trumpet.
Bill|Bill is in hospital.
May|I promised May a book.
Grace|Grace was late again.
Grant|Grant didn't answer.
Joy|Joy used to live in Braga.
Summer|Summer lost her tooth.
April|April's allergic to penicillin.
Hope|Hope is getting married in June.
`
	inDoubt = `
May|The May issue is out.
Bill|Bill Rui for the work.
Art|Art is long.
Bill|Bill is due.
Grace|Amazing Grace was sung.
Grace|- Amazing Grace
Art|Modern Art is on the second floor.
May|Mark May as paid.
May|It was postponed to May.
May|rent for May
May|the first of May
May|3 May
May|May 3
May|May brings rain.
May|Rui's May report
May|May is cold.
May|May's rent is paid.
May|May came early.
Summer|Summer is over.
Summer|Summer School begins.
April|April is Rui's busiest month.
Bill|Bill paid by card.
Bill|Bill moves to Friday.
Bill|The Bill was sent.
Bill|- Bill
Bill|Senate passed Bill 42.
Honey|- Honey, bread, butter
Basil|Basil planted.
House|House sold last week.
Art|Art supplies are in the attic.
Art|reading Art of War
Mark|Mark the date.
Mark|Mark Rui absent.
Mark|Mark read and done.
Mark|Mark reports are late.
Grace|Grace period ends on Friday.
Grace|the Grace Hotel
Rose|We stayed in Rose Street.
Rose|the Rose garden
Rose|Rose-colored glasses
Rose|a song, "Rose", was on
Will|Will Rui come?
Will|Will need new tires.
Will|Will be back at six.
Will|Will have dinner at eight.
Hope|Hope springs eternal.
Art|# Modern Art Museum Tickets
Art|Art
Art|art
Grace|GRACE
Faith|He lives in Faith.
Faith|Faith can move mountains.
May|May moved to Friday.
May|Rent for April and May is paid.
Mark|The bench Mark II is heavier.
Ivy|Ivy covers the back wall.
Jack|Jack up the car.
Joy|Joy Division tickets arrived.
Grace|Grace under pressure
Bill|Bill from the dentist: 60 euros
Ruby|Ruby 3.3 is installed.
May|Every May we clean the gutters.
Bill|The butler and the Bill
`
)

func TestIn(t *testing.T) {
	t.Parallel()
	got := map[string]bool{}
	want := map[string]bool{}
	for lines, sure := range map[string]bool{surePerson: true, inDoubt: false} {
		for line := range strings.Lines(strings.TrimSpace(lines)) {
			name, text, _ := strings.Cut(strings.TrimSpace(line), "|")
			want[line] = sure
			got[line] = In(text, Words(text), strings.ToLower(name), map[string]bool{strings.ToLower(name): true})
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("surely a person (-want +got):\n%s", diff)
	}
}
