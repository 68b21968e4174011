package trust

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// pattern returns a regular expression, which is compiled when it is needed first: these are large, and most processes,
// such as hooks, do not need them.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// anyOf returns a pattern that matches if one of the parts does, in any letter case.
func anyOf(parts ...string) func() *regexp.Regexp { return pattern(`(?i)` + strings.Join(parts, "|")) }

// aboutAgent finds what speaks of the agent or to it, in English. A real estate agent is none.
var aboutAgent = anyOf(
	`\b(the|this|that|its|our|an?|each|every|any|another|no|user's|all|other) `+
		`(ai |personal |digital |virtual |helpful )*(agent|assistant|chat ?bot|bot|ai)s?\b`,
	`(^|[.:;!?]\s+|,\s+|\b(and|for|to|of|by|from|that|as|tell|let|lets) )(ai|agents?|assistants?|`+
		`(chat )?bots?|chatbots?|llms?|`+
		`language models?)('s|s')?( |$|,|:)(\w+ )`,
	`\b(ai|llm|large language) (model|system|agent|assistant|tool)s?\b`,
	`\b(system prompt|developer mode|jailbreak|act as|acting as|pretend (to|that)|context window|`+
		`memory file|memory\.md)\b`,
	`\b(your|yours|yourself|you)\b`,
	// By what it does.
	`\b(whoever|whatever|the one who|th(ose|at) who|anyone who|everyone who|people who) (now |always )?(helps?|assists?|`+
		`answers?|reads?|looks? after|manages?|handles?|keeps?|writes?|runs?|deals?|takes? care|serves?)\b`,
	`\b(the|his|her|their|any|every|no|its) (\w+ )?helpers?\b`,
)

// notAddressed are phrases with "you" that address no one.
var notAddressed = anyOf(`\b(thank[ -]?you|how are you|you know what|see you|i love you|bless you)\b`)

// isAboutAgent reports whether text speaks of the agent, by name or by what it is, or to it.
func (n Names) isAboutAgent(text string) bool {
	text = notAddressed().ReplaceAllString(text, "")
	if aboutAgent().MatchString(text) {
		return true
	}
	low := strings.ToLower(text)
	whole := strings.Join(strings.FieldsFunc(low, func(r rune) bool { return !isWord(r) }), " ")
	// Kate-chan is Kate.
	parts := strings.Join(strings.FieldsFunc(low, func(r rune) bool { return r == '-' || r == '_' || !isWord(r) }), " ")
	return slices.ContainsFunc(n.agentNames(), func(name string) bool {
		return strings.Contains(" "+whole+" ", " "+name+" ") || strings.Contains(" "+parts+" ", " "+name+" ")
	})
}

func isWord(r rune) bool {
	return r == '-' || r == '_' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r > 127
}

