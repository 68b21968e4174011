package audience

// Class is a kind of workspace content with one set of access rules.
type Class int

// The classes of RFC-0009 §1 and seed 002. Where the two differ, the stricter rule applies.
const (
	Unknown   Class = iota // anything not listed below: no access
	Soul                   // SOUL.md
	Identity               // IDENTITY.md
	Agents                 // AGENTS.md
	Tools                  // TOOLS.md
	Heartbeat              // HEARTBEAT.md, memory/heartbeat-state.json
	User                   // USER.md
	Memory                 // MEMORY.md
	Dreams                 // DREAMS.md
	Notes                  // notes/, memory files other than daily logs
	Bootstrap              // BOOTSTRAP.md
	DailyLog               // memory/YYYY-MM-DD.md
	GroupLog               // memory/YYYY-MM-DD-group-<name>.md of the audience's own group
	OtherLog               // memory/YYYY-MM-DD-group-<name>.md of another group
	Profile                // users/: overviews, profiles and notes of seed 004
)

var classNames = [...]string{
	"unknown", "soul", "identity", "agents", "tools", "heartbeat", "user", "memory", "dreams", "notes",
	"bootstrap", "daily log", "group log", "other group's log", "profile",
}

// String is the class in words, for logs.
func (c Class) String() string {
	if c < 0 || int(c) >= len(classNames) {
		c = Unknown
	}
	return classNames[c]
}

// Operation is what a session wants to do with a file.
type Operation int

// Operations are a bit set.
const (
	Read   Operation = 1 << iota
	Write            // replace or edit
	Append           // add at the end
	Create           // create a missing file, only at the first boot
	Delete           // delete or archive
)

// access is the access matrix of RFC-0009 §3.1 and §3.2 and seed 002's loader; for groups the stricter of both (a
// group never opens USER.md, although RFC-0009 §3.2 would allow it to read the file).
var access = map[Class]struct{ dm, group Operation }{
	Soul:      {dm: Read | Create, group: Read}, // later written only by `yamo-mcp reconfigure`, not by a session
	Identity:  {dm: Read | Create, group: Read},
	Agents:    {dm: Read | Write, group: Read},
	Tools:     {dm: Read | Write},
	Heartbeat: {dm: Read | Write},
	User:      {dm: Read | Write},
	Memory:    {dm: Read | Write},
	Dreams:    {dm: Read | Write},
	Notes:     {dm: Read | Write | Delete}, // deleted or archived by rotation only, as DailyLog
	Bootstrap: {dm: Read | Delete},
	DailyLog:  {dm: Read | Append | Delete}, // deleted or archived by rotation only (RFC-0009 §5.2)
	GroupLog:  {group: Read | Append},
	OtherLog:  {dm: Read | Delete},
	Profile:   {dm: Read | Write},
}

// May reports whether a may perform all operations of op on content of class c. An empty op is never allowed.
func (a Audience) May(op Operation, c Class) bool {
	rule := access[c]
	allowed := rule.group
	if a.dm {
		allowed = rule.dm
	}
	return op != 0 && allowed&op == op
}
