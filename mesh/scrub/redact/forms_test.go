package redact

import (
	"slices"
	"strings"
	"testing"
)

// form is a text with one secret between the marks « and ».
type form struct{ group, text string }

// forms are texts with one secret, between the marks « and », in the forms in which people, programs and documents
// write secrets. The held ones were not looked at when the rules were written.
var forms = []form{
	// Keys and values of configuration.
	{"pair", "DB_PASSWORD=«correct-horse-battery»"},
	{"pair", "docker run -e POSTGRES_PASSWORD=«mango» -d postgres"},
	{"pair", "PGPASSWORD=«mango7» psql -h db.example.org"},
	{"pair", "mysqldump --password=«mango» shop"},
	{"pair", "export SMTP_PASS='«winter sun»'"},
	{"pair", "password: «blue-kettle-lamp»\nuser: ana"},
	{"pair", "db:\n  user: ana\n  password: «kettle»\n  host: db1"},
	{"pair", `{"user":"ana","password":"«kettle»","host":"db1"}`},
	{"pair", `{"api_key": "«3f9c1b7a5d2e4f60918273645546372f»"}`},
	{"pair", `{"auth":{"client_secret":"«Zx81-kkQ2-pp03-TTv9»"}}`},
	{"pair", `api_secret = '«9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d»'`},
	{"pair", "AWS_SECRET_ACCESS_KEY=«/JalrXUtnFEMIzK7MDENGbPxRfiCYzzzzzzzz1aK»"},
	{"pair", "aws_secret_access_key = «+aB3//dEfGhIjKlMnOpQrStUvWxYz0123456789Q»"},
	{"pair", "SECRET_KEY_BASE=«c0ffee5eedc0ffee5eedc0ffee5eedc0ffee5eedc0ffee5eed00112233445566»"},
	{"pair", "AccountName=acme;AccountKey=«Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYg==»;EndpointSuffix=core.windows.net"},
	{"pair", "<password>«kettle42»</password>"},
	{"pair", "<password>«kettle»</password>"},
	{"pair", `<add key="ApiKey" value="«8d7f6a5b4c3d2e1f»" />`},
	{"pair", `<property name="db.password" value="«kettle»"/>`},
	{"pair", "| host | db1 |\n| password | «kettle42» |"},
	{"pair", "| user | password |\n|---|---|\n| ana | «kettle42» |"},
	{"pair", "user,password\nana,«kettle42»"},
	{"pair", "machine example.org login ana password «kettle42»"},
	{"pair", ":ssh_pass => \"«kettle42»\""},
	{"pair", "  .password(\"«kettle42!»\")"},
	// Commands and headers.
	{"pair", "curl -u ana:«kettle42» https://example.org"},
	{"pair", "curl --user ana:«kettle» https://example.org"},
	{"pair", "mysql -u root -p«kettle42» shop"},
	{"pair", "sshpass -p «kettle» ssh ana@host"},
	{"pair", "sshpass -p '«kettle lamp»' ssh ana@host"},
	{"pair", "redis-cli -h r1 -a «kettle42» ping"},
	{"pair", "CREATE USER ana IDENTIFIED BY '«kettle»';"},
	{"pair", "ALTER ROLE ana WITH PASSWORD '«kettle»';"},
	{"pair", "Cookie: sessionid=«9x8c7v6b5n4m3l2k1j»; theme=dark"},
	{"pair", "Set-Cookie: sid=«s%3AhT2bq9ZxLw81.KpQ7»; Path=/; HttpOnly"},
	{"pair", "https://b.s3.example.net/x?X-Amz-Signature=«fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630»"},
	{"pair", "https://acme.blob.core.windows.net/c/x?sv=2022-11-02&sig=«Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYg%3D%3D»"},
	{"pair", "https://example.org/reset?token=«8f14e45fceea167a5a36dedd4bea2543»"},
	{"pair", "https://example.org/feed?access_token=«8f14e45fceea167a»&x=1"},
	{"pair", "X-Auth-Token: «8f14e45fceea167a5a36dedd»"},
	{"pair", "Authorization: token «8f14e45fceea167a5a36dedd»"},
	{"pair", "PRIVATE-TOKEN: «abcd1234efgh5678ijkl»"},
	// Known prefixes.
	{"prefix", "tskey-auth-«kPz4Q7CNTRL»-9xYw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0"},
	{"prefix", "«pcsk_4Tq8Zx_7YwVuTsRqPoNmLkJiHgFeDcBa9876543210zyxwvu»"},
	{"prefix", "«sb_secret_N7UND0UgjKTVK»-Uodkm0Hg_xSvEMPvz"},
	{"prefix", "«CFPAT-9aB8cD7eF6gH5iJ4kL3mN2oP1qR0sT9uV8wX7yZ6a5b»"},
	{"prefix", "«NRAK-7Q2W9E4R6T1Y8U3I5O0PASDFGHJ»"},
	{"prefix", "mailgun «key-3ax6xnjp29jd6fds4gc373sgvjxteol0»"},
	{"prefix", "mailgun «key-9f86d081884c7d659a2feaa0c55ad015»"},
	{"prefix", "the bot's «110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw» works"},
	{"prefix", "«glsa_HOruNAb7SOiCdshU9algkrq7FDsNSLAa_55e2f8be»"},
	{"prefix", "«dapi8f14e45fceea167a5a36dedd4bea2543»"},
	{"prefix", "«AGE-SECRET-KEY-1QQPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN»"},
	{"prefix", "«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»"},
	{"prefix", "«xkeysib-8f14e45fceea167a5a36dedd4bea25438f14e45fceea167a5a36dedd4bea2543-AbCdEfGh12345678»"},
	{"prefix", "«rubygems_8f14e45fceea167a5a36dedd4bea25438f14e45fceea167a»"},
	{"prefix", "«PMAK-64f0c2a1b2c3d4e5f6a7b8c9-0a1b2c3d4e5f60718293a4b5c6d7e8f901»"},
	{"prefix", "«sntrys_eyJpYXQiOjE2ODczMzY1NDMuNjk4NTksInVybCI6bnVsbH0=_RnVsbFN0b3J5»"},
	{"prefix", "«ATATT3xFfGF0T5kQ8yR2mN7pL4sV9wX1zB6cD3eF»"},
	{"prefix", "«rzp_live_9xYw8Vu7Ts6Rq5»"},
	// Prose.
	{"prose", "The password of Ana is «kettle42»."},
	{"prose", "password «kettle42» of Ana"},
	{"prose", "The password of Ana's router: «kettle42»"},
	{"prose", "Her new password's «kettle42!», don't forget."},
	{"prose", "use the password «kettle42!» to log in"},
	{"prose", "API key «1cb7f00d9a8b7c6d5e4f» for the weather service"},
	{"prose", "the API key for the weather service is «1cb7f00d9a8b7c6d5e4f3a2b1c0d9e8f»"},
	{"prose", "our secret for webhooks is «k3ttl3-l4mp-91-green»"},
	{"prose", "login: ana, pw: «kettle42»"},
	{"prose", "The alarm code is «4821»."},
	{"prose", "door code: «4821#»"},
	{"prose", "the PIN of my card is «4821»"},
	{"prose", "мой пароль «kettle42»"},
	{"prose", "Пароль от почты — «kettle42»"},
	{"prose", "ПАРОЛЬ: «kettle42»"},
	{"prose", "كلمة المرور هي «kettle42»"},
	{"prose", "كلمة السر: «kettle42»"},
	{"prose", "मेरा पासवर्ड «kettle42» है"},
	{"prose", "Şifrem «kettle42»"},
	{"prose", "wifi şifresi: «kettle42»"},
	{"prose", "Parola «kettle42» olarak değişti"},
	{"prose", "Moje hasło to «kettle42»"},
	{"prose", "hasło do poczty: «kettle42»"},
	{"prose", "A senha do wifi é «kettle42»"},
	{"prose", "a palavra-passe é «kettle42»"},
	{"prose", "La clave del wifi es «kettle42»"},
	{"prose", "Das WLAN-Kennwort ist «kettle42»"},
	{"prose", "heslo je «kettle42»"},
	{"prose", "mật khẩu là «kettle42»"},
	{"prose", "сейчас токен такой: «8f14e45fceea167a5a36»"},
	// Numbers.
	{"number", "звоните «8 (912) 345-67-89»"},
	{"number", "meu celular é «(11) 98765-4321»"},
	{"number", "ligue «(11) 98765-4321» amanhã"},
	{"number", "هاتف «٠٥٠ ١٢٣ ٤٥٦٧»"},
	{"number", "اتصل على «+٩٦٦ ٥٠ ١٢٣ ٤٥٦٧»"},
	{"number", "card «4111.1111.1111.1111»"},
	{"number", "card «４１１１１１１１１１１１１１１１»"},
	{"number", "card «４１１１ １１１１ １１１１ １１１１»"},
}

