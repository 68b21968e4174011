package keyword

import (
	"regexp"
	"strings"
)

// generic are words that name no subject in a question about the last session.
var generic = wordSet(`where what how which did do does was were are is have has had can could would shall should let
	lets we i you us me my our your he she they the a an of in on at to from with for it that this these and so please hi
	hello hey good morning evening again last previous previously latest recent recently earlier most yesterday yesterdays
	today time session sessions conversation conversations chat day work working worked doing done leave left off stop
	stopped end ended pause paused finish finished continue resume carry pick up go going keep remind recap summarize
	summary catch status state things thing happened happen talk talked talking discuss discussed discussing about before
	next open still tell show know remember get got far progress update stand just now back start started right ok okay
	exactly quick quickly brief briefly give need want`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

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

// everything are further words that name no subject in a question about a time.
var everything = wordSet(`whats anything something everything nothing all any some else other note notes noted log logs
	logged record recorded records write wrote written say said says mention mentioned told tell plan plans planned
	planning make made see saw seen busy event events news new happens happening goes went been be am there week month
	year weekend list show much many`)

// AsksAll reports whether a query, without the time that it names, names no subject that could be searched: "What did I
// do", "Anything". A query without words is none.
func AsksAll(query string) bool {
	words := questionWords.FindAllString(strings.NewReplacer("'", "", "’", "").Replace(strings.ToLower(query)), -1)
	for _, word := range words {
		if !generic[word] && !everything[word] {
			return false
		}
	}
	return len(words) > 0
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
