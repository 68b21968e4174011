package notation

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// places are files and lines whose fields have no names, where the place alone says which field is secret.
var places = []pair{
	{ // .pgpass
		[]string{":5432:", ":5433:", ":5434:", ":6432:", ":*:"},
		regexp.MustCompile(`(?m)(?:^|[\s"'\x60])[\w.*-]+:(?:\d{4,5}|\*):[\w.*-]+:[\w.*@-]+:([^\s"'\x60]+)`),
		sensitive.Password, notReference,
	},
	{ // chap-secrets and pap-secrets
		[]string{"chap-secrets", "pap-secrets", "server secret", "server\tsecret"},
		regexp.MustCompile(`(?m)^[ \t]*(?:"[^"\n]+"|[\w@.*-]+)[ \t]+(?:"[^"\n]+"|[\w.*-]+)[ \t]+` +
			`(?:"([^"\n]+)"|([^\s"#]+))(?:[ \t]+[\d.*/-]+)*[ \t]*$`),
		sensitive.Password, isCredentialField,
	},
	{ // ipsec.secrets
		[]string{": psk", ": xauth", ": eap", ": ntlm"},
		regexp.MustCompile(`(?im)(?:^|\s):[ \t]*(?:PSK|XAUTH|EAP|NTLM)[ \t]+(?:"([^"\n]+)"|(0s\S+|0x[0-9a-f]+))`),
		sensitive.Password, notReference,
	},
	{ // /etc/shadow, htpasswd: the hashes of passwords
		[]string{":$"},
		regexp.MustCompile(`(?m)(?:^|[\s"'\x60=,])[\w.@-]+:\$(?:1|2[abxy]?|5|6|7|y|apr1|argon2\w*|scrypt)\$` +
			`([^\s:"'\x60]{8,})`),
		sensitive.Password, isNumber,
	},
	{ // slapd.conf
		[]string{"{ssha", "{crypt}", "{argon2"},
		regexp.MustCompile(`\{(?:SSHA\d*|CRYPT|ARGON2)\}([A-Za-z0-9+/=$.,-]{20,})`),
		sensitive.Password, isNumber,
	},
	{
		[]string{"{plain}", "{cleartext}", "{clear}"},
		regexp.MustCompile(`(?i)\{(?:PLAIN|CLEARTEXT|CLEAR)\}([^\s:"'<>]{4,})`),
		sensitive.Password, notReference,
	},
	{
		[]string{"grub.pbkdf2."}, regexp.MustCompile(`(grub\.pbkdf2\.\w+\.\d+\.[0-9A-F.]+)`), sensitive.Password, isNumber,
	},
	{ // sendmail's authinfo
		[]string{"authinfo"}, regexp.MustCompile(`"P:([^"\n]+)"`), sensitive.Password, notReference,
	},
	{ // the lists of cloud-init and rsync
		[]string{"chpasswd:", "rsyncd.secrets"},
		regexp.MustCompile(`(?m)^[ \t]*[a-z_][\w-]*:([^\s:]{4,64})[ \t]*$`),
		sensitive.Password, oddCredential,
	},
	{ // unattend.xml
		[]string{"password>"},
		regexp.MustCompile(`(?i)<\w*password>\s*<value>\s*([^<\s]{3,200})\s*</`), sensitive.Password,
		anyPassword,
	},
	{ // the key of an authenticator, in groups
		[]string{"setup key", "2fa", "totp", "otp ", "authenticator", "secret key"},
		regexp.MustCompile(`(?i:setup key|2fa|totp|otp|authenticator|secret key` +
			`)[^\n:=]{0,40}[:=]\s*([A-Z2-7]{4}(?: [A-Z2-7]{4}){3,15})\b`),
		sensitive.Password, isNumber,
	},
	{ // the same in one word
		[]string{"totp", "otp ", "2fa ", "mfa ", "authenticator"},
		regexp.MustCompile(`(?i:\b(?:otp|totp|2fa|mfa|authenticator)\b)[^\n]{0,20}?[\s:=]([A-Z2-7]{16,64})\b`),
		sensitive.APIKey, word.IsMixed,
	},
	{
		[]string{"recovery code", "backup code", "rescue code", "recovery-code"},
		regexp.MustCompile(`(?i)(?:recovery|backup|rescue)[- ]codes?[^\n:=]{0,30}[:=]\s*["'\x60]?((?:[a-z0-9]{4,6}[ -]` +
			`){2,11}[a-z0-9]{4,6})\b`),
		sensitive.Password, word.HasDigit,
	},
	{ // root: x
		[]string{"root:", "admin:", "administrator:"},
		regexp.MustCompile(`(?im)\b(?:root|admin|administrator):[ ](\S{6,64})[ \t]*$`), sensitive.Password, signedWord,
	},
	{ // sasl_passwd of Postfix
		[]string{"sasl_passwd", "]:587", "]:465", "]:25"},
		regexp.MustCompile(`(?m)^[ \t]*(?:\[[\w.-]+\]|[\w-]+(?:\.[\w-]+)+)(?::\d+)?[ \t]+[^\s:]+:(\S+)[ \t]*$`),
		sensitive.Password, notReference,
	},
	{ // Wi-Fi: network / x
		[]string{"wi-fi", "wifi", "wlan"},
		regexp.MustCompile(`(?i)\b(?:wi-?fi|wlan)\b[^:=\n]{0,20}[:=] ?[\w .-]{2,32}? ?[/|] ?([^\s"'<>/|]{8,63})`),
		sensitive.Password, oddCredential,
	},
	{ // the QR code of a wireless network
		[]string{"wifi:"},
		regexp.MustCompile(`(?i)\bWIFI:(?:[TSHI]:[^;\n]*;)*P:((?:\\.|[^;\\\n])+);`), sensitive.Password,
		notReference,
	},
	{ // the QR code of an authenticator
		[]string{"otpauth"},
		regexp.MustCompile(`(?i)\botpauth(?:-migration)?://[^\s"'<>]*?[?&](?:secret|data)=([^&\s"'<>]+)`),
		sensitive.Password, notReference,
	},
	{ // BitLocker
		[]string{"bitlocker", "recovery", "wiederherstellung"}, regexp.MustCompile(`(?:^|[^\d-])(\d{6}(?:-\d{6}){7}` +
			`)(?:[^\d-]|$)`), sensitive.Password, isNumber,
	},
	{
		[]string{"pin1", "pin2", "puk1", "puk2"},
		regexp.MustCompile(`(?i)\b(?:PIN|PUK)[12]\b\s*[:=|]?\s*(\d{4,8})\b`),
		sensitive.Password, isNumber,
	},
	{[]string{"puk"}, regexp.MustCompile(`(?i)\bPUK(?:-?code)?\b\s*[:=|]?\s*(\d{8})\b`), sensitive.Password, isNumber},
	{ // Redis, at its prompt
		[]string{"> auth "}, regexp.MustCompile(`(?im)> AUTH (?:[\w-]+ )?(\S+)[ \t]*$`), sensitive.Password, argumentSecret,
	},
	{ // FTP and POP3, as they are sent
		[]string{"pass "},
		regexp.MustCompile(`(?m)(?:^|[>:] ?)USER \S+[^\n]*\n(?:[^\n]*\n){0,2}?[^\n]*?\bPASS (\S+)[ \t]*$`),
		sensitive.Password, argumentSecret,
	},
	{
		[]string{"auth plain"},
		regexp.MustCompile(`(?m)\bAUTH PLAIN ([A-Za-z0-9+/=]{12,})`),
		sensitive.Password, notReference,
	},
	{ // the same and SMTP, step by step: "UGFzc3dvcmQ6" asks for the password
		[]string{"ugfzc3dvcmq6"},
		regexp.MustCompile(`334 UGFzc3dvcmQ6[^\n]*\n(?:[^\s:]{1,12}[:>] ?|[<>~-]+ ?)?([A-Za-z0-9+/=]{4,})[ \t]*(?m:$)`),
		sensitive.Password, notReference,
	},
	{ // a form that a test fills in: page.fill('#password', 'x'), getByLabel('Passwort').fill('x')
		[]string{").fill(", ").type(", "sendkeys(", "send_keys(", ").setvalue(", "set_value(", "sequentially(", ".set("},
		regexp.MustCompile(`(?i)["'][^"'\n]*(?:passw|kennwort|passphrase|\bpwd\b|contrase|senha|mot de passe|wachtwoord)` +
			`[^\n]{0,30}?["'][^"'\n]{0,12}\)+\s*\.\s*\w{2,20}\(\s*(?:"([^"\n]{4,64})"|'([^'\n]{4,64})')`),
		sensitive.Password, typedSecret,
	},
	{ // expect
		[]string{"send ", "sendline("},
		regexp.MustCompile(`(?i)(?:passw|kennwort|passphrase)[^\n]{0,40}\n?[^\n]{0,20}?\bsend(?:line)?[ (]+["']` +
			`([^"'\\\n]{4,64})(?:\\[rn])*["']`),
		sensitive.Password, typedSecret,
	},
	{ // the token of a bot of Discord
		[]string{"login(", "discord", "bot", "token"},
		regexp.MustCompile(`\b([MNO][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,40})(?:[^\w-]|$)`),
		sensitive.APIKey, word.IsMixed,
	},
	{ // fill_in 'Password', with: 'x'
		[]string{"fill_in", "fillfield", "input text", "input password"},
		regexp.MustCompile(`(?i)\b(?:fill_in|fillField)\(?\s*:?["']?[\w #.-]*passw\w*["']?\s*,\s*(?:with:\s*)?` +
			`["']([^"'\n]{4,64})["']`),
		sensitive.Password, anySecret,
	},
	{ // a password for one program, in groups of four letters
		[]string{"app-specific", "app specific", "app password", "app-passw", "anwendungsspezifisch", "mot de passe d"},
		regexp.MustCompile(`(?i)(?:app[- ]specific|app[- ]passw|anwendungsspezifische|mot de passe d.application)` +
			`[^\n]{0,80}(?:\n[^\n]{0,40})?(?-i:\b([a-z]{4}(?:-[a-z]{4}){3})\b)`),
		sensitive.Password, isNumber,
	},
	{ // the server key of Firebase
		[]string{":apa91b"}, regexp.MustCompile(`\b(AAAA[\w-]{7}:APA91b[\w-]{100,})`), sensitive.APIKey, word.IsMixed,
	},
	{ // the key of a storage account of Azure
		[]string{"core.windows.net", "account.key", "accountkey", "azure"},
		regexp.MustCompile(`(?:^|[\s"'=:])([A-Za-z0-9+/]{86}==)`),
		sensitive.APIKey, word.IsMixed,
	},
	{ // the file of OpenVPN's auth-user-pass
		[]string{"auth-user-pass"},
		regexp.MustCompile(`(?m)\bauth-user-pass\b[^\n]*:[ \t]*\n\S+[ \t]*\n(\S+)[ \t]*$`),
		sensitive.Password, isCredentialField,
	},
	{
		[]string{"pin ", "sperrcode ", "zugangscode ", "toegangscode "},
		regexp.MustCompile(`(?im)(?:^[ \t]*PIN|\b(?:sperr|zugangs|entsperr|toegangs)code)[ \t]+(\d{4,8})(?:[ \t]*$|[,;])`),
		sensitive.Password, isNumber,
	},
	// Routers and switches.
	{
		[]string{"enable "},
		regexp.MustCompile(`(?m)^[^\n]{0,40}\benable (?:secret|password)(?: level \d+)?(?: [05789])? (\S+)`),
		sensitive.Password, notReference,
	},
	{
		[]string{"username "},
		regexp.MustCompile(`(?m)^[ \t]*(?:[\w.-]+(?:\([\w-]+\))?# ?)?username [\w.@-]+(?: privilege \d+| role \S+` +
			`)* (?:secret|password)(?: [05789]| sha512)? (\S+)`),
		sensitive.Password, argumentSecret,
	},
	{
		[]string{"snmp", "community "},
		regexp.MustCompile(`(?im)\b(?:snmp-server community|set snmp community|rocommunity6?|rwcommunity6?) (\S+)`),
		sensitive.Password, isCommunity,
	},
	{
		[]string{" key ", "key-string ", "authentication-key ", " md5 "},
		regexp.MustCompile(`(?m)\b(?:(?:tacacs|radius)(?:-server)?(?: host \S+| server \S+)?[^\n]{0,40}? key|key-string|` +
			`isakmp key|authentication-key|message-digest-key \d+ md5)(?: [05678])? ([^\s"']{4,})`),
		sensitive.Password, isCredentialField,
	},
	{
		[]string{"neighbor "}, regexp.MustCompile(`\bneighbor \S+ password(?: \d)? (\S+)`), sensitive.Password, notReference,
	},
	{ // FortiGate and Juniper
		[]string{"psksecret", "passwd ", "encrypted-password", "pre-shared-key"},
		regexp.MustCompile(`\b(?:set (?:psksecret|passwd)|encrypted-password|pre-shared-key(?: ascii-text)?) (?:ENC )?` +
			`["']?([^\s"';]+)`),
		sensitive.Password, isCredentialField,
	},
	// A user and a password, named together.
	{
		[]string{"/pass", "/pw", "/kennwort", "/contra", "/clave", "/senha", "/mot", "/mdp", "/ pass", "/ kennwort", "/ pw"},
		regexp.MustCompile(`(?i)\b(?:user(?:name)?|login|id|benutzer(?:name)?|usuario|usuário|utilisateur|utente)\s*[/` +
			`|&+]\s*` +
			`(?:pass(?:word|wort)?|pw|pwd|kennwort|contraseña|clave|senha|mot de passe|mdp)\b\**\s*[:=]?\s*` +
			`["'\x60]?[\w.@+-]+["'\x60]?\s*[/|:,&]\s*["'\x60]?([^\s"'<>\x60]{4,64})`),
		sensitive.Password, isCredentialField,
	},
	{
		[]string{" pw", " pass", " kennwort", " clave", " senha", " contra", " mdp"},
		regexp.MustCompile(`(?im)(?:^|[\s(,;])(?:login|user(?:name)?|benutzer(?:name)?|usuario|usuário|account|konto` +
			`)[:=]?\s+` +
			`[\w.@+-]+\s*[,;/|]?\s+(?:pw|pass|password|pwd|kennwort|passwort|clave|senha|contraseña|mdp)[:=]?\s+` +
			`["'\x60]?([^\s"'<>\x60]{4,64})`),
		sensitive.Password, isCredentialField,
	},
	{ // Epic: ana, pass x
		[]string{" pw ", " pass ", " pw:", " pass:", " kennwort ", " clave ", " senha ", " mdp "},
		regexp.MustCompile(`(?im)^[^\n:]{2,40}: *[\w.@+-]+ *[,;/|] *(?:pw|pass|kennwort|clave|senha|mdp):? +` +
			`(\S{5,64})[ \t]*$`),
		sensitive.Password, isCredentialField,
	},
	{ // creds: admin:x
		[]string{"creds", "credentials", "zugangsdaten", "identifiants", "credenciales"},
		regexp.MustCompile(`(?i)\b(?:creds|credentials|zugangsdaten|identifiants|credenciales)\b[^:=\n]{0,30}[:=]\s*` +
			`[\w.@+-]+\s*[/:|,]\s*["'\x60]?([^\s"'<>\x60]{4,64})`),
		sensitive.Password, isCredentialField,
	},
	{ // with credentials ana / x
		[]string{"credentials "},
		regexp.MustCompile(`(?i)\bcredentials[ ]["'\x60]?[\w.@+-]+["'\x60]? ?[/:] ?["'\x60]?([^\s"'<>\x60/|]{4,64})`),
		sensitive.Password, oddCredential,
	},
	{ // login: ana / x
		[]string{"login", "zugang", "access", "acceso", "accès", "acesso"},
		regexp.MustCompile(`(?i)\b(?:logins?|zugang|access|acceso|accès|acesso)(?: [\pL-]{3,20})?\s*:\s*[\w.@+-]+\s*[/|]\s*` +
			`["'\x60]?([^\s"'<>\x60/|]{4,64})`),
		sensitive.Password, oddCredential,
	},
	{ // a prompt
		[]string{" for '", " for \""},
		regexp.MustCompile(`(?im)^(?:password|passphrase|passwort|kennwort) for ['"][^'"\n]*['"]: ?(\S+)[ \t]*$`),
		sensitive.Password, anyPassword,
	},
	{ // calls with a user and a password
		[]string{"connect(", "connection("},
		regexp.MustCompile(`(?i)connect(?:ion)?\((?:[^()"'\n]*,\s*["'][^"'\n]*["']|["'][^"'\n]*["']\s*,\s*["'][^"'\n]*["']` +
			`)\s*,\s*` +
			`["']([^"'\s:/]{4,64})["']`),
		sensitive.Password, oddCredential,
	},
	{
		[]string{"login(", "credential(", "credentials(", "auth(", "authenticate(", "signin("},
		regexp.MustCompile(`(?i)(?:login|credentials?|auth|authenticate|signin)\((?:[^()"'\n]*,\s*)?` +
			`(?:["'][^"'\n]*["']\s*,\s*){1,2}?["']([^"'\s]{4,64})["']`),
		sensitive.Password, oddCredential,
	},
	{ // a key in groups: of Matrix, of FileVault
		[]string{
			"recovery key", "security key", "secret key", "backup key", "wiederherstellungsschlüssel",
			"clé de récupération",
		},
		regexp.MustCompile(`(?i)(?:key|schlüssel|récupération)\b[^\n:]{0,60}[:\n]\s*["'\x60]?((?:[A-Za-z0-9]{4,6}[ -]` +
			`){5,13}[A-Za-z0-9]{4,6})\b`),
		sensitive.Password, word.HasDigit,
	},
	{
		[]string{"createuser "},
		regexp.MustCompile(`\bcreateUser \S+ (?:SHA|MD5)\S* (?:"([^"\n]+)"|(\S+))`), sensitive.Password,
		notReference,
	},
	{
		[]string{"createuser "},
		regexp.MustCompile(`\bcreateUser [^\n]*? (?:AES|DES)\S* (?:"([^"\n]+)"|(\S+))`), sensitive.Password,
		notReference,
	},
	{
		[]string{"password('", "password( '"},
		regexp.MustCompile(`\bPASSWORD\(\s*'([^'\n]+)'\s*\)`),
		sensitive.Password, anyPassword,
	},
	{ // procedures of SQL Server
		[]string{"sp_addlogin", "sp_password", "sp_addlinkedsrvlogin"},
		regexp.MustCompile(`(?i)\bsp_(?:addlogin|password|addlinkedsrvlogin)\b[^\n;]*?,\s*N?'([^'\n]+)'`),
		sensitive.Password, isCredentialField,
	},
	{ // Oracle's, without quotes
		[]string{"identified by "},
		regexp.MustCompile(`(?i)\b(?:create|alter)\s+user\s+\S+\s+identified\s+by\s+([^\s;'"()]{4,64})`),
		sensitive.Password, settingArgument,
	},
	{ // the sources of Go's drivers
		[]string{"@tcp(", "@unix("},
		regexp.MustCompile(`[\w.-]+:([^\s"'\x60@:/]+)@(?:tcp|unix)\(`), sensitive.Password, notReference,
	},
	{ // at the prompt of ftp
		[]string{"ftp> user "}, regexp.MustCompile(`ftp> user \S+ (\S+)`), sensitive.Password, argumentSecret,
	},
	{ // SET PASSWORD of MySQL
		[]string{"set password"},
		regexp.MustCompile(`(?i)\bset\s+password\b[^=\n;]{0,80}=\s*(?:(?:old_)?password\s*\(\s*)?'([^'\n]+)'`),
		sensitive.Password, anyPassword,
	},
	// A password in a connection string, up to the semicolon.
	{
		[]string{";password=", ";pwd=", "; password=", "; pwd=", `"password=`, "?password="},
		regexp.MustCompile(`(?i)[;"'?][ ]?(?:password|pwd)=([^;"'\n\s{}()][^;"'\n]*);`), sensitive.Password, anyPassword,
	},
	{ // what a program prints: the password of a variable or a file
		[]string{"$ echo $", "$ cat ", "$ pass ", "$ printenv "},
		regexp.MustCompile(`(?im)^\S{0,40}\$ (?:echo "?\$\{?|cat \S*?|printenv |pass (?:show )?\S*?)` +
			`[\w./-]*(?:passw(?:or)?d|secret|token|_pass|api_?key|pass show \S+)\}?"?[ \t]*\n(\S{6,200})[ \t]*$`),
		sensitive.Password, isCredentialField,
	},
	{ // the same of 1Password's command
		[]string{"op read ", "op item get "},
		regexp.MustCompile(`(?im)^\S{0,40}\$ op (?:read|item get) [^\n]*(?:passw|secret|credential|token)[^\n]*\n` +
			`(\S{6,200})[ \t]*$`),
		sensitive.Password, isCredentialField,
	},
	// Webhooks, whose address is the secret.
	{
		[]string{
			"webhook.office.com", "hooks.zapier.com", "chat.googleapis.com", "logic.azure.com", "hooks.slack.com",
			"maker.ifttt.com", "discord", "mattermost", "hook.eu", "hook.us",
		},
		regexp.MustCompile(`(?i)https://((?:[\w-]+\.webhook\.office\.com/webhookb2/|hooks\.zapier\.com/hooks/catch/|` +
			`hooks\.slack\.com/(?:services|workflows|triggers)/|chat\.googleapis\.com/v1/spaces/[\w-]+/messages\?|` +
			`maker\.ifttt\.com/trigger/\w+/(?:json/)?with/key/|(?:\w+\.)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/|` +
			`hook\.[eu][us]\d?\.make\.com/)[^\s"'<>)\]\x60]{16,})`),
		sensitive.APIKey, isRandomAddress,
	},
}

