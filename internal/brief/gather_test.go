package brief

import (
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Each name of a time zone and its offset are told once.
func TestTimeZone(t *testing.T) {
	t.Parallel()
	dir := folder(t, nil)
	for zone, want := range map[string]string{
		"Europe/Oslo":      "13:00 (Europe/Oslo, CET, UTC+01:00)",
		"america/new_york": "07:00 (America/New_York, EST, UTC-05:00)",
		"est":              "07:00 (EST, UTC-05:00)", "UTC+5:30": "17:30 (UTC+05:30)",
		"America/Bogota": "07:00 (America/Bogota, UTC-05:00)",
		"UTC":            "12:00 (UTC)",
	} {
		put(t, dir, "USER.md", "**Timezone:** "+zone+"\n")
		contains(t, build(t, open(t, dir, audience.DM()), Options{}).Text, []string{", " + want}, nil)
	}
}

// A file that is not UTF-8, as some editors save it, is named.
func TestOtherEncoding(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"MEMORY.md": "# Memory\n\n- Ana mag Br\xf6tchen\n"})
	contains(t, build(t, open(t, dir, audience.DM()), Options{}).Text, []string{
		"Ana mag", "- MEMORY.md: it is not UTF-8 text, so that parts of it cannot be read\n",
	}, nil)
}

// What is about the user holds in every project, also if the agent has written the user's name.
func TestUserInEveryProject(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"USER.md": "**Name:** Ana Sousa\n"})
	s := open(t, dir, audience.DM())
	ctx := mesh.WithProject(t.Context(), func() string { return "github.com/acme/kelp" })
	for _, content := range []string{"Ana is allergic to hazelnuts.", "Ana Sousa's sister is Inês.", "The port is 8080."} {
		if _, err := s.Memory.Store(ctx, record.Memory{Content: content}, record.Private); err != nil {
			t.Fatal(err)
		}
	}
	contains(t, build(t, s, Options{Project: "mare"}).Text, []string{
		"Ana is allergic to hazelnuts.\n", "Ana Sousa's sister is Inês.\n",
	}, []string{"8080"})
}
