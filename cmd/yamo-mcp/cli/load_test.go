package cli

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/internal/config"
)

// Commands that share a base have the settings of their own, whichever was made last.
func TestSettingsOfEachCommand(t *testing.T) {
	t.Parallel()
	env := map[string]string{"YAMO_WORKSPACE": t.TempDir(), "YAMO_TRANSCRIPTS": t.TempDir()}
	base := New(Env{Getenv: func(name string) string { return env[name] }})
	var logs, plain cobra.Command
	base.AddFlags(logs.Flags(), config.TranscriptsSetting)
	base.AddFlags(plain.Flags())
	if err := base.Load(&plain); err != nil || base.Config.Session.Transcripts != "" {
		t.Errorf("a command without the setting has %q, %v", base.Config.Session.Transcripts, err)
	}
	if err := base.Load(&logs); err != nil || base.Config.Session.Transcripts != env["YAMO_TRANSCRIPTS"] {
		t.Errorf("a command with the setting has %q, %v", base.Config.Session.Transcripts, err)
	}
}
