# yamo-mcp: every task of the project. `make` alone builds bin/yamo-mcp and installs its assets.
#
# The native libraries come from native/prebuilt (linux/amd64) or are built from source; the assets
# (ONNX Runtime, the embedding model, its tokenizer) are downloaded once into the cache folder.

GO        ?= go
PLATFORM  := $(shell $(GO) env GOOS)_$(shell $(GO) env GOARCH)
VERSION   := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LIBS      := native/lib/$(PLATFORM)/.ready
LDFLAGS   := -X main.version=$(VERSION)
GOFILES   := $(shell git ls-files -co --exclude-standard '*.go' '*.toml' '*.txt' go.mod go.sum 2>/dev/null)

GOLANGCI    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.5.0
GOFUMPT     := mvdan.cc/gofumpt@v0.9.1
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.1.4

.DEFAULT_GOAL := all
.PHONY: all build setup demo test race lint vuln check bench dist native native-verify clean

all: build setup

build: bin/yamo-mcp

bin/yamo-mcp: $(LIBS) $(GOFILES)
	$(GO) build -ldflags '$(LDFLAGS)' -o $@ ./cmd/yamo-mcp

$(LIBS): native/manifest.toml native/build.sh $(wildcard native/prebuilt/$(PLATFORM)/*)
	@$(GO) run ./native/unpack || { [ ! -d native/prebuilt/$(PLATFORM) ] && native/build.sh; }
	@touch $@

setup: build
	@bin/yamo-mcp setup

demo: all
	@$(GO) run ./integration/demo -server bin/yamo-mcp

test: all
	$(GO) test -timeout 30m ./...

race: all
	$(GO) test -race -short -timeout 40m ./...

check: lint race vuln

clean:
	rm -rf bin dist native/lib

native:
	native/build.sh

native-verify:
	@native/verify.sh