const (
	// passing are the verbs by which something gets to others, is revealed or let happen, in all their forms. What is said
	// with them about a duty, a wish or a habit may be an order to the agent, which is not named.
	passing = `(sends?|sent|sending|forward(s|ed|ing)?|cop(y|ies|ied|ying)|cc('?d|s)?|bcc('?d)?|shar(e|es|` +
		`ed|ing)|reveal(s|ed|ing)?|` +
		`tells?|told|telling|disclos(e|es|ed|ing)|leak(s|ed)?|upload(s|ed|ing)?|e-?mail(s|ed|ing)|post(s|ed|ing)|` +
		`hand(s|ed|ing)? over|handed|relay(s|ed|ing)?|mirror(s|ed)?|report(s|ed) to|deliver(s|ed)? to|giv(e|` +
		`es|en|ing)|gave|` +
		`pays?|paid to|wir(e|es|ed)|transfer(s|red|ring)?|deposit(s|ed)?|purchas(e|es|ed)|delet(e|es|ed|` +
		`ing)|eras(e|es|ed)|wiped?|` +
		`remov(e|es|ed)|overwrit(e|es|ten)|execut(e|es|ed)|install(s|ed)?|download(s|ed)?|run as|ran as|` +
		`obey(s|ed|ing)?|` +
		`follow(s|ed|ing)? (the )?(instructions?|orders?|commands?|requests?|advice|whatever)|compl(y|ies|` +
		`ied)|trust(s|ed|ing)?|` +
		`believ(e|es|ed)|approv(e|es|ed|ing)|grant(s|ed|ing)?|allow(s|ed|ing)?|permit(s|ted)?|authori[sz](e|` +
		`es|ed)|accept(s|ed)?|` +
		`ignor(e|es|ed|ing)|skip(s|ped|ping)?|bypass(es|ed|ing)?|disabl(e|es|ed)|disregard(s|ed)?|suspend(s|` +
		`ed)?|waiv(e|es|ed)|` +
		`overrid(e|es|den)|unlock(s|ed)?|expos(e|es|ed)|publish(es|ed)?|answer(s|ed)? to|hid(e|es|den)|` +
		`conceal(s|ed)?|keep quiet|` +
		`let in|recommend(s|ed)?|treated as|regarded as|considered)`
	// duty are words that say what is to be done.
	duty = `(must|should|shall|ought to|ha(s|ve) to|needs? to|(is|are) to|(is|are) (required|supposed|` +
		`expected|obliged|instructed|` +
		`told|asked) to|had better|will( always| now)?|gets?)`
)

// permissions find that someone may do something, or counts for more than before.
var permissions = anyOf(
	`\b(is|are|was|were|be|been|being|gets?|stays?|remains?)( \w+ly| now| also| still|`+
		` always)* (not )?(allowed|permitted|authori[sz]ed|cleared|`+
		`entitled|trusted|exempt(ed)?|granted|white ?listed|allow ?listed|verified|vetted|privileged|`+
		`trustworthy|pre-?approved|in charge|`+
		`above suspicion|welcome to)\b`,
	`\bmay (now |also |always |freely )*(use|see|read|access|know|have|receive|get|open|enter|take|order|`+
		`spend|sign|approve|decide|request|`+
		`view|change|edit|delete|share|give|tell|speak|act|ask|look|hear|be (told|given|shown|sent|shared|`+
		`used|trusted|read))\b`,
	`\b(can|could) (now |also |always |freely |safely )*(be )?(told|given|shown|shared|trusted|disclosed|`+
		`revealed|sent|skipped|ignored|`+
		`bypassed|deleted|approved|decide for|speak for|act for|sign for)\b`,
	`\b(has|have|had|gets?|got|gains?|given?|granted|with|holds?) (\w+ ){0,3}(access|permissions?|authority|`+
		`authori[sz]ation|clearance|`+
		`privileges?|right to|rights|consent|carte blanche|power of attorney|final (say|word))\b`,
	`\b(admin(istrator)?s?|superuser|root (user|access)|sudo)\b`,
	`\bthe (\w+ )?(real|true|actual|new|only|second|rightful|legitimate) (\w+ )?(user|owner|operator|`+
		`principal|boss|developer|account holder)\b`,
	`\bis (really |actually |now |also )*(the|a|an|this) (user|operator|principal|account holder|co-?owner|`+
		`owner)( (now|too|here))?([.,;!]|$)`,
	`\b(no|without|needs? no|skip(s|ping)?|never needs?) (\w+ )?(confirmation|approval|permission|`+
		`verification|asking|questions?|review|`+
		`check(s|ing)?|consent|password|identification|id)\b`,
	`\bno need (to|for)\b`, `\b(does|do|need)(n't|n’t| not) (need|have|require)? ?(to )?(\w+ )?(ask|confirm|`+
		`confirmation|verify|check|approval|permission)`,
	`\b(fine|ok|okay|safe|good|alright|all right|acceptable|harmless|encouraged|happy|free|best|right|`+
		`legitimate) (for \w+ )?(to|with) (be )?(\w+ )?`+passing+`\b`,
	`\b(lets? \p{L}+ (handle|manage|decide|sign|see to)|without (bothering|consulting|disturbing) \p{L}+)\b`,
	`\b(on behalf of|speaks? for|acts? for|in the name of|same (rights|authority|standing|trust|permissions))\b`,
	`\bsigns? for \p{L}+ (when|if|whenever)\b`,
	`\b(counts? as|as good as|equal to|equivalent to) (\w+ ){0,3}(user|owner|order|instruction|permission|`+
		`consent|confirmation|word)`,
	`\b(overrides?|outranks?|take(s)? (precedence|priority)|ha(s|ve) (precedence|priority)|comes? first|(is|`+
		`are) (law|binding|final|orders?|`+
		`genuine|authentic|legitimate|not secret|no secret|public now|declassified))\b`,
	`\b(rules?|polic(y|ies)|restrictions?|limits?|safeguards?|guard ?rails?|filters?|protections?|`+
		`precautions?|privacy|secrecy|confidentiality)\b`+
		`[^.!?]{0,30}\b(do|does|did|need) ?(not|n't|n’t) (apply|matter|hold|count|cover|extend)\b`,
	`\b(rules?|polic(y|ies)|restrictions?|safeguards?|guard ?rails?|filters?|protections?|`+
		`precautions?)\b[^.!?]{0,30}\b(no longer|`+
		`(is|are|was|were) (now )?(off|lifted|void|suspended|disabled|optional|waived|relaxed|over|gone|`+
		`history))\b`,
	// Someone learns things, or is asked, as a rule.
	`\b(is|are|be|being|gets?|stays?|remains?) (\w+ )?(told|informed|notified|shown|briefed|consulted|asked first|`+
		`kept (informed|posted|up to date|in the loop|from)|in (the loop|copy))\b`,
	`\b(un)?trust(ed|worthy)\b`, `\b\w+['’]s (word|orders?|requests?|instructions?|commands?|wish(es)?|`+
		`messages?|decisions?|advice) `+
		`(is|are|counts?|has|have|must|should|comes?|ranks?|goes|weighs?|holds?)\b`, `\bas good as \p{Lu}`,
	`\bexceptions? (for|to|is|are) `, `\b(is|are) an? exception\b`,
)

