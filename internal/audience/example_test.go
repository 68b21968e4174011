package audience_test

import (
	"fmt"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// Only the connection "dm" without a group is a direct conversation. Every other setting is a group.
func ExampleParse() {
	for _, setting := range [][2]string{{"dm", ""}, {"group", "hiking"}, {"DM", ""}, {"", ""}, {"group", "../x"}} {
		a, _, err := audience.Parse(setting[0], setting[1])
		if err != nil {
			fmt.Printf("%q %q: error\n", setting[0], setting[1])
			continue
		}
		fmt.Printf("%q %q: %v\n", setting[0], setting[1], a)
	}
	// Output:
	// "dm" "": dm
	// "group" "hiking": group:hiking
	// "DM" "": group:default
	// "" "": group:default
	// "group" "../x": error
}

// The access matrix answers who may read MEMORY.md: only the direct conversation.
func ExampleAudience_May() {
	group, _ := audience.Group("hiking")
	for _, class := range []audience.Class{audience.Soul, audience.Memory, audience.GroupLog} {
		fmt.Printf("%v: dm %t, group %t\n", class,
			audience.DM().May(audience.Read, class), group.May(audience.Read, class))
	}
	// Output:
	// soul: dm true, group true
	// memory: dm true, group false
	// group log: dm false, group true
}
