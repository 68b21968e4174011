package keyword

// Field is a weighted field of a record, such as a skill's name (RFC-0011 §5.3).
type Field struct {
	Text   string
	Weight float64 // positive
}

// Fields is an indexed record of weighted fields. It is immutable and safe for concurrent use.
type Fields struct {
	weights map[string]float64 // by stem: the sum of the weights of the fields that contain it
	total   float64            // the sum of all weights
}

// NewFields indexes a record's fields, of which there must be at least one. The weight of an empty field
// counts too, so a record scores lower for what it leaves out.
func NewFields(fields ...Field) Fields {
	f := Fields{weights: map[string]float64{}}
	for _, field := range fields {
		f.total += field.Weight
		seen := map[string]bool{}
		eachWord(field.Text, func(w string) {
			if s := stem(w); !seen[s] {
				seen[s] = true
				f.weights[s] += field.Weight
			}
		})
	}
	return f
}

// Score returns how well the fields match a query, from 0 to 1: the mean over the query's terms of the
// weight of the fields that contain the term, as a share of the total weight. It does not depend on other
// records.
func (f Fields) Score(q Query) float64 {
	if len(q.terms) == 0 {
		return 0
	}
	sum := 0.
	for _, t := range q.terms {
		sum += f.weights[t]
	}
	return sum / (f.total * float64(len(q.terms)))
}
