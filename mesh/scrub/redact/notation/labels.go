package notation

import (
	"slices"
	"strings"
	"sync"

	ahocorasick "github.com/BobuSumisu/aho-corasick"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
)

// label is a word that announces a secret, in lower case.
type label struct {
	word string
	kind sensitive.Kind
	// weak words ("pass", "key") have other meanings: they announce a secret
	// only as a word of their own, and only one that does not look like a word.
	weak bool
}

// labels are words for passwords in the languages that redaction promises, by their stems where these are inflected,
// and names of keys.
var labels = labelsOf()

func labelsOf() (list []label) {
	add := func(kind sensitive.Kind, weak bool, words string) {
		for word := range strings.SplitSeq(words, ",") {
			list = append(list, label{strings.Join(strings.Fields(word), " "), kind, weak})
		}
	}
	add(sensitive.Password, false, `password, passwd, passphrase, pass phrase, passcode, pwd, passwort, kennwort,
		contraseña, contrasena, contrasenya, mot de passe, palavra-passe, palavra passe,
		wachtwoord, lösenord, adgangskode, passord, salasana,
		lykilorð, hasło, hasła, haslo, heslo, jelszó, jelszav, lozinka, пароль, пароля, паролем, паролі, гасло, şifre,
		mật khẩu, kata sandi, كلمة المرور, كلمة مرور, كلمة السر, رمز عبور, گذرواژه, סיסמה, סיסמא, पासवर्ड, পাসওয়ার্ড,
		slaptažodis, slaptažodž, parolă, parool, salasõna, парола, лозинка, fjalëkalim, pasahitz, cyfrinair, pasfhocal,
		zaporka, nenosiri, kata laluan, şifrə, პაროლ, գաղտնաբառ, құпия сөз, نویسه گذر, پاس ورڈ, கடவுச்சொல், गुप्तशब्द,
		parola d'ordine, parola d’ordine, parola di accesso, parola chiave di accesso, code secret,
		code confidentiel, clave de acceso,
		clave secreta, palabra de paso, código secreto, geheimzahl, toegangscode,
		รหัสผ่าน, 密码, 密碼, 口令, パスワード, 비밀번호, 암호`)
	add(sensitive.Password, true, `wifi key, wi-fi key, wlan key, network key, wlan-schlüssel, wifi-schlüssel,
		netzwerkschlüssel, clé wifi, clave wifi`)
	add(sensitive.Password, true, `pass, pw, psk, senha, clave, parola, parole, sifre, sifra, šifra, sandi, κωδικός,
		κωδικό`)
	add(sensitive.Password, true, `pin, pin code, alarm code, door code, gate code, access code, entry code, security code,
		lock code, safe code, garage code, lockbox code, keypad code, entrance code, padlock code, locker code,
		intercom code, alarmcode, türcode, code de l'alarme, code d'alarme, code de la porte, code du portail,
		code du coffre, digicode, codice dell'allarme, codice della porta, código de la alarma, código de la puerta,
		código do alarme, código da porta, cvv, cvc`)
	add(sensitive.APIKey, true, `api key, api-key, api_key, apikey, secret key, secret_key, secret access key, access key,
		access_key, account key, accountkey, account_key, shared key, sharedaccesskey, signing key, signing_key, secret`)
	add(sensitive.Token, true, `token, токен`)
	return list
}

var labelTrie = sync.OnceValue(func() *ahocorasick.Trie {
	words := make([]string, len(labels))
	for i, l := range labels {
		words[i] = l.word
	}
	return ahocorasick.NewTrieBuilder().AddStrings(words).Build()
})

// isPIN reports whether the label announces a number of four to eight digits.
func (l label) isPIN() bool {
	return slices.Contains([]string{"pin", "cvv", "cvc", "alarmcode", "türcode", "digicode"}, l.word) ||
		strings.HasSuffix(l.word, " code") || strings.HasPrefix(l.word, "code ") || strings.HasPrefix(l.word, "codice ") ||
		strings.HasPrefix(l.word, "código ")
}

// opens reports whether the label announces the code of a door, a lock or an alarm, and nothing else.
func (l label) opens() bool {
	thing, found := strings.CutSuffix(l.word, " code")
	return found && !slices.Contains([]string{"pin", "access", "entry", "security"}, thing)
}

// isPhrase reports whether the label announces several words.
func (l label) isPhrase() bool { return l.word == "passphrase" || l.word == "pass phrase" }

// connectors join a label and its value in prose, longest first.
var connectors = []string{
	"would be", "should be", "shall be", "will be", "has to be", "must be", "can be", "wird sein", "soll sein",
	"is now set to", "used to be",
	"has been set to", "has been changed to", "was changed to", "is set to", "is currently", "is still",
	"changed to", "set to", "reset to", "is now", "ist jetzt", "heißt", "heisst", "est maintenant", "es ahora",
	"lautet", "to jest", "такой", "είναι", "ist", "is", "was", "are", "to", "es", "est", "é", "è", "era", "son",
	"je", "er", "on", "är", "теперь", "сейчас", "teraz", "là", "adalah", "olarak", "это", "هي", "هو", "הוא", "היא", "है",
}

// unspacedConnectors join them in languages without spaces.
var unspacedConnectors = []string{"改成了", "改成", "改为", "改為", "设为", "設為", "就是", "是", "为", "為", "は", "は、", "은", "는", "คือ"}
