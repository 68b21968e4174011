// Command gateway is a worked example of a chat gateway: it connects a bot of Telegram, or of what speaks like it, with
// one yamo-mcp server over HTTP and a language model. docs/gateway.md explains it.
//
// The invariant: whose session a message belongs to is decided by the chat it came from, which Telegram names, and by
// nothing that anyone writes. Only the owner's own chat is a direct conversation; every other chat is a group of its
// own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	var g gateway
	flag.StringVar(&g.telegram.api, "telegram", "https://api.telegram.org", "address of the Bot API")
	flag.Int64Var(&g.owner, "owner", 0, "ID of the user whose private chat is the direct conversation")
	flag.StringVar(&g.memory.url, "memory", "http://127.0.0.1:7420/mcp", "address of yamo-mcp serve --transport http")
	flag.StringVar(&g.memory.program, "program", "yamo-mcp", "the program, which creates tokens")
	flag.StringVar(&g.model.api, "model-url", "http://127.0.0.1:11434/v1", "address of a Chat Completions API")
	flag.StringVar(&g.model.name, "model", "llama3.2", "its model")
	flag.Parse()
	g.telegram.token, g.model.key = os.Getenv("TELEGRAM_TOKEN"), os.Getenv("MODEL_KEY")
	if g.telegram.token == "" || g.owner == 0 {
		log.Fatal("set TELEGRAM_TOKEN and --owner")
	}
	if err := g.run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

// gateway connects the three.
type gateway struct {
	telegram telegram
	memory   memory
	model    model
	owner    int64
}

// run answers messages until ctx is done. What fails is logged, and the next message is answered.
func (g *gateway) run(ctx context.Context) error {
	defer g.memory.close()
	for ctx.Err() == nil {
		messages, err := g.telegram.receive(ctx)
		if err != nil {
			log.Print("receive: ", err)
			pause(ctx)
			continue
		}
		for _, m := range messages {
			if err := g.answer(ctx, m); err != nil {
				log.Printf("answer in chat %d: %v", m.Chat.ID, err) // not what was said
			}
		}
	}
	return ctx.Err()
}

// audience returns the group that a message's chat is for yamo-mcp, "" for the direct conversation.
func (g *gateway) audience(m message) string {
	// SECURITY: both IDs are Telegram's. The owner in a group is one of several listeners, so the chat decides.
	if m.Chat.Type == "private" && m.Chat.ID == g.owner && m.From.ID == g.owner {
		return ""
	}
	return fmt.Sprint(m.Chat.ID) // as it is: yamo-mcp maps names such as -1001234567890 to safe folders
}

// answer reads the memory of the chat, asks the model, sends what it says, and notes both in the chat's log.
func (g *gateway) answer(ctx context.Context, m message) error {
	chat, err := g.memory.open(ctx, g.audience(m))
	if err != nil {
		return err
	}
	if what, ok := strings.CutPrefix(m.Text, "/remember "); ok {
		if _, err := chat.call(ctx, "memory_store", map[string]any{
			"content": what, "source": m.From.name(),
		}); err != nil {
			return err
		}
		return g.telegram.send(ctx, m.Chat.ID, "I will remember that.")
	}
	// Text, as lines: the model reads it.
	found, err := chat.call(ctx, "memory_search", map[string]any{
		"query": m.Text, "limit": 5, "min_confidence": "possible",
	})
	if err != nil {
		return err
	}
	said, err := g.model.ask(ctx, chat.start+"\n\n## What fits this message, as it was remembered\n"+found,
		m.From.name()+": "+m.Text)
	if err != nil {
		return err
	}
	if err := g.telegram.send(ctx, m.Chat.ID, said); err != nil {
		return err
	}
	_, err = chat.call(ctx, "log_append", map[string]any{
		"text": "- **" + m.From.name() + ":** " + m.Text + "\n- **Agent:** " + said,
	})
	return err
}
