package trust

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The regular expressions of this file and of claims.go hold too much rather than too little, because a person can
// confirm what they hold. They are matched against a text in normal form KC, and again without its accents. They prove
// nothing: an instruction in other words passes.

// markup matches role labels of a conversation, markup that is not prose, and links out of the file.
var markup = pattern(`(?im)` + strings.Join([]string{
	`^\W*(system|assistant|user|developer|human|agent|tool)\s*:`, "```", `~~~`, `<\|`, `<[!/?a-z]`, `\[/?INST\]`,
	`!\[`,
	`\]\(`,
	`^\W*\[[^\]]+\]:`,
	`[a-z][a-z0-9+.-]*://`,
	`\bwww\.`,
	`\b(javascript|data|vbscript|mailto):`,
	`&#?\w+;`,
	// What a sweep itself writes.
	`\bdreamed [0-9]{4}-[0-9]{2}`, `\(score\s*=`,
}, "|"))

// imperatives match sentences that address an agent in languages other than English, which claims.go has.
var imperatives = pattern(`(?im)` + strings.Join([]string{
	// To an agent, or about what it must do, in languages of the Latin script.
	`\b(der|die|dem|den|das|le|la|el|il|lo|o|a|de|en) (ki-?)?(assistent\w*|asistente|assistente|agente|bot|ki|ia)\b`,
	`\bl['’](assistante?|assistente|agente?|ia)\b`, `助手|助理|アシスタント|비서|ассистент|асистент|помощник|مساعد`,
	`\b(du|ihr|sie|der agent|der assistent) (musst|sollst|darfst|muss|soll|darf|müssen|sollen|dürfen)\b`,
	`\b(vergiss|missachte|ab sofort|von nun an|ab jetzt)\b`,
	`\b(debes|deber[ií]as|tienes que|hay que|olvida|de ahora en adelante|a partir de ahora)\b`,
	`\b(tu dois|vous devez|il faut|oublie[zr]?|désormais|desormais|à partir de maintenant)\b`,
	`\b(voce deve|deves|tens de|tens que|esque[cç]a|de agora em diante|a partir de agora)\b`,
	`\b(devi|dovete|bisogna|dimentica|d'ora in poi|da ora in poi)\b`,
	`\b((je|jij|u) moet|negeer|vergeet|vanaf nu)\b`, `\b(musisz|powiniene[sś]|nale[zż]y|zapomnij|od teraz)\b`,
	`\b(yok say|unut|g[oö]rmezden gel|gonder|bundan sonra|zorundas)`,
	`\b(kamu harus|anda harus|abaikan|lupakan|mulai sekarang|jangan)\b`,
	`\b(du (ska|skal|maste|måste|skall|bor)|glom|bortse|fra nu|fran och med nu)\b`,
	`\b(bo qua|hay (gui|tra loi|bo)|tu bay gio)\b`,
	`\b(musis|mus[ií]te|zapome[nň]|ignoruj)`,
	`\bz?ignor(e|ier|iere|iert|a|ad|ez|er|uj|ujte|era)?\b`,
	`\b(instru[ck](ti|t?io|ci|cj|si|co)|istruzion|talimat|anweisung|aanwijzing|polecen|wskazowk|pokyn)`,
	// An order at the beginning of a sentence.
	`(^|[.!?:;]\s+|\s[-–—]\s)\W*(` +
		`immer|niemals|bitte|sende|schicke?|schreibe?|antworte|sage?|gib|lies|l[oö]sche?|[oö]ffne|rufe?|` +
		`verwende|be?nutze|vertraue?|gehorche?|folge|leite|teile|zeige?|verrate|[uü]berweise?|kaufe?|` +
		`merke? dir|denke? daran|` +
		`siempre|nunca|por favor|env[ií]a|manda|reenv[ií]a|responde|contesta|di|dile|escribe|lee|borra|` +
		`elimina|abre|ejecuta|utiliza|conf[ií]a|obedece|sigue|comparte|revela|muestra|paga|compra|haz|` +
		`pon|recuerda|` +
		`toujours|jamais|s'il te pla[iî]t|envoie|envoyez|transmets|transmettez|r[eé]ponds|r[eé]pondez|dis|` +
		`dites|[eé]cris|supprime|efface|ouvre|ex[eé]cute|utilise|fais|faites|suis|ob[eé]is|partage|` +
		`r[eé]v[eè]le|montre|paie|ach[eè]te|rappelle|` +
		`sempre|envie|envia|mande|responda|diga|escreva|apague|abra|execute|confie|obede[cç]a|siga|` +
		`compartilhe|revele|lembre|` +
		`invia|inoltra|rispondi|scrivi|leggi|cancella|apri|esegui|fidati|obbedisci|segui|condividi|` +
		`rivela|ricorda|` +
		`altijd|nooit|stuur|verstuur|antwoord|zeg|schrijf|lees|verwijder|gebruik|vertrouw|gehoorzaam|volg|` +
		`deel|onthoud|` +
		`zawsze|nigdy|wy[sś]lij|odpowiedz|powiedz|napisz|usu[nń]|otw[oó]rz|wykonaj|u[zż]yj|zaufaj|pami[eę]taj|` +
		`her zaman|asla|yan[iı]tla|kirim|selalu|alltid|aldrig|aldri|skicka|svara|svar|luon)\b`,
	// In other scripts, whose words have no ends that a regular expression knows.
	`忽略|忽視|忽视|无视|無視|忘记|忘記|忘掉|必须|必須|务必|務必`,
	`应该|應該|不要|总是|總是|始终|从现在|從現在`,
	`指令|指示|提示词|发送|發送|转发|轉發|发给|發給|告诉|告訴|执行|執行|服从|信任|请|請`,
	`忘れ|しなさい|ください|せよ|必ず|常に|決して|今後|今から`,
	`命令|従[いえうっ]|送って|送れ`,
	`무시|잊어|해야|하세요|하십시오|해라|보내`,
	`항상|절대|반드시|지시|명령|지금부터|따르|따라`,
	`игнорир|забудь|отправ|перешл|ответь|отвечай|скажи`,
	`напиши|удали|открой|выполни|запусти|используй`,
	`доверяй|слушай|запомни|инструкци|отныне|должен|должна|должны`,
	`(^|[.!?:;,]\s+)(всегда|никогда)`,
	`ігнору|надішли|перешли|завжди|ніколи`,
	`повинен|повинна|інструкці`,
	`αγνόησ|αγνοησ|στείλε|στειλε`,
	`πρέπει να|πρεπει να|οδηγί|οδηγι|από εδώ και`,
	`تجاهل|يجب|أرسل|ارسل|دائم|أبدا|ابدا|تعليمات|من الآن|نفذ|أجب`,
	`התעלם|תתעלם|שכח|עליך|תמיד|לעולם|הוראות|שלח|מעכשיו`,
	`अनदेखा|नज़रअंदाज़|भूल जा|निर्देश`,
	`हमेशा|कभी नहीं|भेज`,
	`चाहिए|करो|करें|कीजिए|अब से`,
}, "|"))

