package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// bots is what a chat gateway talks to: Telegram's Bot API, and a language model that answers with what it was told.
type bots struct {
	t       *testing.T
	updates chan map[string]any
	sent    chan sentMessage
	mu      sync.Mutex
	told    map[string]string // what the model was told, by the message it was asked
}

type sentMessage struct {
	ChatID int64 `json:"chat_id"`
	Text   string
}

func (b *bots) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		sentMessage
		Offset   int
		Messages []struct{ Role, Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		b.t.Error(err)
	}
	var answer any
	switch r.URL.Path {
	case "/botsecret/getUpdates":
		list := []any{}
		select {
		case update := <-b.updates:
			list = append(list, update)
		case <-r.Context().Done():
			return
		}
		answer = map[string]any{"ok": true, "result": list}
	case "/botsecret/sendMessage":
		b.sent <- body.sentMessage
		answer = map[string]any{"ok": true}
	case "/v1/chat/completions":
		b.mu.Lock()
		b.told[body.Messages[1].Content] = body.Messages[0].Content
		b.mu.Unlock()
		answer = map[string]any{"choices": []any{map[string]any{
			"message": map[string]any{"role": "assistant", "content": "I heard: " + body.Messages[1].Content},
		}}}
	default:
		http.NotFound(w, r)
		return
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		b.t.Error(err)
	}
}

// say sends a message into a chat, waits for the answer, and returns what the model was told, "" if it was not asked.
func (b *bots) say(number int, chat int64, kind string, from int64, text string) string {
	b.t.Helper()
	b.mu.Lock()
	clear(b.told)
	b.mu.Unlock()
	b.updates <- map[string]any{"update_id": number, "message": map[string]any{
		"text": text, "chat": map[string]any{"id": chat, "type": kind},
		"from": map[string]any{"id": from, "first_name": "Ana"},
	}}
	if answer := <-b.sent; answer.ChatID != chat {
		b.t.Errorf("the answer to %q goes to chat %d", text, answer.ChatID)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.told["Ana: "+text]
}

// The example of docs/gateway.md: one server for a direct conversation and several groups with the names that channels
// give them. Each chat is told what it may know, whatever is written in it.
func TestGateway(t *testing.T) {
	t.Parallel()
	p := plant(t)
	server := startHTTP(t, launch{workspace: p.workspace})
	gateway := filepath.Join(t.TempDir(), "gateway")
	build := exec.Command("go", "build", "-o", gateway, "./gateway")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	b := &bots{t: t, updates: make(chan map[string]any), sent: make(chan sentMessage), told: map[string]string{}}
	services := httptest.NewServer(b)
	t.Cleanup(services.Close)
	const owner, stranger, family, team = 4711, 815, -1001234567890, -1009876543210
	cmd := exec.Command(gateway, "--telegram", services.URL, "--model-url", services.URL+"/v1",
		"--memory", server.URL+"/mcp", "--program", serverBinary(t), "--owner", fmt.Sprint(owner))
	cmd.Env = append(server.Env(), "TELEGRAM_TOKEN=secret")
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	t.Cleanup(stop)

	b.say(1, owner, "private", owner, "/remember The spare key is under the blue pot.")
	b.say(2, family, "supergroup", owner, "/remember The picnic is at the lighthouse.")
	const key, picnic = "under the blue pot", "at the lighthouse"
	number := 2
	for _, test := range []struct {
		name        string
		chat        int64
		kind        string
		from        int64
		key, picnic bool
	}{
		{"the owner's own chat", owner, "private", owner, true, false},
		{"the owner in a group", family, "supergroup", owner, false, true},
		{"another in that group", family, "supergroup", stranger, false, true},
		{"the owner in another group", team, "supergroup", owner, false, false},
		{"a stranger's own chat", stranger, "private", stranger, false, false},
		{"a chat that is said to be the owner's", owner, "private", stranger, false, false},
	} {
		number += 2
		asked := b.say(number, test.chat, test.kind, test.from, "Where is the spare key?") +
			b.say(number+1, test.chat, test.kind, test.from, "Where is the picnic?")
		if got := strings.Contains(asked, key); got != test.key {
			t.Errorf("%s: told of the key: %t", test.name, got)
		}
		if got := strings.Contains(asked, picnic); got != test.picnic && !test.key {
			t.Errorf("%s: told of the picnic: %t", test.name, got)
		}
		if leaked := leaks(asked, p.private); !test.key && len(leaked) > 0 {
			t.Errorf("%s: told %v", test.name, leaked)
		}
	}
	stop()
	if log.Len() > 0 {
		t.Errorf("the gateway logs:\n%s", &log)
	}
	groups := filesBelow(t, filepath.Join(p.workspace, "memory"))
	if !strings.Contains(groups, "**Ana:** Where is the spare key?") {
		t.Errorf("a group's log lacks what was said:\n%s", groups)
	}
}