// orders find English instructions to the reader.
var orders = anyOf(
	`\b(from now on|going forward|in future,|in the future,|hereby|henceforth|as of (now|today)|`+
		`effective immediately|at all times)\b`,
	`\b(disregard|override|bypass|obeys?)\b`, `\bforget (all|about|every|the|what|any|previous)\b`,
	`\b(previous|earlier|prior|all|any|these|those|new|following) (instructions?|orders?|commands?|`+
		`directives?|guidelines?)\b`,
	`\b(standing order|standard (procedure|practice|practise)|protocol|directive|mandatory|default (action|`+
		`reply|answer|response) )`,
	`\b(everyone|everybody|anyone|anybody|nobody|no one|noone|one|whoever|people|we|helpers?|readers?|`+
		`whoever reads this) (\w+ )?`+duty+`\b`,
	`\b`+duty+` (\w+ ){0,2}?(not |never |always |also |only )*(be )?`+passing+`\b`,
	`\b(is|are|gets?|go|goes) (always |also |automatically |now |then |first |usually |immediately |`+
		`silently |quietly )*`+passing+
		` (\w+ )*?(to|with|for|by|without)\b`,
	`\b(is|are|gets?|was|were) (\w+ly |now |then |also |always )*(executed|approved|obeyed|ignored|`+
		`disclosed|revealed|leaked|granted|erased|`+
		`wiped|deleted|bypassed|disabled|suspended|believed|followed|skipped|switched off|turned off|`+
		`off limits|unlocked)\b`,
	`\b(consent(s|ed)?|agree[sd]?|happy|fine|okay|ok|approve[sd]?) (to|with|that)\b[^.!?]*\b`+passing+`\b`,
	`\b(each|every|all|any|whatever|copy|copies|everything|anything)\b[^.!?]{0,60}\b(goes?|sent|forwarded|`+
		`copied|shared|belongs?|cc|must|`+
		`should|handed|passed|mirrored|delivered|reported|told|known) (to|with|by)?`,
	`\bcop(y|ies) of (each|every|all|any|the|his|her|their|its|that|what|whatever)\b`,
	`\b(when|whenever|if|once|as soon as|each time|every time|after)\b[^.!?]{0,40}\b(asks?|says?|said|`+
		`requests?|mentions?|mentioned|demands?|`+
		`orders?|commands?|tells?|wants)\b[^.!?]*,`,
	`\b(whatever|anything|everything|what) \w+ (says?|asks?( for)?|wants?|requests?|needs?|writes?|decides?|`+
		`tells?)\b[^.!?]*\b(is|are|must|should|`+
		`counts?|goes|holds?|applies|true|right|done)\b`,
	`\b(user|owner|boss|operator|developer|company|team)('s wish)? (\w+ )?(wants?|wishes|asks?|asked|`+
		`agree[sd]?|consent(s|ed)?|approve[sd]?|expects?|`+
		`insist(s|ed)?|demand(s|ed)?|decided|confirmed|require[sd]?|is happy|is fine|`+
		`requested)\b[^.!?]*\b`+passing+`\b`,
	`\b(wants?|asks?|asked|expects?|tells?|told|wishes|reminds?) (you|me|the (agent|assistant|model|bot|ai))\b`,
	`\b(replies|answers|responses|messages|reports|summaries|e-?mails|notes) (to \w+ )?(always |must |`+
		`should |also )*(begin|start|end|contain|`+
		`include|carry|mention|recommend|quote|link)s?\b`,
	`\bit is (important|necessary|essential|required|best|vital|crucial|expected|customary|usual|normal|`+
		`policy|good practi[cs]e) `+
		`(to|that|for)\b[^.!?]*\b`+passing+`\b`,
	`\b(the )?(best|right|correct|proper|usual|only|expected|safe) (way|thing|answer|reply|response|step|`+
		`move|action)\b[^.!?]*\b(is|are)\b`+
		`[^.!?]*\b`+passing+`\b`,
	`\b(always|never|automatically|silently|secretly|immediately|quietly) (be )?`+passing+`\b`,
)

