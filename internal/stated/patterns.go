package stated

import "regexp"

// pattern is how statements of a kind begin. Its first group is where the statement does.
type pattern struct {
	kind   Kind
	begins *regexp.Regexp
	not    *regexp.Regexp // what the statement must not be like, nil for nothing
}

// form returns the pattern of statements of a kind that begin with one of the forms, at the beginning of a clause.
func form(kind Kind, not, forms string) pattern {
	p := pattern{kind: kind, begins: regexp.MustCompile(`(?i)(?:^|[\s,(])((?:` + forms + `))`)}
	if not != "" {
		p.not = regexp.MustCompile(`(?i)` + not)
	}
	return p
}

const (
	am     = `I(?:'|’| a)m (?:also |now |still |actually |currently |originally |\w+ly )?`
	have   = `(?:I|we)(?:(?:'|’| ha)ve)? (?:also |just |recently |finally |now |all |both |already )*`
	states = `is|are|was|were|has|have|leaves|arrives|starts|begins|ends|opens|closes|runs|lives|works|costs|comes|` +
		`goes|needs|uses|takes`
	// wrong begins a sentence that says what is right.
	wrong = `(?:(?:no|nope)(?:[,:.!]|,? but| [-–—])?|(?:actually|correction|wrong|that['’]s (?:wrong|not right)|` +
		`not quite)[,:.!]) `
	// passing is true now only.
	passing = ` (?:is|are|was|were|has|have)(?:n['’]t| not)? (?:still |again |now |also |just |all |\w+ly )*(?:\w+ing|` +
		`broken|down|up|fine|ok(?:ay)?|good|bad|right|wrong|correct|there|done|ready|same|the same|green|red|failed|` +
		`crashed|stopped|changed|empty|fixed|true|false)\b`
	relative = `(?:wife|husband|partner|fianc[eé]e?|girlfriend|boyfriend|spouse|mother|mom|mum|father|dad|sister|` +
		`brother|son|daughter|child|kid|baby|grand(?:mother|father|son|daughter|ma|pa)|aunt|uncle|cousin|niece|` +
		`nephew|dog|puppy|cat|kitten|parrot|horse|boss|manager|doctor|dentist|therapist|landlord|neighbou?r|` +
		`roommate|flatmate|colleague|co-?worker|teacher|assistant|accountant|lawyer)`
	work = `(?:engineer|developer|programmer|designer|architect|manager|teacher|professor|lecturer|student|nurse|` +
		`doctor|physician|surgeon|dentist|therapist|psychologist|lawyer|attorney|accountant|analyst|scientist|` +
		`researcher|writer|author|journalist|editor|artist|painter|musician|photographer|chef|cook|baker|farmer|` +
		`gardener|mechanic|electrician|plumber|carpenter|driver|pilot|consultant|freelancer|founder|` +
		`entrepreneur|administrator|librarian|translator|veteran|officer|firefighter|coach|trainer|instructor|` +
		`counsel(?:l)?or|social worker|salesperson|recruiter|banker|biologist|chemist|physicist|mathematician|` +
		`statistician|economist|historian|philosopher|beginner|parent|mother|father|mom|dad|grandmother|grandfather)`
)

