package trust

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// This file has a rule of structure. Who gets a right is told in endlessly many ways, and each of them names someone
// and something that is the user's to give: mail, money, secrets. So a text that has both waits for a person, whatever
// its verbs are; so does one that speaks of what protects them, such as a confirmation.

// charge are nouns for what an agent looks after for its user, as beginnings of words in lower case, in the languages
// that are told apart nowhere here. A noun that ends in "$" is a whole word.
var charge = prefixes(`mail mails$ e-mail email message inbox$ account savings money$ funds$ payment purchase invoice
	bills$ transfers$ orders$ cheque pin$ password passcode credential secret diary notes$ data$ location$ calendar
	contacts$ contract copy$ copies$ backup wallet budget warning archive$ digital medical health messages cards$
	purse complaint kopi copia copie cópia копи code$ codes$ tax$ salary income earnings earned$ inbox
	konto kontos konten nachricht passwort passwörter geld$ geldes rechnung zahlung überweis bankkarte kreditkarte
	post$ tagebuch notizen kalender geheimnis vertrag verträge daten$
	pošt účet účt zpráv hesl peníz peněz faktur platb mail deník tajemstv smlouv
	courrier compte$ comptes$ argent$ facture paiement virement contrat mot$ mots$ carte$ cartes$ journal$
	correo mensaje cuenta contraseña dinero pago$ pagos$ transferencia tarjeta secreto contrato diario
	posta$ carta$ messaggi conto$ conti$ soldi$ fattur pagament bonific segret contratto
	e-mails berichten rekening wachtwoord betaling facturen factuur geheim
	poczt kont$ konta$ kontem wiadomoś hasł pieni płatnoś przelew umow tajemnic
	e-posta hesap hesab para$ parola şifre mesaj fatura ödeme mensagem mensagens conta$ contas$ senha pagamento dinheiro
	почт счет счёт сообщени парол деньг денег платеж платёж пошт рахун повідомл`)

// software are words after which a noun of charge is the name of a program's part: "the payment service".
var software = text.Set("service services api queue module table server system pipeline page team format library " +
	"schema client gateway broker class function endpoint bus parser template test tests review reviews base style")

// control are beginnings of words for what protects the user's things, and for what lifts it.
var control = prefixes(`confirmation approval permission authoris authoriz safeguard precaution restriction consent
	privacy confidential supervision oversight attorney clearance verification
	bestätigung rückfrage zustimmung erlaubnis genehmigung vollmacht sperre$ gesperrt zugriff regeln$ ausnahme befugnis
	potvrz souhlas povolen svolen oprávn schval neschval pravidl výjimk
	autorisation procuration confirmación confirmar permiso autorización autorizad
	conferma permesso autorizza procura$ bevestiging toestemming machtiging gemachtigd goedkeuring
	potwierdz zgod zgad upoważn zezwol pozwol wyjątk confirmação permissão autorização onay izin
	подтвержд разреш доверенност соглас правил дозв`)

// standing are beginnings of words for who decides and whose word counts, and for all that there is.
var standing = prefixes(`whatever everything anything nothing unlimited limitless unconditional decides$ decide$
	deciding trusts$ trusted trusting blindly binding command$ authority veto nod$ suffice outranks precedence priority
	obey alles nichts entscheid vertraut$ verbindlich befugt zählt$ genügt gehorch všechno vše$ nic$ rozhod důvěř závazn
	stačí tout$ rien$ décide confiance suffit obéi todo$ nada$ decide confía obede tutto$ niente$ fida$ fidarsi beslis
	vertrouw wszystko decyduj ufa$ реша доверя слуша`)

// destroys and their forms tell that something is gone for good. records are what an agent would have to keep.
var (
	destroys = prefixes("delet remov eras shred wipe wiping purg discard destroy overwrit gelöscht lösch mazán maž smaz " +
		"supprim effac borra elimin cancella verwijder usuw usun удал")
	records = prefixes("photo picture backup file note record log$ logs$ archive document message mail email e-mail " +
		"memor entr histor foto datei soubor fichier archivo plik файл")
)

// ideographs are charge and control in scripts without spaces or capitals, in which nobody's name can be told.
var ideographs = anyOf(`邮件|郵件|账户|賬戶|帐户|密码|密碼|消息|付款|转账|轉賬|权限|權限|授权|授權|许可|許可|确认|確認|同意|` +
	`メール|口座|パスワード|メッセージ|支払|送金|承認|메일|계좌|비밀번호|메시지|결제|송금|허가|승인|` +
	`بريد|حساب|كلمة المرور|رسائل|دفع|إذن|תשובות|דואר|חשבון|סיסמ|הודעות|אישור|मेल|खाता|खाते|पासवर्ड|संदेश|भुगतान|अनुमति`)

