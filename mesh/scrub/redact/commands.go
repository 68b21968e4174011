package redact

import (
	"regexp"
	"strings"
)

// argument is a value on a command line: its own quotes are not part of it.
const argument = `(?:'([^'\n]+)'|"([^"\n]+)"|([^\s'"<>|&;\x60-][^\s'"<>|&;\x60]*))`

// commands are command lines with a secret that no assignment or long option names.
var commands = []pair{
	command(`curl`, `\s(?:-u|--user|--proxy-user|-U)[ =]?["']?[\w.@+-]+:([^\s"']+)`, anySecret),
	command(`mysql|mysqldump|mysqladmin|mysqlimport|mariadb`, `\s-p["']?([^\s"'-][^\s"']*)`, anySecret),
	command(`mysqladmin`, `\spassword\s+`+argument, anySecret),
	command(`sshpass`, `\s-p\s*`+argument, notReference),
	command(`redis-cli`, `\s-a\s+`+argument, anySecret),
	command(`docker|podman|helm|az`, `\s(?:registry\s+)?login\b[^\n|;]*?\s-p\s+`+argument, anySecret),
	command(`ldap\w+`, `\s-w\s+`+argument, anySecret),
	command(`mongo|mongosh|mongodump|mongorestore|mongoimport|mongoexport`, `\s-p\s+`+argument, anySecret),
	command(`mosquitto_pub|mosquitto_sub|mqtt`, `\s(?:-P|-pw)\s+`+argument, anySecret),
	command(`zip|unzip`, `\s-P\s*`+argument, anySecret),
	command(`7z|7za|7zz|rar|unrar`, `\s-h?p`+argument, anySecret),
	command(`smbclient|smbmap|rpcclient|winexe`, `\s(?:-U|--user)[ =]?["']?[\w.\\/-]+%([^\s"']+)`, anySecret),
	command(`net`, `\s+use\s+(?:\S+\s+)?\\\\\S+\s+`+argument+`\s+/u`, anySecret),
	command(`net`, `\s+use\b[^\n|;]*\s/u(?:ser)?:\S+\s+([^\s/"'][^\s"']*)`, anySecret),
	command(`net`, `\s+user\s+\S+\s+([^\s/*"'][^\s"']*)\s+/(?:add|domain)`, anySecret),
	command(`xfreerdp|xfreerdp3|wlfreerdp|mstsc`, `\s/p:`+argument, anySecret),
	command(`lftp`, `\s-u\s+["']?[\w.@+-]+,([^\s"']+)`, anySecret),
	command(`http|https|xh`, `\s(?:-a|--auth)[ =]["']?[\w.@+-]+:([^\s"']+)`, anySecret),
	command(`sqlplus|sqlldr|expdp|impdp`, `\s[\w$#]+/([^\s/@"']+)@`, anySecret),
	command(`keytool|jarsigner`, `\s-(?:store|key)pass\s+`+argument, anySecret),
	command(`ssh-keygen`, `\s-[NP]\s*`+argument, anySecret),
	command(`htpasswd`, `\s+-\w*b\w*\s+(?:-\w+\s+)*\S+\s+\S+\s+`+argument, anySecret),
	command(`htpasswd`, `\s+-(?:\w*n\w*b|\w*b\w*n)\w*\s+\S+\s+`+argument, anySecret),
	command(`wpa_passphrase`, `\s+(?:'[^']+'|"[^"]+"|\S+)\s+`+argument, anySecret),
	command(`nmcli`, `\s(?:password|wep-key)\s+`+argument, anySecret),
	command(`rclone`, `\s+obscure\s+`+argument, anySecret),
	command(`setx|setenv|set -\w*x\w*`, `\s+(?i:\w*(?:`+naming+`|key|pass)\w*)\s+`+argument, longSecret),
	command(`rabbitmqctl`, `\s(?:add_user|change_password)\s+\S+\s+`+argument, anySecret),
	command(`ConvertTo-SecureString`, `\s`+argument, anySecret),
	// What is piped into a program that asks for a password.
	command(`echo|printf`, `\s+(?:-n\s+)?`+argument+`\s*\|\s*(?:sudo\s+(?:-\w+\s+)*-\w*S|(?:sudo\s+)?(?:passwd\s+--stdin|`+
		`cryptsetup|docker\s+login|podman\s+login|kinit)\b)`, anySecret),
	command(`echo|printf`, `\s+(?:-n\s+)?["']?[\w.-]+:([^\s"'|]+?)(?:\\n)?["']?\s*\|\s*(?:sudo\s+)?chpasswd\b`, anySecret),
	{[]string{"-pass", "pass:"}, regexp.MustCompile(`\s-pass(?:in|out)?\s+pass:(\S+)`), Password, anySecret},
	// Files of settings whose names and values have only a blank between them.
	{
		[]string{"pass", "masterauth", "pw "},
		regexp.MustCompile(`(?m)(?:^|[{;])[ \t]*(?:\w*_pass|requirepass|masterauth|masterpass|bindpw|rootpw)[ \t]+` +
			argument + `[ \t]*(?:[;}]|$)`),
		Password, notReference,
	},
	{[]string{"machine"}, regexp.MustCompile(`\bmachine\s+\S+\s+login\s+\S+\s+password\s+(\S+)`), Password, anySecret},
}

// command returns the form of a command line: a program, as alternatives of a regular expression, and what follows it.
func command(programs, rest string, judge func(string) bool) pair {
	return pair{programHints(programs), regexp.MustCompile(`\b(?:` + programs + `)\b[^\n|;]*?` + rest), Password, judge}
}

// longSecret accepts what anySecret does and has the length and the characters of a secret.
func longSecret(v string) bool { return len(v) >= 6 && mixed(v) && anySecret(v) }

// programHints returns how the commands of programs, alternatives of a regular expression, begin in lower case.
func programHints(programs string) (hints []string) {
	for program := range strings.SplitSeq(strings.ToLower(programs), "|") {
		literal, _, pattern := strings.Cut(program, `\`)
		if !pattern {
			literal += " " // most names are parts of other words
		}
		hints = append(hints, literal)
	}
	return hints
}
