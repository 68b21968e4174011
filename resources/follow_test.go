package resources

import (
	"fmt"
	"strings"
	"testing"
)

// What a client follows is kept while it stays, so it is neither much nor long.
func TestFollowedURIsAreBounded(t *testing.T) {
	t.Parallel()
	n, c := &notifier{}, &client{uris: map[string]bool{}}
	n.follow(c, "test://"+strings.Repeat("x", maxURI))
	if len(c.uris) != 0 {
		t.Error("a URI is kept that is longer than any file's")
	}
	for i := range maxSubscriptions + 1 {
		n.follow(c, fmt.Sprint("test://", i))
	}
	if len(c.uris) != maxSubscriptions {
		t.Errorf("%d URIs are kept", len(c.uris))
	}
}
