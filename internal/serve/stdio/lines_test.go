package stdio

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	tests := []struct {
		name, input string
		most        int
		want        []string // "!" and the id for one that is too long
	}{
		{"lines", "a\nb\r\n\n c \n", 10, []string{"a", "b", "", "c"}},
		{"no last break", "a\nb", 10, []string{"a", "b"}},
		{"empty", "", 10, nil},
		{"just fits", "123456789\n", 10, []string{"123456789"}},
		{"just fits with CRLF", "12345678\r\n", 10, []string{"12345678"}},
		{"one too many", "1234567890\nb\n", 10, []string{"!", "b"}},
		{"too long at the end of the input", "12345678901", 10, []string{"!"}},
		{"many buffers", strings.Repeat("y", 1000) + "\nb\n", 500, []string{"!", "b"}},
		{"id first", `{"jsonrpc":"2.0","id":7,"method":"m","params":"` + long + "\"}\nb\n", 100, []string{"!7", "b"}},
		{"id first, a string", `{ "jsonrpc" : "2.0", "id" : "q-1", "p":"` + long + "\"}\n", 100, []string{`!"q-1"`}},
		{"id last", `{"method":"m","params":{"id":5,"v":"` + long + `"},"jsonrpc":"2.0","id":8}` + "\n", 100, []string{"!8"}},
		{"id of something else", `{"method":"m","params":{"v":"` + long + `","id":5}}` + "\n", 100, []string{"!"}},
		{"id in a string", `{"method":"m","params":"` + long + `,\"id\":5}"}` + "\n", 100, []string{"!"}},
		{"id that is no id", `{"jsonrpc":"2.0","id":{"a":1},"params":"` + long + "\"}\n", 100, []string{"!"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			reader := bufio.NewReaderSize(strings.NewReader(test.input), 16)
			var got []string
			for {
				l := readLine(reader, test.most)
				if l.err != nil {
					if !errors.Is(l.err, io.EOF) {
						t.Fatal(l.err)
					}
					break
				}
				text := string(l.data)
				if l.tooLong {
					text = "!" + text
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, message, request, answer string }{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"m"}`, "n1", ""},
		{"same number", `{"jsonrpc":"2.0","id":1.0,"method":"m"}`, "n1", ""},
		{"string", `{"jsonrpc":"2.0","id":"\u0031","method":"m"}`, "s1", ""},
		{"notification", `{"jsonrpc":"2.0","method":"m"}`, "", ""},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"m"}`, "", ""},
		{"subscription", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`, "", ""},
		{"answer", `{"jsonrpc":"2.0","id":1,"result":{"id":2}}`, "", "n1"},
		{"answer in another order", `{"result":{"id":2},"jsonrpc":"2.0","id":"x"}`, "", "sx"},
		{"error", `{"error":{"code":1},"id":3,"jsonrpc":"2.0"}`, "", "n3"},
		{"error without id", `{"jsonrpc":"2.0","id":null,"error":{"code":1}}`, "", ""},
		{"mcp-go cannot decode it", `{"jsonrpc":2,"id":1,"method":"m"}`, "", ""},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, "", ""},
		{"not JSON", `{"jsonrpc`, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got, _ := requestKey([]byte(test.message)); got != test.request {
				t.Errorf("request key %q, want %q", got, test.request)
			}
			if got := answerKey([]byte(test.message)); got != test.answer {
				t.Errorf("answer key %q, want %q", got, test.answer)
			}
		})
	}
}

// FuzzReadLine: whatever comes, every byte is read, no line is over the limit, and a line that fits is
// kept whole.
func FuzzReadLine(f *testing.F) {
	for _, seed := range []string{
		"a\nb", "\n\n", "{\"jsonrpc\":\"2.0\",\"id\":1,\r\n", strings.Repeat("x", 100),
		"\x00\xff\n",
	} {
		f.Add(seed, 8)
	}
	f.Fuzz(func(t *testing.T, input string, most int) {
		most = 1 + max(0, most)%64
		reader := bufio.NewReaderSize(strings.NewReader(input), 16)
		var got []string
		for range len(input) + 2 {
			l := readLine(reader, most)
			if l.err != nil {
				break
			}
			if l.tooLong {
				got = append(got, "!")
				continue
			}
			if len(l.data) > most {
				t.Fatalf("a line of %d bytes, %d are allowed", len(l.data), most)
			}
			got = append(got, string(l.data))
		}
		var want []string
		for line := range strings.Lines(input) {
			if len(line) > most {
				want = append(want, "!")
				continue
			}
			want = append(want, strings.TrimSpace(line))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
	})
}
