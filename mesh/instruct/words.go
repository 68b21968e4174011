package instruct

import (
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

var (
	// sayVerbs begin an instruction about the way in which something is said or made.
	sayVerbs = text.Set("abbreviate adapt add address align alphabetize annotate answer apologize ask " +
		"assume attach avoid be begin calculate call capitalize challenge check choose cite clarify close " +
		"comment communicate compute conclude confirm consider convert correct cut date default define " +
		"describe display document double-check drop emphasise emphasize end escape estimate explain express " +
		"favor favour finish follow format give greet group guess hedge hide highlight hyphenate include " +
		"indent inline insert introduce italicize joke justify keep label lead lecture limit link list log " +
		"make mark match measure mention moralize name note number offer omit order phrase pick pin point " +
		"prefer prefix present preserve print proofread provide put quote ramble rank rate refer render " +
		"repeat reply report respond restrict return round run say separate shorten show sign simplify skip " +
		"sort speak spell split start state stick stop structure suffix summarise summarize surround tag " +
		"tailor talk tell test transcribe translate treat trim type underline use warn wrap write")
	// workVerbs are what an assistant does besides, which an instruction limits: "Don't push to main".
	workVerbs = text.Set("accept alter archive book cancel change charge commit contact cook copy " +
		"create delete deploy disable disclose discuss download edit email exclude fix force force-push " +
		"forward generate implement import install invent invite log mail make merge message mock modify move " +
		"notify order overwrite pad page paste pay ping plan post praise prepare publish push read rebase " +
		"recommend refactor release remind remove rename reset review save schedule send share spend squash " +
		"store suggest switch test text touch train update upgrade upload verify")
	// askVerbs are what is done before or after each of some other work: "Ask before deleting anything".
	askVerbs = text.Set("alert ask back build check commit confirm double-check explain format get lint " +
		"propose push review run save show suggest summarize tell test verify wait warn")
	// otherVerbs follow "always" and "never" too.
	otherVerbs = text.Set("aim apply attend bring brush buy carry clean close combine come compare " +
		"cover do drink eat ensure expect feed fill find follow get go handle have heat help hold identify " +
		"invoke lead lock look measure meet open optimize pack park pass pay play protect raise reach reject " +
		"remember respect rinse sanitize seek serve set sit sleep specify stand stay stir strip support take " +
		"think throw touch treat trust try turn validate wait walk wash watch wear work")
	// speech are sayVerbs that take a language without an object: "Reply in Portuguese".
	speech = text.Set("answer communicate default explain reply respond speak stick summarise summarize " +
		"talk write")
	// plainVerbs are sayVerbs that say enough with an object that is made again and again: "Cite sources", "Use metric
	// units".
	plainVerbs = text.Set("assume avoid capitalize challenge cite correct define double-check drop " +
		"emphasize escape exclude explain favor favour follow hyphenate include italicize justify match " +
		"mention number omit prefer proofread quote skip use validate verify")
	preferring = text.Set("avoid favor favour prefer use")

	// outputs are what an assistant makes again and again, in the singular.
	outputs = text.Set("agenda amount answer api appointment article assertion block branch bug " +
		"calculation caption change changelog chart chat citation claim class code codebase comment commit " +
		"comparison component conclusion config conversation conversion currency date decimal description " +
		"diagram dialog dialogue diff distance doc docstring document documentation draft duration email " +
		"endpoint error essay estimate example exception exercise explanation figure file fix forecast " +
		"function graph guide heading icon identifier image import ingredient interface invoice issue " +
		"itinerary keyword label layout letter line link list log mail meal measurement memo message method " +
		"migration mockup module name newsletter note number offer output package page paragraph path " +
		"percentage plan post pr presentation price project prompt proposal pull-request quantity query " +
		"question quiz quotation quote readme reasoning recipe recommendation reference release reply repo " +
		"report repository request response result review sample schedule schema screenshot script section " +
		"sentence session signature size slide snippet source speed step story struct subject suggestion sum " +
		"summary table task temperature template term test text thing ticket time timestamp title total " +
		"transcript translation tweet unit url variable weight word write-up")
	// styles are what such a thing has or has not, in the singular.
	styles = text.Set("abbreviation acronym analogy apology assumption bold british bullet bullets " +
		"buzzword calendar camelcase capital cliche cliché clock colon comma commit compliment contraction " +
		"convention dash dependency disclaimer em-dash emoji emoticon english exclamation expletive filler " +
		"flattery font footnote format framework generic global grammar greeting guide header heading hedging " +
		"hint humor humour hyperbole icon idiom imperative indentation intro introduction irony italic jargon " +
		"joke kilogram kilometer kilometre language library mark markdown metaphor metric nickname notation " +
		"number outro padding passive password placeholder pleasantries pleasantry point preamble pronoun " +
		"punctuation push question quote return rhyme sarcasm secret semicolon sign-off signature singleton " +
		"slang small-talk smiley space spelling spoiler standard style superlative swearing syntax system tab " +
		"talk tense ternary tone type typing underscore unit voice word")
	// mass are outputs and styles that need no plural.
	mass = text.Set("bold camelcase code currency documentation emoji english everything feedback " +
		"filler flattery format formatting grammar hedging humor humour indentation irony italic jargon " +
		"language markdown metric notation output padding prose punctuation reasoning sarcasm slang " +
		"snake_case spelling style swearing syntax talk text thinking time tone typing voice")

	// formats come after "in": a language, a unit, a form.
	formats = text.Set("12-hour 24-hour am/pm arabic backtick bahasa bash bengali block bold bracket " +
		"brief brl bst bulgarian bullet camelcase cap capital case catalan celsius cet chf chinese clear " +
		"croatian cst csv currency czech danish docx dollar dollars dutch english est estonian eur euro excel " +
		"fahrenheit fewer finnish fish font foot form formal format franc french galician gbp german gmt go " +
		"gram greek hebrew hindi hour html hungarian icelandic imperative inch informal irish iso italian " +
		"italic japanese java javascript jpy json kebab-case kelvin kilo kilogram kilometer kilometre korean " +
		"kotlin language latex latin letter line list liter lithuanian litre lowercase malay mandarin " +
		"markdown meter metre mile minute mood norwegian notation order ounce paragraph parenthesis " +
		"pascalcase pdf percent persian person plain png point polish portuguese pound powershell prose pst " +
		"pt python quote romanian rst russian rust script sentence serbian short simple slovak slovene " +
		"snake_case spanish sql style svg swahili swedish swift table tamil tense thai title toml tone " +
		"turkish typescript ukrainian unit uppercase urdu usd utc vietnamese voice welsh word xml yaml yen " +
		"zsh")
	// tones are how something is said.
	tones = text.Set("academic accessible accurate actionable alphabetical alphabetically blunt brief " +
		"briefly calm candid casual casually chronologically clear clearly compact concise concisely " +
		"condescending consistent conversational critical descriptive detailed direct directly dry " +
		"encouraging explicit factual flowery formal formally frank friendly funny gender-neutral gentle " +
		"honest honestly human-readable humorous idiomatic informal informally kind laconic light literal " +
		"lowercase meaningful minimal modest neat neutral objective patient plain plainly playful polite " +
		"politely positive practical preachy precise professional readable relaxed respectful sarcastic " +
		"self-contained serious sharp short shorter simple simply small sober specific succinct succinctly " +
		"technical tentative terse thorough tidy understandable uppercase vegan vegetarian verbose warm wordy")

	quantifiers = text.Set("all any each every")
	owners      = text.Set("my our your")
	definites   = text.Set("both half her his its that the their these this those")
	singles     = text.Set("a an another few five four many one several six some three two")
	// places come before what an instruction is for: "in all reports".
	places = text.Set("about after at before by during for from in inside into of on onto per to under " +
		"with within without")
	// limits come before a number: "under five lines".
	limits = text.Set("above around at below exceed exceeding in least longer most over shorter than to " +
		"under up within")
	// manners come after what is made, and say how.
	manners = text.Set("after as before by first following last like using with within without")
	// times are words of what is done once, or at a time of which there is one.
	times = text.Set("again already april august currently december february friday january july june " +
		"later monday november now october recent saturday september soon sunday thursday today tomorrow " +
		"tonight tuesday wednesday yesterday yet")
	// lists are verbs that show what there is.
	lists = text.Set("check compare display give list print report show")
	near  = text.Set("at for from in of on to")
	// ending ends a group of words around a noun; closing can follow a whole instruction.
	ending  = text.Set(", and anywhere better everywhere instead not or")
	closing = text.Set(", always and anymore at either even everywhere first i last only or please too " +
		"you")
	// changes are verbs that make something else of their object, or less of it.
	changes = text.Set("align convert cut limit link log restrict round shorten translate trim")
	// adjectives may follow "always" as verbs do.
	adjectives = text.Set("clean close complete direct open present")
	// withVerbs take "with" and are verbs.
	withVerbs = text.Set("alert answer ask back build check commit communicate confirm default double-check explain " +
		"format get indent lead lint propose push reply respond review run save show speak stick suggest summarise " +
		"summarize talk tell test verify wait warn write")
	// seeming comes before a tone: "stay formal".
	seeming = text.Set("remain sound stay")
	// particles come between a verb and its object.
	particles = text.Set("me out up us")
	// waysOf end "answer in", and are no form.
	waysOf = text.Set("advance court full ink kind pen pencil person time turn writing")
	// notAdverbs have the ending of adverbs.
	notAdverbs = text.Set("assembly daily early family family-friendly friendly monthly only reply " +
		"supply weekly yearly")
	pronouns = text.Set("it me them us")
	// states are what "when I" and "you" is followed by besides verbs.
	states = text.Set("away busy doing driving making sure tired traveling travelling unsure working")
	// rules announce an instruction before a colon; labels do not name who speaks.
	rules  = text.Set("convention guideline instruction language preference rule spelling tone")
	labels = text.Set("fyi git human important me note policy process remember reminder tip todo user " +
		"workflow")
	// sayings tell that what follows a colon is somebody else's words.
	sayings = text.Set("advice agent answered asked assistant caption error goes headline insisted " +
		"label lyrics motto output poster quote quoted read reads replied said say says shouted sign slogan " +
		"song tells title titled told warned writes wrote")
	assistants    = text.Set("agent ai assistant")
	abbreviations = text.Set("Dr Mr Mrs Ms Prof St e.g i.e")
	nearTimes     = text.Set("current last next this")
	// persons are somebody else's, whom a request is about.
	persons = text.Set("he her herself him himself his it she their them they")
	others  = text.Set("he her him his she")
	// places that have a number of their own are not for all.
	numbered = text.Set("appendix box cell chapter column door drawer figure floor folder gate item " +
		"line number page platform question room row section sheet shelf slide step tab table track version " +
		"week")
	// idioms come after a quantifier, and count nothing.
	idioms = text.Set("but case cost costs event except five four kinds means more of other rate right " +
		"sorts the these things this those three time two way")
	// relatives end the main clause of a sentence.
	relatives = text.Set("after although as because before how if since so than that though unless " +
		"until what whatever when whenever where which while who whose")
	// finites are verbs in a form that an instruction has not. They show that the first word was a noun.
	finites = text.Set("are aren't became began broke came can cause causes cost could did differ " +
		"differs does fell felt gave goes got grew had has have held help helps is isn't kept led left look " +
		"looks lost made may met might must need needs paid ran remain remains rose said sat seem seems sent " +
		"should sold spent stood told took varies vary was wasn't went were weren't will won work works would " +
		"wrote")
	// pasts follow "never" where the subject is left out: "Never went there".
	pasts = text.Set("a again an as at ate became been before began broke came chose done drank drove " +
		"enough ever fell felt flew forgot fought found gave gone got grew had heard held in kept knew known " +
		"left lost made met mind more my on paid quite ran rang really rode sang sat saw seen sent slept so " +
		"sold spent spoke stood taken taught that the thought threw told too took understood went won wore " +
		"wrote")
	// dropped follow "don't" where the subject is left out, or tell nobody what to do.
	dropped = text.Set("believe blame care feel forget get hate have hesitate judge know leave let like " +
		"mind miss need panic recall remember see tempt think understand want worry")
	weekdays = text.Set("afternoons evenings fridays holidays mondays mornings nights saturdays sundays " +
		"thursdays tuesdays wednesdays weekdays weekends")
	units = text.Set("day days evening hour hours minute month months morning night night's noon " +
		"quarter sprint week weeks year")
	gone     = text.Set("did had was were")
	meetings = text.Set("call email mail meeting message notification ping question reminder suggestion " +
		"update")
	likings = text.Set("avoid avoids dislike dislikes hate hates prefer prefers rather")
	wants   = text.Set("drink drinks enjoy enjoys expect expects like likes love loves need needs stand " +
		"take takes want wants")
	present = text.Set("begin begins carries carry come comes contain contains end ends follow follows " +
		"get gets go goes has have include includes mention mentions name names need needs start starts use " +
		"uses")
	// participles are of what is done to a text when it is made.
	participles = text.Set("capitalized cited dated formatted given indented kept labeled labelled " +
		"named numbered phrased prefixed quoted rounded shown signed sorted spelled translated worded wrapped " +
		"written")
	notQualities = text.Set("a an available away back done enough fine gone here it its late lost my " +
		"off ok okay on out over ready right soon that the there true up wrong your")
	// own are what an assistant says and makes itself, so that a fact about all of them is a rule.
	own     = text.Set("answer branch comment commit explanation message name pr reply response summary")
	openers = text.Set("also always it it'd each every and be but by can convention could do don don’t everywhere " +
		"feel generally going house i i'd ideally if just kindly leave let make my never no offer only please " +
		"preference preferences pull remain remember rule rules so sound stay stop style team the try unless " +
		"user when whenever will would you")
	interrogatives = text.Set("am are did do does had has how is may might shall should was were what " +
		"where which who whom whose why")
	// told take a person: "Don't tell Vera".
	told = text.Set("ask call contact email give invite mail message page ping remind send show tell " +
		"text wait")
	// parts of a text or a habit of work have "the" although there are many of them.
	parts = text.Set("12-hour 24-hour active author's body bottom build cause changelog clock comma " +
		"conclusion customer's date debugger end essentials exact first footer form format formatter full " +
		"greeting header imperative indentation intro introduction issue language latest left linter local " +
		"main margin maximum metric minimum most name nearest next number open order oxford page paper " +
		"passive past phrase pleasantries point preamble present project's query reason recipient's result " +
		"right root same shortest simplest source spelling start steps style subject suite system tax tense " +
		"term test tests ticket title tone top type unit user user's verb voice weekday word words year")
)

// IsVerb reports whether a word is a verb in its base form for what an assistant does. It may be a noun as well.
func IsVerb(word string) bool {
	word = strings.ToLower(word)
	return sayVerbs[word] || workVerbs[word] || askVerbs[word] || otherVerbs[word]
}

// singular returns the singular of a noun, which may be one already.
func singular(noun string) string {
	switch {
	case strings.HasSuffix(noun, "ies"):
		return noun[:len(noun)-3] + "y"
	case strings.HasSuffix(noun, "ches"), strings.HasSuffix(noun, "shes"), strings.HasSuffix(noun, "sses"),
		strings.HasSuffix(noun, "xes"), strings.HasSuffix(noun, "nches"):
		return noun[:len(noun)-2]
	case strings.HasSuffix(noun, "s") && !strings.HasSuffix(noun, "ss"):
		return noun[:len(noun)-1]
	}
	return noun
}

// gerund returns whether a word is the -ing form of a verb of one of the sets.
func gerund(word string, sets ...map[string]bool) bool {
	stem, ok := strings.CutSuffix(word, "ing")
	if !ok || len(stem) < 2 {
		return false
	}
	return slices.ContainsFunc(sets, func(set map[string]bool) bool {
		return set[stem] || set[stem+"e"] || stem[len(stem)-1] == stem[len(stem)-2] && set[stem[:len(stem)-1]]
	})
}

func isNumber(word string) bool {
	return word != "" && word[0] >= '0' && word[0] <= '9' || smallNumbers[word]
}

var smallNumbers = text.Set("one two three four five six seven eight nine ten twelve twenty fifty hundred a")
