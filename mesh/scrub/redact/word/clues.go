package word

import (
	"strings"
	"sync"
)

// Clue is what a word says about the words near it. All weights are points, which package prose adds
// up: from 10 on, a word is a secret.
type Clue struct {
	// A name of a secret, by the shape of the secret: a word, a number, a random key, several words. The weight is how
	// sure it is that a secret of this shape is told; 0 for none.
	Word, Number, Key, Phrase int

	Thing   int  // what has a password or a code: "router", "locker"
	Act     int  // what is done with one: "log in", "unlocks"
	Join    int  // how closely it joins a secret that follows it: "is", "with"
	Against int  // a reason against secrets in its sentence: "at least", "novel"
	Label   bool // what it joins is the name of an account or a network: "the user is x"
	Other   bool // the number or name that follows it is something else: "error 4031"
	Unit    bool // the number before it is an amount: "45 people"
	Plain   bool // it is never a secret or a part of one
	Speech  bool // it opens an answer: "sure, x"
	Adverb  bool // it can be between a word that joins and the secret: "is now x"
	User    bool // an account, so that the word joined to it is its password: "admin and x"

	Question bool // it names a security question
	Typed    bool // it tells how something is typed: "all lowercase"
}

// clueTable has the clues of words and of phrases of up to four words, in lower case. They were chosen on texts of
// people who had not seen the rules, and checked against the documents of public packages.
var clueTable = []struct {
	Clue
	words string
}{
	// Names of secrets.
	{Clue{Word: 6, Number: 4, Key: 4, Phrase: 4}, `password, passwd, pw, pwd, passwort, kennwort, contraseña,
		contrasena, mot de passe, palavra-passe, wachtwoord, lösenord, lösenordet, adgangskode, hasło, hasła,
		heslo, пароль, пароля, парол, паролем, jelszó, lozinka, parolă, salasana, wifi key, wi-fi key, wlan key,
		network key, wlan-schlüssel, wifi-schlüssel, senha, login password, passw`},
	{Clue{Word: 6, Number: 4, Key: 5, Phrase: 6}, `passphrase, pass phrase, app password, app-password,
		ssh key passphrase, key passphrase, public key passphrase, master password, encryption password,
		recovery password, network passphrase, disk passphrase`},
	{Clue{Word: 6, Number: 6, Phrase: 2}, `kenncode, passcode, pass code, zugangscode, zugriffscode, access code,
		entry code, security code, unlock code, sicherheitscode, toegangscode, code d'accès, code secret,
		code confidentiel, código de acceso, código de acesso, codice di accesso, codice d'accesso, screen time,
		digicode, pairing code, join code, meeting code, invite code, door code, gate code, alarm code, türcode,
		torcode, haustürcode, garagencode, alarmcode, lock code, safe code, garage code, lockbox code,
		keypad code, entrance code, padlock code, locker code, intercom code, building code, copier code,
		department code, disarm code, duress code, gym code, voicemail code, deurcode, poortcode,
		code du portail, code de la porte, code de l'immeuble, code de l'alarme, código da porta,
		código de la puerta, código del portal, código del portón, código do portão, código del portero,
		codice del portone, codice del cancello, codice della porta`},
	{Clue{Number: 6, Word: 2}, `pin, pins, puk, puk2, pin2, pin code, pin-code, pincode, pin number, cvv, cvc,
		cvc2, cvv2, geheimzahl, geheimnummer, pin1, puk1, nip, code pin`},
	{Clue{Number: 5, Word: 5, Key: 4}, `otp, 2fa, two-factor, two factor, one-time, one time code,
		verification code, confirmation code, authentication code, login code, sign-in code, sms code, tan, mfa,
		authenticator code, bestätigungscode, code de vérification, código de verificación,
		código de verificação, codice di verifica, verificatiecode, sms-code, einmalcode, passkey code`},
	{Clue{Number: 6, Word: 6, Key: 4}, `backup codes, recovery codes, backup code, recovery code, rescue code,
		rescue codes, scratch codes, one-time codes, one-time code, wiederherstellungscode,
		wiederherstellungscodes, emergency codes, recovery key, recovery keys`},
	{Clue{Number: 4, Word: 2}, `combination, combo, kombination, combinaison, combinación, combinação,
		combinazione, zahlenkombination, cijfercombinatie, combinatie`},
	{Clue{Number: 3, Word: 3}, `code, codes, kode, kod, codice, código, cod`},
	{Clue{Number: 4, Word: 4}, `let me in with, lets me in with, got me in with, let us in with,
		lets us in with, gets me in with, geht mit, geht auf mit, unlocks with, unlock with, opens with,
		open with, opens up with, unlocks by, logged into, log into, logs into, registered with, signed up with,
		open it with, unlock it with, armed with, disarmed with, disarm with,
		arm with, gets you in,
		get in with, gets in with, got in with, getting in with, get into, lets you in, get you in, let you in,
		opens if you, opens when you, works if you, decrypts with, decrypt with, encrypted with, protected with,
		locked with, unlocked with, disarms with, opened with, öffnet mit, entsperrt mit, log in with,
		logs in with, log in as, logs in as, login with, sign in with, signs in with, logged in with,
		log on with, logs on with, logging in with, s'ouvre avec, se abre con, abre com, si apre con`},
	{Clue{Word: 4, Number: 2, Key: 2, Phrase: 2}, `basic auth, login, logins, log in, logs in, logging in,
		logged in, sign in, sign-in, signs in, signing in, log on, logon, log-in, creds, credentials,
		credential, anmeldung, zugangsdaten, login-daten, anmeldedaten, identifiants, credenciales, credenciais,
		credenziali, inloggegevens, inloggen, anmelden, einloggen, iniciar sesión, connexion, passwords,
		passwörter`},
	{Clue{Word: 4, Number: 2, Phrase: 2}, `clave, claves, parola, schlüssel, clé, chiave, sleutel, sifra, šifra,
		şifre, psk, pass, chave`},
	{Clue{Word: 3, Key: 3, Phrase: 2}, `key, keys`},
	{Clue{Word: 2, Key: 4}, `secret, secrets, geheimnis`},
	{Clue{Word: 5, Key: 6, Phrase: 2}, `api key, api keys, api-key, apikey, client secret, signing secret,
		signing key, webhook secret, shared secret, shared key, secret key, access key, license key,
		licence key, activation key, product key, encryption key, service key, deploy key, private key,
		restricted key, pre-shared key, preshared key, api-schlüssel, lizenzschlüssel, clé api, clé d'api,
		clave de api, clave api, chave de api, chave api, chiave api, api-sleutel, api secret, app secret,
		secret token, licentiesleutel, clé de licence, hmac key, write key`},
	{Clue{Word: 3, Key: 6}, `token, tokens, jeton, токен, access token, bearer, refresh token, bot token, pat,
		personal access token`},
	{Clue{Word: 4, Key: 4}, `snmp community, community string, read community, snmp string, community,
		radius secret`},
	{Clue{Word: 5, Number: 2, Phrase: 3}, `for everything, for basically everything, for almost everything,
		for pretty much everything, for practically everything, for literally everything, use everywhere,
		used everywhere, same everywhere, what i use everywhere, for all my accounts, for all accounts, for most sites,
		for most things,
		for throwaway accounts, use the same thing, use the same one, for nearly everything, für alles, überall,
		für fast alles, pour tout, partout, para todo, para tudo, per tutto, voor alles, overal`},
	{Clue{Word: 3, Act: 1, Join: 2}, `i always use, i always used, we always use, i usually use`},
	{Clue{Word: 4, Phrase: 4}, `what i use, what i type, what i enter, what we use`},
	{Clue{Word: 4}, `prompt comes up, cryptsetup prompt, luks prompt, ssh prompt, boot prompt, vault prompt,
		password prompt, login prompt, at the prompt, when prompted,
		sudo prompt, prompts for, prompts me, prompts you`},
	{Clue{Word: 4, Act: 1}, `encrypted the, encrypts her, encrypts his, encrypted my,
		encrypted our,
		protected the, locked the, zipped the, verschlüsselt mit`},
	{Clue{Word: 5, Phrase: 5}, `our keyword, my keyword, alarm keyword, the keyword is, code phrase, duress word,
		stichwort`},
	{Clue{Act: 2, Join: 3}, `gewijzigd in, veranderd in, geändert in, steht auf, gestellt auf, umgestellt auf,
		went with,
		changed it to, changed this to, settled on, switched to, moved to, cambiado a, changé en, cambiato in,
		mudou para`},
	{Clue{Word: 3}, `under the keyboard, sticky note, post-it`},
	{Clue{Adverb: true}, `my birthday, his birthday, her birthday, our anniversary, my birth year, her birth year`},
	{Clue{Act: 2, Join: 3}, `asks for, staat op, ingesteld op`},
	{Clue{Join: 3, Plain: true}, `mine's, mine is, yours is, ours is, mine’s`},
	{Clue{Against: 4}, `for the port,
		the port, port number`},
	{Clue{Word: 4, Number: 3}, `keeps asking, if it asks, when it asks, asks for it, to get in`},
	{Clue{Word: 2, Phrase: 2, Typed: true}, `all lowercase, all lower case, all lower-case, all caps, in lowercase,
		all small letters, no spaces, with spaces, without spaces, lowercase with spaces, lower case with spaces,
		alles klein, kleingeschrieben, alles kleingeschrieben, mit leerzeichen, tout en minuscules, en minuscules,
		todo en minúsculas, en minúsculas, tudo minúsculo, tutto minuscolo, one word, all one word`},
	{Clue{Typed: true}, `in that order, in this order, in dieser reihenfolge, dans cet ordre, en ese orden`},
	{Clue{Number: 1, Phrase: 5}, `the words are, words are, die wörter sind, the words were`},
	{Clue{Word: 4, Phrase: 6, Question: true}, `security question, security questions, sicherheitsfrage,
		question secrète, question de sécurité, pregunta de seguridad, pergunta de segurança, secret question`},
	{Clue{Word: 6, Phrase: 6}, `secret word, safe word, safeword, verbal password, phone password, code word, codeword,
		magic word, spoken password, security word, memorable word, kennung, codewort, kundenkennwort,
		telefonkennwort, challenge word`},
	{Clue{Phrase: 3}, `phrase`},
	{Clue{Word: 5, Phrase: 6}, `security answer, secret answer`},
	{Clue{Word: 4, Phrase: 4}, `answer, antwort, réponse, respuesta, resposta, risposta, antwoord`},
	{Clue{Phrase: 7}, `recovery phrase, seed phrase, seed words, recovery words, backup phrase, backup words,
		mnemonic, mnemonic phrase, secret phrase, wallet phrase, wallet words, recovery seed, wallet seed, seed,
		frase semilla, phrase de récupération, frase de recuperación, frase de recuperação, frase di recupero,
		herstelzin, seed-phrase, phrase secrète, wiederherstellungsphrase, frase-semente, seedphrase,
		frase seed, secret recovery phrase`},
	{Clue{Word: 3, User: true}, `root, admin, administrator`},
	{Clue{Word: 2, User: true}, `sa, guest, ubuntu`},
	{Clue{Word: 2, Act: 1}, `rotated, typo, the old one, the new one, new one, old one`},
	{Clue{Word: 2}, `the new one is, the new one's, new one is, new one's, the right one is, the current one is,
		the old one was, the real one is, used to be`},

	// What has them.
	{Clue{Thing: 2, Number: 3}, `locker, lockbox, lock box, padlock, bike lock, key safe, keysafe, keypad,
		intercom, safe, vault, alarm, burglar alarm, alarm panel, tresor, coffre, caja fuerte, cofre,
		cassaforte, kluis, zahlenschloss, schließfach, spind, cadenas, candado, cadeado, lucchetto, hangslot,
		digicode, interphone, portero, citofono, voicemail, mailbox, alarme, allarme, alarma, gegensprechanlage,
		fahrradschloss, kofferschloss, suitcase, strongbox, sprechanlage, keybox, key box, schlüsselkasten,
		schlüsselbox, schlüsseltresor, antivol, coffre-fort, alarmanlage`},
	{Clue{Thing: 2, Number: 3}, `cash machine, atm, cashpoint, bancomat, geldautomat, bankautomat, pinpad, pin pad,
		bank number`},
	{Clue{Word: 4}, `what opens the, what unlocks the, what gets me into, what gets you into, what you need for,
		what lets me into, rcon, wants the wifi, asked for the wifi, asks for the wifi, needs the wifi, want the wifi,
		change it to something, change that to something, choose something`},
	{Clue{Word: 5, Key: 5, Number: 3}, `auth code, authorization code, epp code, transfer code, guard code`},
	{Clue{Word: 5}, `with a capital, a capital, with capital, with an exclamation mark, in caps,
		with an underscore, with a hyphen, with a dash, two ls, two ss,
		two ns, two ts, with a zero, großgeschrieben, mit großem, groß geschrieben, ausrufezeichen,
		avec une majuscule, con mayúscula, com maiúscula`},
	{Clue{Number: 6, Word: 4}, `secret number, secret pin, secret code`},
	{Clue{Word: 3, User: true}, `superuser, super user`},
	{Clue{Word: 4, Key: 6}, `unseal key, unseal keys, root token`},
	{Clue{Thing: 1, Plain: true}, `for my ssh key, on my ssh key, of my ssh key, to my ssh key`},
	{Clue{Join: 3}, `j'ai mis, ich hab, ich habe, ho messo, he puesto`},
	{Clue{Number: 1, Join: 3}, `numbers are, numbers were, wheels to, dials to`},
	{Clue{Number: 4, Word: 4}, `geht jetzt mit, geht nur mit, öffnet jetzt mit, geht nun mit, öffnet sich mit`},
	{Clue{Act: 1, Join: 2}, `gave it, gave her, gave him, gave them, gave you`},
	{Clue{Act: 1, Join: 3}, `i handed it, made it, il faut faire, fais le, faites le, marque le`},
	{Clue{Plain: true}, `alarm clock, alarm clocks`},
	{Clue{Thing: 2, Word: 4}, `sudo`},
	{Clue{Number: 4}, `luggage, luggage lock, koffer, bank card, debit card, koffer`},
	{Clue{Number: 4}, `license, licence, lizenz, licencia, licenza, activation`},
	{Clue{Word: 6, Phrase: 6}, `verbal passcode, verbal pin, spoken passcode, telephone password,
		telephone passcode, phone passcode`},
	{Clue{Thing: 2, Number: 2}, `panel, door, gate, garage, entrance, front door, back door, lock, elevator,
		lift, cellar, building, cabin, gym, thermostat, tür, haustür, tor, porte, portail, immeuble, porta,
		portone, cancello, puerta, portal, portón, edificio, portão, prédio, deur, poort, phone, ipad, tablet,
		tablette, téléphone, telefono, teléfono, telefoon, bike, vélo, iphone, handy, telefon, card, sim,
		copier, printer, kopierer, drucker, shed, bikeshed, storage, clubhouse, barn, car, tv, bank card,
		debit card, credit card, karte, carte, tarjeta, cartão, carta, bank, screen`},
	{Clue{Thing: 2, Word: 2}, `wifi, wi-fi, wlan, nas, netflix, spotify, laptop, vpn, computer, pdf, zip, zoom,
		sudo, mqtt, nextcloud, screen lock, forums, figma, excel, spreadsheet, disney, prime, hulu, audible, twitch,
		instagram, facebook, whatsapp, telegram, dropbox, github, gitlab, jira, slack, amazon, ebay, keychain,
		icloud, apple id, steam, paypal, hotspot, keepass, bitwarden, wordpress, proxmox, synology, fritzbox,
		bios, veracrypt, luks, account, doorbell, username, benutzer, usuario, utilisateur, utente, usuário,
		user, gebruiker, minecraft, discord, forum, jellyfin`},
	{Clue{Thing: 2}, `tiefgarage, carport, k3s, k8s, kubernetes, cluster, nodes, zips, e-mail, user, lobby, courtyard,
		stairwell, reception, mailroom, laundry, apartment, flat,
		basement, boat, pool, cottage, airbnb, warehouse, studio, parking, house, entry, staircase, rooftop,
		bin store, bike room, hof, keller, wohnung, treppenhaus, garten, trastero, piscina, cave, cour, hall,
		cantina, kelder, berging, sótão, casa, maison`},
	{Clue{Thing: 2}, `router, network, accounts, panel, server, email, mail, portal, dashboard, console, camera,
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
	{Clue{Act: 2, Join: 3}, `type, dial, punch in, punch, key in, tap in, tap, press, tippe, tapes, tapez,
		taper, tape, composer, compose, composez, marca, marcar, teclea, teclear, digita, digitar, digite,
		digitare, toets, set to, changed to, reset to, gesetzt auf, eingestellt auf, geändert auf, drück,
		drücke, marque, type in, typ`},
	{Clue{Join: 3}, `here you go, here it is, there you go, here is, here are, voici`},
	{Clue{Act: 2, Join: 2}, `enter, put in, typing, entering, typed, entered, paste, pasted, try, tried, gib,
		eingeben, saisir, saisis, introduce, introducir, typing in, put, plug in, enter in, verwende, nimm,
		benutze, usa, utilise, gebruik`},
	{Clue{Act: 1, Join: 2}, `use, uses, using, used`},
	{Clue{Act: 2, Number: 2}, `turn off, turns off, switch off, switches off, deactivate, deactivates, zet,
		zetten, schakelt, ausschalten, désactiver, désactive, desactivar, disattivare, desativar, unlock,
		unlocks, unlocking, entsperren, entsperrt, déverrouiller, déverrouille, desbloquear, desbloquea,
		sbloccare, sblocca, ontgrendelen, disarm, disarms, arm`},
	{Clue{Join: 3, Plain: true}, `say, says`},
	{Clue{Adverb: true}, `bisher, ab heute, from today, previously`},
	{Clue{Phrase: 7}, `twelve words, 12 words, 24 words, twenty-four words, wallet backup, ledger words,
		zwölf wörter, 24 wörter`},
	{Clue{Act: 2}, `nags, nagging, complains, locks, locks itself, locked me, insists, bugs me, bothers, lets me,
		lets you`},
	{Clue{Act: 1, Join: 2}, `give it, feed it, tell it`},
	{Clue{Word: 5, Join: 2}, `i reuse, i recycle, reuse the same`},
	{Clue{Join: 2}, `goes, sent me, texted me, gave me, told me, handed me, sent us, gave us, they want`},
	{Clue{Act: 2, Join: 2}, `mets, mettez, metti, pones, pon, ponga, types`},
	{Clue{Act: 2}, `decrypts, decrypt, encrypts, unlock, unlocks, open, opens, prompt, prompted, asks for, asks,
		asked for, entsperren, déverrouiller, entrer, entrar, reset, changed, rotated, armed, disarmed, arm,
		disarm, sticky note, written down, log, remember, save this, note, öffnen, authenticate, authenticates,
		accepts, accepted, expects, works, forget`},

	// Words that join a secret to what is before it.
	{Clue{Join: 3, Plain: true}, `is, was, are, were, became, becomes, be, been, remains, stays, reads, it's,
		it’s, its, that's, that’s, ist, war, lautet, lautete, heißt, heisst, est, était, es, era, é, è, to jest,
		je, är, er, var, это, c'est, c’est, son, são, sono, zijn, sind, waren, namely, i.e, is:, jest, expects,
		viz, nämlich, sería, seria, è:, bleibt, wurde, here's, here’s`},
	{Clue{Join: 2, Plain: true}, `to, with, as, says, said, say, like, got, not, now, now:, mit, auf, zu, als,
		avec, con, com, à, met, naar, от, на, to:, accepted, accepts, wants, takes, needs, gave, i.e., zu:, set,
		called, expect, into, contains, has, with:, chose, picked, made, reading, saying, tells, wrote, then,
		isn't, wasn't, isn’t, het, nach, so, had, took, want, need`},
	{Clue{Join: 3}, `answered, chose, picked`},
	{Clue{Join: 3, Plain: true}, `must say, have to say, should say, need to say, has to say`},
	{Clue{Adverb: true, Plain: true}, `seit heute, ab heute, seit gestern, since today, since yesterday, as of today,
		ab sofort, ab morgen, depuis hier, desde hoy, desde ayer, four-digit, six-digit, three-digit, three digits,
		four digits, six digits, vierstellig`},
	{Clue{Plain: true}, `his fingerprint, her fingerprint, my fingerprint, your fingerprint, a fingerprint,
		fingerprint reader, fingerprint sensor, use fingerprint, face id, hash key, hold the hash, press the hash,
		then hash, then the hash, press hash, pound key`},
	{Clue{Join: 1, Plain: true}, `gets, from, von, de, da, and, or, und, oder, et, ou, y, o, e, ed, i, en, of,
		either, then just, first, plus, but`},
	{Clue{Speech: true}, `sure, ok, okay, yes, yep, yeah, ja, sí, si, oui, sim, sì, here, klar, of course,
		voilà, claro, certo, right, good, nope, no, hm, hmm, uh, um, oh, ah, well, think, logo`},
	{Clue{Adverb: true, Plain: true}, `still, just, always, again, currently, simply, actually, back, probably,
		maybe, once, only, jetzt, noch, immer, nun, wieder, maintenant, toujours, ahora, agora, adesso, ora, nu,
		теперь, teraz, really, literally, exactly, now, the, default, new, digits, my, our, in, on, at, changed,
		set, reset, hasn't, temporarily, definitely, supposedly, officially, apparently, both, something, about,
		temporary, lower-case, lowercase, uppercase, simple, word, words, letters, secret, same, old, current,
		then, ancora, sempre, siempre, todavía, encore, nog`},

	// Reasons against.
	{Clue{Label: true}, `network, netz, netzwerk, réseau, rede`},
	{Clue{Label: true, Other: true, Plain: true}, `username, user name, ssid, host, hostname, domain, branch,
		called, named, name, kid, subject, nickname, customer, model, number`},
	{Clue{Against: 2, Plain: true}, `expires, expire, expired, required, requires, unable, failed, fails, err,
		json, constant`},
	{Clue{Against: 4, Plain: true, Other: true}, `error, errors, how much is, how much are, how much does, how much was,
		how much do`},
	{Clue{Against: 4}, `jacket, lapel, brooch`},
	{Clue{Against: 2}, `button is, button called`},
	{Clue{Label: true, Other: true, Plain: true}, `id, postcode, alarm for, alarm to, alarms for, bank says`},
	{Clue{Unit: true}, `inch, inches, linear`},
	{Clue{Against: 4}, `header, gpio, pinout, connector, ground, relay, opcode`},
	{Clue{Against: 4, Plain: true}, `novel, story, book, film, movie, game, chapter, episode, fiction,
		character, dungeon, spy, wizard, at least, minimum, maximum, must, mindestens, au moins, al menos,
		pelo menos, almeno, policy, policies, hashed, hash, hashes, regex, parameter, argument, algorithm,
		standard, bucket, syntax, variable, function, deprecated, rfc, postal, voucher, discount, promo, coupon,
		conduct`},
	{Clue{Other: true, Plain: true}, `version, v, commit, build, release, room, flight, order, ticket, invoice,
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
	{Clue{Against: 6}, `error code, status code, exit code, postal code, zip code, area code, country code,
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
	{Clue{Unit: true}, `digits, digit, characters, character, chars, char, bits, bit, bytes, byte, days, day,
		hours, hour, minutes, minute, mins, min, seconds, second, secs, sec, ms, weeks, week, months, month,
		years, year, times, people, persons, users, eur, euro, euros, usd, dollars, francs, chf, yen, kr,
		kroner, cents, pounds, pln, points, tokens, requests, keys, words, letters, pieces, mb, gb, kb, tb,
		mbps, km, m, cm, mm, kg, g, grams, gram, ml, l, kwh, w, v, volt, volts, watts, kcal, steps, pages,
		lines, entries, items, files, rows, nodes, screws, percent, degrees, meters, metres, miles, feet,
		zeichen, tage, stunden, minuten, jahre, personen, leute, caracteres, días, dias, jours, heures, ans,
		personnes, caractères, giorni, caratteri, dagen, uur, uhr, o'clock, am, pm, h, hz, mhz, ghz, bpm, dpi,
		px, pt, rpm, stück, mal, fois, veces, vezes, volte, keer, metri, mètres, metros, meter`},
	{Clue{Plain: true}, `a, an, the, my, your, our, their, his, her, this, that, these, those, it, he, she,
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
		value, name, type, object, boolean, integer, born`},
	{Clue{Thing: 2, Plain: true, Other: true}, `fritz!box`},
}

// clues returns the table by word or phrase; a word that only begins phrases has an empty clue. begins has the words
// that begin a phrase.
var clues = sync.OnceValue(func() (t struct {
	of     map[string]Clue
	begins map[string]bool
},
) {
	t.of, t.begins = map[string]Clue{}, map[string]bool{}
	for _, row := range clueTable {
		for words := range strings.SplitSeq(row.words, ",") {
			list := strings.Fields(words)
			word := strings.Join(list, " ")
			if len(list) > 1 {
				t.begins[list[0]] = true
			}
			t.of[word] = t.of[word].And(row.Clue)
			if strings.HasSuffix(word, " code") || strings.HasSuffix(word, " key") {
				t.of[word+"s"] = t.of[word+"s"].And(row.Clue)
			}
		}
	}
	return t
})

// PhraseClue returns the clue of a phrase in lower case, and whether it has one.
func PhraseClue(low string) (Clue, bool) {
	c, ok := clues().of[low]
	return c, ok
}

// BeginsPhrase reports whether a word in lower case begins a phrase that has a clue.
func BeginsPhrase(low string) bool { return clues().begins[low] }

// And returns the clue of a word that has both.
func (c Clue) And(d Clue) Clue {
	return Clue{
		max(c.Word, d.Word), max(c.Number, d.Number), max(c.Key, d.Key), max(c.Phrase, d.Phrase),
		max(c.Thing, d.Thing), max(c.Act, d.Act), max(c.Join, d.Join), max(c.Against, d.Against),
		c.Label || d.Label, c.Other || d.Other, c.Unit || d.Unit, c.Plain || d.Plain, c.Speech || d.Speech,
		c.Adverb || d.Adverb, c.User || d.User, c.Question || d.Question, c.Typed || d.Typed,
	}
}

// Named reports whether the word is the name of a secret of any shape.
func (c Clue) Named() bool { return c.Word+c.Number+c.Key+c.Phrase > 0 }

// compounds end the names of secrets that are one word with what they are for: "WLAN-Passwort", "Kellertürcode".
var compounds = []string{
	"passwort", "password", "kennwort", "passphrase", "wachtwoord", "lösenord", "türcode", "zugangscode", "alarmcode",
	"-login", "-pin", "-code", "-key", "-token", "-passcode", "-puk", "schlüssel", "salasana",
}

// ClueOf returns the clue of a word in lower case.
func ClueOf(low string) Clue {
	t := clues()
	if c, ok := t.of[low]; ok {
		return c
	}
	for _, begin := range []string{"l'", "l’", "d'", "d’", "dell'", "dell’", "all'", "all’"} {
		if w, ok := strings.CutPrefix(low, begin); ok && w != "" {
			return ClueOf(w)
		}
	}
	for _, end := range []string{"'s", "’s"} {
		if w, ok := strings.CutSuffix(low, end); ok {
			return t.of[w]
		}
	}
	if len(low) < 6 || strings.ContainsAny(low, ",;=") {
		return Clue{}
	}
	for _, end := range compounds {
		if strings.HasSuffix(low, end) {
			return t.of[strings.TrimPrefix(end, "-")]
		}
	}
	return Clue{}
}
