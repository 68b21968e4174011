package embed

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fake is an Embedder whose vectors tell the text's length; err makes it fail.
type fake struct {
	model Model
	err   error
	calls [][]string
}

func (f *fake) Model() Model { return f.model }

func (f *fake) Embed(_ context.Context, texts []string) ([][]float32, error) {
	f.calls = append(f.calls, texts)
	if f.err != nil {
		return nil, f.err
	}
	var vectors [][]float32
	for _, t := range texts {
		vectors = append(vectors, []float32{float32(len(t)), 0})
	}
	return vectors, nil
}

func TestCache(t *testing.T) {
	t.Parallel()
	f := &fake{model: Model{"m", 2}}
	c := Cached(f, 2)
	if c.Model() != f.model {
		t.Errorf("Model = %v", c.Model())
	}
	embed := func(texts ...string) [][]float32 {
		t.Helper()
		v, err := c.Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	got := embed("a", "bb", "a")
	if diff := cmp.Diff([][]float32{{1, 0}, {2, 0}, {1, 0}}, got); diff != "" {
		t.Error(diff)
	}
	got[0][0] = 99 // the caller's own: neither the cache nor the other "a" changes
	if diff := cmp.Diff([][]float32{{2, 0}, {1, 0}}, embed("bb", "a")); diff != "" || got[2][0] != 1 {
		t.Error(diff, got)
	}
	embed("ccc") // drops "bb", which was used before "a"
	embed("a", "bb")
	if diff := cmp.Diff([][]string{{"a", "bb"}, {"ccc"}, {"bb"}}, f.calls); diff != "" {
		t.Error(diff)
	}
	f.err = errors.New("down")
	if _, err := c.Embed(t.Context(), []string{"a", "dddd"}); !errors.Is(err, f.err) {
		t.Errorf("err = %v", err)
	}
	f.err = nil
	if diff := cmp.Diff([][]float32{{4, 0}}, embed("dddd")); diff != "" {
		t.Errorf("a failure was remembered: %s", diff)
	}
}

func TestChain(t *testing.T) {
	t.Parallel()
	one, other := Model{"one", 2}, Model{"other", 2}
	down, alsoDown := errors.New("down"), errors.New("also down")
	for _, test := range []struct {
		name            string
		members         []*fake // primary first
		want            string  // the provider whose vectors are returned
		fails           []error
		logged, silence string
	}{
		{name: "primary", members: []*fake{{model: one}, {model: one}}, want: "p0", silence: "WARN"},
		{name: "fallback", members: []*fake{{model: one, err: down}, {model: one}}, want: "p1", logged: "used=p1"},
		{
			name:    "another model is skipped",
			members: []*fake{{model: one, err: down}, {model: other}, {model: one}}, want: "p2", logged: "model=other",
		},
		{
			name:    "another model is no fallback",
			members: []*fake{{model: one, err: down}, {model: other}}, fails: []error{down}, logged: "skipped",
		},
		{
			name: "all fail", members: []*fake{{model: one, err: down}, {model: one, err: alsoDown}},
			fails: []error{down, alsoDown}, silence: "used=",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var log bytes.Buffer
			var providers []Provider
			for i, f := range test.members {
				providers = append(providers, Provider{"p" + string(rune('0'+i)), f})
			}
			c := NewChain(slog.New(slog.NewTextHandler(&log, nil)), providers[0], providers[1:]...)
			_, err := c.Embed(t.Context(), []string{"text"})
			if test.want != "" {
				if err != nil {
					t.Fatal(err)
				}
				used := test.members[test.want[1]-'0']
				if len(used.calls) != 1 {
					t.Errorf("%s was not used", test.want)
				}
			} else {
				var e *Error
				if !errors.As(err, &e) || len(e.Failures) != len(test.fails) {
					t.Fatalf("err = %v", err)
				}
				for _, want := range test.fails {
					if !errors.Is(err, want) || !strings.Contains(err.Error(), want.Error()) {
						t.Errorf("err = %v lacks %v", err, want)
					}
				}
			}
			if !strings.Contains(log.String(), test.logged) {
				t.Errorf("%q is not in the log:\n%s", test.logged, log.String())
			}
			if test.silence != "" && strings.Contains(log.String(), test.silence) {
				t.Errorf("%q is in the log:\n%s", test.silence, log.String())
			}
			if strings.Contains(log.String(), "text=") {
				t.Error("the log has the text")
			}
		})
	}
}

func TestChainCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	primary, fallback := &fake{err: context.Canceled}, &fake{}
	c := NewChain(slog.New(slog.DiscardHandler), Provider{"a", primary}, Provider{"b", fallback})
	if _, err := c.Embed(ctx, []string{"x"}); !errors.Is(err, context.Canceled) || errors.As(err, new(*Error)) {
		t.Errorf("err = %v", err)
	}
	if len(fallback.calls) > 0 {
		t.Error("the fallback was asked after the caller gave up")
	}
}