// obscured matches ways of writing that hide a word from imperatives: its letters apart, or encoded text.
var obscured = pattern(`(^|\PL)(\pL[ ._*-]){4,}\pL(\PL|$)|[!-~]{50,}`)

// coveredScripts are the scripts for which imperatives have words.
var coveredScripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Common, unicode.Inherited, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Cyrillic, unicode.Greek, unicode.Arabic, unicode.Hebrew, unicode.Devanagari,
}

// phonetic are Latin letters that look like common ones: in a sentence they are mostly a disguise.
var phonetic = &unicode.RangeTable{R16: []unicode.Range16{
	{0x0250, 0x02af, 1}, {0x1d00, 0x1dbf, 1}, {0xa720, 0xa7ff, 1},
}}

// Suspicions are the reasons why a person should read text before an agent treats it as its own, none if there are no
// such reasons.
func (n Names) Suspicions(text string) (why []string) {
	text = norm.NFKC.String(Visible(text))
	bare := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(text))
	either := func(pattern *regexp.Regexp) bool { return pattern.MatchString(text) || pattern.MatchString(bare) }
	if either(imperatives()) || isOrder(bare) {
		why = append(why, "it reads like an instruction to the agent")
	}
	if isPermission(bare) || n.standsIn(text) {
		why = append(why, "it reads like a permission")
	}
	if n.othersShare(text) {
		why = append(why, "it may give someone else rights")
	}
	if n.isAboutAgent(bare) {
		why = append(why, "it is about the agent")
	}
	if either(markup()) {
		why = append(why, "it has a link or markup")
	}
	switch {
	case either(obscured()) || disguised(bare):
		why = append(why, "its characters could hide its meaning")
	case strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) && !unicode.In(r, coveredScripts...)
	}):
		why = append(why, "it is in a script in which instructions are not recognized")
	}
	return why
}

// disguised reports whether a word mixes alphabets whose letters look alike, or has phonetic letters.
func disguised(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		alphabets := 0
		for _, alphabet := range []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek} {
			if strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(alphabet, r) }) {
				alphabets++
			}
		}
		if alphabets > 1 || strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(phonetic, r) }) {
			return true
		}
	}
	return false
}

// Visible returns text without invisible characters, which could hide what it says.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.In(r, invisible...) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

var invisible = []*unicode.RangeTable{
	unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
}