// patterns are tried in their order, and the first one decides.
var patterns = []pattern{
	// What is to be done from now on: an order at the beginning of a sentence.
	{Correction, regexp.MustCompile(`(?i)^\W*(?:and |but |so |ok(?:ay)?,? |also,? )?(?:please,? )?` +
		`((?:always|never)[ ,]+(?:ever )?[a-z]+(?: \S+){2,})`), regexp.MustCompile(`(?i)^(?:always|never) ` +
		`(?:give up|mind|thought|been|have|had|was|were|is|are|saw|knew|an?|the|my|in|on|at|for|stop|look on|` +
		`forget|here|there|full|so|too|nice|great|good|fun|happy|glad|\w+ing|\w+ed)\b`)},
	{Correction, regexp.MustCompile(`(?i)^\W*((?:from now on|going forward|in (?:the )?future),? (?:please |you |` +
		`always |never |do not |don['’]t |only |use |keep |make |write |put |ask |show |give |call |stop |avoid )` +
		`.+)`), nil},
	{Correction, regexp.MustCompile(`(?i)^\W*(?:and |but )?(?:please )?((?:stop|quit) (?:using|adding|writing|` +
		`calling|asking|putting|making|giving|suggesting|changing|removing|repeating|apologi[sz]ing) .+)`), nil},
	{Correction, regexp.MustCompile(`(?i)^\W*(?:please )?((?:remember|keep in mind|note),? that (?:I|we|my|our|the)\b` +
		`.+)`), nil},
	// What was wrong, with its subject: "No, the meeting is on Tuesday."
	{Correction, regexp.MustCompile(`(?i)^\W*` + wrong + `((?:the|my|our|his|her|their) [\w' ’-]{2,40}?` +
		`(?: (?:` + states + `)(?:n['’]t)?|['’](?:s|re) (?:not |now |still )?(?:on|in|at|by|under|near|behind|called|an?)) ` +
		`.+)`), regexp.MustCompile(`(?i)^[^,]{2,50}` + passing)},
	{
		Correction, regexp.MustCompile(`(?i)^\W*` + wrong + `((?-i:\p{Lu})[\w’'-]+ (?:` + states + `)(?:n['’]t)? .+)`),
		regexp.MustCompile(`(?i)^(?:it|that|this|there|he|she|they|you|we|what|which|who|everything|nothing|all|one)\b|` +
			`^[^,]{2,50}` +
			passing),
	},
	{Correction, regexp.MustCompile(`(?i)^\W*` + wrong + `((?:we|I) (?:use|need|want|meant|keep|run|have|call|work|` +
		`live) ` +
		`[^,]{2,60}, not .+)`), nil},
	{Correction, regexp.MustCompile(`(?i)(?:^|\s)((?:the|my|our) [\w' ’-]{2,40}? (?:` + states + `) ` +
		`[^,]{2,60}, not .+)`), regexp.MustCompile(`(?i)^my (?:\w+ )?name `)},

	// Decisions.
	form(Decision, `\b(?:decide|agreed? (?:with|that (?:it|this)))\b`,
		have+`(?:decided|agreed|settled|opted|committed) (?:not )?(?:to|on|for|against|that|upon) \w`),
	form(Decision, `\b(?:chose|picked) (?:it|them|this|that|you|not)\b`, have+`(?:chose|chosen|picked) [\w"]`),
	form(Decision, `\b(?:go|going) with (?:it|that|this|him|her|you|the flow|them|my|friends)\b`,
		`(?:I|we)(?:['’]ll| will|['’](?:m|re)| are| am) (?:going|go) with \w|let['’]s (?:go with|stick (?:with|to)|`+
			`switch to|standardi[sz]e on|settle on) \w`),
	form(Decision, "", `(?:I|we) (?:have )?(?:switched|migrated) (?:\w+ ){0,3}?(?:from|to) \w`),

	// Events of a life.
	form(About, `\b(?:got|get) (?:it|that|this)\b`, have+`(?:got|gotten) (?:married|engaged|divorced|promoted|`+
		`laid off|fired|accepted|diagnosed|hired|a (?:new |full-time |part-time )*(?:job|promotion|offer|puppy|dog|`+
		`cat|kitten|car|house|apartment|place))\b|(?:I|we) (?:just |recently |finally )*lost my `+
		`(?:job|wife|husband|mom|mother|dad|father|dog|cat|`+relative+`)\b`),
	form(About, "", have+`(?:started|opened|launched|founded|bought|sold|closed|quit) (?:(?:my|our) (?:own |new |first |`+
		`online |old )*(?:job|business|company|store|shop|studio|restaurant|house|home|car|apartment|course|degree|`+
		`practice|\w+ (?:store|business|shop|studio|company))|an? (?:new |online |small )*(?:job|business|company|`+
		`store|shop|studio|house|home|car|apartment|course|degree)|smoking|drinking|`+
		`(?:working|studying|volunteering|training|learning|teaching|taking|going to|seeing a) \S)`),
	form(About, "", have+`(?:joined|enrolled in|signed up for|graduated from|retired from|applied (?:to|for)|`+
		`volunteered? (?:at|for)|adopted|passed the|finished my|completed my) (?:an?|the|my|our|(?-i:\p{Lu})\w+|\w+ing)\b`),
	form(About, "", `(?:I|we)(?:['’]ve| have) been (?:married|together|divorced|sober|vegan|vegetarian|diabetic|living|`+
		`working (?:as|at|for|in)|studying|teaching|playing|learning|painting|writing|running|dancing|practi[cs]ing|`+
		`volunteering|into|a \w+)\b.{0,60}?\b(?:for|since) \S`),
	form(About, `\b(?:love|enjoy) (?:spending time|seeing|hearing|having you|talking|chatting|knowing|`+
		`catching|being there)\b`,
		`I (?:really |absolutely |totally |also |still )?(?:love|enjoy) (?:\w+ing)\b`),
	form(About, `\bfan of (?:it|that|this|yours?)\b`, am+`(?:not )?(?:an? )?(?:big |huge |total )?(?:fan of|into|`+
		`passionate about|afraid of|scared of|interested in) \w`),
	form(About, "", `I(?:['’]ve| have) always (?:been|had|loved|wanted|dreamed|liked|hated|enjoyed|felt) \w`),
	form(About, "", `I (?:always|usually|normally|typically) (?:go|run|eat|drink|use|work|wake|get up|sleep|walk|ride|`+
		`take|cook|read|play|do|make|have|start|keep|bring|wear|order|buy|travel|visit|write|train)\b`),

	// About the person.
	form(About, "", `my (?:full |first |last |middle |nick|user ?)?name(?:['’]s| is) \S`),
	form(About, "", am+`(?:allergic|intolerant) to \w`),
	form(About, `\bsingle (?:one|day|time)`, am+`(?:a |an )?(?:strict )?(?:vegetarian|vegan|pescatarian|diabetic|`+
		`c(?:o)?eliac|colou?r-?blind|dyslexic|deaf|left-handed|lactose|pregnant|retired|married|divorced|`+
		`widowed|engaged|single|self-employed|unemployed|bilingual)\b`),
	form(About, "", `I (?:currently |now |still )?live (?:in|near|on|with|at|alone) ?\w`),
	form(About, `\bfrom (?:scratch|the|a|my)\b`, am+`(?:from|based in|living in|living with) \w`),
	form(About, `\bmoved to (?:tears|the (?:next|side|top|left|right))`,
		have+`moved (?:back |out |away )?(?:to|into|from|in with|here from) \w`),
	form(About, "", `I grew up (?:in|on|with|near) \w|I was born (?:in|on|at) \w`),
	form(About, "", am+`\d+ (?:years old|and)`),
	form(About, `\bwork (?:on|in (?:progress|this|that))\b`, `I (?:currently |now |also |usually )?work (?:as|at|for|in|`+
		`from|with|part|full)\b`),
	form(About, `\b(?:better|bad|good|terrible|great|perfect|lucky)\b`, am+`(?:an? |the )(?:[\w-]+ ){0,3}?`+work+`\b`),
	form(About, "", `my `+relative+`(?:['’]s name(?:['’]s| is)| is (?:called|named)|['’]s called) \S`),
	form(About, "", `(?:I|we) (?:have|(?:['’]ve )?got|adopted) (?:a|an|one|two|three|four|five|six|\d+) (?:[\w-]+ ){0,2}?`+
		`(?:kids?|children|sons?|daughters?|dogs?|cats?|pupp(?:y|ies)|kittens?|brothers?|sisters?|siblings?|`+
		``+relative+`s?)\b`),
	form(About, "", `my (?:birthday|wedding anniversary|time ?zone|pronouns|native language|mother tongue|blood type|`+
		`phone number|e-?mail(?: address)?|home address|shoe size|deadline|budget) (?:is|are|was) \S`),
	form(About, `\b(?:is|are) (?:that|when|the way|how)\b`, `my (?:all-time )?favou?rite (?:[\w-]+ ){1,4}?(?:is|are) \S`),
	form(About, "", `I speak (?:\w+ ){0,2}?(?-i:\p{Lu})\w+`),
	form(About, `\bprefer(?:red)? (?:it|that|this|them|not to say|to (?:know|see|hear|do))\b`,
		`I(?:['’]d)? (?:really |much |strongly |generally |usually |always |also |still |definitely )?prefer \w`),
	form(About, `\b(?:hate|like|stand|dislike) (?:it|that|this|them|to (?:say|see|bother|ask|admit)|how|when|what|you)\b`,
		`I (?:really |absolutely |just |still |also )?(?:hate|dislike|detest|can(?:no|['’])t stand|don['’]t like|`+
			`do not like|don['’]t eat|don['’]t drink|never eat|never drink|never use) \w`),
}