// notParties are words after which a name is that of a place or a product, or which have capitals without being names.
var (
	before = text.Set("in at on via using near through into called named a an the im am bei v na w i à en dans chez " +
		"em bij op")
	capital = text.Set("i monday tuesday wednesday thursday friday saturday sunday january february march april may " +
		"june july august september october november december mondays tuesdays wednesdays thursdays fridays saturdays " +
		"sundays english german french spanish italian dutch portuguese polish czech russian chinese japanese christmas " +
		"easter whatsapp signal telegram gmail")
	// links are words after which a capital begins a name also in a language that gives capitals to all nouns.
	links = text.Set("to from for with by that than an für mit von dass als pro s se že od k ke à pour avec par que a " +
		"para con por per che da di de voor met aan dat van dla z że u для с что у к")
	articles = text.Set("the a an this that these those his her their its my our your no every each all some if when " +
		"since after before for from in on at by with as there it he she they we i what who which der die das den dem des " +
		"ein eine für seit le la les l un une des pour el los las una para il lo gli i per de het een voor w na v pro od " +
		"za dla se prefers likes and or but")
	modifies    = text.Set("his her their my our")
	determiners = text.Set("the a an his her their our all any")
	german      = text.Set("der die das den dem des und ist nicht hat für darf mit von ein eine seine dass")
	verbs       = text.Set("is was has had may can could gets got will would should must and or keeps")
)

// othersShare reports whether a text tells what someone else has to do with what an agent looks after for its user, or
// speaks of what protects it.
func (n Names) othersShare(text string) bool {
	if ideographs().MatchString(text) {
		return true
	}
	for sentence := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(".!?;\n", r) }) {
		words := strings.FieldsFunc(sentence, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-'’", r)
		})
		low := make([]string, len(words))
		for i, word := range words {
			low[i] = elided(strings.ToLower(word))
		}
		about := func(list prefixList) bool {
			for i, word := range low {
				component := i+1 < len(low) && software[low[i+1]]
				if list.has(word) && !component {
					return true
				}
			}
			return false
		}
		if about(control) {
			return true
		}
		if party := n.hasParty(words, low); party && (about(charge) || about(standing)) {
			return true
		}
		// What the user did themself is past; what happens to records by itself, or by others, is a practice.
		if about(destroys) && about(records) && (len(words) == 0 || !n.isUser(words[0])) {
			return true
		}
	}
	return false
}

// elided returns a word without the article that French and Italian shorten before it: "l'argent".
func elided(word string) string {
	if _, rest, ok := strings.Cut(strings.ReplaceAll(word, "’", "'"), "'"); ok && len(rest) > 2 {
		return rest
	}
	return word
}

// hasParty reports whether a sentence names someone other than the user, as far as capitals tell. low are the words in
// lower case.
func (n Names) hasParty(words, low []string) bool {
	nouns := slices.ContainsFunc(low, func(word string) bool { return german[word] })
	for i, word := range words {
		bare := strings.TrimSuffix(strings.TrimSuffix(low[i], "'s"), "’s")
		letters := []rune(word)
		switch {
		case !unicode.IsUpper(letters[0]), capital[bare], articles[bare], n.isUser(word), charge.has(bare), control.has(bare),
			len(letters) < 6 && len(letters) > 1 && strings.ToUpper(word) == word: // PIN
		case i > 0 && modifies[low[i-1]] && i+1 < len(low) && charge.has(low[i+1]): // "his Facebook account"
		case i == 0:
			// "Viktor's purchases", "Viktor may", "Tomas handles the", but not "Notes are" or "Keeps notes in".
			if bare != low[i] || len(words) > 1 &&
				(verbs[low[1]] || !strings.HasSuffix(bare, "s") || nouns || isSingular(low)) {
				return true
			}
		case links[low[i-1]], !before[low[i-1]] && !nouns:
			return true
		}
	}
	return false
}

// isSingular reports whether the second word of a sentence that begins with a word in "s" is a verb, and its subject
// one person: no preposition follows it.
func isSingular(low []string) bool {
	return len(low) > 2 && strings.HasSuffix(low[1], "s") && determiners[low[2]]
}

// isUser reports whether a word is one of the user's names, in any case of declension, or what a text calls them.
func (n Names) isUser(word string) bool {
	low := strings.ReplaceAll(strings.ToLower(word), "’", "'")
	if low == "user" || low == "user's" {
		return true
	}
	for name := range strings.FieldsSeq(strings.ToLower(n.User)) {
		if strings.HasPrefix(low, name) && len(low) <= len(name)+3 {
			return true
		}
	}
	return false
}

// prefixList finds words by their beginnings.
type prefixList struct{ whole, begin map[string]bool }

// prefixes returns the list of the words of text; one that ends in "$" is a whole word.
func prefixes(text string) prefixList {
	l := prefixList{map[string]bool{}, map[string]bool{}}
	for word := range strings.FieldsSeq(text) {
		if whole, ok := strings.CutSuffix(word, "$"); ok {
			l.whole[whole] = true
		} else {
			l.begin[word] = true
		}
	}
	return l
}

// has reports whether the list has a word, which may begin as one of the list's does.
func (l prefixList) has(word string) bool {
	if l.whole[word] {
		return true
	}
	for end := range word {
		if l.begin[word[:end]] {
			return true
		}
	}
	return l.begin[word]
}
