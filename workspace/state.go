package workspace

// State is how far a workspace is set up (RFC-0009 §6.1).
type State int

// The states of a workspace.
const (
	Uninitialized State = iota // neither BOOTSTRAP.md nor SOUL.md: the agent refuses to operate
	Bootstrap                  // BOOTSTRAP.md is there: the first boot has not been finished
	Ready                      // SOUL.md is there
)

// String is the state's name in lower case.
func (s State) String() string {
	switch s {
	case Bootstrap:
		return "bootstrap"
	case Ready:
		return "ready"
	default:
		return "uninitialized"
	}
}

// State looks at the workspace's files. A group is not told of a BOOTSTRAP.md: to it a workspace is
// ready as soon as there is a SOUL.md, and uninitialized before.
func (v *View) State() State {
	switch {
	case v.exists(BootstrapFile): // never looked for in a group
		return Bootstrap
	case v.exists(SoulFile):
		return Ready
	default:
		return Uninitialized
	}
}

const (
	refusalDM = "This workspace is not initialized: it has neither BOOTSTRAP.md nor SOUL.md, so the agent has no identity and must not operate. " +
		"Ask the user to put one of them into the workspace folder: a SOUL.md that says who the agent is (name, role, values, capabilities), " +
		"or a BOOTSTRAP.md with instructions for the first boot. Then try again; nothing needs to be restarted."
	refusalGroup = "This workspace is not initialized: it has no SOUL.md, so the agent has no identity and must not operate. " +
		"Its owner has to finish setting it up in a direct conversation. Then try again; nothing needs to be restarted."
)

// Refusal is what every tool answers in an uninitialized workspace (RFC-0009 §6.1), and "" in any other.
func (v *View) Refusal() string {
	switch {
	case v.State() != Uninitialized:
		return ""
	case v.who.IsDM():
		return refusalDM
	default:
		return refusalGroup
	}
}
