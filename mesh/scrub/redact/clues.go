package redact

import (
	"strings"
	"sync"
)

// clue is what a word says about the words near it. All weights are points; see [enough].
type clue struct {
	// A name of a secret, by the shape of the secret: a word, a number, a random key, several words. The weight is how
	// sure it is that a secret of this shape is told; 0 for none.
	word, number, key, phrase int

	thing   int  // what has a password or a code: "router", "locker"
	act     int  // what is done with one: "log in", "unlocks"
	join    int  // how closely it joins a secret that follows it: "is", "with"
	against int  // a reason against secrets in its sentence: "at least", "novel"
	label   bool // what it joins is the name of an account or a network: "the user is x"
	other   bool // the number or name that follows it is something else: "error 4031"
	unit    bool // the number before it is an amount: "45 people"
	plain   bool // it is never a secret or a part of one
	speech  bool // it opens an answer: "sure, x"
	adverb  bool // it can be between a word that joins and the secret: "is now x"
	user    bool // an account, so that the word joined to it is its password: "admin and x"

	question bool // it names a security question
	typed    bool // it tells how something is typed: "all lowercase"
}

// enough is the sum at which a word is taken for a secret. A password that is named (6) and joined by "is" (3) needs
// one more point for its looks.
const enough = 10

// Points that no clue has.
const (
	mostOfNames  = 6 // at most, of a weak name together with a thing and an act
	strongJoin   = 3 // "is", a colon, a turn that is nothing but the value
	fairJoin     = 2 // a name right before the value, quotes
	weakJoin     = 1 // "and", the beginning of a sentence
	notJoined    = -2
	otherwise    = -6 // the word before it says that it is something else
	nextSentence = -1 // for each sentence between a name and a value
	farAway      = -1 // for each dozen of words between them
	sibling      = 4  // another value of the same shape in the same passage is a secret
)