// typedSecret accepts what a test types into the field of a password.
func typedSecret(v string) bool {
	return notReference(v) && !namesPassword(v) && !strings.HasSuffix(v, "()")
}

// isRandomAddress accepts the address of a webhook that has the digits of one.
func isRandomAddress(v string) bool {
	return strings.Count(v, "0")+len(v) > 0 && word.IsMixed(v) && !strings.Contains(strings.ToUpper(v), "XXXX") &&
		word.Entropy(v) > 3.5 && !strings.ContainsAny(v, "{$<")
}

// isCredentialField accepts what is no word of a sentence.
func isCredentialField(v string) bool {
	return notReference(v) && !word.IsPlaceholder(v) && !word.IsVersion(v) && !hasLabel(v) && !word.IsExpression(v) &&
		(word.IsMixed(v) || oddSigns(v) || isJoinedWords(v))
}

// oddCredential accepts what isCredentialField does and no word with a hyphen: e-mail.
func oddCredential(v string) bool {
	return isCredentialField(v) && (word.IsMixed(v) || oddSigns(v) || isNickname(v) || isCapitalized(v))
}

// signedWord accepts what has letters, digits and a sign that words and addresses lack.
func signedWord(v string) bool {
	return word.IsMixed(v) && strings.ContainsAny(v, "!#$%^&*?") && isCredentialField(v) && !strings.Contains(v, "@")
}

