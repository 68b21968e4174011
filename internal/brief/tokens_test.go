package brief

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

// The estimate is not much below what o200k counts for any kind of text, and not far above it for English.
func TestTokensAgainstO200k(t *testing.T) {
	t.Parallel()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{
		"Japanese": "今日は会議で、新しい認証ミドルウェアの設計を決めた。JWTは15分で期限切れ。",
		"Chinese":  "我们决定使用中文来编写所有的文档，因为团队成员都在上海。明天继续讨论部署计划。",
		"Russian": "Мы решили писать документацию на русском языке, потому " +
			"что вся команда в Москве.",
		"Korean": "우리는 팀이 서울에 있기 때문에 문서를 한국어로 작성하기로 했습니다.",
		"Thai":   "เราตัดสินใจเขียนเอกสารเป็นภาษาไทยเพราะทีมอยู่ในกรุงเทพ",
		"emoji":  "🐙🌱🎉 emoji 👩‍👩‍👧 ok ✅ – „quotes“ … → ≤",
		"German": "Häuser über Straßenbahnen: größtmögliche Übereinstimmung",
		"ids":    "lesson_1771070400000_6f419e mem_1771070400001_abcdef 2026-02-14T12:00:00.123Z +351 912 345 678",
		"code":   "func (v *View) Head(name string) (data []byte, more bool, err error) { return v.head(name, 4<<20) }",
	}
	files, err := filepath.Glob("../../testdata/workspaces/kate/*.md")
	if err != nil {
		t.Fatal(err)
	}
	english := map[string]bool{}
	for _, name := range append(files, "../../README.md", "../../docs/ranking.md", "../../docs/benchmarks.md") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name], english[name] = string(data), true
	}
	for name, text := range texts {
		want, err := codec.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		ratio := float64(Tokens(text)) / float64(want)
		if ratio < 0.95 {
			t.Errorf("%s: the estimate %d is below %d", name, Tokens(text), want)
		}
		if english[name] && ratio > 1.35 {
			t.Errorf("%s: the estimate %d is far above %d", name, Tokens(text), want)
		}
	}
}
