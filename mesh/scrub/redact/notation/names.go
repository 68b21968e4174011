package notation

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
)

// meaning is what the name of a field says of its value.
type meaning int

// The meanings.
const (
	other      meaning = iota
	isPassword         // what a person or a program types: it can look like anything
	isPhrase           // the same, of several words
	isKey              // it was generated, and has digits or signs
	isDoorCode         // a short number
)

// kind returns the kind of a value whose name has this meaning.
func (m meaning) kind() sensitive.Kind {
	if m == isKey {
		return sensitive.APIKey
	}
	return sensitive.Password
}

// The words that names end in.
var (
	passwordNouns = text.Set(`password passwd passwort passcode pwd pw pass kennwort contraseña contrasena contrasenya
		clave senha wachtwoord lösenord adgangskode passord salasana hasło haslo heslo jelszó parola parool lozinka
		пароль şifre sifre authtok userpw bindpw rootpw dbpass storepass keypass requirepass masterauth becomepass
		mdp psw passwrd kenncode userpassword syspasswd パスワード 密码 密碼 口令 비밀번호 암호`)
	phraseNouns = text.Set(`passphrase psk passwortsatz`)
	codeNouns   = text.Set(`pin puk cvv cvc pinpuk zugangscode toegangscode türcode alarmcode geheimzahl digicode
		freischaltcode sperrcode entsperrcode öffnungscode schlosscode haustürcode safecode tresorcode garagencode
		lockbox keybox schlüsselbox schlüsselsafe`)
	// combinations are opened by turning: 14-32-7.
	combinations = text.Set(`combination kombination zahlenkombination combinación combinaison combinazione combinação`)
	keyNouns     = text.Set(`secret token apikey totp otp authkey secretkey accesskey privatekey licensekey appkey
		webhooksecret apitoken clientsecret authtoken accesstoken refreshtoken bottoken`)
	// keyOwners are before "key": a key without one of them is that of a map or a keyboard.
	keyOwners = text.Set(`api secret auth authentication access private encryption encrypt decryption signing sign master
		integration routing license licence recovery account shared hmac app application preshared product wep wpa wifi fi
		wlan lan network unseal storage webhook session cipher aes jwt ingest ingestion admin subscription activation root
		restore security logged base in backup host psk deploy push vapid write management crypto fernet cookie
		bitlocker registration join dsn consumer partner merchant function azure openai stripe sendgrid anthropic
		github gitlab slack datadog mailgun twilio maps groq mistral gemini`)
	// wirelessOwners are the same for what people type.
	wirelessOwners = text.Set(`wep wpa wifi fi wlan wireless hotspot`)
	saltOwners     = text.Set(`auth in nonce secure secret password hash session cookie encryption jwt`)
	codeOwners     = text.Set(`pin alarm panel door gate access entry lock safe garage lockbox keypad entrance padlock
		locker intercom disarm duress arming entrée accès cellar building shed room security unlock master installer guard
		parking elevator lift sim voicemail screen parental`)
	// lateWords are after the noun and leave its meaning.
	lateWords = text.Set(`value text plain plaintext string new old current prod production dev test staging primary
		secondary default initial generated raw env input temp temporary confirm confirmation again repeat base64 b64 live
		real main master local remote admin user root db backup a b x y`)
	// headEnds end the noun of a phrase: "password for the router".
	headEnds = text.Set(`for of on at d dell l de du del des da do für zum vom van voor di della to in pour para local`)
	// publicOwners are before a noun whose value is public.
	publicOwners = text.Set(`public next prev previous forward backward page continuation idempotency cancel request sync
		cursor csrf pagination
		start starting no lexer parser max min total stop eos bos pad special unk mask design syntax`)
)