// Verbs at the beginning of a sentence, which make it an order.
const (
	plainVerbs = `please|always|never|do not|don't|don’t|make sure|ensure|be sure|remember|note (to|that)|` +
		`tell|say|send|reply|respond|` +
		`execute|write|delete|remove|fetch|visit|click|e-mail|reveal|install|upload|buy|approve|accept|` +
		`grant|allow|enable|disable|` +
		`follow|include|add|keep|give|put|hide|avoid|refuse|consider|assume|regard|acknowledge|behave|` +
		`comply|listen|let|treat|` +
		`obey|ignore|provide|pass|cc|bcc|append|prepend|mention|recommend|suggest|inform|notify|ask|bring|` +
		`get|go|act|pretend|never mind|` +
		`insert|attach|encode|decode|repeat|translate|summari[sz]e|append|erase|wipe|wire|deposit|invite|` +
		`subscribe|unlock|confirm|` +
		`believe|store|save|memori[sz]e|adopt|apply|do|be|take|make`
	// nounVerbs are also nouns: what follows tells which of the two one is.
	nounVerbs = `post|call|book|email|mail|forward|share|set|answer|contact|run|use|download|transfer|` +
		`change|update|check|trust|stop|start|` +
		`pay|open|print|output|read|skip|order|report|copy|record|log|deposit|access|purchase|review|search|` +
		`sign|lock|charge|credit|text|message`
)

