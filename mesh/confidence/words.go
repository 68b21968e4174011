package confidence

import (
	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// Sets of English words, in lower case. The tokenizer splits "don't" into "don" and "t".
var (
	// function words say nothing about a sentence's subject. "Long", "old" and similar words are no function words even
	// after "how": they name what is asked for.
	function = text.Set(`a an the is are was were am be been being do does did done has have had having
		i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
		who whom whose what which when where why how in on at of to for with from by and or not no nor any some there
		this that these those as s t d ll re ve m don doesn didn isn aren wasn can could will would shall should may might
		must if so than then too very just please tell anyone anybody someone somebody something anything about into out up
		down over again ever now much many`)
	// light verbs and nouns mean little by themselves: "go to the dentist", "what kind of".
	light = text.Set(`go goes going get gets getting come comes use uses used using take takes happen happened happens
		thing things kind sort`)
	// telling verbs ask, after "I", "we" or "you", for what was said: "What did I say about the ferry?" asks about the
	// ferry.
	telling = text.Set(`say said tell told mention mentioned talk talked speak spoke discuss discussed know remember recall
		recommend recommended suggest suggested advise advised explain explained`)
	tellers = text.Set(`i we you`)

	// pronouns of who says a text and of who is spoken to, as the tokenizer splits them: "I've" is "i", "'" and "ve".
	firstPerson  = text.Set(`i my me mine we our us myself m ve`)
	secondPerson = text.Set(`you your yours yourself`)
	// words before the name of whom something is said to.
	callings = text.Set(`hey hi hello thanks thank you wow oh ah aww yep yeah yes no sure sorry congrats congratulations
		bye
		dear great awesome cool nice right absolutely agreed same okay ok well haha`)

	numerals = text.Set(`one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
		seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million half
		dozen once twice couple`)
	moments = text.Set(`january february march april may june july august september october november december
		monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
		sundays spring summer autumn fall winter morning noon afternoon evening night midnight today yesterday tomorrow
		tonight daily weekly monthly yearly weekend weekends week month year quarter day hour minute second weeks months
		years days hours minutes seconds ago easter christmas before after until since every always never`)
	relations = text.Set(`i my mother father brother sister wife husband neighbour neighbor boss landlord grandmother
		grandfather aunt uncle friend colleague team everyone nobody we our`)
	prepositions = text.Set(`in at on near under behind to from into beside between above below inside outside onto via`)
	reasons      = text.Set(`because since so due as caused cause for to after when reason thanks broken`)
)