// isJoinedWords reports whether v is words that signs join.
func isJoinedWords(v string) bool {
	return len(v) > 2 && strings.ContainsAny(v[1:len(v)-1], "-_.") && !isName(v)
}

// isCommunity accepts the communities of SNMP that somebody has chosen.
func isCommunity(v string) bool { return argumentSecret(v) && v != "public" && v != "private" }

// anyPassword accepts what is next to an unambiguous name, whatever it looks like.
func anyPassword(v string) bool { return notReference(v) && !word.IsPlaceholder(v) && !notSaid(v) }

// Names and values with a key each: in objects of JSON and YAML, in the attributes and the elements of markup.
var (
	namedFirst = regexp.MustCompile(`(?i)(?:\w*name|\w*key|\blabel|\bid|\bfield|\btitle)["']?\s*[:=]\s*` +
		`(?:"([^"\n]{2,60})"|'([^'\n]{2,60})'|([\w./-]{2,60})[\s,;])[^{}<>]{0,100}?(?:\b|["'])\w*value["']?\s*[:=]\s*` +
		`(?:"((?:\\.|[^"\\\n])*)"|'([^'\n]*)'|([^\s"',{}<>]+))`)
	namedLast = regexp.MustCompile(`(?i)\bvalue["']?\s*[:=]\s*(?:"((?:\\.|[^"\\\n])*)"|'([^'\n]*)')` +
		`[^{}<>\n]{0,60}?\b(?:name|key|label|id)["']?\s*[:=]\s*["']([\w./ -]{2,60}?)["']`)
	element = regexp.MustCompile(`<([\w:.-]+)((?:\s[^<>]*)?)>\s*([^<>\n]{1,200}?)\s*</`)
	beside  = regexp.MustCompile(`>([^<>\n]{2,60})</[\w:.-]+>\s*<[\w:.-]+[^<>]*>([^<>\n]{3,200})</`)
	attrKey = regexp.MustCompile(`(?i)\s(?:key|name|id)=["']([^"'\n]+)["']`)
)

