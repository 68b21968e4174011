package redact

import (
	"net/netip"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// publicResolvers are DNS servers that everyone uses: their addresses identify no person.
var publicResolvers = func() map[netip.Addr]bool {
	m := make(map[netip.Addr]bool)
	for _, s := range []string{
		"8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9", "149.112.112.112", "208.67.222.222", "208.67.220.220",
		"4.2.2.1", "4.2.2.2", "94.140.14.14", "94.140.15.15", "64.6.64.6",
		"2001:4860:4860::8888", "2001:4860:4860::8844", "2606:4700:4700::1111", "2606:4700:4700::1001", "2620:fe::fe",
		"2620:fe::9",
	} {
		m[netip.MustParseAddr(s)] = true
	}
	return m
}()

// reserved are ranges that no host on the internet has: this network, shared
// and benchmark space, documentation, the future.
var reserved = func() []netip.Prefix {
	var ps []netip.Prefix
	for _, s := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "1.2.3.4/32", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24",
		"198.18.0.0/15", "240.0.0.0/4",
		"2001:db8::/32", "3fff::/20",
	} {
		ps = append(ps, netip.MustParsePrefix(s))
	}
	return ps
}()

// identifies is the rule for addresses: one is personal data where it can
// identify a person's host, that is, a public unicast address. Kept are
// loopback, private, link-local, multicast, documentation and other reserved
// addresses, and the well-known public resolvers.
func identifies(a netip.Addr) bool {
	a = a.Unmap()
	if publicResolvers[a] || !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return false
	}
	if a.Is6() && a.As16()[0]&0xe0 != 0x20 { // outside 2000::/3
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// addressWords make a dotted quad of small numbers an address; versionWords
// make any of them a version.
var (
	addressWords = []string{
		"ip", "ipv4", "address", "addr", "host", "server", "ping", "ssh", "from", "client", "peer",
		"gateway",
	}
	versionWords = []string{
		"version", "ver", "versions", "v", "release", "released", "build", "rev", "revision",
		"section", "chapter", "clause", "upgrade to", "upgraded to", "firmware", "driver", "oid", "§", "toolset",
	}
	// What is updated has a version, unless it is an address or a name.
	updateWords  = []string{"update", "updated", "upgrade", "upgraded", "patch", "patched", "bump", "bumped"}
	updatedWords = []string{"dns", "record", "a", "domain", "router", "vpn", "proxy", "firewall", "route", "interface"}
)

// findIPs finds IPv4 and IPv6 addresses that identify a host (see identifies),
// not networks, and not versions with four numbers.
func findIPs(text string) []Finding {
	var found []Finding
	for i := 0; i < len(text); {
		c := text[i]
		if !chars.IsHex(c) && c != ':' {
			i++
			continue
		}
		end, dots, colons := i, 0, 0
		for end < len(text) && (chars.IsHex(text[end]) || text[end] == ':' || text[end] == '.') {
			switch text[end] {
			case '.':
				dots++
			case ':':
				colons++
			}
			end++
		}
		if colons >= 2 || dots >= 3 {
			if f, ok := ipAt(text, i, end, colons); ok {
				found = append(found, f)
			}
		}
		i = end
	}
	return found
}

// ipAt returns the address between start and end, if it is one that identifies a host. Version numbers have the same
// form: the characters and words around it decide.
func ipAt(text string, start, end, colons int) (Finding, bool) {
	before, after := chars.At(text, start-1), chars.At(text, end)
	if chars.IsAlnum(before) || before == '_' || before == '-' || before == '.' || chars.IsAlpha(after) || after == '_' ||
		after == '-' && chars.IsAlnum(chars.At(text, end+1)) || after == '+' {
		return Finding{}, false
	}
	if before == '/' && chars.IsAlpha(chars.At(text, start-2)) { // Chrome/120.0.6099.109
		return Finding{}, false
	}
	for end > start && (text[end-1] == '.' || text[end-1] == ':') && !strings.HasSuffix(text[start:end], "::") {
		end--
	}
	host := text[start:end]
	if colons == 1 || colons > 1 && strings.Count(host, ".") == 3 && !strings.Contains(host, "::") { // 203.0.113.9:443
		host, _, _ = strings.Cut(host, ":")
		end = start + len(host)
	}
	a, err := netip.ParseAddr(host)
	if err != nil || !identifies(a) || isNetwork(text, end, a) {
		return Finding{}, false
	}
	if a.Is4() && (near(text, start, versionWords) || isUpdate(text, start, a) ||
		small(a) && !near(text, start, addressWords) &&
			!strings.HasSuffix(text[:start], "://")) {
		return Finding{}, false
	}
	return IP.At(start, end), true
}

// isUpdate reports whether a is the version that something is updated to: "deps: update V8 to 9.6.180.15".
func isUpdate(text string, start int, a netip.Addr) bool {
	const largest = 31 // of a version's first number
	return a.As4()[0] <= largest && near(text, start, updateWords) && !near(text, start, addressWords) &&
		!near(text, start, updatedWords)
}

// small reports whether every part is below 20, as in a version number.
func small(a netip.Addr) bool {
	for _, b := range a.As4() {
		if b >= 20 {
			return false
		}
	}
	return true
}

// isNetwork reports whether a is the address of a network: it ends in zeros,
// or a prefix length follows that covers many hosts.
func isNetwork(text string, end int, a netip.Addr) bool {
	if b := a.As16(); b[14] == 0 && b[15] == 0 && (a.Is4() || [6]byte(b[8:14]) == [6]byte{}) {
		return true
	}
	if chars.At(text, end) != '/' || !chars.IsDigit(chars.At(text, end+1)) {
		return false
	}
	i := end + 1
	for i < len(text) && i < end+4 && chars.IsDigit(text[i]) {
		i++
	}
	bits := number(text[end+1 : i])
	return a.Is4() && bits <= 24 || a.Is6() && bits <= 64
}
