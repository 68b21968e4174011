# yamo-mcp: every task of the project. `make` without a target builds bin/yamo-mcp and installs its assets.
#
# The native libraries come from native/prebuilt (linux/amd64) or are built from source; the assets
# (ONNX Runtime, the embedding model, its tokenizer) are downloaded once into the cache folder.

GO       ?= go
PLATFORM := $(shell $(GO) env GOOS)_$(shell $(GO) env GOARCH)
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LIBS     := native/lib/$(PLATFORM)/.ready
GOFLAGS  += -buildvcs=false
SOURCES  := $(shell git ls-files -co --exclude-standard 2>/dev/null | grep -E '\.(go|toml|md)$$|^go\.(mod|sum)$$')
RELEASE  := yamo-mcp-$(VERSION)-$(subst _,-,$(PLATFORM))

GOLANGCI    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
MCPB        := @anthropic-ai/mcpb@2.1.2
ACTIONLINT  := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

export GOFLAGS

.DEFAULT_GOAL := all
.PHONY: all build libs setup demo test prove mutants soak fuzz conformance check lint workflows race vuln bench eval picture dist dist-test mcpb native native-verify clean help

all: build setup ## build bin/yamo-mcp and install what it needs

help: ## list the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: bin/yamo-mcp ## build bin/yamo-mcp only

bin/yamo-mcp: $(LIBS) $(SOURCES)
	$(GO) build -ldflags '-X main.version=$(VERSION)' -o $@ ./cmd/yamo-mcp

libs: $(LIBS)

# native/unpack exits with 3 where nothing is committed for this platform; then the libraries are built.
$(LIBS): native/manifest.toml native/build.sh $(wildcard native/prebuilt/$(PLATFORM)/*)
	@if [ -d native/prebuilt/$(PLATFORM) ]; then $(GO) run ./native/unpack; else native/build.sh; fi
	@touch $@

setup: build ## install the assets into the cache folder
	@bin/yamo-mcp setup

demo: all ## a real client talks to the real server: remember, recall, learn, edit, dream, and keep a secret from a group
	@$(GO) run ./integration/demo -server bin/yamo-mcp -keep bin/kate

test: all ## the whole test suite
	$(GO) test -p 2 -timeout 30m ./...

prove: all mutants ## the tests behind each promise of docs/assurance.md, and the mutants; up to an hour
	$(GO) run ./integration/prove

mutants: libs ## weaken enforcement points one at a time; the tests must notice
	$(GO) run ./integration/mutants

soak: all ## the test suite ten times in a row, with two busy loops running
	integration/soak.sh

fuzz: libs ## ten minutes for each fuzz target; FUZZTIME=20s for a first look
	integration/fuzz.sh

conformance: all ## the official conformance suite, against the program and a server of its fixtures
	$(GO) test -count=1 -v ./integration/conformance

check: lint workflows race vuln ## linters, workflows, race detector, known vulnerabilities

lint: libs ## golangci-lint, with gofumpt
	$(GO) run $(GOLANGCI) run

workflows: ## actionlint on .github/workflows
	$(GO) run $(ACTIONLINT)

# Without integration, whose tests drive the built program: the detector would see only the clients.
race: all ## the units' tests with the race detector, without the long ones
	$(GO) test -race -p 2 -timeout 30m $$($(GO) list ./... | grep -v /integration)

# The database of vulnerabilities cannot be reached from everywhere.
vuln: libs ## known vulnerabilities, where their database can be reached
	@if curl -fsS -m 10 -o /dev/null https://vuln.go.dev/index/db.json 2>/dev/null; \
	then $(GO) run $(GOVULNCHECK) ./...; \
	else echo "vuln: skipped, vuln.go.dev does not answer"; fi

bench: all ## time and memory of the server and its parts
	$(GO) test -run '^$$' -bench BenchmarkMemory -benchtime 1x -timeout 60m ./mesh
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 60m ./integration
	$(GO) test -run '^$$' -bench . -timeout 60m ./mesh/... ./internal/ledger ./workspace/edit

picture: all ## draw README's picture from what the demo prints
	$(GO) run ./integration/demo -server bin/yamo-mcp >bin/demo.txt
	$(GO) run ./integration/picture -o docs/demo.svg <bin/demo.txt

eval: all ## retrieval quality on the question sets in DATA
	$(GO) run ./integration/eval -data '$(DATA)'

dist: all ## one archive that runs on another machine of this platform
	rm -rf dist/$(RELEASE)
	mkdir -p dist/$(RELEASE)/bin dist/$(RELEASE)/lib dist/$(RELEASE)/assets
	$(GO) build -trimpath -tags release -ldflags '-s -w -X main.version=$(VERSION)' -o dist/$(RELEASE)/bin/yamo-mcp ./cmd/yamo-mcp
	cp native/lib/$(PLATFORM)/liblancedb_go.* dist/$(RELEASE)/lib/
	YAMO_CACHE=dist/$(RELEASE)/assets bin/yamo-mcp setup --from "$$(bin/yamo-mcp version --json | sed -n 's/^ *"dir": "\(.*\)",$$/\1/p')"
	rm -f dist/$(RELEASE)/assets/.lock
	cp -R README.md SECURITY.md LICENSE mcp.json.example docs dist/$(RELEASE)/
	tar -C dist -czf dist/$(RELEASE).tar.gz $(RELEASE)
	@ls -l dist/$(RELEASE).tar.gz

dist-test: dist ## the program of that archive passes the demo, unpacked elsewhere and with an empty home
	.ci/try-archive dist/$(RELEASE).tar.gz

mcpb: dist ## a bundle for Claude Desktop on this platform; needs npm
	rm -rf dist/mcpb
	cp -R dist/$(RELEASE) dist/mcpb
	rm -rf dist/mcpb/docs
	cp -R integration/claude-desktop/. dist/mcpb/
	npx --yes $(MCPB) validate dist/mcpb/manifest.json
	npx --yes $(MCPB) pack dist/mcpb dist/$(RELEASE).mcpb

native: ## build the native libraries from source (20 minutes on two cores)
	native/build.sh
	@touch $(LIBS)

native-verify: libs ## check the committed native libraries
	@native/verify.sh

clean: ## remove what was built, the native libraries too
	rm -rf bin dist native/lib native/build
