package remote

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// No password or key is in an address, where command lines and logs would show it.
func TestAddressHasNoSecret(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"https://ana:hunter2@a.example", "https://hunter2@a.example", "https://a.example/v1?key=hunter2",
		"https://a.example/#hunter2",
	} {
		_, err := New(Options{BaseURL: address})
		if err == nil || !strings.Contains(err.Error(), "no user name, password or query") ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	var waits []time.Duration
	for _, after := range []string{"7", "4000", "soon"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		record := func(_ context.Context, d time.Duration) error {
			waits = append(waits, d)
			return nil
		}
		p, err := New(Options{BaseURL: s.URL, Pause: record})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Post(t.Context(), "/x", "a text"); err == nil || !strings.Contains(err.Error(), "429") {
			t.Errorf("error %v, want status 429", err)
		} else if strings.Contains(err.Error(), "a text") {
			t.Errorf("the error repeats the request: %v", err)
		}
		s.Close()
	}
	want := []time.Duration{7 * time.Second, 7 * time.Second, maxPause, maxPause, 500 * time.Millisecond, time.Second}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Error(diff)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ url, key, want string }{
		{"https://api.example.com/v1", "k", ""},
		{"http://localhost:11434", "k", ""},
		{"http://127.0.0.1:1", "k", ""},
		{"http://[::1]:1", "k", ""},
		{"http://models.example", "", ""},
		{"http://models.example", "k", "only over https://"},
		{"models.example", "", "begin with"},
		{"file:///etc/passwd", "", "begin with"},
		{"https://", "", "begin with"},
	} {
		_, err := New(Options{BaseURL: test.url, APIKey: test.key})
		switch {
		case test.want == "":
			if err != nil {
				t.Errorf("%+v: %v", test, err)
			}
		case err == nil || !strings.Contains(err.Error(), test.want):
			t.Errorf("%+v: error %v", test, err)
		case test.key != "" && strings.Contains(err.Error(), `"k"`):
			t.Errorf("%+v: the error contains the key: %v", test, err)
		}
	}
}

// A redirect is not followed: the key would go elsewhere.
func TestRedirect(t *testing.T) {
	t.Parallel()
	followed := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/other" {
			followed = true
		}
		http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	p, err := New(Options{BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Post(t.Context(), "/x", 1); err == nil || !strings.Contains(err.Error(), "307") {
		t.Errorf("error %v, want status 307", err)
	}
	if followed {
		t.Error("the redirect was followed")
	}
}
