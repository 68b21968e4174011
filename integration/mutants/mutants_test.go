package main

import "testing"

// Every mutant fits the code as it is. `make mutants` shows that the tests kill them.
func TestMutantsFitTheCode(t *testing.T) {
	t.Parallel()
	for _, m := range mutants {
		if _, err := m.apply("../.."); err != nil {
			t.Errorf("%s: %v", m.guards, err)
		}
	}
}
