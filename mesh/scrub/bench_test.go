package scrub

import (
	"strings"
	"testing"
)

const shortMemory = "Anna prefers morning meetings and asked that the quarterly report go out " +
	"on Thursdays; she is reachable through the " +
	"office line, and her deputy Ben signs off when she is travelling. Key point: no slides."

const longMemory = "## Deploying\n\nThe **staging** cluster runs in `eu-west`; " +
	"see [the runbook](https://wiki.example.org/runbook). " +
	"Access is granted by the platform team, the key is in the vault.\n\n- first `make build`\n- then `make push`\n\n" +
	"```go\nfunc main() {\n\tfmt.Println(\"a < b\")\n}\n```\n\n" +
	"When the token has expired, ask for a new one; do not share it.\n\n"

func BenchmarkScrub(b *testing.B) {
	s := New(MemoryMesh(nil))
	if _, err := s.Scrub("warm up: token key password"); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, text string }{
		{"200B", shortMemory},
		{"10KB-prose", strings.Repeat(shortMemory+" ", 10240/len(shortMemory))},
		{"10KB-markdown", strings.Repeat(longMemory, 10240/len(longMemory))},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				if _, err := s.Scrub(c.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
