package main

import (
	"github.com/spf13/pflag"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// learningOptions are RFC-0011 §4.2's options of lessons and heritage.
type learningOptions struct {
	minConfidence float64
	retentionDays int
	heritageDepth int
}

var learningSettings = []setting{"lesson-min-confidence", "lesson-retention-days", "heritage-depth"}

func (o *learningOptions) addTo(flags *pflag.FlagSet) {
	flags.Float64Var(&o.minConfidence, "lesson-min-confidence", record.DefaultConfidence, "how certain a lesson in force is at least")
	flags.IntVar(&o.retentionDays, "lesson-retention-days", record.DefaultRetentionDays, "how many days a lesson is in force")
	flags.IntVar(&o.heritageDepth, "heritage-depth", mesh.MaxHeritageDepth, "how many levels of a memory's heritage are kept")
}

func (o *learningOptions) check() error {
	switch {
	case !(o.minConfidence > 0 && o.minConfidence <= 1):
		return setting("lesson-min-confidence").wrong("lesson min confidence: it is above 0 and at most 1")
	case o.retentionDays < 1 || o.retentionDays > 36_500:
		return setting("lesson-retention-days").wrong("lesson retention days: it is 1 to 36500")
	case o.heritageDepth < 1 || o.heritageDepth > 50:
		return setting("heritage-depth").wrong("heritage depth: it is 1 to 50")
	}
	return nil
}