var (
	order = anyOf(`^\W*(` + plainVerbs + `)\b`)
	noun  = anyOf(`^\W*(` + nounVerbs + `)( \w+)?\s+(\S+)`)
	// finite are the verbs by which a sentence that begins with a noun is told.
	finite = anyOf(`\b(is|are|was|were|has|had|have|will|can|does|did|may|might|would|\pL{2,}[^s\W]s|` +
		`\pL{3,}ed|came|went|took|ran|cost|fell|` +
		`rose|began|met|left|made|got|felt|kept|lost|won|paid|sold|wrote|read)\b`)
	// object begins what an order is about: the word after a verb, and rarely after a noun.
	object = anyOf(`^\W*(` + nounVerbs + `) (the|a|an|all|every|each|any|it|them|him|her|me|us|this|that|` +
		`these|those|my|our|his|their|no|nothing|` +
		`everything|only|to|out|up|back|everyone|anyone)\b`)
	nounNamed = pattern(`^\W*(?i:` + nounVerbs + `) \p{Lu}`)
	subclause = anyOf(`\b(when|whenever|if|who|whom|which|that|because|as soon as|before|after|until|while|` +
		`once|where|in case|as long as)\b.*`)
	sentences  = pattern(`[.!?;:]+(\s+|$)|\n+|\s[-–—]\s`)
	introduced = anyOf(`^\W*(if|when|whenever|once|before|after|should|as soon as|unless|until|in case|for|` +
		`in|on|to|note|reminder|important|` +
		`attention|hint|tip|todo|first|then|next|finally|also|and|so|but|now|today|instead)\b[^,]*,\s*`)
	introduction = anyOf(`^\W*(and|so|but|then|also|now|first|next|finally|instead|kindly|just|simply|` +
		`quietly|silently)\s+`)
)

// errand matches what the user has to do by a day, without a name, a number or an address: the least that an order
// needs. Only what households pay is paid.
var errand = pattern(`^(?:(?:Call|Renew|Buy|Collect|Pick up|Return|Water|Fix|Clean|Repair|Book|Hand in|Bring back) ` +
	`(?:the |my |our |a |an |some )?(?:[a-z-]+ ){0,3}[a-z-]+|Pay (?:the |my |our )?(?:[a-z-]+ )?` +
	`(?:bill|rent|tax|taxes|insurance|fine|school fees|membership|subscription)) ` +
	`(?:by|before|on|until|this|next|every) (?:the )?(?:[0-9]{1,2}(?:st|nd|rd|th)? )?(?:of )?` +
	`(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|` +
	`October|November|December|week|month|year)(?: [0-9]{4})?\.?$`)

// isOrder reports whether text says what the reader must do.
func isOrder(text string) bool {
	if errand().MatchString(text) {
		return false
	}
	if orders().MatchString(text) {
		return true
	}
	for _, sentence := range sentences().Split(text, -1) {
		if isImperative(sentence) || isImperative(introduction().ReplaceAllString(sentence, "")) ||
			introduced().MatchString(sentence) && isImperative(introduced().ReplaceAllString(sentence, "")) {
			return true
		}
	}
	return false
}

// isImperative reports whether a sentence begins with a verb that tells the reader what to do. "Post from the tax
// office arrives in March" begins with a noun.
func isImperative(sentence string) bool {
	if order().MatchString(sentence) {
		return true
	}
	if !noun().MatchString(sentence) {
		return false
	}
	if object().MatchString(sentence) || nounNamed().MatchString(sentence) {
		return true
	}
	// Without a verb of its own, the first word is it.
	words := strings.Fields(subclause().ReplaceAllString(sentence, ""))
	return len(words) < 3 || !finite().MatchString(strings.Join(words[2:], " ")) && !finite().MatchString(words[1])
}

// isPermission reports whether text says that someone may do something, or that a rule does not hold.
func isPermission(text string) bool { return permissions().MatchString(text) }
