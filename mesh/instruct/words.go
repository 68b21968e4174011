package instruct

import (
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

var (
	// sayVerbs begin an instruction about the way in which something is said or made.
	sayVerbs = text.Set("test align link correct challenge proofread annotate document alphabetize underline emphasize " +
		"emphasise italicize hyphenate transcribe match adapt tailor preserve follow lead close introduce conclude finish " +
		"rank rate estimate calculate compute measure date simplify clarify trim inline type pin justify escape abbreviate address answer apologize assume attach avoid be begin capitalize check cite " +
		"comment communicate confirm convert cut default define describe display double-check end explain express " +
		"favor favour format give group guess hedge hide highlight include indent joke keep label lecture limit list " +
		"make mark mention moralize name note number offer omit order phrase pick point prefer prefix present print " +
		"provide put quote ramble refer reply report respond restrict round say separate shorten show sign skip sort " +
		"speak spell split stick suffix start state stop structure summarise summarize surround tag talk tell treat consider " +
		"translate use warn wrap write greet return add ask call run drop choose render repeat insert")
	// workVerbs are what an assistant does besides, which an instruction limits: "Don't push to main".
	workVerbs = text.Set("accept alter archive book cancel change charge commit contact copy create delete deploy " +
		"disable disclose discuss download edit email exclude fix force force-push forward generate implement import " +
		"install invent invite log mail make merge message mock modify move notify order overwrite page pay ping " +
		"plan post praise prepare publish push read rebase recommend refactor release remind remove rename reset " +
		"review save schedule send share spend squash store suggest switch test text touch train update upgrade " +
		"upload verify cook pad paste")
	// askVerbs are what is done before or after each of some other work: "Ask before deleting anything".
	askVerbs = text.Set("alert back commit save push ask check confirm double-check format lint propose review run show tell test verify warn " +
		"build explain suggest get wait summarize")
	// otherVerbs follow "always" and "never" too.
	otherVerbs = text.Set("apply aim attend bring brush buy carry clean close come cover drink eat ensure expect feed fill " +
		"find follow get go have heat help hold identify lead lock look measure meet open optimize pack park pass pay " +
		"play protect raise reach reject remember respect rinse sanitize seek serve set sit sleep specify stand stay " +
		"stir strip support take think throw touch treat trust try turn validate wait walk wash watch wear work do " +
		"handle invoke compare combine")
	// speech are sayVerbs that take a language without an object: "Reply in Portuguese".
	speech = text.Set("answer communicate explain reply respond speak summarize summarise talk write default stick")
	// plain are sayVerbs that say enough with an object that is made again and again: "Cite sources", "Use metric units".
	plainVerbs = text.Set("challenge correct proofread match follow assume avoid cite define drop exclude explain favor favour include mention number omit prefer skip " +
		"use quote")
	preferring = text.Set("use prefer favor favour avoid")

	// outputs are what an assistant makes again and again, in the singular.
	outputs = text.Set("amount answer api assertion block branch bug caption change chart citation claim class code " +
		"codebase comment commit component config conversation currency date decimal description diagram dialog dialogue " +
		"diff distance doc docstring document documentation draft duration email endpoint error estimate example " +
		"explanation figure file fix function graph guide heading identifier import ingredient invoice issue itinerary " +
		"keyword label letter line link list log mail measurement memo message method migration module name note number " +
		"offer output page paragraph path percentage plan post presentation price project prompt pr proposal quantity " +
		"query question quotation quote recipe recommendation reference release reply repo repository report response " +
		"result review sample schedule schema script section sentence session size slide snippet source speed step story " +
		"subject sum summary suggestion table task temperature term test text ticket time timestamp title total " +
		"translation tweet unit url variable weight word write-up meal conclusion comparison thing screenshot image icon newsletter article essay agenda transcript " +
		"request calculation conversion forecast template layout mockup exercise quiz readme changelog interface package " +
		"struct exception pull-request signature appointment")
	// styles are what such a thing has or has not, in the singular.
	styles = text.Set("abbreviation acronym analogy apology bold british bullet bullets buzzword camelcase capital cliche " +
		"cliché colon comma compliment contraction dash disclaimer em-dash emoji emoticon exclamation expletive filler " +
		"flattery font footnote generic greeting pleasantries header hedging heading hint humor humour hyperbole icon imperative idiom " +
		"indentation introduction irony italic jargon joke kilometer kilogram kilometre language markdown mark metaphor " +
		"metric notation nickname number passive point placeholder pleasantry preamble pronoun punctuation question quote rhyme " +
		"sarcasm semicolon sign-off signature slang smiley space spelling spoiler superlative system swearing tab talk tense tone " +
		"underscore unit voice word english format return commit type typing style clock calendar convention standard " +
		"ternary global singleton dependency library framework syntax secret password small-talk intro outro padding guide assumption grammar")
	// mass are outputs and styles that need no plural.
	mass = text.Set("everything code currency documentation flattery filler hedging humor humour indentation irony italic jargon " +
		"language markdown notation output prose punctuation sarcasm slang snake_case spelling swearing syntax talk text grammar " +
		"time tone typing voice camelcase english bold emoji formatting format feedback style padding")

	// formats come after "in": a language, a unit, a form.
	formats = text.Set("arabic bahasa bengali bulgarian catalan chinese croatian czech danish dutch english estonian " +
		"finnish french galician german greek hebrew hindi hungarian icelandic irish italian japanese korean latin " +
		"lithuanian malay mandarin norwegian persian polish portuguese romanian russian serbian slovak slovene spanish " +
		"swahili swedish tamil thai turkish ukrainian urdu vietnamese welsh celsius fahrenheit kelvin euro dollar pound " +
		"franc yen kilo kilogram kilometer kilometre gram liter litre meter metre mile inch foot ounce utc gmt cet pt " +
		"am/pm 24-hour 12-hour hour markdown json yaml csv pdf svg png excel docx html xml toml latex rst bold italic tone style voice tense " +
		"format form iso " +
		"paragraph prose bullet point table list sentence word order person imperative mood plain simple clear formal " +
		"informal lowercase uppercase title capital cap case letter language notation font script block backtick quote " +
		"unit minute percent currency usd eur gbp chf jpy brl est pst bst cst dollars fewer short brief bracket parenthesis snake_case camelcase kebab-case pascalcase " +
		"line typescript python rust go javascript bash fish zsh powershell sql kotlin swift java")
	// tones are how something is said.
	tones = text.Set("accurate blunt brief briefly calm candid casual casually clear clearly concise concisely " +
		"condescending consistent critical detailed direct directly explicit factual flowery formal formally friendly " +
		"frank funny gender-neutral gentle honest honestly human-readable humorous informal informally kind laconic light " +
		"literal lowercase minimal modest neutral objective patient plain playful polite precise preachy professional " +
		"descriptive meaningful tidy neat compact understandable accessible positive warm encouraging relaxed plainly " +
		"conversational respectful dry factual academic technical practical actionable idiomatic simply politely " +
		"readable sarcastic serious short shorter sharp simple small sober specific succinct succinctly tentative terse " +
		"thorough uppercase verbose vegan vegetarian wordy alphabetical self-contained alphabetically chronologically")

	quantifiers = text.Set("all any each every")
	owners      = text.Set("my our your")
	definites   = text.Set("the this that these those his her their its both half")
	singles     = text.Set("a an one two three four five six some another several many few")
	// places come before what an instruction is for: "in all reports".
	places = text.Set("about after at before by for from in inside into of on onto to under with within without " +
		"during per")
	// limits come before a number: "under five lines".
	limits = text.Set("above at below exceed exceeding in longer over shorter than to under up within most least around")
	// manners come after what is made, and say how.
	manners = text.Set("after as before by first following like using with within without last")
	// times are words of what is done once, or at a time of which there is one.
	times = text.Set("today tonight tomorrow now yesterday currently already yet again soon later " +
		"monday tuesday wednesday thursday friday saturday sunday january february april june " +
		"july august september october november december recent")
	// lists are verbs that show what there is.
	lists = text.Set("check compare display give list print report show")
	near  = text.Set("at for from in of on to")
	// ending ends a group of words around a noun; closing can follow a whole instruction.
	ending  = text.Set("and anywhere better everywhere instead not or")
	closing = text.Set("and i you always anymore at , either even everywhere first last only or please too")
	// changes are verbs that make something else of their object, or less of it.
	changes = text.Set("align convert cut limit link restrict round shorten translate trim")
	// adjectives may follow "always" as verbs do.
	adjectives = text.Set("clean close complete direct open present")
	// notAdverbs have the ending of adverbs.
	notAdverbs = text.Set("daily early family family-friendly friendly monthly reply only weekly yearly assembly supply")
	pronouns   = text.Set("it me them us")
	// states are what "when I" and "you" is followed by besides verbs.
	states = text.Set("unsure sure driving working travelling traveling making doing busy away tired")
	// rules announce an instruction before a colon; labels do not name who speaks.
	rules  = text.Set("tone spelling language rule preference instruction convention guideline")
	labels = text.Set("fyi git human important me note policy process remember reminder tip todo user workflow")
	// sayings tell that what follows a colon is somebody else's words.
	sayings = text.Set("advice agent answered asked assistant caption error goes headline insisted label lyrics motto " +
		"output poster quote quoted read reads replied said say says shouted sign slogan song tells title titled told " +
		"warned writes wrote")
	assistants    = text.Set("agent ai assistant")
	abbreviations = text.Set("Dr Mr Mrs Ms Prof St e.g i.e")
	nearTimes     = text.Set("current last next this")
	// persons are somebody else's, whom a request is about.
	persons = text.Set("him her them he she they his their himself herself it them they")
	others  = text.Set("him her he she his")
	// places that have a number of their own are not for all.
	numbered = text.Set("appendix box cell chapter column door drawer figure floor folder gate item line number page " +
		"platform question room row section sheet shelf slide step tab table track version week")
	// idioms come after a quantifier, and count nothing.
	idioms = text.Set("but case cost costs event except kinds means more of other rate right sorts things time way the " +
		"this these those three two four five")
	// relatives end the main clause of a sentence.
	relatives = text.Set("that which who whose when whenever if because unless before after as so what whatever how " +
		"where until while since though although than")
	// finites are verbs in a form that an instruction has not. They show that the first word was a noun.
	finites = text.Set("is are was were has had have will would can could may might must should does did isn't aren't " +
		"wasn't weren't became began broke came cost fell felt gave got grew held kept led left lost made met need " +
		"needs paid ran rose said sat sent sold spent stood took told went won wrote seem seems differ differs vary varies remain " +
		"remains look looks goes work works cause causes help helps")
	// pasts follow "never" where the subject is left out: "Never went there".
	pasts = text.Set("again ate became been before began broke came chose done drank drove ever fell felt flew forgot " +
		"fought found gave gone got grew had heard held kept knew known left lost made met mind more paid quite ran rang " +
		"rode sang sat saw seen sent slept sold spent spoke stood taken taught thought threw told took understood went " +
		"won wore wrote a an the my in at on enough really too as that so")
	// dropped follow "don't" where the subject is left out, or tell nobody what to do.
	dropped = text.Set("know think have need see like want care mind worry forget hesitate miss panic remember believe " +
		"understand feel recall get")
	weekdays = text.Set("mondays tuesdays wednesdays thursdays fridays saturdays sundays weekends weekdays holidays " +
		"evenings mornings nights afternoons")
	units     = text.Set("day days week weeks month months year hour hours minute morning evening night night's noon quarter sprint")
	gone      = text.Set("was were had did")
	meetings  = text.Set("meeting call message email mail notification reminder suggestion question update ping")
	frequency = text.Set("really always usually generally strongly much also now still never only just mostly " +
		"definitely normally typically often")
	likings = text.Set("prefer prefers avoid avoids dislike dislikes hate hates rather")
	wants   = text.Set("want wants like likes need needs love loves expect expects enjoy enjoys stand")
	present = text.Set("begin begins start starts end ends use uses include includes contain contains mention mentions " +
		"follow follows go goes come comes name names has have get gets carry carries need needs")
	// participles are of what is done to a text when it is made.
	participles = text.Set("written formatted kept signed numbered dated sorted labelled labeled phrased worded rounded prefixed " +
		"wrapped indented translated spelled capitalized quoted cited given shown named")
	notQualities = text.Set("ready here there done available late back enough lost gone over on off out up away a an " +
		"the my your its fine ok okay wrong right true soon it that")
	// own are what an assistant says and makes itself, so that a fact about all of them is a rule.
	own     = text.Set("answer comment commit message reply response summary branch pr explanation")
	openers = text.Set("leave please don don’t do never always no everywhere i i'd also and so but just only stop you make remember " +
		"whenever when if unless let rule rules preference preferences convention house style team the user my by kindly be feel ideally try pull could can would will generally going")
	interrogatives = text.Set("what which who whom whose where why how do does did is are was were should shall may might " +
		"am has had")
	// told take a person: "Don't tell Vera".
	told = text.Set("tell ask invite call remind show give text message contact page ping email mail wait")
	// parts of a text or a habit of work have "the" although there are many of them.
	parts = text.Set("essentials minimum maximum tone indentation local language spelling author's body bottom build cause changelog clock comma conclusion customer's date debugger end " +
		"exact first footer form format formatter full greeting pleasantries header imperative intro introduction latest left linter " +
		"margin metric most nearest next open order oxford page paper passive past preamble present project's query reason " +
		"recipient's result right root same source start steps style subject suite system tax tense test tests title " +
		"ticket top type unit user user's verb voice weekday word words year active main shortest simplest name issue " +
		"number phrase term point")
)

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