// heldForms are as forms. They were written after the rules, which were not changed for them.
var heldForms = []form{
	{"pair", "REDIS_PASSWORD=«sunflower»"},
	{"pair", "export GRAFANA_ADMIN_PASSWORD=\"«plum tree»\""},
	{"pair", "MAIL_PASSWD='«old-oak-tree»'"},
	{"pair", "docker compose run -e DB_PASS=«lantern9» web"},
	{"pair", "helm install x --set auth.password=«brick77»"},
	{"pair", "psql \"host=db user=ana password=«brick77» dbname=x\""},
	{"pair", "spring.datasource.password=«brick77»"},
	{"pair", "smtp:\n  pass: «q7Lm2xx!»"},
	{"pair", "  root_password: \"«brickhouse»\"\n  port: 3306"},
	{"pair", `{"username": "ana", "passwd": "«brickhouse»"}`},
	{"pair", `{"clientSecret":"«p8Q~ab12cd34ef56gh78»","tenant":"t1"}`},
	{"pair", `"privateKeyPassword" : "«brick77!»"`},
	{"pair", `{"access_token": "«a81fe0c97b2d4e5f8812»", "expires_in": 3600}`},
	{"pair", `token = "«vF9xQ2mL7kT4sW8z»"`},
	{"pair", "STRIPE_WEBHOOK_SECRET=«hg7Kw02jfP8sLq3Zx»"},
	{"pair", "<Password>«brick77»</Password>"},
	{"pair", "<apiKey>«5e884898da28047151d0»</apiKey>"},
	{"pair", `<add name="DbPassword" value="«brickhouse»"/>`},
	{"pair", "| Service | Password |\n| --- | --- |\n| router | «Blue7Door9» |"},
	{"pair", "name,email,token\nx,none,«ab12cd34ef56»"},
	{"pair", "mariadb -h db -u root -p'«brick77»' -e 'select 1'"},
	{"pair", "curl -s -u 'ana:«brickhouse»' https://example.org/api"},
	{"pair", "docker login -u ana -p «brickhouse» registry.example.org"},
	{"pair", "CREATE USER 'ana'@'%' IDENTIFIED WITH mysql_native_password BY '«brickhouse»'"},
	{"pair", "ALTER USER ana WITH ENCRYPTED PASSWORD '«brickhouse»'"},
	{"pair", "Cookie: theme=dark; JSESSIONID=«4F2A9C1B7D»"},
	{"pair", "GET /v1/x?api_key=«ab12cd34ef56» HTTP/1.1"},
	{"pair", "https://example.org/unsubscribe?u=1&token=«Zx81kQ2pp03TTv9»"},
	{"pair", "https://storage.googleapis.com/b/x?X-Goog-Signature=«3a1f9d5b7c2e4f60aa11»"},
	{"pair", "X-Vault-Token: «s.9kLmPq2RsTuVwXyZ01234567»"},
	{"pair", "openssl rsa -in k.pem -passin pass:«brick77»"},
	{"pair", "mongodb+srv://ana:«brick77»@cluster0.example.net/x"},
	{"prefix", "«sbp_3f9c1b7a5d2e4f6091827364554637281a2b3c4d»"},
	{"prefix", "«ghp_9xYw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe9Dc8»"},
	{"prefix", "«sk-ant-api03-9xYw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0-AbCdEf»"},
	{"prefix", "«xoxb-1234567890-9876543210-AbCdEfGhIjKlMnOp»"},
	{"prefix", "«glpat-9xYw8Vu7Ts6Rq5Po4Nm3»"},
	{"prefix", "«hf_9xYw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0FeDc»"},
	{"prefix", "«npm_9xYw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe9Dc8»"},
	{"prefix", "«dckr_pat_9xYw8Vu7Ts6Rq5Po4Nm3Lk2»"},
	{"prefix", "«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»"},
	{"prefix", "«NRJS-3f9c1b7a5d2e4f60918»"},
	{"prefix", "bot 7412589630:«AAG9xYw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fex»"},
	{"prefix", "«dp.st.prd.9xYw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe9Dc8Ba7Zy6»"},
	{"prose", "The password for the printer is «brick77»."},
	{"prose", "Marta's password is «Blue7Door9» now."},
	{"prose", "I changed my mail password to «Blue7Door!»"},
	{"prose", "The passphrase of my backup is \"«seven green bottles»\"."},
	{"prose", "password «Blue7Door9» for the NAS"},
	{"prose", "new passcode: «Blue7Door9»"},
	{"prose", "The API key is «5e884898da28047151d0e56f8dc62927»."},
	{"prose", "The gate code is «9317»"},
	{"prose", "My PIN is «9317», remember it"},
	{"prose", "пароль от роутера: «Blue7Door9»"},
	{"prose", "Пароль «Blue7Door9» больше не работает"},
	{"prose", "mein Passwort: «Blue7Door9»"},
	{"prose", "das Kennwort für die Alarmanlage ist «Blue7Door9»"},
	{"prose", "mon mot de passe est «Blue7Door9»"},
	{"prose", "la contraseña de la oficina es «Blue7Door9»"},
	{"prose", "minha senha é «Blue7Door9»"},
	{"prose", "moje hasło: «Blue7Door9»"},
	{"prose", "şifre «Blue7Door9»"},
	{"prose", "รหัสผ่าน «Blue7Door9»"},
	{"prose", "パスワードは«Blue7Door9»です"},
	{"prose", "비밀번호는 «Blue7Door9» 입니다"},
	{"prose", "जीमेल पासवर्ड: «Blue7Door9»"},
	{"prose", "lösenordet är «Blue7Door9»"},
	{"prose", "het wachtwoord is «Blue7Door9»"},
	{"number", "позвоните 8 «(495) 123-45-67»"},
	{"number", "tel. (21) «99876-5432»"},
	{"number", "phone «٠٥٥ ٩٨٧ ٦٥٤٣»"},
	{"number", "visa «4012-8888-8888-1881»"},
	{"number", "visa «4012.8888.8888.1881»"},
}

