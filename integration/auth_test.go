package integration

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// One process serves everybody what is theirs, whichever way they come.
func TestTokensDecideWhoHears(t *testing.T) {
	t.Parallel()
	workspace, other := sample(t), sample(t)
	at := startHTTP(t, launch{workspace: workspace}, "--agent-id", "kate")
	dm, team := at.NewToken("--connection", "dm"), at.NewToken("--connection", "group", "--group", "team")
	elsewhere := at.NewToken("--connection", "dm", "--workspace", other, "--agent-id", "ada")
	clients := map[string]launch{
		"a DM":             {protocol: legacy, over: overHTTP, token: dm},
		"a modern DM":      {protocol: modern, over: overHTTP, token: dm},
		"a DM over SSE":    {protocol: oldest, over: overSSE, token: dm},
		"a group":          {protocol: legacy, over: overHTTP, token: team},
		"a modern group":   {protocol: modern, over: overHTTP, token: team},
		"a group over SSE": {protocol: oldest, over: overSSE, token: team},
		"another DM":       {protocol: legacy, over: overHTTP, token: elsewhere},
	}
	sessions := map[string]*session{}
	for name, h := range clients {
		h.at, h.workspace = at, workspace
		sessions[name] = connect(t, h)
		defer sessions[name].end()
	}
	sessions["a DM"].store("The spare key is under the blue pot.", nil)
	sessions["a group over SSE"].store("The team meets on Tuesdays at the library.", nil)
	type finds struct{ key, meeting bool }
	for name, s := range sessions {
		who := call[struct {
			AgentID    string `json:"agent_id"`
			Connection string
			Group      string
		}](s, "who_am_i", nil)
		answer := s.request("tools/call", map[string]any{
			"name":      "memory_search",
			"arguments": map[string]any{"query": "Where is the spare key, and when is the meeting of the team?"},
		})
		got := finds{strings.Contains(string(answer.Result), "blue pot"), strings.Contains(string(answer.Result), "Tuesdays")}
		want, connection, agent := finds{true, true}, "dm", "kate"
		switch {
		case name == "another DM":
			want, agent = finds{false, false}, "ada"
		case strings.Contains(name, "group"):
			want, connection = finds{false, true}, "group"
		}
		if got != want {
			t.Errorf("%s finds %+v, want %+v", name, got, want)
		}
		if who.Connection != connection || who.AgentID != agent {
			t.Errorf("%s is %+v, want %s, %s", name, who, connection, agent)
		}
	}
}

// What the operator revokes is over, for streams too, and the log has neither tokens nor contents.
func TestRevokedWhileTheServerRuns(t *testing.T) {
	t.Parallel()
	workspace := sample(t)
	at := startHTTP(t, launch{workspace: workspace, env: []string{"YAMO_LOG_LEVEL=debug"}})
	revoked, kept := at.NewToken("--connection", "dm"), at.NewToken("--connection", "dm")
	w := func(token string) *wire {
		return &wire{s: &session{tb: t, launch: launch{token: token}}, server: at}
	}
	streams := map[string]*http.Response{}
	for _, token := range []string{revoked, kept} {
		response, err := w(token).send(http.MethodGet, "/sse", "", nil)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%+v, %v", response, err)
		}
		defer response.Body.Close() //nolint:errcheck // it is only read
		streams[token] = response
	}
	at.Run("token", "revoke", "t1")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, streams[revoked].Body) // it is cut
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the revoked token's stream is open")
	}
	for token, want := range map[string]int{revoked: http.StatusUnauthorized, kept: http.StatusOK} {
		response, err := w(token).send(http.MethodGet, "/healthz", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("status %d, want %d", response.StatusCode, want)
		}
	}
	// The other's stream, which is open, does not hold the end.
	log := at.Stop()
	if strings.Contains(log, "calls under way are cancelled") {
		t.Errorf("it waited for a stream before it stopped:\n%s", log)
	}
	for _, secret := range []string{revoked, kept, workspace, "yamo_", "sessionId"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log has %s:\n%s", secret, log)
		}
	}
}

// With a certificate, the server does TLS, and answers to the name it was told.
func TestTLS(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		DNSNames:     []string{"memory.example"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	dir := t.TempDir()
	write(t, filepath.Join(dir, "cert.pem"), string(certificate))
	write(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	at := startHTTP(t, launch{workspace: sample(t)}, "--listen", "0.0.0.0:0", "--allow-host", "memory.example",
		"--tls-cert", filepath.Join(dir, "cert.pem"), "--tls-key", filepath.Join(dir, "key.pem"))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: pool, ServerName: "memory.example"},
		ForceAttemptHTTP2: true,
	}
	defer transport.CloseIdleConnections()
	port := at.URL[strings.LastIndex(at.URL, ":"):]
	for host, want := range map[string]int{
		"memory.example": http.StatusOK, "localhost": http.StatusForbidden,
		"127.0.0.1": http.StatusForbidden,
	} {
		request, err := http.NewRequest(http.MethodGet, "https://127.0.0.1"+port+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want || response.ProtoMajor != 2 {
			t.Errorf("%s: %d over %s, want %d", host, response.StatusCode, response.Proto, want)
		}
	}
	plain, err := http.Get("http://127.0.0.1" + port + "/healthz")
	if err == nil {
		_ = plain.Body.Close()
		if plain.StatusCode == http.StatusOK {
			t.Error("it answers without TLS too")
		}
	}
}
