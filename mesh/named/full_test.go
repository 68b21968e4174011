package named

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each line has a name at its beginning, before a bar. Nothing of the third list is listed at all.
const (
	aboutFull = `
Ilda Marques|Ilda Marques called.
Ilda Marques|We asked Ilda Marques for the key.
Ilda Marques|ILDA MARQUES
Ilda Marques|ILDA MARQUES called.
Ilda Marques|CALL ILDA MARQUES TOMORROW
Ilda Marques|ilda marques called
Ilda Marques|ilda.marques@example.com
Ilda Marques|write to ilda_marques@example.com
Ilda Marques|imarques@example.com
Ilda Marques|i.marques@example.com
Ilda Marques|marques.ilda@example.com
Ilda Marques|ildamarques@example.com
Ilda Marques|Ilda Marques <im@example.com>
Ilda Marques|notes/ilda-marques.pdf
Ilda Marques|I. Marques signed.
Ilda Marques|The lease of I. Marques ends.
Ilda Marques|Mrs. Marques phoned.
Ilda Marques|We met Dr. Marques.
Ilda Marques|Dr. I. Marques signed.
Anne-Lise Dubois|A.-L. Dubois a payé.
Ilda Marques|Prof Marques teaches.
Ilda Marques|Marques, Ilda
Ilda Marques|- Marques, I.
Ilda Marques|MARQUES, Ilda
Ilda Marques|Ilda MARQUES
Ilda Marques|Ilda Sofia Marques was born.
Ilda Marques|Ilda S. Marques was born.
Ilda Marques|Ilda Marques's flat
Ilda Marques|Ilda Marques' flat
Ilda Marques|Dear Ilda Marques,
Ilda Marques|Yesterday Ilda Marques came.
Ilda Marques|the plumber Ilda Marques
Ilda Marques|#IldaMarques
Ilda Marques|the folder IldaMarques2024
Ilda Marques|ildamarques7 pushed the fix
Ilda Marques|Casa de Ilda Marques
Ilda Marques|Falei com a Ilda Marques.
Ilda Marques|Bea and Ilda Marques came.
ilda marques|Ilda Marques called.
Otto van den Berg|Otto van den Berg paid.
Otto van den Berg|Mr. van den Berg paid.
Otto van den Berg|O. van den Berg paid.
Otto van den Berg|Berg, Otto van den
Otto van den Berg|van den Berg, Otto
Otto van den Berg|Otto Van Den Berg
Bia da Silva|Bia Silva came.
Bia da Silva|Dona Silva came.
Bia da Silva|bia.dasilva@example.com
Bia da Silva|B. daSilva
Anne-Lise Dubois|Anne-Lise Dubois a payé.
Anne-Lise Dubois|Anne Lise Dubois
Anne-Lise Dubois|Mme Dubois a payé.
Anne-Lise Dubois|anne-lise.dubois@example.com
Tim O'Hara|Tim O'Hara left.
Tim O'Hara|Mr. O’Hara left.
Ana Reis-Lobo|Ana Reis-Lobo
João Falcão|joao.falcao@example.com
João Falcão|JOAO FALCAO
Inês Vaz|Ines Vaz called.
Bluebird|Bluebird ships in May.
Bluebird|We moved Bluebird to June.
Bluebird|Project Bluebird is late.
Bluebird|The Bluebird launch went well.
Bluebird|Bluebird's budget
Bluebird|The BLUEBIRD team met.
New York|We flew to New York.
New York|New York is loud.
New York|In new york it rained.
Zeferino|zeferino called
Zeferino|ZEFERINO
Zeferino|Senhor Zeferino came.
Zeferino|zeferino@example.com
Lisbon Marathon|We ran the Lisbon Marathon.
Paulo|Ask Paulo.
Paulo|Yesterday Paulo left.
`
	doubtFull = `
Ilda Marques|@imarques pushed the fix.
Ilda Marques|git blame says imarques7
Ilda Marques|Marques sent the invoice.
Ilda Marques|The invoice of Marques is late.
Ilda Marques|marques sent it
Ilda Marques|Ilda has two dogs.
Ilda Marques|Ilda's dogs
Ilda Marques|Aunt Ilda came.
Ilda Marques|Mr. Marques phoned.
Ilda Marques|Maria Ilda Marques
Ilda Marques|Ilda Marques Pinto
Ilda Marques|Ilda Marques Street
Ilda Marques|Ilda Marques-Pinto
Ilda Marques|The Marqueses came.
Ilda Marques|Ilda and Rui Marques
Ilda Marques|Ontem Marques ligou.
Ilda Marques|Hoje Ilda ligou.
Ilda Marques|Marques Street
Ilda Marques|Ilda M. called
Ilda Marques|ilda@example.com
Anna Baker|Baker sent the invoice.
Otto van den Berg|Van den Berg paid.
Bluebird|A bluebird sat on the fence.
Bluebird|The Bluebird Airlines flight
Rust|Rust on the gate
New York|the New York Times costs 4 euros
New York|West New York
Paulo|São Paulo is humid.
Paulo|We flew to São Paulo.
Paulo|João Paulo called.
Paulo|Paulo Street
Paulo|Paulo Coelho wrote it.
Zeferino|Zeferino Costa called
Bia da Silva|Silva came.
`
	absentFull = `
Ilda Marques|jmarques pushed the fix.
Ilda Marques|IldaMarquesini2024
Ilda Marques|Rita Marques called.
Ilda Marques|We met Rui Marques.
Ilda Marques|R. Marques signed.
Ilda Marques|Mrs. Rita Marques signed.
Ilda Marques|Dr. R. Marques signed.
Ilda Marques|r.marques@example.com
Ilda Marques|rui.marques@example.com
Ilda Marques|Ilda Costa called.
Ilda Marques|Ilda C. called.
Ilda Marques|ilda.costa@example.com
Ilda Marques|Rui Marques met Ilda Costa.
Ilda Marques|Nobody called.
Anna Baker|The baker sent the invoice.
Anna Baker|the baker's bread
Otto van den Berg|Karl van den Berg paid.
Otto van den Berg|K. van den Berg paid.
Will Young|Will we go?
Will Young|Young people came.
Anne-Lise Dubois|Anne came.
`
)

func TestFull(t *testing.T) {
	t.Parallel()
	got, want := map[string]Verdict{}, map[string]Verdict{}
	for verdict, lines := range []string{Sure: aboutFull, Doubt: doubtFull, Absent: absentFull} {
		for line := range strings.Lines(strings.TrimSpace(lines)) {
			line = strings.TrimSpace(line)
			name, text, _ := strings.Cut(line, "|")
			full, ok := ParseFull(name)
			if !ok {
				t.Errorf("%q is no name", name)
			}
			want[line], got[line] = Verdict(verdict), full.In(text, Words(text))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("0 absent, 1 in doubt, 2 sure (-want +got):\n%s", diff)
	}
}
