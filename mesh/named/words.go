package named

import (
	"strings"

	"github.com/kljensen/snowball/english"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// The names of people that are words of English too, in lower case, by what the word usually is.
var (
	// people are names first, or need an article as words: a mark, the baker.
	people = text.Set(`
		amber angel archer ash aspen aurora baker bear bishop blaze bliss booker brand brook brooks brown buck bud bush
		butler carol carter chandler chase chip christian clay cliff colt constance cook daisy dale dean dick dolly
		drew duke earl ebony eve finch fisher flora ford fox frank franks gale gay gene glen grace grant gray green
		grey guy harper hawk hazel holly hood hunter iris jack jewel jolly josh joy june king kid kit kitty knight
		lance lane lark lily little long lucky magnolia major mark marks marsh marshal mason mat matt max melody merry
		miles mill miller misty moody nick noble norm nun opal page palmer parker pat pearl peg penny peter piper poppy
		porter prince queen randy ray reed rich rob robin rod rose ruby rusty sandy scout serenity shepherd short skip
		small smith sonny stark sue swan swift thorn tiger trip turner victor viola violet walker ward warren will
		willow wills wilder wise wolf wren young`)
	// things are words that begin sentences and notes without an article: "Hope springs", "Bill paid", "Basil planted".
	things = text.Set(`
		art barber basil bay berry bill birch black booth bow brandy candy cash cedar chance charity close clover coal
		coral cotton crystal destiny dill faith fern field forest garland ginger glory gold hall harmony haven heath
		heather heaven hill honey hope house hunt ink iron ivory ivy jade jet justice lake laurel lavender liberty love
		luck maple marina mercy moon north novel oak ocean olive park patience pepper petal price prudence rain read
		reef rice river rock rosemary sage sky snow south star stone storm strong sunny trust wall waters wave west
		wheat white wood woods`)
	// times are words for a part of the year or of the day.
	times = text.Set(`april august autumn dawn day june may spring summer winter`)
	// commands are verbs too, so that what follows may be their object: "Bill Rui for the work".
	commands = text.Set(`
		bill brand buck butler chance chase chip close cook field frank grant guy hope house hunt jack josh knight
		lance love mark may nick page park pat peg pepper price rain read ring rob rock ruby skip spring star stone
		storm sue trip trust ward wave will`)
)

// calendar are the days and months that are written with a capital letter.
var calendar = text.Set(`
	monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
	september october november december christmas easter`)

// Words before a name.
var (
	articles   = text.Set(`the a an this these those each every no any some another`)
	personal   = text.Set(`his her`)
	possessors = text.Set(`my our your his her their its`)
	titles     = text.Set(`
		mr mrs ms miss dr doctor prof professor aunt auntie uncle cousin grandma grandpa granny sister brother lady sir
		dear coach captain nurse mum mom dad hi hello hey`)
	// monthly come before a time of the year.
	monthly = text.Set(`
		in since until till by of on early late mid last next during before after from to through every for this
		between beyond`)
	// places come before the name of a place.
	places = text.Set(`in near at into`)
	// addressed come before a person, be it May: "we met May", "with May".
	addressed = text.Set(`
		with tell tells told ask asks asked call calls called meet meets met visit visits visited thank thanks thanked
		invite invites invited phone phoned email emailed text texted marry married help helps helped hug hugged kissed
		dated hired fired give gives gave lend lends lent owe owes owed promise promised said says think thinks thought
		believe believes hope hopes if because whether than like`)
	// starters begin a sentence before a name; another capital word there may be of a title: "Amazing Grace".
	starters = text.Set(`
		a after again ago also although always and are as at because before both but by can could did do does during
		either even every everyone except finally for from give had has have here how if in instead is it just last let
		like maybe may me neither never next no nobody nor not now of off ok okay on once only or our out over perhaps
		please poor should since so sometimes soon still than thanks that the then there though through to today
		together tomorrow tonight too until was we were what when where whether which while who whom whose why will
		with without would yes yesterday you`)
)

// Words after a name.
var (
	adverbs = text.Set(`
		never always also often usually just still only already really then now soon once again even rarely sometimes
		seldom ever not too almost quite himself herself both first later today yesterday tomorrow cannot`)
	copulas     = text.Set(`is was isn wasn`)
	beings      = text.Set(`is was be been being getting`)
	auxiliaries = text.Set(`
		can could should would must might did does didn doesn couldn shouldn wouldn mustn won will shall used ought don
		needn`)
	having       = text.Set(`has had hasn hadn`)
	prepositions = text.Set(`
		from in at with of on to for about by as into over under near like after before until since without within per
		than`)
	determiners = text.Set(`
		the a an this that these those my our your his her their its some any every each both all no one two three four
		five six seven eight nine ten another many few several`)
	pronouns = text.Set(`
		me us him her them it you everyone everybody nobody someone something everything nothing myself himself herself`)
	periods = text.Set(`
		second minute hour day night morning afternoon evening noon week weekend month quarter season year time`)
	verbs = text.Set(`is are was were be has have had will can could should would must may might`)

	// persons are words for people: relatives, friends, what they do.
	persons = text.Set(`
		accountant actor actress adult architect artist assistant aunt author baby babysitter baker barber boss boy
		boyfriend brother builder buddy captain carer chef child cleaner client coach colleague contact contractor cook
		cousin coworker customer dad daughter dentist designer developer director doctor driver editor electrician
		employee employer engineer ex fan farmer father fiance fiancé fiancee fiancée founder friend gardener girl
		girlfriend godfather godmother godson goddaughter grandchild granddaughter grandfather grandma grandmother
		grandpa grandson guest guy hairdresser husband intern investor janitor journalist judge kid landlady landlord
		lawyer leader librarian lodger maker man manager mate mechanic mentor midwife minor mom mother mum musician
		name nanny neighbor neighbour nephew niece nurse nutritionist optician orphan owner painter parent partner
		patient person pharmacist photographer pianist pilot plumber poet policeman priest professor programmer
		recruiter relative researcher roommate runner sailor scientist secretary singer sister soldier son spouse
		student stepfather stepmother stepson stepdaughter sponsor supervisor surgeon tailor teacher teammate teenager
		tenant therapist toddler trainer translator trainee tutor twin uncle vegan vegetarian vet visitor volunteer
		waiter waitress widow widower wife woman writer`)
	// holdings are what people have, besides persons.
	holdings = text.Set(`
		address age allergy appointment arm back birthday body boots brain car cat cats child children clothes coat
		cold dad desk diabetes diary diet dog dogs ear email eye eyes face family fever finger flat flight flu foot
		glasses hair hand hands hat head headache heart home homework house husband idea ideas job key keys kids knee
		knees laptop leg letter life luggage mind mobile mother mouth neck number office opinion parents passport phone
		pregnancy room salary school shoes shoulder sisters stomach suitcase surgery surname thanks toe tooth umbrella
		voice wallet wedding wheelchair words`)
	// whereabouts are of people, and of things that were named before.
	whereabouts = text.Set(`
		late early away home busy here there back around outside upstairs downstairs abroad alone ready`)
	// confines are where people are.
	confines = text.Set(`hospital prison jail bed therapy labor labour pain love tears`)
	// states are of people.
	states = text.Set(`
		afraid allergic angry anxious asleep autistic awake blind born celiac coeliac deaf depressed diabetic divorced
		dyslexic embarrassed engaged excited fired furious glad grumpy happy hired homesick hungry ill intolerant
		jealous left-handed lonely married nervous old-fashioned optimistic pessimistic pregnant proud retired sad
		scared shy sick single sorry stubborn thirsty tired unemployed unhappy upset vegan vegetarian widowed worried
		invited promoted arrested elected diagnosed hospitalized hospitalised adopted raised`)
)

// What people do. Others do these only in pictures.
var human = stems(`
	admire admit adore advise agree announce annoy answer apologise apologize apply argue ask assume attend babysit
	baptize beg behave believe bike brag bump call camp care celebrate chat cheat cheer chew climb collect commute
	complain compose confess confide console cough cry cycle dance date decide despise dine disagree dislike
	divorce dread drink drive eat email emigrate enjoy enrol enroll envy exercise faint fancy fear feel fish forbid
	forget forgive giggle golf gossip graduate greet grin groan grumble guess hate help hesitate hike hire
	hitchhike hug hum hurry imagine insist interview introduce invite jog joke juggle kiss kneel knit know laugh
	learn lecture lie like limp listen live loathe love marry marvel meet memorise memorize misunderstand moan
	moderate mourn mumble nag nap need negotiate nod nurse object overhear overreact oversleep owe panic parent
	persuade pester phone plead ponder pout practice practise pray preach prefer preside pretend procrastinate
	promise quarrel quit recall recite reckon recommend refuse regret rehearse relax remember remind resent resign
	retire ride row run sail say scoff scold scream scuba see shave shiver shop shout shrug sigh sing sit skate ski
	sleep sleepwalk slouch smile smoke snack sneak sneeze snooze snore snowboard sob speak stare strive study
	subscribe suggest sulk surf suspect swear swim talk tango teach tease tell text thank think tiptoe tolerate
	travel trek tutor understand urge vacation visit volunteer vote vow wait wake walk want warn wave wed whine
	whisper whistle win wink wish wonder work worry wrestle write yawn yell`)

// What people do to things, which is also done to the thing that a name is a word for: "Basil planted".
var acts = stems(`
	accept assemble bake book borrow build buy carry check choose clean collect cook cut decline deliver demand
	design donate draw explain fix fold give hand hang hire inherit install invent join leave lend lose mail make
	mention move mow notice offer organise organize own paint park pass pay pick plan plant play post prepare print
	propose quilt read rent repair replace report request return save sculpt sell send serve sew sign sketch spend
	steal sweep take throw tidy train translate type unpack use vacuum wash watch wear`)

// What things do too: "Snow covers the roof".
var events = stems(`
	add arrive become begin block bring cause change come continue cost cover do draw end fall fill find finish fly
	follow get go grow hear help hit hold increase keep land last lead matter mean open order pull push put reach
	set show stand start stay stop support try turn`)

// journeys are events after which a town tells that a person is meant.
var journeys = text.Set(`moved moves moving went goes going returned returns returning flew flies flying`)

// Past tenses that do not end in "ed".
var (
	irregularHuman = text.Set(`
		leapt learnt overslept spat strode agreed disagreed ate ran drank drove felt forgot forgave knew met rode said
		sang sat saw slept spoke swam swore taught thought told understood woke won quit swore spoken met wept
		forgotten known told`)
	irregularActs = text.Set(`
		chose chosen read wrote written drunk eaten driven seen bought built drew gave given left lent lost made paid
		sold sent spent stolen stole swept taken took threw thrown wore worn`)
	irregularEvents = text.Set(`
		beat bent blew broke broken burnt caught crept dealt dug drawn fought fled froze hid hidden hung hurt lay lit
		rang rung shook shone shot shut slid split stuck struck swung tore torn upset became began brought came cost
		cut did done fell found flew got went gone grew heard held kept led meant put set showed shown stood`)
	// unchanged are the same in the present: after a verb they are no evidence of a person.
	unchanged = text.Set(`quit read cost cut put set hit let hurt shut split upset`)
	// notPast end in "ed" as a past tense does, besides those in "eed": need, proceed, seed.
	notPast = text.Set(`bed embed hundred naked red sacred shed shred sled wed wicked`)
)

// stems returns the stems of the words of a list.
func stems(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[english.Stem(word, true)] = true
	}
	return set
}

// isPerson reports whether a word in lower case is one for people.
func isPerson(low string) bool {
	for _, end := range []string{"", "s"} {
		if persons[strings.TrimSuffix(low, end)] {
			return true
		}
	}
	for _, end := range []string{"woman", "mate", "ologist", "in-law"} {
		if strings.HasSuffix(low, end) {
			return true
		}
	}
	return false
}
