package notation

import (
	"regexp"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// argument is a value on a command line: its own quotes are not part of it.
const argument = `(?:'([^'\n]+)'|"([^"\n]+)"|([^\s'"<>|&;\x60-][^\s'"<>|&;\x60]*))`

// commands are command lines with a secret that no assignment or long option names.
var commands = []pair{
	command(`curl`, `\s(?:-u|--user|--proxy-user|-U)[ =]?["']?[\w.@+-]+:["']?([^\s"']+)`, argumentSecret),
	command(`mysql|mysqldump|mysqladmin|mysqlimport|mariadb`, `\s-p["']?([^\s"'-][^\s"']*)`, argumentSecret),
	command(`mysqladmin`, `\spassword\s+`+argument, argumentSecret),
	command(`sshpass`, `\s-p\s*`+argument, notReference),
	command(`redis-cli`, `\s-a\s+`+argument, argumentSecret),
	command(`docker|podman|helm|az`, `\s(?:registry\s+)?login\b[^\n|;]*?\s-p\s+`+argument, argumentSecret),
	command(`snmpwalk|snmpget|snmpgetnext|snmpbulkwalk|snmpset|snmptable|snmpstatus|snmptrap`, `\s-A\s*`+argument,
		argumentSecret),
	command(`snmpwalk|snmpget|snmpgetnext|snmpbulkwalk|snmpset|snmptable|snmpstatus|snmptrap`, `\s-X\s*`+argument,
		argumentSecret),
	command(`snmpwalk|snmpget|snmpgetnext|snmpbulkwalk|snmpset|snmptable|snmpstatus|snmptrap`, `\s-c\s*`+argument,
		isCommunity),
	command(`sqlcmd|bcp|osql`, `\s-P\s*`+argument, argumentSecret),
	command(`useradd|usermod`, `\s-\w*p\s+'([^'\n]+)'`, isHashedPassword),
	{
		[]string{"secret", "put-parameter"},
		regexp.MustCompile(`\b(?:put-parameter\b[^\n]*\bSecureString|keyvault\s+secret\s+set|secrets?\s+(?:set|create|put` +
			`|add))\b` +
			`[^\n|;]*?\s--(?:value|data|secret-data)[ =]` + argument),
		sensitive.Password, argumentSecret,
	},
	{ // what sets a variable of the environment elsewhere
		[]string{":set ", " set "},
		regexp.MustCompile(`(?i)\b(?:(?:env|config|secrets?|variables?):set|(?:env|config|secrets?|variables?)\s+set` +
			`)\s+(?:-\S+\s+)*` +
			`["']?[\w.:-]*(?:pass\w*|secret|token|_key|apikey|_pw|pwd)["']?[ =]` + argument),
		sensitive.Password, settingArgument,
	},
	{ // PowerShell: Set-Item Env:SQL_PWD -Value 'x'
		[]string{"env:"},
		regexp.MustCompile(`(?i)\benv:\w*` + naming + `\w*["']?\s+(?:-Value\s+)?` + argument),
		sensitive.Password, settingArgument,
	},
	{ // a user and a password, whatever the program
		[]string{" -p "},
		regexp.MustCompile(`(?:\s-[uUl]|\s--user(?:name)?|user ?add|adduser)[ =]\s*[\w.@\\+-]+\s+-[pP]\s+` + argument),
		sensitive.Password, capitalArgument,
	},
	{ // what a program reads that asks for a password, a token or a key
		[]string{"<<<"},
		regexp.MustCompile(`(?i)(?:pass|pw|secret|token|key|cred)[^\n|;]*<<<\s*` + argument),
		sensitive.Password, argumentSecret,
	},
	{ // the same as a file of a user and a password
		[]string{"pass"},
		regexp.MustCompile(`(?i)pass\S*[ =]<\(\s*(?:printf|echo(?: -e)?) ["'][^"'\\\n]+\\n([^"'\\\n]+)`),
		sensitive.Password, argumentSecret,
	},
	command(`pihole`, `\s-p\s+`+argument, argumentSecret),
	command(`ipmitool`, `\s-P\s*`+argument, argumentSecret),
	command(`gh|glab`, `\s(?:secret|variable)\s+set\s[^\n]*?(?:-b|--body|-v|--value)[ =]`+argument, argumentSecret),
	command(`nmcli`, `\s(?:[\w-]+\.)(?:psk|password|wep-key\d?|leap-password)\s+`+argument, notReference),
	command(`ldap\w+`, `\s-w\s+`+argument, argumentSecret),
	command(`mongo|mongosh|mongodump|mongorestore|mongoimport|mongoexport`, `\s-p\s+`+argument, argumentSecret),
	command(`mosquitto_pub|mosquitto_sub|mqtt`, `\s(?:-P|-pw)\s+`+argument, argumentSecret),
	command(`zip|unzip`, `\s-P\s*`+argument, argumentSecret),
	command(`7z|7za|7zz|rar|unrar`, `\s-h?p`+argument, argumentSecret),
	command(`smbclient|smbmap|rpcclient|winexe`, `\s(?:-U|--user)[ =]?["']?[\w.\\/-]+%([^\s"']+)`, argumentSecret),
	command(`net`, `\s+use\s+(?:\S+\s+)?\\\\\S+\s+`+argument+`\s+/u`, argumentSecret),
	command(`net`, `\s+use\b[^\n|;]*\s/u(?:ser)?:\S+\s+([^\s/"'][^\s"']*)`, argumentSecret),
	command(`schtasks`, `\s/rp\s+`+argument, argumentSecret),
	command(`net`, `\s+user\s+\S+\s+([^\s/*"'][^\s"']*)\s+/(?:add|domain)`, argumentSecret),
	command(`xfreerdp|xfreerdp3|wlfreerdp|mstsc`, `\s/p:`+argument, argumentSecret),
	command(`lftp`, `\s-u\s+["']?[\w.@+-]+,([^\s"']+)`, argumentSecret),
	command(`http|https|xh`, `\s(?:-a|--auth)[ =]["']?[\w.@+-]+:([^\s"']+)`, argumentSecret),
	command(`sqlplus|sqlldr|expdp|impdp`, `\s[\w$#]+/([^\s/@"']+)@`, argumentSecret),
	command(`keytool|jarsigner|apksigner`, `\s-+(?:src|dest)?storepass\s+`+argument, argumentSecret),
	command(`keytool|jarsigner|apksigner`, `\s-+(?:src|dest)?keypass\s+`+argument, argumentSecret),
	command(`keytool`, `\s-+(?:src|dest)?storepass\s+\S+[^\n|;]*?\s-+(?:src|dest)?storepass\s+`+argument, argumentSecret),
	command(`ssh-keygen`, `\s-[NP]\s*`+argument, argumentSecret),
	command(`htpasswd`, `\s+-\w*b\w*\s+(?:-\w+\s+)*\S+\s+\S+\s+`+argument, argumentSecret),
	command(`htpasswd`, `\s+-(?:\w*n\w*b|\w*b\w*n)\w*\s+\S+\s+`+argument, argumentSecret),
	command(`wpa_passphrase`, `\s+(?:'[^']+'|"[^"]+"|\S+)\s+`+argument, argumentSecret),
	command(`nmcli`, `\s(?:password|wep-key)\s+`+argument, argumentSecret),
	command(`rclone`, `\s+obscure\s+`+argument, argumentSecret),
	command(`setx|setenv|set -\w*x\w*`, `\s+(?i:\w*(?:`+naming+`|key|pass)\w*)\s+`+argument, longSecret),
	command(`rabbitmqctl`, `\s(?:add_user|change_password)\s+\S+\s+`+argument, argumentSecret),
	command(`ConvertTo-SecureString`, `\s`+argument, argumentSecret),
	// What is piped into a program that asks for a password.
	command(`echo|printf`, `\s+(?:-n\s+)?`+argument+`\s*\|\s*(?:sudo\s+(?:-\w+\s+)*-\w*S|`+
		`(?:sudo\s+)?(?:passwd\s+--stdin|cryptsetup|docker\s+(?:login|secret)|podman\s+(?:login|secret)|kinit`+
		`|gh\s+(?:secret|auth)|`+
		`wrangler\s+secret|vault\s+kv|pass\s+insert|fly\s+secrets|helm\s+registry|oc\s+login|rbw\s+add)\b)`, argumentSecret),
	command(`echo|printf`, `\s+(?:-n\s+)?["']?[\w.-]+:([^\s"'|]+?)(?:\\n)?["']?\s*\|\s*`+
		`(?:sudo\s+)?chpasswd\b`, argumentSecret),
	// A user and a password, after the option that most programs have for them.
	{
		[]string{" -u", " --user"},
		regexp.MustCompile(`\s(?:-u|--user|--userpwd|--credentials)[ =]["']?[\w.@+-]+:([^\s"':]{4,64})`),
		sensitive.Password, mixedArgument,
	},
	{
		[]string{"-pass", "pass:"},
		regexp.MustCompile(`\s-pass(?:in|out)?\s+pass:(\S+)`),
		sensitive.Password, argumentSecret,
	},
	// Files of settings whose names and values have only a blank between them.
	{
		[]string{"pass", "masterauth", "pw "},
		regexp.MustCompile(`(?m)(?:^|[{;:])[ \t]*(?:\w*_pass|requirepass|masterauth|masterpass|bindpw|rootpw` +
			`)[ \t]+(?:--(?:plaintext|iscrypted)[ \t]+)?` +
			argument + `[ \t]*(?:[;}]|$)`),
		sensitive.Password, notReference,
	},
	{
		[]string{"_pass", "_pw"},
		regexp.MustCompile(`(?m)^[ \t]*[A-Z][A-Z0-9_]*_(?:PASS|PASSWORD|PASSWD|PW)[ \t]+` + argument + `[ \t]*$`),
		sensitive.Password, isCredentialField,
	},
	{
		[]string{"wpa-psk"},
		regexp.MustCompile(`(?m)^[ \t]*wpa-psk[ \t]+` + argument + `[ \t]*$`),
		sensitive.Password, notReference,
	},
	{
		[]string{"option key"},
		regexp.MustCompile(`\boption[ \t]+key[ \t]+'([^'\n]{8,63})'`), sensitive.Password,
		notReference,
	},
	{[]string{"authtoken"}, regexp.MustCompile(`\b(?:add-)?authtoken\s+([\w-]{20,})`), sensitive.Token, word.IsMixed},
	command(`openssl`, `\s-k\s+`+argument, argumentSecret),
	{
		[]string{"password-command", "passcommand", "password-file", "passfile"},
		regexp.MustCompile(`(?i)pass(?:word-?)?(?:command|-?file)[ =](?:["']|<\()?(?:echo|printf)\s+(\S+?)["')]`),
		sensitive.Password, argumentSecret,
	},
	command(`cryptsetup|sudo|passwd|kinit|gpg|openssl|docker|podman|sudo\s+-S|wrangler|gh|vault|fly|pass`,
		`\s<<<\s*`+argument, argumentSecret),
	{
		[]string{"machine"},
		regexp.MustCompile(`\bmachine\s+\S+\s+login\s+\S+\s+password\s+(\S+)`), sensitive.Password,
		argumentSecret,
	},
}

// command returns the form of a command line: a program, as alternatives of a regular expression, and what follows it.
func command(programs, rest string, judge func(string) bool) pair {
	form := regexp.MustCompile(`\b(?:` + programs + `)\b[^\n|;]*?` + rest)
	return pair{programHints(programs), form, sensitive.Password, judge}
}

// argumentSecret accepts what is no word, reference or expression, in a place where nothing but a secret can be. A name
// such as quartz_Violin is one there.
func argumentSecret(v string) bool { return notReference(v) && !hasLabel(v) && !word.IsExpression(v) }

// isHashedPassword accepts the hash of a password in the form of crypt(3).
func isHashedPassword(v string) bool { return strings.HasPrefix(v, "$") && strings.Count(v, "$") > 2 }

// mixedArgument accepts what argumentSecret does and has letters and digits: -u node:node names a group.
func mixedArgument(v string) bool { return word.IsMixed(v) && argumentSecret(v) }

// settingArgument accepts what argumentSecret does and looks like more than a word.
func settingArgument(v string) bool {
	return argumentSecret(v) && (word.IsMixed(v) || oddSigns(v) || isCapitalized(v))
}

// capitalArgument accepts what mixedArgument does and is no name of a branch or a directory.
func capitalArgument(v string) bool {
	return mixedArgument(v) && (oddSigns(v) || v != strings.ToLower(v)) && !strings.Contains(v, "/")
}

// longSecret accepts what anySecret does and has the length and the characters of a secret.
func longSecret(v string) bool { return len(v) >= 6 && word.IsMixed(v) && anySecret(v) }

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