// clueTable has the clues of words and of phrases of up to four words, in lower case. They were chosen on texts of
// people who had not seen the rules, and checked against the documents of public packages.
var clueTable = []struct {
	clue
	words string
}{
	// Names of secrets.
	{clue{word: 6, number: 4, key: 4, phrase: 4}, `password, passwd, pw, pwd, passwort, kennwort, contraseña,
		contrasena, mot de passe, palavra-passe, wachtwoord, lösenord, lösenordet, adgangskode, hasło, hasła,
		heslo, пароль, пароля, парол, паролем, jelszó, lozinka, parolă, salasana, wifi key, wi-fi key, wlan key,
		network key, wlan-schlüssel, wifi-schlüssel, senha, login password, passw`},
	{clue{word: 6, number: 4, key: 5, phrase: 6}, `passphrase, pass phrase, app password, app-password,
		ssh key passphrase, key passphrase, public key passphrase, master password, encryption password,
		recovery password, network passphrase, disk passphrase`},
	{clue{word: 6, number: 6, phrase: 2}, `kenncode, passcode, pass code, zugangscode, zugriffscode, access code,
		entry code, security code, unlock code, sicherheitscode, toegangscode, code d'accès, code secret,
		code confidentiel, código de acceso, código de acesso, codice di accesso, codice d'accesso, screen time,
		digicode, pairing code, join code, meeting code, invite code, door code, gate code, alarm code, türcode,
		torcode, haustürcode, garagencode, alarmcode, lock code, safe code, garage code, lockbox code,
		keypad code, entrance code, padlock code, locker code, intercom code, building code, copier code,
		department code, disarm code, duress code, gym code, voicemail code, deurcode, poortcode,
		code du portail, code de la porte, code de l'immeuble, code de l'alarme, código da porta,
		código de la puerta, código del portal, código del portón, código do portão, código del portero,
		codice del portone, codice del cancello, codice della porta`},
	{clue{number: 6, word: 2}, `pin, pins, puk, puk2, pin2, pin code, pin-code, pincode, pin number, cvv, cvc,
		cvc2, cvv2, geheimzahl, geheimnummer, pin1, puk1, nip, code pin`},
	{clue{number: 5, word: 5, key: 4}, `otp, 2fa, two-factor, two factor, one-time, one time code,
		verification code, confirmation code, authentication code, login code, sign-in code, sms code, tan, mfa,
		authenticator code, bestätigungscode, code de vérification, código de verificación,
		código de verificação, codice di verifica, verificatiecode, sms-code, einmalcode, passkey code`},
	{clue{number: 6, word: 6, key: 4}, `backup codes, recovery codes, backup code, recovery code, rescue code,
		rescue codes, scratch codes, one-time codes, one-time code, wiederherstellungscode,
		wiederherstellungscodes, emergency codes, recovery key, recovery keys`},
	{clue{number: 4, word: 2}, `combination, combo, kombination, combinaison, combinación, combinação,
		combinazione, zahlenkombination, cijfercombinatie, combinatie`},
	{clue{number: 3, word: 3}, `code, codes, kode, kod, codice, código, cod`},
	{clue{number: 4, word: 4}, `let me in with, lets me in with, got me in with, let us in with,
		lets us in with, gets me in with, geht mit, geht auf mit, unlocks with, unlock with, opens with,
		open with, opens up with, unlocks by, logged into, log into, logs into, registered with, signed up with,
		open it with, unlock it with, armed with, disarmed with, disarm with,
		arm with, gets you in,
		get in with, gets in with, got in with, getting in with, get into, lets you in, get you in, let you in,
		opens if you, opens when you, works if you, decrypts with, decrypt with, encrypted with, protected with,
		locked with, unlocked with, disarms with, opened with, öffnet mit, entsperrt mit, log in with,
		logs in with, log in as, logs in as, login with, sign in with, signs in with, logged in with,
		log on with, logs on with, logging in with, s'ouvre avec, se abre con, abre com, si apre con`},
	{clue{word: 4, number: 2, key: 2, phrase: 2}, `basic auth, login, logins, log in, logs in, logging in,
		logged in, sign in, sign-in, signs in, signing in, log on, logon, log-in, creds, credentials,
		credential, anmeldung, zugangsdaten, login-daten, anmeldedaten, identifiants, credenciales, credenciais,
		credenziali, inloggegevens, inloggen, anmelden, einloggen, iniciar sesión, connexion, passwords,
		passwörter`},
	{clue{word: 4, number: 2, phrase: 2}, `clave, claves, parola, schlüssel, clé, chiave, sleutel, sifra, šifra,
		şifre, psk, pass, chave`},
	{clue{word: 3, key: 3, phrase: 2}, `key, keys`},
	{clue{word: 2, key: 4}, `secret, secrets, geheimnis`},
	{clue{word: 5, key: 6, phrase: 2}, `api key, api keys, api-key, apikey, client secret, signing secret,
		signing key, webhook secret, shared secret, shared key, secret key, access key, license key,
		licence key, activation key, product key, encryption key, service key, deploy key, private key,
		restricted key, pre-shared key, preshared key, api-schlüssel, lizenzschlüssel, clé api, clé d'api,
		clave de api, clave api, chave de api, chave api, chiave api, api-sleutel, api secret, app secret,
		secret token, licentiesleutel, clé de licence, hmac key, write key`},
	{clue{word: 3, key: 6}, `token, tokens, jeton, токен, access token, bearer, refresh token, bot token, pat,
		personal access token`},
	{clue{word: 4, key: 4}, `snmp community, community string, read community, snmp string, community,
		radius secret`},
	{clue{word: 5, number: 2, phrase: 3}, `for everything, for basically everything, for almost everything,
		for pretty much everything, for practically everything, for literally everything, use everywhere,
		used everywhere, same everywhere, what i use everywhere, for all my accounts, for all accounts, for most sites,
		for most things,
		for throwaway accounts, use the same thing, use the same one, for nearly everything, für alles, überall,
		für fast alles, pour tout, partout, para todo, para tudo, per tutto, voor alles, overal`},
	{clue{word: 3, act: 1, join: 2}, `i always use, i always used, we always use, i usually use`},
	{clue{word: 4, phrase: 4}, `what i use, what i type, what i enter, what we use`},
	{clue{word: 4}, `prompt comes up, cryptsetup prompt, luks prompt, ssh prompt, boot prompt, vault prompt,
		password prompt, login prompt, at the prompt, when prompted,
		sudo prompt, prompts for, prompts me, prompts you`},
	{clue{word: 4, act: 1}, `encrypted the, encrypts her, encrypts his, encrypted my,
		encrypted our,
		protected the, locked the, zipped the, verschlüsselt mit`},
	{clue{word: 5, phrase: 5}, `our keyword, my keyword, alarm keyword, the keyword is, code phrase, duress word,
		stichwort`},
	{clue{act: 2, join: 3}, `gewijzigd in, veranderd in, geändert in, steht auf, gestellt auf, umgestellt auf,
		went with,
		changed it to, changed this to, settled on, switched to, moved to, cambiado a, changé en, cambiato in,
		mudou para`},
	{clue{word: 3}, `under the keyboard, sticky note, post-it`},
	{clue{adverb: true}, `my birthday, his birthday, her birthday, our anniversary, my birth year, her birth year`},
	{clue{act: 2, join: 3}, `asks for, staat op, ingesteld op`},
	{clue{join: 3, plain: true}, `mine's, mine is, yours is, ours is, mine’s`},
	{clue{against: 4}, `for the port,
		the port, port number`},
	{clue{word: 4, number: 3}, `keeps asking, if it asks, when it asks, asks for it, to get in`},
	{clue{word: 2, phrase: 2, typed: true}, `all lowercase, all lower case, all lower-case, all caps, in lowercase,
		all small letters, no spaces, with spaces, without spaces, lowercase with spaces, lower case with spaces,
		alles klein, kleingeschrieben, alles kleingeschrieben, mit leerzeichen, tout en minuscules, en minuscules,
		todo en minúsculas, en minúsculas, tudo minúsculo, tutto minuscolo, one word, all one word`},
	{clue{typed: true}, `in that order, in this order, in dieser reihenfolge, dans cet ordre, en ese orden`},
	{clue{number: 1, phrase: 5}, `the words are, words are, die wörter sind, the words were`},
	{clue{word: 4, phrase: 6, question: true}, `security question, security questions, sicherheitsfrage,
		question secrète, question de sécurité, pregunta de seguridad, pergunta de segurança, secret question`},
	{clue{word: 6, phrase: 6}, `secret word, safe word, safeword, verbal password, phone password, code word, codeword,
		magic word, spoken password, security word, memorable word, kennung, codewort, kundenkennwort,
		telefonkennwort, challenge word`},
	{clue{phrase: 3}, `phrase`},
	{clue{word: 5, phrase: 6}, `security answer, secret answer`},
	{clue{word: 4, phrase: 4}, `answer, antwort, réponse, respuesta, resposta, risposta, antwoord`},
	{clue{phrase: 7}, `recovery phrase, seed phrase, seed words, recovery words, backup phrase, backup words,
		mnemonic, mnemonic phrase, secret phrase, wallet phrase, wallet words, recovery seed, wallet seed, seed,
		frase semilla, phrase de récupération, frase de recuperación, frase de recuperação, frase di recupero,
		herstelzin, seed-phrase, phrase secrète, wiederherstellungsphrase, frase-semente, seedphrase,
		frase seed, secret recovery phrase`},
	{clue{word: 3, user: true}, `root, admin, administrator`},
	{clue{word: 2, user: true}, `sa, guest, ubuntu`},
	{clue{word: 2, act: 1}, `rotated, typo, the old one, the new one, new one, old one`},
	{clue{word: 2}, `the new one is, the new one's, new one is, new one's, the right one is, the current one is,
		the old one was, the real one is, used to be`},

	// What has them.
	{clue{thing: 2, number: 3}, `locker, lockbox, lock box, padlock, bike lock, key safe, keysafe, keypad,
		intercom, safe, vault, alarm, burglar alarm, alarm panel, tresor, coffre, caja fuerte, cofre,
		cassaforte, kluis, zahlenschloss, schließfach, spind, cadenas, candado, cadeado, lucchetto, hangslot,
		digicode, interphone, portero, citofono, voicemail, mailbox, alarme, allarme, alarma, gegensprechanlage,
		fahrradschloss, kofferschloss, suitcase, strongbox, sprechanlage, keybox, key box, schlüsselkasten,
		schlüsselbox, schlüsseltresor, antivol, coffre-fort, alarmanlage`},
	{clue{thing: 2, number: 3}, `cash machine, atm, cashpoint, bancomat, geldautomat, bankautomat, pinpad, pin pad,
		bank number`},
	{clue{word: 4}, `what opens the, what unlocks the, what gets me into, what gets you into, what you need for,
		what lets me into, rcon, wants the wifi, asked for the wifi, asks for the wifi, needs the wifi, want the wifi,
		change it to something, change that to something, choose something`},
	{clue{word: 5, key: 5, number: 3}, `auth code, authorization code, epp code, transfer code, guard code`},
	{clue{word: 5}, `with a capital, a capital, with capital, with an exclamation mark, in caps,
		with an underscore, with a hyphen, with a dash, two ls, two ss,
		two ns, two ts, with a zero, großgeschrieben, mit großem, groß geschrieben, ausrufezeichen,
		avec une majuscule, con mayúscula, com maiúscula`},
	{clue{number: 6, word: 4}, `secret number, secret pin, secret code`},
	{clue{word: 3, user: true}, `superuser, super user`},
	{clue{word: 4, key: 6}, `unseal key, unseal keys, root token`},
	{clue{thing: 1, plain: true}, `for my ssh key, on my ssh key, of my ssh key, to my ssh key`},
	{clue{join: 3}, `j'ai mis, ich hab, ich habe, ho messo, he puesto`},
	{clue{number: 1, join: 3}, `numbers are, numbers were, wheels to, dials to`},
	{clue{number: 4, word: 4}, `geht jetzt mit, geht nur mit, öffnet jetzt mit, geht nun mit, öffnet sich mit`},
	{clue{act: 1, join: 2}, `gave it, gave her, gave him, gave them, gave you`},
	{clue{act: 1, join: 3}, `i handed it, made it, il faut faire, fais le, faites le, marque le`},
	{clue{plain: true}, `alarm clock, alarm clocks`},
	{clue{thing: 2, word: 4}, `sudo`},
	{clue{number: 4}, `luggage, luggage lock, koffer, bank card, debit card, koffer`},
	{clue{number: 4}, `license, licence, lizenz, licencia, licenza, activation`},
	{clue{word: 6, phrase: 6}, `verbal passcode, verbal pin, spoken passcode, telephone password,
		telephone passcode, phone passcode`},
	{clue{thing: 2, number: 2}, `panel, door, gate, garage, entrance, front door, back door, lock, elevator,
		lift, cellar, building, cabin, gym, thermostat, tür, haustür, tor, porte, portail, immeuble, porta,
		portone, cancello, puerta, portal, portón, edificio, portão, prédio, deur, poort, phone, ipad, tablet,
		tablette, téléphone, telefono, teléfono, telefoon, bike, vélo, iphone, handy, telefon, card, sim,
		copier, printer, kopierer, drucker, shed, bikeshed, storage, clubhouse, barn, car, tv, bank card,
		debit card, credit card, karte, carte, tarjeta, cartão, carta, bank, screen`},
	{clue{thing: 2, word: 2}, `wifi, wi-fi, wlan, nas, netflix, spotify, laptop, vpn, computer, pdf, zip, zoom,
		sudo, mqtt, nextcloud, screen lock, forums, figma, excel, spreadsheet, disney, prime, hulu, audible, twitch,
		instagram, facebook, whatsapp, telegram, dropbox, github, gitlab, jira, slack, amazon, ebay, keychain,
		icloud, apple id, steam, paypal, hotspot, keepass, bitwarden, wordpress, proxmox, synology, fritzbox,
		bios, veracrypt, luks, account, doorbell, username, benutzer, usuario, utilisateur, utente, usuário,
		user, gebruiker, minecraft, discord, forum, jellyfin`},
	{clue{thing: 2}, `tiefgarage, carport, k3s, k8s, kubernetes, cluster, nodes, zips, e-mail, user, lobby, courtyard,
		stairwell, reception, mailroom, laundry, apartment, flat,
		basement, boat, pool, cottage, airbnb, warehouse, studio, parking, house, entry, staircase, rooftop,
		bin store, bike room, hof, keller, wohnung, treppenhaus, garten, trastero, piscina, cave, cour, hall,
		cantina, kelder, berging, sótão, casa, maison`},
	{clue{thing: 2}, `router, network, accounts, panel, server, email, mail, portal, dashboard, console, camera,
		nvr, kvm, vm, database, db, postgres, mysql, redis, grafana, host, jump host, user, username, ssid,
		hosting, website, site, box, zip, pdf, archive, backup, disk, drive, usb, stick, keepass, bitwarden,
		wordpress, switch, firewall, pi, proxmox, synology, konto, rechner, windows, mac, machine, desktop, ftp,
		sftp, ssh, rdp, admin panel, admin page, control panel, benutzer, usuario, utilisateur, utente, usuário,
		gebruiker, encrypted, protected, locked, password-protected, verschlüsselt, security question,
		security questions, sicherheitsfrage, question secrète, webhook, api, integration, app, subscription,
		membership, streaming, hotspot, spreadsheet, excel, roteador, routeur, fritzbox, bios, partition, luks,
		veracrypt, vault, safe, zoom, teams, meeting, webinar, apple id, icloud, google, amazon, steam,
		playstation, xbox, minecraft, discord, paypal, crypto, wallet`},

	// What is done with them.
	{clue{act: 2, join: 3}, `type, dial, punch in, punch, key in, tap in, tap, press, tippe, tapes, tapez,
		taper, tape, composer, compose, composez, marca, marcar, teclea, teclear, digita, digitar, digite,
		digitare, toets, set to, changed to, reset to, gesetzt auf, eingestellt auf, geändert auf, drück,
		drücke, marque, type in, typ`},
	{clue{join: 3}, `here you go, here it is, there you go, here is, here are, voici`},
	{clue{act: 2, join: 2}, `enter, put in, typing, entering, typed, entered, paste, pasted, try, tried, gib,
		eingeben, saisir, saisis, introduce, introducir, typing in, put, plug in, enter in, verwende, nimm,
		benutze, usa, utilise, gebruik`},
	{clue{act: 1, join: 2}, `use, uses, using, used`},
	{clue{act: 2, number: 2}, `turn off, turns off, switch off, switches off, deactivate, deactivates, zet,
		zetten, schakelt, ausschalten, désactiver, désactive, desactivar, disattivare, desativar, unlock,
		unlocks, unlocking, entsperren, entsperrt, déverrouiller, déverrouille, desbloquear, desbloquea,
		sbloccare, sblocca, ontgrendelen, disarm, disarms, arm`},
	{clue{join: 3, plain: true}, `say, says`},
	{clue{adverb: true}, `bisher, ab heute, from today, previously`},
	{clue{phrase: 7}, `twelve words, 12 words, 24 words, twenty-four words, wallet backup, ledger words,
		zwölf wörter, 24 wörter`},
	{clue{act: 2}, `nags, nagging, complains, locks, locks itself, locked me, insists, bugs me, bothers, lets me,
		lets you`},
	{clue{act: 1, join: 2}, `give it, feed it, tell it`},
	{clue{word: 5, join: 2}, `i reuse, i recycle, reuse the same`},
	{clue{join: 2}, `goes, sent me, texted me, gave me, told me, handed me, sent us, gave us, they want`},
	{clue{act: 2, join: 2}, `mets, mettez, metti, pones, pon, ponga, types`},
	{clue{act: 2}, `decrypts, decrypt, encrypts, unlock, unlocks, open, opens, prompt, prompted, asks for, asks,
		asked for, entsperren, déverrouiller, entrer, entrar, reset, changed, rotated, armed, disarmed, arm,
		disarm, sticky note, written down, log, remember, save this, note, öffnen, authenticate, authenticates,
		accepts, accepted, expects, works, forget`},

	// Words that join a secret to what is before it.
	{clue{join: 3, plain: true}, `is, was, are, were, became, becomes, be, been, remains, stays, reads, it's,
		it’s, its, that's, that’s, ist, war, lautet, lautete, heißt, heisst, est, était, es, era, é, è, to jest,
		je, är, er, var, это, c'est, c’est, son, são, sono, zijn, sind, waren, namely, i.e, is:, jest, expects,
		viz, nämlich, sería, seria, è:, bleibt, wurde, here's, here’s`},
	{clue{join: 2, plain: true}, `to, with, as, says, said, say, like, got, not, now, now:, mit, auf, zu, als,
		avec, con, com, à, met, naar, от, на, to:, accepted, accepts, wants, takes, needs, gave, i.e., zu:, set,
		called, expect, into, contains, has, with:, chose, picked, made, reading, saying, tells, wrote, then,
		isn't, wasn't, isn’t, het, nach, so, had, took, want, need`},
	{clue{join: 3}, `answered, chose, picked`},
	{clue{join: 3, plain: true}, `must say, have to say, should say, need to say, has to say`},
	{clue{adverb: true, plain: true}, `seit heute, ab heute, seit gestern, since today, since yesterday, as of today,
		ab sofort, ab morgen, depuis hier, desde hoy, desde ayer, four-digit, six-digit, three-digit, three digits,
		four digits, six digits, vierstellig`},
	{clue{plain: true}, `his fingerprint, her fingerprint, my fingerprint, your fingerprint, a fingerprint,
		fingerprint reader, fingerprint sensor, use fingerprint, face id, hash key, hold the hash, press the hash,
		then hash, then the hash, press hash, pound key`},
	{clue{join: 1, plain: true}, `gets, from, von, de, da, and, or, und, oder, et, ou, y, o, e, ed, i, en, of,
		either, then just, first, plus, but`},
	{clue{speech: true}, `sure, ok, okay, yes, yep, yeah, ja, sí, si, oui, sim, sì, here, klar, of course,
		voilà, claro, certo, right, good, nope, no, hm, hmm, uh, um, oh, ah, well, think, logo`},
	{clue{adverb: true, plain: true}, `still, just, always, again, currently, simply, actually, back, probably,
		maybe, once, only, jetzt, noch, immer, nun, wieder, maintenant, toujours, ahora, agora, adesso, ora, nu,
		теперь, teraz, really, literally, exactly, now, the, default, new, digits, my, our, in, on, at, changed,
		set, reset, hasn't, temporarily, definitely, supposedly, officially, apparently, both, something, about,
		temporary, lower-case, lowercase, uppercase, simple, word, words, letters, secret, same, old, current,
		then, ancora, sempre, siempre, todavía, encore, nog`},

	// Reasons against.
	{clue{label: true}, `network, netz, netzwerk, réseau, rede`},
	{clue{label: true, other: true, plain: true}, `username, user name, ssid, host, hostname, domain, branch,
		called, named, name, kid, subject, nickname, customer, model, number`},
	{clue{against: 2, plain: true}, `expires, expire, expired, required, requires, unable, failed, fails, err,
		json, constant`},
	{clue{against: 4, plain: true, other: true}, `error, errors, how much is, how much are, how much does, how much was,
		how much do`},
	{clue{against: 4}, `jacket, lapel, brooch`},
	{clue{against: 2}, `button is, button called`},
	{clue{label: true, other: true, plain: true}, `id, postcode, alarm for, alarm to, alarms for, bank says`},
	{clue{unit: true}, `inch, inches, linear`},
	{clue{against: 4}, `header, gpio, pinout, connector, ground, relay, opcode`},
	{clue{against: 4, plain: true}, `novel, story, book, film, movie, game, chapter, episode, fiction,
		character, dungeon, spy, wizard, at least, minimum, maximum, must, mindestens, au moins, al menos,
		pelo menos, almeno, policy, policies, hashed, hash, hashes, regex, parameter, argument, algorithm,
		standard, bucket, syntax, variable, function, deprecated, rfc, postal, voucher, discount, promo, coupon,
		conduct`},
	{clue{other: true, plain: true}, `version, v, commit, build, release, room, flight, order, ticket, invoice,
		issue, page, port, ports, line, lines, section, year, since, until, ext, extension, iso, model, number,
		no, nr, no., nr., #, case, bay, seat, row, form, bus, train, tram, platform, step, level, id, uuid,
		article, item, zip, postal, area, country, tracking, booking, reservation, reference, ref, serial, part,
		sku, isbn, firmware, status, exit, http, raum, zimmer, flug, bestellung, seite, seit, bis, in, at, on,
		by, um, im, am, dans, en, el, los, sur, nel, il, around, about, before, after, during, over, under,
		than, summer, winter, spring, autumn, january, february, march, april, may, june, july, august,
		september, october, november, december, jan, feb, apr, jun, jul, aug, sep, oct, nov, dec, username,
		user, user name, ssid, host, hostname, server, domain, subject, branch, tag, customer, kundennummer,
		account number, street, road, strasse, straße, rue, calle, via, chapter, volume, vol, figure, fig,
		table, pin:, height, costs, cost, is about, worth, paid, pay, owe, weighs, runs, called, named, name,
		kid, ticker, code name, postleitzahl, plz, kb, cve`},
	{clue{against: 6}, `error code, status code, exit code, postal code, zip code, area code, country code,
		promo code, discount code, source code, tariff code, dress code, qr code, bar code, color code,
		booking code, code name, promocode, code postal, código postal, codice fiscale, code of conduct,
		response code, return code, voucher code, coupon code, codice postale, language code, currency code,
		sort code, dialling code, calling code, airport code, cheat code, machine code, opening code, car park,
		code review, code base, public key, primary key, foreign key, tokenizer, tokenizers, key takeaways, password strength,
		password hashing, password policy, password manager costs, pin at, pinned, drop a pin, dropped a pin, pinterest,
		meeting id, fingerprint, checksum, phone bill, tracking code, referral code, product code, color,
		http code, error codes, key is to, clave del éxito, code point, code section, session id, cache key,
		object key, s3 key, sort key, partition key, session key, cache keys, key-value, key value, map key,
		key press, host key, ssh key, hot key, shortcut key, arrow key, registry key, sample code,
		example code`},
	{clue{unit: true}, `digits, digit, characters, character, chars, char, bits, bit, bytes, byte, days, day,
		hours, hour, minutes, minute, mins, min, seconds, second, secs, sec, ms, weeks, week, months, month,
		years, year, times, people, persons, users, eur, euro, euros, usd, dollars, francs, chf, yen, kr,
		kroner, cents, pounds, pln, points, tokens, requests, keys, words, letters, pieces, mb, gb, kb, tb,
		mbps, km, m, cm, mm, kg, g, grams, gram, ml, l, kwh, w, v, volt, volts, watts, kcal, steps, pages,
		lines, entries, items, files, rows, nodes, screws, percent, degrees, meters, metres, miles, feet,
		zeichen, tage, stunden, minuten, jahre, personen, leute, caracteres, días, dias, jours, heures, ans,
		personnes, caractères, giorni, caratteri, dagen, uur, uhr, o'clock, am, pm, h, hz, mhz, ghz, bpm, dpi,
		px, pt, rpm, stück, mal, fois, veces, vezes, volte, keer, metri, mètres, metros, meter`},
	{clue{plain: true}, `a, an, the, my, your, our, their, his, her, this, that, these, those, it, he, she,
		they, we, you, i, on, at, by, for, in, if, when, than, too, very, also, never, often, already, there,
		what, which, who, whose, where, how, why, because, after, before, until, without, within, through,
		during, between, under, over, will, would, can, could, should, may, might, shall, do, does, did, don't,
		doesn't, didn't, have, had, having, being, get, gets, any, all, some, each, every, more, most, less,
		much, many, few, other, another, one, ones, two, up, down, out, off, no, yes, me, us, them, him, let,
		make, please, thanks, again, der, die, das, den, dem, des, ein, eine, einen, nicht, für, im, am, bei,
		vom, zum, le, la, les, un, une, du, pour, dans, sur, el, los, las, del, una, para, por, en, na, os, um,
		uma, il, lo, gli, di, che, per, nel, het, de, een, van, voor, op, aan, w, z, там, в, не, и, anymore,
		today, yesterday, tomorrow, long, short, stored, hidden, private, public, wrong, valid, invalid,
		optional, unknown, encrypted, safe, secure, forgotten, lost, different, unique, random, strong, weak,
		sent, nothing, everything, anything, whatever, kept, needed, available, shared, expired, missing, empty,
		case, sensitive, based, generated, protected, broken, written, part, null, true, false, none, nil,
		string, going, gone, prompt, prompts, hint, field, screen, page, file, manager, reset, policy, users,
		value, name, type, object, boolean, integer`},
}