// TestForms redacts secrets in the forms in which they are written, and holds the shares that docs/redaction.md names.
func TestForms(t *testing.T) {
	t.Parallel()
	r := New(nil)
	least := map[string]int{"pair": 97, "prefix": 97, "prose": 90, "number": 90} // percent
	for name, set := range map[string][]form{
		"written with the rules": forms, "held back": heldForms, "written later": laterForms, "unseen": unseenForms,
		"placed": placedForms,
	} {
		kept, total := map[string]int{}, map[string]int{}
		for _, c := range set {
			total[c.group]++
			before, rest, _ := strings.Cut(c.text, "«")
			secret, after, _ := strings.Cut(rest, "»")
			got, _ := r.Redact(before + secret + strings.NewReplacer("«", "", "»", "").Replace(after))
			if strings.Contains(got, secret) {
				kept[c.group]++
				t.Logf("%s: kept: %s", name, c.text)
			}
		}
		for group, n := range total {
			found := 100 * (n - kept[group]) / n
			t.Logf("%s: %s: %d of %d", name, group, n-kept[group], n)
			if found < least[group] {
				t.Errorf("%s: %s: %d%% are redacted, want %d%%", name, group, found, least[group])
			}
		}
	}
}

// lookalikes have the form of a secret, or of its announcement, and are none.
var lookalikes = []string{
	"The password policy requires 12 characters.", "Passwords are hashed with argon2id, not with sha256.",
	"password reset link expires after 24h", "the password field has type string", "Forgot your password? Click here.",
	"password = sim_auth", "password := os.Getenv(\"DB_PASSWORD\")", "PASSWORD_FILE=/run/secrets/db",
	"--password-file secret.txt",
	"DB_PASSWORD=$(pass show db)", "DB_PASSWORD=${{ secrets.DB }}", "password: <your password>", "token: YOUR_TOKEN",
	"const tokenCount = 4096", "max_tokens: 2048", "tokens per second: 51.2", "the token bucket refills at 10/s",
	"next_token=abc123def456ghi789", "pageToken: 8f14e45fceea167a", "the secret ingredient is cinnamon",
	"secret santa is on 12 December", "key takeaways: 3 of 5", "press the key F12", "api key rotation every 90 days",
	"api key required", "PIN 7 of the header is ground", "pin code must have 4 digits",
	"the access code expires in 10 minutes",
	"door 4821 on the left", "room 4821", "error code 4821", "exit code: 1234", "zip code 94107-1234", "area code 415",
	"build 2024.11.22.1834", "version 10.0.19045.3803", "commit 8f14e45fceea167a5a36dedd4bea2543c0ffee00",
	"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "uuid 550e8400-e29b-41d4-a716-446655440000",
	"age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kdf9aqp6sxk3s9x is my public key",
	"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI",
	"| password | string | required |", "| token | the token of the next page |", "user,password,role",
	"<password>secret</password>", "<input name=\"password\" value=\"\">", "curl -u user https://example.org",
	"curl -u $USER:$PASS https://example.org", "mysql -u root -p shop", "sshpass -p $PW ssh host",
	"IDENTIFIED BY '<password>'", "WITH PASSWORD 'password'", "https://example.org/?token=TOKEN&x=1", "?key=value&id=12",
	"Authorization: Bearer <token>", "Set-Cookie: theme=dark; Path=/", "Cookie: lang=en; theme=dark",
	"пароль должен содержать 8 символов", "пароль обязателен", "la contraseña es obligatoria", "das Passwort ist falsch",
	"le mot de passe est requis", "hasło jest wymagane", "şifre gerekli", "密码是必填项", "パスワードは必須です",
	"He scored 3-2 in 2019 (12) 1234-1256", "(2019) 123-130", "Nature 584 (7820) 257-261", "4111 1111 1111 1112",
	"ISO 4217, RFC 8259, CVE-2024-12345", "order 4012.8888.8888.1882", "٢٠٢٤ was a good year", "page ٤٥٦",
	"the passenger 12A, passage 4b, passive2", "compass: N45E12", "the passport office opens at 9am",
	"pass the salt2taste",
	"key-value store", "sk-learn", "pa-system", "npm_config_registry=https://x.example", "re_match_group_2_of_pattern",
	"the tokenizer cl100k_base", "o200k_base token counts", "token.12345 8f14e45f", "const secretSantaRules = true",
	"credentials are in the vault", "the credential helper", "keyboard layout us-intl", "passwordless login via WebAuthn",
}

// TestLookalikesStay keeps what only looks like a secret: at most one in a hundred may be taken for one.
func TestLookalikesStay(t *testing.T) {
	t.Parallel()
	r := New(nil)
	altered := 0
	list := slices.Concat(lookalikes, laterLookalikes, unseenLookalikes)
	for _, text := range list {
		if got, _ := r.Redact(text); got != text {
			altered++
			t.Logf("%s\n became %s", text, got)
		}
	}
	if altered*100 > len(list) {
		t.Errorf("%d of %d were altered", altered, len(list))
	}
}
