package keyword

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// generic are words that name no subject in a question about the last session.
var generic = text.Set(`where what how which did do does was were are is have has had can could would shall should let
	lets we i you us me my our your he she they the a an of in on at to from with for it that this these and so please hi
	hello hey good morning evening again last previous previously latest recent recently earlier most yesterday yesterdays
	today time session sessions conversation conversations chat day work working worked doing done leave left off stop
	stopped end ended pause paused finish finished continue resume carry pick up go going keep remind recap summarize
	summary catch status state things thing happened happen talk talked talking discuss discussed discussing about before
	next open still tell show know remember get got far progress update stand just now back start started right ok okay
	exactly quick quickly brief briefly give need want`)

// resuming are the forms of questions about the last session.
var resuming = regexp.MustCompile(`\b(` + strings.Join([]string{
	`where\b.*\b(leave|left|stop|stopped|end|ended|pause|paused|finish|finished)`,
	`where (were|was|are|am) (we|i)`, `(left|leave) off`,
	`(last|previous|latest|yesterdays) (session|time|conversation|chat|work)`,
	`(do|did|doing|work|worked|working|talk|talked|talking|discuss|discussed|discussing|happened)\b.*\b` +
		`(last|previously|yesterday|before|recently|earlier)`,
	`pick (it |things |this )?(back )?up`, `catch me up`, `recap`, `(continue|resume)\b.*\b(from|where|last|yesterday)`,
}, "|") + `)\b`)

var questionWords = regexp.MustCompile(`[\p{L}\p{N}]+`)

// A question for all of a time begins with one of openers, after some of fillers, and consists of words of unspecific.
var (
	fillers = text.Set(`so ok okay and please hey hi hello good morning evening`)
	openers = text.Set(`what whats which how did have has was were is are am anything something everything any all show
		list tell give remind recap summarize`)
	unspecific = text.Set(`what whats which how did do does done doing was were is are am be been have has had will would
		should can could anything something everything nothing any all else other there i we you us me my our the a an of in
		on at to from with for it that this these happen happens happened happening go going went up like busy new news
		work worked working talk talked talking discuss discussed discussing about remember note notes noted record records
		recorded log logs logged mention mentioned plan plans planned planning event events session sessions conversation
		conversations chat chats thing things interesting important day week month year weekend morning afternoon evening
		night today yesterday time last show list tell give remind recap summarize`)
)

// AsksAll reports whether a query, without the time that it names, asks for all of that time: it is empty, or a
// question that names no subject, such as "What did I do". English only.
func AsksAll(query string) bool {
	plain := strings.NewReplacer("'", "", "’", "", " get done", " do", " got done", " did").Replace(strings.ToLower(query))
	words := questionWords.FindAllString(plain, -1)
	words = slices.DeleteFunc(words, func(w string) bool { return fillers[w] })
	if len(words) > 0 && !openers[words[0]] {
		return false
	}
	return !slices.ContainsFunc(words, func(w string) bool { return !unspecific[w] })
}

// AsksLastSession reports whether a query asks what the last session did, and names no subject that could be searched.
func AsksLastSession(query string) bool {
	words := questionWords.FindAllString(strings.NewReplacer("'", "", "’", "").Replace(strings.ToLower(query)), -1)
	for _, word := range words {
		if !generic[word] {
			return false
		}
	}
	return resuming.MatchString(strings.Join(words, " "))
}