// clues returns the table by word or phrase; a word that only begins phrases has an empty clue. begins has the words
// that begin a phrase.
var clues = sync.OnceValue(func() (t struct {
	of     map[string]clue
	begins map[string]bool
},
) {
	t.of, t.begins = map[string]clue{}, map[string]bool{}
	for _, row := range clueTable {
		for words := range strings.SplitSeq(row.words, ",") {
			list := strings.Fields(words)
			word := strings.Join(list, " ")
			if len(list) > 1 {
				t.begins[list[0]] = true
			}
			t.of[word] = t.of[word].and(row.clue)
			if strings.HasSuffix(word, " code") || strings.HasSuffix(word, " key") {
				t.of[word+"s"] = t.of[word+"s"].and(row.clue)
			}
		}
	}
	return t
})

// and returns the clue of a word that has both.
func (c clue) and(d clue) clue {
	return clue{
		max(c.word, d.word), max(c.number, d.number), max(c.key, d.key), max(c.phrase, d.phrase),
		max(c.thing, d.thing), max(c.act, d.act), max(c.join, d.join), max(c.against, d.against),
		c.label || d.label, c.other || d.other, c.unit || d.unit, c.plain || d.plain, c.speech || d.speech,
		c.adverb || d.adverb, c.user || d.user, c.question || d.question, c.typed || d.typed,
	}
}