// nameWords divides a name into its words in lower case: at signs, at capitals within and between letters and digits.
// "X-Auth-Token" is x, auth, token; "dbPassword2" is db, password, 2.
func nameWords(name string) (list []string) {
	var word []rune
	flush := func() {
		if len(word) > 0 {
			list = append(list, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			flush()
			continue
		case i == 0:
		case unicode.IsDigit(r) != unicode.IsDigit(runes[i-1]),
			unicode.IsUpper(r) && unicode.IsLower(runes[i-1]),
			unicode.IsUpper(r) && unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1]):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return list
}

// meaningOf returns what a name says of its value.
func meaningOf(name string) meaning {
	if len(name) > 80 {
		return other
	}
	list := nameWords(name)
	if n := len(list); n > 1 && list[n-1] == "id" {
		if list[n-2] == "secret" { // of Consul and Nomad: the identifier is the secret
			return isKey
		}
		return other
	}
	if n := slices.IndexFunc(list, func(w string) bool { return headEnds[w] }); n > 0 {
		if m := meaningOfWords(list[:n], list[n:], false); m != other {
			return m
		}
	}
	late := false
	for len(list) > 1 && (lateWords[list[len(list)-1]] || strings.Trim(list[len(list)-1], "0123456789") == "") {
		late = late || list[len(list)-1] == "string"
		list = list[:len(list)-1]
	}
	return meaningOfWords(list, nil, late)
}

// meaningOfWords returns what words mean whose last is the noun; rest is what follows it, late whether that is
// "string".
func meaningOfWords(list, rest []string, late bool) meaning {
	if len(list) == 0 {
		return other
	}
	noun, owner, words := list[len(list)-1], "", list[:len(list)-1]
	for k := len(words) - 1; k >= 0 && (owner == "" || strings.Trim(owner, "0123456789") == ""); k-- { // WPA2-Schlüssel
		owner = words[k]
	}
	if publicOwners[owner] {
		return other
	}
	switch {
	case passwordNouns[noun]:
		return isPassword
	case phraseNouns[noun], noun == "phrase" && owner == "pass":
		return isPhrase
	case noun == "passe" && slices.Contains(words, "mot"), noun == "passe" && owner == "palavra":
		return isPassword
	case keyNouns[noun]:
		return isKey
	case (noun == "key" || noun == "schlüssel") && (wirelessOwners[owner] || slices.ContainsFunc(words, isWirelessOwner)):
		return isPassword
	case noun == "key" && owner == "host": // of a meeting
		return isDoorCode
	case noun == "key" && keyOwners[owner], noun == "schlüssel" && keyOwners[owner]:
		return isKey
	case noun == "wlanschlüssel", noun == "netzwerkschlüssel", noun == "lizenzschlüssel", noun == "zugriffsschlüssel":
		return isKey
	case noun == "base" && owner == "key" && slices.Contains(words, "secret"), noun == "salt" && saltOwners[owner],
		noun == "salt" && owner == "auth":
		return isKey
	case noun == "seed" && (owner == "fa" || owner == "totp" || owner == "otp" || owner == "mfa"):
		return isKey
	case noun == "credential", noun == "credentials":
		return isKey
	case noun == "community" && (owner == "snmp" || owner == "ro" || owner == "rw" || late):
		return isPassword
	case codeNouns[noun], noun == "code" && codeOwners[owner]:
		return isDoorCode
	case combinations[noun] && (codeOwners[owner] || lockOwners[owner]):
		return isDoorCode
	case noun == "code", noun == "código", noun == "codice":
		if len(rest) > 1 && slices.ContainsFunc(rest, func(w string) bool { return codeOwners[w] || codePlaces[w] }) {
			return isDoorCode
		}
	}
	if strings.HasSuffix(noun, "pass") && !passes[noun] { // smbpass
		return isPassword
	}
	for _, stem := range []string{"password", "passwd", "passwort", "kennwort", "passphrase"} { // dbpassword
		if strings.HasSuffix(noun, stem) {
			return isPassword
		}
	}
	return other
}

// passes are words that end in "pass" and name no password.
var passes = text.Set(`bypass compass encompass trespass surpass overpass underpass outpass multipass singlepass twopass
	lowpass highpass bandpass allpass prepass postpass renderpass boardingpass skipass repass onepass firstpass lastpass
	subpass computepass shaderpass shadowpass depthpass lightpass framepass rasterpass testpass failpass impasse`)

// isWirelessOwner reports whether a word says that a key is for a wireless network.
func isWirelessOwner(w string) bool { return wirelessOwners[w] }

// lockOwners have combinations.
var lockOwners = text.Set(`tresor vault lock schloss fahrradschloss spind bike suitcase strongbox caja coffre`)

// codePlaces are after the word for a code in languages that put it first.
var codePlaces = text.Set(`alarme porte portail coffre puerta alarma allarme porta cancello acesso acceso accesso
	immeuble sblocco desbloqueo desbloqueio déverrouillage ouverture apertura seguridad sécurité sicurezza segurança`)

// isOwnToken reports whether text ends in the name of a token that a service gives: "auth token".
func isOwnToken(text string) bool {
	text = strings.TrimRight(chars.LowerUnicode(text[max(0, len(text)-len("access token  ")):]), " ")
	return strings.HasSuffix(text, "auth token") || strings.HasSuffix(text, "api token") ||
		strings.HasSuffix(text, "access token") || strings.HasSuffix(text, "bot token")
}
