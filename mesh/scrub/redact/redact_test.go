package redact

import (
	"bufio"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// j joins the parts of a made-up credential, so that secret scanners find none in this file.
func j(parts ...string) string { return strings.Join(parts, "") }

func TestRedact(t *testing.T) {
	t.Parallel()
	const n = "0123456789abcdefghij"
	rsa := j("-----BEGIN RSA PRIV", "ATE KEY-----\n", strings.Repeat("MIIEpAIBAAKCAQEA7b9c\n", 6), "-----END RSA PRIV",
		"ATE KEY-----")
	jwt := j("eyJhbGciOiJIUzI1NiIs", ".eyJzdWIiOiIxMjM0NTY3ODkwIn0", ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U")
	for _, c := range []struct {
		kind     Kind
		in, want string // in want, "•" is the placeholder
	}{
		{Email, "Write to jane.doe+lists@mail.example.co.uk.", "Write to •."},
		{Email, "jürgen@bücher.example, <a@b.io>", "•, <•>"},
		{Email, "联系alice@example.com谢谢", "联系•谢谢"},
		{Email, "mailto:bob@example.org?subject=x", "mailto:•?subject=x"},

		{Phone, "call +49 (0)30 123456-78 or +1 212 555 0187", "call • or •"},
		{Phone, "ring (415) 555-2671, 415-555-2671, 415.555.2671 or 1-415-555-2671", "ring •, •, • or •"},
		{Phone, "Büro 030/1234567, mobil 0171 1234567", "Büro •, mobil •"},
		{Phone, "01 23 45 67 89 et 06.12.34.56.78", "• et •"},
		{Phone, "London 020 7946 0958", "London •"},
		{Phone, "phone: 4155552671, cell 555-0134", "phone: •, cell •"},
		{Phone, "手机 13812345678", "手机 •"},
		{Phone, "0049 30 1234567", "•"},
		{Phone, "+33 (0)1 23 45 67 89, +44 (0)20 7946 0958, +49-171-1234567", "•, •, •"},
		{Phone, "+33 1 23 45 67 89 12 times", "• 12 times"},
		{Phone, "+44 20 7946 09581", "•"}, // a digit too many
		{Phone, "+393331234567,+8613812345678", "•,•"},
		{Phone, "Stanley +500 21234", "Stanley •"},

		{Card, "4111 1111 1111 1111, 5555-5555-5555-4444, 378282246310005", "•, •, •"},
		{Card, "3782 822463 10005 and 30569309025904", "• and •"},
		{IBAN, "DE89 3704 0044 0532 0130 00, GB82WEST12345698765432", "•, •"},
		{IBAN, "NO93 8601 1117 947.", "•."},
		{SSN, "SSN 078-05-1121 and ssn: 219099998", "SSN • and ssn: •"},
		{IP, "from 52.95.110.1:443 and http://34.5.6.7/x", "from •:443 and http://•/x"},
		{IP, "host 2a00:1450:4001:81b::200e.", "host •."},

		{APIKey, j("key ", "gh", "p_", n, n[:16], ", ok"), "key •, ok"},
		{APIKey, j("AK", "IA", "QYLPMN5HFIQR7BBB"), "•"},
		{APIKey, j("stripe (", "sk_", "live_", n, n[:4], ")"), "stripe (•)"},
		{APIKey, "my api key is zq81bc81bdexx4", "my api key is •"},
		{APIKey, "X-API-Key: 9f8a7b6c5d4e3f2a1b", "X-API-Key: •"},
		{APIKey, `api_key = "kjh3k4j5h3k4j5h9z8x7"`, `api_key = "•"`},
		{APIKey, j("my openai key is s", "k-abcdefghijklmnopqrstuvwxyz0123456789ABCD."), "my openai key is •."},
		{APIKey, j("AK", "IAIOSFODNN7EXAMPLE"), "•"},
		{APIKey, "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AWS_SECRET_ACCESS_KEY=•"},
		{APIKey, "the aws secret wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzz1 works", "the aws secret • works"},
		{Token, "jwt " + jwt + ".", "jwt •."},
		{Token, "Authorization: Bearer abc123def456ghi789", "Authorization: Bearer •"},
		{Token, "curl -H 'Authorization: Bearer abcdefghij0123456789'", "curl -H 'Authorization: Bearer •'"},
		{PrivateKey, "before\n" + rsa + "\nafter", "before\n•\nafter"},
		{PrivateKey, strings.Split(rsa, "-----END")[0] + "\nThe rest.", "•\n\nThe rest."},

		{Password, "my password is hunter2", "my password is •"},
		{Password, "the wifi password is swordfish.", "the wifi password is •."},
		{
			Password, "The password for the admin account is Tr0ub4dor&3, ok?",
			"The password for the admin account is •, ok?",
		},
		{Password, `my password is "correct horse battery staple" now`, `my password is "•" now`},
		{Password, "Passwort: geheim123", "Passwort: •"},
		{Password, "das Passwort lautet Sommer2024!", "das Passwort lautet •"},
		{Password, "la contraseña es gato77", "la contraseña es •"},
		{Password, "le mot de passe est chat77", "le mot de passe est •"},
		{Password, "пароль: qwerty12", "пароль: •"},
		{Password, "密码是abc12345。", "密码是•。"},
		{Password, "DB_PASSWORD=s3cr3t!x\nNEXT=1", "DB_PASSWORD=•\nNEXT=1"},
		{Password, `{"password": "hunter22"}`, `{"password": "•"}`},
		{Password, "changed the password to n3wP@ss", "changed the password to •"},
		{Password, "mysql --password hunter22 --host x", "mysql --password • --host x"},
		{Password, "**Password:** hunter22", "**Password:** •"},
		{Password, "pwd: letmein", "pwd: •"},
		{Password, `The WiFi password at the office is "coffee time".`, `The WiFi password at the office is "•".`},
		{Password, "我的密码是hunter2,请记住", "我的密码是•,请记住"},
		{Password, "PIN is 4821.", "PIN is •."},
		{Password, "postgres://app:pa55word@db.local:5432/x", "postgres://app:•@db.local:5432/x"},
		{Password, "Server=x;Uid=sa;Pwd=Str0ngOne;", "Server=x;Uid=sa;Pwd=•;"},
		{Password, "Authorization: Basic dXNlcjpwYXNzdzByZA==", "Authorization: Basic •"},
	} {
		got, red := New(nil).Redact(c.in)
		want := strings.ReplaceAll(c.want, "•", Placeholder(c.kind))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Redact(%q) (-want +got):\n%s", c.in, diff)
		}
		if diff := cmp.Diff([]Redaction{{c.kind, strings.Count(c.want, "•")}}, red); diff != "" {
			t.Errorf("Redact(%q) (-want +got):\n%s", c.in, diff)
		}
		if again, more := New(nil).Redact(got); again != got || len(more) > 0 {
			t.Errorf("Redact(%q) = %q", got, again)
		}
	}
}

// TestRedactExamplePhones redacts a landline and a mobile number of every region, libphonenumber's examples.
func TestRedactExamplePhones(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/phones.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := New(nil)
	exceptions := []string{ // seven or eight digits in one piece, and a number of zeros
		"AC +24762889", "AC +24740123", "CK +68221234", "CK +68271234", "FK +50031234", "FK +50051234", "KI +68631234",
		"KR +821020000000", "NU +683 7012", "NU +6837012", "SB +67740123", "SH +29022158", "SH +29051234",
		"TA +290 8999", "TA +2908999", "TK +690 3101", "TK +6903101", "TK +690 7290", "TK +6907290", "TO +67620123",
		"TV +68820123", "VU +67822123", "WS +68522123",
	}
	var kept []string
	for line := range strings.Lines(string(data)) {
		region, phone, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, form := range []string{phone, strings.NewReplacer(" ", "", "-", "").Replace(phone)} {
			if got, _ := s.Redact("ask " + form + " today"); got != "ask "+Placeholder(Phone)+" today" {
				kept = append(kept, region+" "+form)
			}
		}
	}
	if diff := cmp.Diff(exceptions, kept); diff != "" {
		t.Errorf("numbers that are kept (-want +got):\n%s", diff)
	}
}

// kept is what no detector may touch.
var kept = []string{
	"commit 9fceb02d0ae598e95dc970b74767f19372d61af8 by the bot",
	"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	"cache key: d41d8cd98f00b204e9800998ecf8427e",
	"google.golang.org/api v0.17.0 h1:BaiDisFir8O4IJxvAabCGGkQ6yCJegNQqSVoYUNAnbk=",
	"grpc://localhost:12345;user=x@y",
	"request id 123e4567-e89b-12d3-a456-426614174000",
	"order 1234567890123456, invoice 2024-000123",
	"v1.2.3, 10.0.19041.1, version 52.95.110.1, go1.26.8",
	"127.0.0.1, 10.1.2.3, 192.168.0.10, 172.16.5.4, 169.254.1.1, 0.0.0.0, 203.0.113.7, 8.8.8.8, 1.1.1.1",
	"::1, fe80::1, fd00::1, 2001:db8::1, 2001:4860:4860::8888",
	"network 52.95.0.0/16 and 2a00:1450::/32",
	"Mozilla/5.0 Chrome/120.0.6099.109 Safari/537.36",
	"2024-05-02 10:30:15, 02.05.2024, 05/02/2024, 20240502T103015Z, 1714646415, 1714646415123",
	"ISBN 978-3-16-148410-0, 0-306-40615-2",
	"$1,234,567.89 or 1.234.567,89 €, 3.14159265358979, 1e10",
	"pages 120-135, 4 x 100 x 200, 16:9, ratio 1/3",
	"git@github.com:owner/repo.git, left-pad@1.3.0, icon@2x.png, @decorator, a @ b",
	"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk" +
		"AKIA" + "QYLPMN5HFIQR7BBB/ggh==",
	"The password is required. Your password is incorrect. Forgot password?",
	"password: string; password = getPassword(); if password == nil { return }",
	"Store the token in a vault; the token is refreshed daily. Secret santa is on Friday.",
	"pass: 12 of 14 tests, boarding pass for LH 400, pin 7 is ground, a key insight: start early",
	"bearer of bad news, basic understanding of things",
	"https://user@example.org/path and https://example.org:8080/a:b@c",
	"DB_PASSWORD=${DB_PASSWORD} password=<password> password: **** token=$TOKEN",
	"PWD=/home/user1/work, sk-learn-contrib, sk-SK locale, task-12345678901234567890, re_exported_identifiers_of_v2",
	"00 11 22 33 44 55 66 77, 50 4b 03 04 14 00 00 00 08 00 08 03 64 3c",
	"00:1A:2B:3C:4D:5E, std::map, a::b::c, 12:34:56",
	"rows 300 400 5000 600 and 4111 1111 1111 1112",
	"[REDACTED:email] and password is [REDACTED:password], token: [REDACTED:token]",
	"she was born on 12-03-1985 in Room 101-22-3333-A",
	"+20240102103015 and +1714646415123 and +999 123456789 and +210 12345678",
	"+2024-01-02 103015, +352 -1234 lines, +12345678 -9876543",
	"1-800-FLOWERS, +1-800-MY-APPLE, AB12 3456 7890, RFC 2822 3339 5322, build 2024.1.2.3",
}

func TestRedactKeeps(t *testing.T) {
	t.Parallel()
	s := New(nil)
	for _, in := range kept {
		if got, red := s.Redact(in); got != in || len(red) > 0 {
			t.Errorf("Redact altered benign text %v:\n-%s\n+%s", red, in, got)
		}
	}
}

// TestRedactKeepsCode counts the altered lines of the standard library, which
// has hashes, UUIDs, addresses, versions and code of every kind. Lines with
// an "@" or of tests are left out: those that are altered hold addresses and
// keys indeed. At most 1 in 1,000 lines may be altered.
func TestRedactKeepsCode(t *testing.T) {
	t.Parallel()
	s := New(nil)
	lines, altered := 0, 0
	for _, dir := range []string{
		"net/http", "crypto/tls", "encoding/json", "database/sql", "os", "syscall", "go/types",
		"regexp", "strconv", "mime",
	} {
		root := runtime.GOROOT() //nolint:staticcheck // the test runs where it was built
		files, err := filepath.Glob(filepath.Join(root, "src", dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files of package %s: %v", dir, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			for sc := bufio.NewScanner(f); sc.Scan(); {
				if strings.Contains(sc.Text(), "@") {
					continue
				}
				lines++
				if got, _ := s.Redact(sc.Text()); got != sc.Text() {
					altered++
					t.Logf("%s: %s", filepath.Base(name), got)
				}
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d of %d lines altered", altered, lines)
	if lines < 50_000 || altered*1000 > lines {
		t.Errorf("%d of %d lines altered, more than 0.1%%", altered, lines)
	}
}

func TestRedactCountsSeveralKinds(t *testing.T) {
	t.Parallel()
	_, got := New(nil).Redact("a@b.io c@d.io, 078-05-1121, password: hunter2")
	want := []Redaction{{Email, 2}, {Password, 1}, {SSN, 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("redactions (-want +got):\n%s", diff)
	}
}

func TestRedactUsesTheGivenDetector(t *testing.T) {
	t.Parallel()
	d := detectorFunc(func(text string) []Finding {
		if i := strings.Index(text, "sesame"); i >= 0 {
			return []Finding{Token.At(i, i+6)}
		}
		return nil
	})
	if got, _ := New(d).Redact("open sesame"); got != "open [REDACTED:token]" {
		t.Errorf("got %q", got)
	}
}

func TestRedactIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	s := New(nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, in := range kept {
				if got, _ := s.Redact(in); got != in {
					t.Errorf("Redact(%q) = %q", in, got)
				}
			}
		})
	}
	wg.Wait()
}

// TestKindsAreDocumented keeps docs/redaction.md true: a row for each kind and
// for nothing else.
func TestKindsAreDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../docs/redaction.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []Kind
	for line := range strings.Lines(string(doc)) {
		if rest, ok := strings.CutPrefix(line, "| `[REDACTED:"); ok {
			kind, _, _ := strings.Cut(rest, "]")
			documented = append(documented, Kind(kind))
		}
	}
	if diff := cmp.Diff(Kinds(), documented); diff != "" {
		t.Errorf("docs/redaction.md (-want +got):\n%s", diff)
	}
}

// A password that is as long and random as a key is a password still.
func TestLongPassword(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"My password is hunter2-Correct9Horse":             "My password is [REDACTED:password]",
		"The key for the forecast is k7E3-hunter2Correct9": "The key for the forecast is [REDACTED:api_key]",
	} {
		if got, _ := New(nil).Redact(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