// named reports whether the word is the name of a secret of any shape.
func (c clue) named() bool { return c.word+c.number+c.key+c.phrase > 0 }

// compounds end the names of secrets that are one word with what they are for: "WLAN-Passwort", "Kellertürcode".
var compounds = []string{
	"passwort", "password", "kennwort", "passphrase", "wachtwoord", "lösenord", "türcode", "zugangscode", "alarmcode",
	"-login", "-pin", "-code", "-key", "-token", "-passcode", "-puk", "schlüssel", "salasana",
}

// clueOf returns the clue of a word in lower case.
func clueOf(low string) clue {
	t := clues()
	if c, ok := t.of[low]; ok {
		return c
	}
	for _, begin := range []string{"l'", "l’", "d'", "d’", "dell'", "dell’", "all'", "all’"} {
		if w, ok := strings.CutPrefix(low, begin); ok && w != "" {
			return clueOf(w)
		}
	}
	for _, end := range []string{"'s", "’s"} {
		if w, ok := strings.CutSuffix(low, end); ok {
			return t.of[w]
		}
	}
	if len(low) < 6 || strings.ContainsAny(low, ",;=") {
		return clue{}
	}
	for _, end := range compounds {
		if strings.HasSuffix(low, end) {
			return t.of[strings.TrimPrefix(end, "-")]
		}
	}
	return clue{}
}
