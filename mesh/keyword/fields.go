package keyword

// Field is a part of a record that has parts of unlike weight, as a skill has (RFC-0011 §5.3).
type Field struct {
	Text   string
	Weight float64 // positive
}

// Fields is such a record, read once. It is not changed afterwards and may be used concurrently.
type Fields struct {
	weights map[string]float64 // of a stem: the sum over the fields that it stands in
	total   float64            // of all weights
}

// NewFields reads a record's fields, of which there must be one at least. An empty field weighs too: what
// is not there cannot be found.
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

// Score says how well the fields match a query, from 0 to 1: the mean over the query's terms of the weight
// of the fields that have the term, as a share of the weight of all fields. It depends on nothing else, so
// it is the same whatever other records there are.
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
