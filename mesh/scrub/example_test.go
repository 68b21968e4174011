package scrub_test

import (
	"errors"
	"fmt"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

func Example() {
	s := scrub.New(scrub.MemoryMesh(nil))
	result, err := s.Text("**Anna** moved to <b>Oslo</b>; write to anna@example.org or call +47 22 12 34 56.")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text)
	for _, r := range result.Redactions {
		fmt.Println(r.Kind, r.Count)
	}
	// Output:
	// Anna moved to Oslo; write to [REDACTED:email] or call [REDACTED:phone].
	// email 1
	// phone 1
}

func ExampleScrubber_Text_onlySecret() {
	s := scrub.New(scrub.MemoryMesh(nil))
	result, err := s.Text("my password is hunter2")
	fmt.Println(result.Text, result.OnlySecret, err)
	_, err = s.Text("<!-- nothing -->")
	fmt.Println(errors.Is(err, scrub.ErrEmpty))
	// Output:
	// my password is [REDACTED:password] true <nil>
	// true
}

func ExampleScrubber_Redact() {
	s := scrub.New(scrub.Options{})
	text, found := s.Redact("release 2024.1.2 of 2024-01-02 runs on 10.0.0.7; mail ops@example.org")
	fmt.Println(text)
	fmt.Println(found)
	// Output:
	// release 2024.1.2 of 2024-01-02 runs on 10.0.0.7; mail [REDACTED:email]
	// [{email 1}]
}

func ExampleSplit() {
	text := "# Travel\nAnna flies on Monday.\n## Hotel\nThe room is booked."
	for _, c := range scrub.Split(text, scrub.ChunkOptions{Min: 1, Max: 8}) {
		fmt.Printf("%d tokens below %q: %q\n", c.Tokens, c.Headings, c.Text)
	}
	// Output:
	// 7 tokens below ["Travel"]: "# Travel\nAnna flies on Monday."
	// 8 tokens below ["Travel" "Hotel"]: "## Hotel\nThe room is booked."
}
