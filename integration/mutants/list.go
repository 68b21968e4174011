package main

// mutants are the enforcement points that keep a DM's private data from others, and strangers from a DM. A new
// `// SECURITY:` line of that kind gets a mutant here.
var mutants = []mutant{
	{
		"internal/audience/audience.go", `if connection == "dm" && group == "" {`,
		`if connection != "group" && group == "" {`,
		"./internal/audience", "", "only exactly dm is a DM",
	},
	{
		"internal/session/http.go", `group, err := audience.Group(o.Config.Session.Group)`,
		`group, _, err := audience.Parse(o.Config.Session.Connection, o.Config.Session.Group)`,
		"./internal/session", "TestClientGroup", "a client without a token is a group",
	},
	{
		"cmd/yamo-mcp/meshcmd/format.go", `return h.Visibility.Group() != "" && h.Visibility != f.home`, `return false`,
		"./cmd/yamo-mcp/meshcmd", "TestForm", "what a group said is quoted line by line",
	},
	{
		"internal/session/memory.go", `return local.Lane()`, `return local`,
		"./internal/session", "TestAudiencesHaveQueuesOfTheirOwn", "a group's search does not wait for what a DM stored",
	},
	{
		"internal/confine/confine_linux.go", `bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1},`,
		`bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1, SkipFalse: 1},`,
		"./internal/confine", "", "no system call by the numbers of another architecture",
	},
	{
		"internal/confine/confine_linux.go", `unix.SECCOMP_FILTER_FLAG_TSYNC`, `0`,
		"./internal/confine", "", "all threads are confined",
	},
	{
		"internal/confine/confine_linux.go", `unix.SYS_IO_URING_SETUP, unix.SYS_PTRACE,`, `unix.SYS_PTRACE,`,
		"./internal/confine", "TestProcess", "no sockets and files past the filter",
	},
	{
		"internal/confine/confine_linux.go", `unix.SYS_PROCESS_VM_READV, `, ``,
		"./internal/confine", "TestProcess", "no reading of another process's memory by a system call",
	},
	{
		"internal/confine/isolate_linux.go", `if err := restrict(version >= withScopes); err != nil {`,
		`if err := error(nil); err != nil {`,
		"./internal/confine", "TestProcess", "no reading of another process's memory as a file",
	},
	{
		"internal/confine/isolate_linux.go", `unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0`, `unix.SYS_GETPID, 0, 0, 0`,
		"./internal/confine", "TestProcess", "the rules of Landlock are in force",
	},
	{
		"internal/confine/isolate_linux.go", `attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL`, `attr.Scoped = 0`,
		"./internal/confine", "TestProcess", "no signals to a DM's process",
	},
	{
		"internal/confine/isolate_linux.go",
		`err := syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), isolated+"=1")) //nolint:gosec // itself
		return fmt.Errorf("start again: %w", err)`, `_ = syscall.Exec
		return nil`,
		"./integration", "TestGroupProcessIsIsolated", "all threads are isolated",
	},
	{
		"internal/session/stdio.go", `	if err != nil || who.IsDM() || !ok || stdin != os.Stdin {`,
		`	if err != nil || who.IsDM() || ok || stdin != os.Stdin {`,
		"./integration", "TestGroupProcessIsIsolated", "a group's process is isolated",
	},
	{
		"internal/session/stdio.go", `	if stdin == os.Stdin && !who.IsDM() {`, `	if stdin == os.Stdin && who.IsDM() {`,
		"./integration", "TestGroupProcessIsConfined", "a group's process is confined",
	},
	{
		"internal/serve/auth/client.go", `if len(values) == 0 || !c.Tenant.Audience.IsDM() {`, `if len(values) == 0 {`,
		"./internal/serve/auth", "", "a group's token opens no other group",
	},
	{
		"internal/serve/auth/oauth.go", `		jwt.WithValidMethods(algorithms),` + "\n", "",
		"./internal/serve/auth", "", "a token does not choose how it is verified",
	},
	{
		"internal/serve/gate.go", `case !g.host(r.Host):`, `case false && !g.host(r.Host):`,
		"./internal/serve", "", "DNS rebinding",
	},
	{
		"internal/serve/waiting.go", `if queue.Len() <= most {`, `if true || queue.Len() <= most {`,
		"./internal/serve", "TestStrangers", "idle connections without a token",
	},
	{
		"internal/token/store.go", `if !found.matches(secret) || found.State`,
		`if found.matches(secret) && false || found.State`,
		"./internal/token", "", "a token needs its secret",
	},
	{
		"workspace/transcript/log.go", `if number == 0 && !v.who.IsDM() && (r.kind`, `if false && (r.kind`,
		"./workspace/transcript", "", "a log that was moved into a group's folder stays private",
	},
	{
		"internal/session/toolsets.go",
		`{config.WorkspaceTools, dm, func(p *parts) tools.Tool { return tools.WhatDoIKnow(p.view) }},`,
		`{config.WorkspaceTools, always, func(p *parts) tools.Tool { return tools.WhatDoIKnow(p.view) }},`,
		"./internal/session", "TestGroupTools", "a group is not offered a DM's tools",
	},
	{
		"internal/session/toolsets.go",
		`{everySet, dm, func(p *parts) tools.Tool { return tools.Proposals(p.editor, Operator) }},`,
		`{everySet, always, func(p *parts) tools.Tool { return tools.Proposals(p.editor, Operator) }},`,
		"./integration", "TestAppIsForHostsThatShowIt", "a group's page has no proposals",
	},
	{
		"tools/proposals.go", `question: whole, tick: tick, asked: true,`,
		`question: whole, tick: tick, given: true,`,
		"./tools", "TestProposalsAreThePersonsToDecide", "a model does not accept its own proposal",
	},
	{
		"workspace/view.go", `	if !v.who.May(audience.Read, class) {
		return File{}, missing("stat", name)
	}`, "", "./workspace", "", "a group does not look at private files",
	},
	{
		"workspace/view.go", `	if !v.who.May(audience.Read, class) {
		return nil, false, missing("read", name)
	}`, "", "./workspace", "", "a group reads no private files",
	},
	{
		"workspace/view.go", `	if !v.who.IsDM() {
		return nil
	}
	entries, err := plain.List`, `	entries, err := plain.List`, "./workspace", "", "a group lists no folder",
	},
	{
		"workspace/catalog.go", `	if !v.who.IsDM() {
		return nil
	}
	return v.tree(`, `	return v.tree(`, "./workspace", "", "a group lists no people",
	},
	{
		"workspace/catalog.go", `	if !v.who.May(audience.Read, classify(v.who, name)) {
		return ""
	}
	return plain.Refusal(`, `	return plain.Refusal(`, "./workspace", "",
		"a group does not learn that a private file is a link",
	},
	{
		"workspace/plain/plain.go", `!ok || stat.Nlink > 1 {`, `!ok || stat.Nlink > 1000 {`,
		"./workspace/plain", "", "links give no private file a public name",
	},
	{
		"workspace/transcript/log.go", `	if !v.who.IsDM() {
		return []string{groupsFolder`, `	if v.who.Group() == "" {
		return []string{groupsFolder`, "./workspace/transcript", "", "a group reads its own session logs",
	},
	{
		"workspace/edit/edit.go", `		q.Propose = true
	}`, `	}`, "./tools", "TestEditOfAPublicFileAsks", "no edit of AGENTS.md without a person",
	},
	{
		"mesh/mesh.go", `	names := []record.Visibility{v.home(), record.Shared}
	if !v.Audience.IsDM() {`, `	names := []record.Visibility{v.home(), record.Shared}
	if false {`, "./mesh", "CycleStays|Flood", "a group opens its own and the shared memory",
	},
	{
		"mesh/store.go", `case v.Audience.IsDM() && asked == record.Shared:`, `case asked == record.Shared:`,
		"./mesh", "Store|Group|Share|Visib", "a group shares nothing with others",
	},
	{
		"mesh/delete.go", `	if !v.Audience.IsDM() && name != v.home() {`, `	if false {`,
		"./mesh", "Delete", "a group deletes nothing shared",
	},
	{
		"mesh/store.go", `if count > q.Memories || used > q.Bytes {`, `if false {`,
		"./mesh", "TestQuota", "what a group may store",
	},
	{
		"workspace/journal.go", `	if v.isFull(name, len(title)+len(body)) {`, `	if false {`,
		"./workspace", "TestGroupLogIsLimited", "what a group may log",
	},
	{
		"mesh/rank/flood.go", `			if alike[like] == maxAlike {
				continue
			}
`, "", "./mesh", "TestFlood", "a group's repetitions do not displace a DM's memory",
	},
	{
		"mesh/record/hit.go",
		`func (h Hit) Foreign(home Visibility) bool { return h.Visibility.Group() != "" && h.Visibility != home }`,
		`func (h Hit) Foreign(home Visibility) bool { return false }`,
		"./prompts", "TestGroupForgesNoOrigin", "a group's memory has the group as its source",
	},
	{
		"internal/text/plain.go", `unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), `, "",
		"./internal/text", "", "invisible characters",
	},
	{
		"mesh/store/projection.go", `		c.Clean()
`, "		_ = c\n", "./mesh/store", "TestFieldsAreReadClean", "invisible characters in old ledgers",
	},
	{
		"tools/share.go", `if d.known != "" && !d.given {`, `if false {`,
		"./tools", "TestSharing", "what is like something private is not shared on a model's word",
	},
	{
		"tools/share.go", `caller.elicits() && n > maxAsked {`, `caller.elicits() && n > 100*maxAsked {`,
		"./tools", "TestSharing", "a person sees all that is shared",
	},
	{
		"tools/client.go", `said == accepted && content["confirm"] != true {`, `said == accepted && content == nil {`,
		"./tools", "TestConfirm", "a form without its tick is no consent",
	},
	{
		"tools/guard.go", `	return result, refusedBySystem(err)`, `	return result, err`,
		"./tools", "TestWhatTheClient", "internal errors",
	},
	{
		"internal/ledger/mac.go", `	if l.version > 1 && l.ledger != m.name {`, `	if false {`,
		"./internal/ledger", "", "one compartment's ledger in another's place",
	},
	{
		"internal/ledger/read.go", `	if err := macs.check(l); err != nil {
		return Entry{}, c, err
	}
`, "", "./internal/ledger", "", "forged lines",
	},
	{
		"internal/dream/review.go", `	case len(groups) > 0:
		c.Held`, `	case len(groups) > 100:
		c.Held`, "./internal/dream", "", "what a group said is not promoted",
	},
	{
		"internal/dream/review.go", `if log.Group == "" || log.Days > groupLogDays {`,
		`if log.Group != "" || log.Days > groupLogDays {`,
		"./internal/dream", "TestHeldForAGroupsLog", "what a group's log has is not promoted",
	},
	{
		"internal/dream/authority.go", `return a.of(replacement) >= a.of(old)`, `return true`,
		"./internal/dream", "TestReplacementOfLessAuthority", "a page's words do not replace the user's",
	},
	{
		"internal/dream/dispute.go", `if err != nil || !found {`, `if err != nil || found {`,
		"./internal/brief", "TestSpeakersAreNamed", "the brief says what the user said where nobody confirmed another word",
	},
	{
		"internal/brief/memory.go", `return g.foreign(hit) || hit.Lesson != nil`, `return hit.Lesson != nil`,
		"./internal/brief", "", "what a group said is not told unasked in a DM",
	},
	{
		"internal/viewer/guard/guard.go", `case r.Host != g.host:`, `case false:`,
		"./internal/viewer/guard", "", "DNS rebinding of the viewer",
	},
	{
		"internal/viewer/guard/guard.go", `session == "" || !equal(cookie.Value, session)`,
		`session == "" && !equal(cookie.Value, session)`,
		"./internal/viewer/guard", "", "the viewer's pages need its session",
	},
	{
		"internal/viewer/guard/guard.go", `if !equal(r.PostForm.Get(TokenField), token) {`, `if false {`,
		"./internal/viewer/guard", "", "another page changes nothing through the viewer",
	},
	{
		"internal/viewer/guard/guard.go", `g.link, g.session, g.token, g.last = "", `, `_, g.session, g.token, g.last = "", `,
		"./internal/viewer/guard", "", "the viewer's link works once",
	},
	{
		"mesh/delete.go", `	if name != v.home() {
		return ""`, `	if false {
		return ""`,
		"./mesh", "TestReasonOfADeletionIsPrivate", "groups do not read why a DM deleted something",
	},
	{
		"mesh/fileindex/vectors.go", `if x.isForeign(x.origin[r.ID].Info) {`, `if false {`,
		"./mesh", "TestSearchDoesNotWaitForGroupsLogs", "a DM does not wait for what a group has logged",
	},
	{
		"mesh/fileindex/fileindex.go", `if !x.isForeign(before.info) {`, `if true {`,
		"./mesh", "TestSearchDoesNotWaitForGroupsLogs", "nor for what it has changed in its log",
	},
	{
		"mesh/fileindex/fileindex.go", `if len(foreign) > 0 {`, `if false {`,
		"./mesh", "TestFloodOfALog", "a group's log does not take all places of a DM's answer",
	},
	{
		"mesh/record/standing.go", `!fromSomebody(r.Source) && instruct.In(`, `instruct.In(`,
		"./mesh/record", "TestIsStanding", "the words of somebody else are no instruction of the user's",
	},
	{
		"mesh/rank/flood.go", `inARow >= r.inARow &&`, `false &&`,
		"./mesh", "TestVariedFlood", "nor do a group's varied memories",
	},
	{
		"mesh/rank/rank.go", `max(1, places-1)`, `max(1, places)`,
		"./mesh", "TestVariedFlood", "nor those three that a hook shows",
	},
	{
		"mesh/rank/copies.go", `case !foreign && ok:`, `case false:`,
		"./mesh", "TestGroupsCopy", "a group's copy does not replace a DM's memory",
	},
	{
		"mesh/lessons.go", `case foreign == v.foreign(b.Visibility):`, `case true:`,
		"./mesh", "TestLessonsOfGroupsComeLast", "a group's lessons do not hide a DM's",
	},
	{
		"internal/serve/waiting.go", `victim = oldestOfMost(queue)`, `_ = oldestOfMost(queue)`,
		"./internal/serve", "TestWaitingConnections", "strangers at one address do not shut out others",
	},
	{
		"internal/serve/waiting.go", `most, victim := s.each, queue.Front()`, `most, victim := 1<<20, queue.Front()`,
		"./internal/serve", "TestWaitingConnections", "the idle connections of a client are limited",
	},
	{
		"internal/serve/quota.go", `, header{"Connection", "close"})`, `)`,
		"./internal/serve", "TestTooManyCloses", "a refused request ends its connection",
	},
	{
		"mesh/skill.go", `if k.view.foreign(c.Visibility) {`, `if false {`,
		"./mesh", "TestSearchDoesNotWaitForGroupsSkills", "a DM does not wait for the skills of groups",
	},
	{
		"internal/config/file.go", `if _, set := own[s.Key()]; set && !s.inFolder() {`, `if false {`,
		"./internal/config", "", "a workspace sets no destination, key or audience",
	},
	{
		"internal/config/file.go", `if found != "" {`, `if false {`,
		"./internal/config", "", "chance does not decide whose session it is",
	},
	{
		"internal/config/destinations.go", `u.User, u.RawQuery, u.Fragment = nil, "", ""`, `u.Fragment = ""`,
		"./internal/config", "TestDestinations", "no secret of an address in a log",
	},
	{
		"internal/config/trust.go", `return true, checkSoleWriter(path)`, `return true, nil`,
		"./internal/config", "", "an approval is the operator's",
	},
	{
		"internal/config/config.go", `from(workspace, func(string) string { return "" }, files.own, settings)`,
		`from(workspace, getenv, files.own, settings)`,
		"./internal/config", "TestForAnotherWorkspace", "session logs of one workspace are not another's",
	},
	{
		"internal/config/http.go", `case h.AnonymousGroup && (!loopback || h.BehindProxy):`, `case false:`,
		"./cmd/yamo-mcp", "TestScript/token$", "strangers behind a proxy are no loopback clients",
	},
	{
		"internal/config/http.go", `case !loopback && h.TLSCert == "" && !h.BehindProxy:`, `case false:`,
		"./cmd/yamo-mcp", "TestScript/token$", "tokens cross no network in clear",
	},
	{
		"tools/lines.go", `unmarked.Replace(text.OneLine(text.Plain(mark)))`, `text.OneLine(text.Plain(mark))`,
		"./tools", "TestLines", "a group forges no marks",
	},
	{
		"tools/lines.go", `!strings.ContainsAny(words, "\n[") {`, `!strings.Contains(words, "\n") {`,
		"./tools", "TestLines", "whose words they are comes before brackets",
	},
	{
		"workspace/edit/undo.go", `if workspace.IsPublic(q.File) && q.Consent == "" {`,
		`if workspace.IsPublic(q.File) && q.Consent == "x" {`,
		"./workspace/edit", "TestUndoLast", "no undo of AGENTS.md without a person",
	},
}