// findNamedValues finds secrets whose name is a value too: {"name": "DB_PASSWORD", "value": "x"},
// <add key="ApiKey" value="x"/>, <password>x</password>, <key>Password</key><string>x</string>.
func findNamedValues(text, lower string, mentions []mention) (found []sensitive.Finding) {
	for _, near := range partsAround(text, mentions) {
		part := text[near.start:near.end]
		add := func(m []int, name string, groups ...int) {
			mean := meaningOf(strings.ReplaceAll(name, ":", " "))
			for _, g := range groups {
				if m[2*g] >= 0 && mean != other && isNamedValue(part[m[2*g]:m[2*g+1]], mean) {
					found = append(found, mean.kind().At(near.start+m[2*g], near.start+m[2*g+1]))
				}
			}
		}
		if strings.Contains(lower[near.start:near.end], "value") {
			for _, m := range namedFirst.FindAllStringSubmatchIndex(part, -1) {
				for g := 2; g <= 6; g += 2 {
					if m[g] >= 0 {
						add(m, part[m[g]:m[g+1]], 4, 5, 6)
					}
				}
			}
			for _, m := range namedLast.FindAllStringSubmatchIndex(part, -1) {
				add(m, part[m[6]:m[7]], 1, 2)
			}
		}
		if !strings.Contains(part, "</") {
			continue
		}
		for _, m := range element.FindAllStringSubmatchIndex(part, -1) {
			add(m, part[m[2]:m[3]], 3)
			if a := attrKey.FindStringSubmatch(part[m[4]:m[5]]); a != nil {
				add(m, a[1], 3)
			}
		}
		for _, m := range beside.FindAllStringSubmatchIndex(part, -1) {
			add(m, part[m[2]:m[3]], 2)
		}
	}
	return found
}

