package notation

import "testing"

// The names of fields, and what they say of their values.
func TestMeaningOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]meaning{
		"password": isPassword, "DB_PASSWORD_2": isPassword, "dbPassword": isPassword, "smtp-pass": isPassword,
		"PasswordForAdmin": isPassword, "Mot de passe": isPassword, "WLAN-Schlüssel": isPassword, "dbpasswd": isPassword,
		"passphrase": isPhrase, "psk": isPhrase, "X-Auth-Token": isKey, "AUTH_KEY": isKey, "SECURE_AUTH_SALT": isKey,
		"secret_key_base": isKey, "Integration Key": isKey, "PIN1": isDoorCode, "alarm_panel_code": isDoorCode,
		"Code d'accès local": isDoorCode, "SNMP community": isPassword, "community string": isPassword,
		"password_hash": other, "passwordFile": other, "primary_key": other, "publicKey": other, "nextToken": other,
		"max_tokens": other, "error code": other, "zip code": other, "salt": other, "community": other, "": other,
	} {
		if got := meaningOf(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}