const (
	ask = `(?:can|could|would|will|do|does|did|is|are|should) (?:you|we|I|it|there|this|that)\b|please\b|how\b|what\b|` +
		`why\b|which (?:one|of)\b|any (?:ideas|tips|suggestions|advice)\b|help me\b|right\?|you know\b`
	begun = `I(?:['’]m| am) (?:not sure|trying|having|wondering|looking|struggling|curious|thinking|worried)|` +
		`I (?:don['’]t know|want|need|wonder|was wondering|would like|hope|think)|I['’]d (?:like|love)|let me know|` +
		`thanks|thank you`
)

var (
	// elsewhere is where a sentence turns from a statement to a request or question.
	elsewhere = regexp.MustCompile(`(?i)(?:,|\s+and|\s+but|\s+so)+\s+(?:(?:and|but|so|now|then|however),? )*(?:` +
		ask + `|` + begun + `)|\s+(?:can|could) you (?:please |also )?(?:help|show|explain|give|tell|provide)\b`)
	// dependent ends what precedes a clause that is not the person's own statement.
	dependent = regexp.MustCompile(`(?i)\b(?:if|whether|unless|until|when|whenever|once|said|says|say|saying|told|tells|` +
		`thinks|like|as though|as if|because he|because she|why|how|what|where|wish|suppose|assume|imagine|` +
		`pretend|should|do|does|did|don['’]t think|not (?:that|because)|the day|the way|the moment|time|ones?|` +
		`story|example|e\.g\.|than)[,:]?\s*$`)
	// hedged is not certain, or not the case.
	hedged = regexp.MustCompile(`(?i)\b(?:maybe|perhaps|might|i guess|i suppose|probably|not sure|wish|would be|` +
		`would have|hypothetical\w*|kind of|sort of|just kidding|lol|haha)\b`)
	// pointing needs what was said before.
	pointing = regexp.MustCompile(`(?i)\bhere\b|\b(?:this one|that one|these ones|those ones|the (?:first|second|` +
		`third|last|latter|former|other|same) (?:one|option)|like (?:that|this)|do (?:it|that|this|so)|` +
		`(?:to|with|on|for) (?:it|that|this|them)|option [a-d\d]|them|it` +
		`)$|\b(?:as you|your (?:suggestion|advice|example|idea|answer)|you (?:said|suggested|mentioned|provided))\b`)
	// others are requests for a text, whose words are not about the person, and texts of others.
	others = regexp.MustCompile(`(?i)\b(?:translate|rewrite|rephrase|reword|proofread|paraphrase|summari[sz]e|pretend|` +
		`imagine|role-?play|act as|cover letter|essay|lyrics|poem|fiction|short story|screenplay|dialogue|speech|` +
		`(?:write|draft|compose|edit|correct|improve|polish|check|review) (?:me |us )?(?:a|an|the|this|my|our|` +
		`following)(?: \w+){0,2} (?:e-?mail|letter|message|text|post|tweet|bio|profile|paragraph|story|blog|` +
		`article|caption|review|reply|response|sentence|grammar|r[eé]sum[eé]|cv)|dear (?:sir|madam|mr|ms|mrs|dr|` +
		`team|\p{Lu})|quote(?:d)? from|an excerpt)\b`)
)