// partsAround returns the parts of a text around mentions in markup or with values that have a key, in order and apart.
func partsAround(text string, mentions []mention) (parts []span) {
	const back, on = 160, 300
	for _, m := range mentions {
		start, end := max(0, m.pos-back), min(len(text), m.end+on)
		if last := len(parts) - 1; last >= 0 && start <= parts[last].end {
			parts[last].end = end
			continue
		}
		parts = append(parts, span{start, end})
	}
	for i := range parts {
		for parts[i].start > 0 && !utf8.RuneStart(text[parts[i].start]) {
			parts[i].start--
		}
		for parts[i].end < len(text) && !utf8.RuneStart(text[parts[i].end]) {
			parts[i].end++
		}
	}
	return parts
}

// isNamedValue judges a value that is all of an element or an attribute.
func isNamedValue(v string, mean meaning) bool {
	if notSaid(v) || isPlainWord(v) || word.IsCode(v) && !isNickname(v) || len(v) < 3 || hasLabel(v) {
		return false
	}
	switch {
	case mean == isDoorCode:
		return isDigits(v)
	case mean == isKey:
		return isKeyValue(v) || isNickname(v)
	case strings.ContainsAny(v, " \t"):
		return isTypedPhrase(v, mean)
	}
	return true
}

// isNumber accepts the numbers that a form has found.
func isNumber(string) bool { return true }
