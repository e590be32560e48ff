# Every target works on a fresh machine with Go, git, make and apt (or brew).
SHELL       := /bin/sh
GO          ?= go
STATICCHECK := $(GO) tool staticcheck
# One knob for the size of the test suites: 1 is what CI runs, more digs deeper.
SIZE        ?= 1
export HOLDFAST_TEST_SIZE = $(SIZE)

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: redis ## Everything on this machine: Redis, queue, ledger, gateway, ingress, workers, reaper, a demo sale
	$(GO) run ./localstack

# Packages whose tests let failovers happen, start whole towns or a browser, or
# fill the machine for a while: one after the other. All others run side by side.
ALONE = admission/redis browsertest localstack sim torture torture/linear

.PHONY: test
test: redis chromium ## All tests, with the race detector, against real Redis
	@all=$$($(GO) list ./...) && module=$$($(GO) list -m) && \
	  $(GO) test -race -timeout 20m $$(echo "$$all" | grep -vxF "$$(printf "$$module/%s\n" $(ALONE))")
	$(GO) test -race -p 1 -timeout 20m $(addprefix ./,$(ALONE))
	$(GO) test -count=1 -run TestSimulation -v ./sim
	$(GO) test -count=1 -run 'Alloc|WhoIsReady' ./ingress ./admission/redis # exact, so without the race detector

.PHONY: test-valkey
test-valkey: redis ## The scripts against their interpretation, on valkey-server where apt has it (says so if not)
	@./localstack/on-valkey.sh $(GO) test -race -count=1 -timeout 10m ./admission/... ./localstack/redisproc

.PHONY: verify
verify: ## Fast checks before a commit: formatting, vet, staticcheck, tidy modules
	@out=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$out" ] || { echo "not gofmt-clean:"; echo "$$out"; exit 1; }
	$(GO) vet ./...
	$(STATICCHECK) ./...
	$(GO) mod tidy -diff
	@if [ "$$CI" = true ]; then out=$$(git status --porcelain); [ -z "$$out" ] || { echo "the tree is not clean:"; echo "$$out"; exit 1; }; fi

.PHONY: build
build: ## Build bin/holdfast
	$(GO) build -trimpath -o bin/holdfast ./cmd/holdfast

.PHONY: rehearsal
rehearsal: redis ## The main job on real input: 40,000 candidates, 20,700 seats, 50,000 requests in a minute, and the verdict; SEATS=1: named seats
	$(GO) run ./localstack rehearse $(if $(ROSTER),--roster $(ROSTER)) $(if $(RATE),--rate $(RATE)) $(if $(PROFILE),--profile $(PROFILE)) $(if $(SEATS),--seats) $(if $(WORKERS),--workers $(WORKERS)) $(if $(REPORT),--report $(REPORT))

.PHONY: sim
sim: ## Simulate whole sales under one seed: SEED=… repeats a run, RUNS=… says how many
	SIM_SEED=$(SEED) SIM_RUNS=$(RUNS) $(GO) test -count=1 -timeout 2h -run TestSimulation -v ./sim

.PHONY: torture
torture: redis ## Real processes, Redis and failovers under a nemesis: DURATION=1m SEED=1; report in torture-report/
	$(GO) run ./torture -duration $(or $(DURATION),1m) -seed $(or $(SEED),1)

.PHONY: soak
soak: redis ## Every proof for as long as asked, in proportion: DURATION=30m SEED=1; output in soak-report/
	$(GO) run ./torture/soak -duration $(or $(DURATION),30m) -seed $(or $(SEED),1)

.PHONY: bench
bench: redis ## Measure admission against other ways to sell the last seat (installs postgresql); see docs/benchmarks.md
	$(GO) run ./bench

.PHONY: bench-seats
bench-seats: redis ## Measure named seats beside a plain seat lock and PostgreSQL (postgresql must be installed, or POSTGRES=false)
	$(GO) run ./bench/seats -postgres=$(or $(POSTGRES),true)

.PHONY: growth load-soak
growth: redis ## How cost grows with the sale: SIZES=10000,100000,1000000 candidates; see docs/growth.md
	$(GO) run ./bench/growth -sizes $(or $(SIZES),10000,100000) -without "$(WITHOUT)"
load-soak: redis ## A steady crowd for ten minutes (DURATION=10m RATE=100), and whether the heaps stay flat
	$(GO) run ./localstack rehearse --soak --roster 4000 --profile $(or $(RATE),100)x$(or $(DURATION),10m)

.PHONY: infra-synth infra-test
infra-synth: ## Write infra/template.json from the CDK stack (needs node)
	cd infra && $(GO) run .
infra-test: ## Check the CDK stack, cdk-nag included (needs node; minutes when cold)
	cd infra && $(GO) vet ./... && $(GO) test -count=1 -timeout 15m ./...

.PHONY: test-lambda package
test-lambda: redis ## Run the packed functions against a Runtime API of our own
	$(GO) test -tags lambda -count=1 -timeout 15m -v ./cmd/lambda/lambdatest
package: ## Pack the Lambda functions reproducibly into dist/
	$(GO) run ./cmd/lambda/pack -arch arm64 -out dist

.PHONY: compat
compat: ## Run the contract suite against other emulators, as far as they install
	$(GO) run ./localstack/compat

.PHONY: capacity
capacity: ## What a deployment costs and where its limits are: ARGS=-h
	$(GO) run ./cmd/holdfast capacity $(ARGS)

.PHONY: localstack-up localstack-test localstack-down
localstack-up: ## Start LocalStack with compose: PROFILE=open, token or ministack
	docker compose -f localstack/compose.yaml --profile $(or $(PROFILE),open) up -d --wait
localstack-test: redis ## Rehearse a small sale against it
	set -a; . localstack/localstack.env; set +a; $(GO) run ./localstack rehearse --roster 200 --rate 50 --hold 6s
localstack-down: ## Stop it and drop its data
	docker compose -f localstack/compose.yaml --profile '*' down -v

.PHONY: model
model: ## Search the protocol's states to the end (about two minutes); see docs/model.md
	HOLDFAST_TEST_SIZE=10 $(GO) test -count=1 -timeout 2h -v ./ledger/model

.PHONY: fuzz fuzz-keep
fuzz: ## Fuzz every decoder, FUZZTIME each (default 30s); what it finds interesting stays in Go's cache
	@GO="$(GO)" ./torture/soak/fuzz.sh $(or $(FUZZTIME),30s)
fuzz-keep: ## Copy inputs from Go's cache into the corpora that every test runs (testdata/fuzz): KEEP each (default 16), of all sizes
	@keep=$(or $(KEEP),16); for p in $$($(GO) list ./...); do \
	  cd "$$($(GO) env GOCACHE)/fuzz/$$p" 2>/dev/null || continue; \
	  for f in Fuzz*; do [ -d "$$f" ] || continue; \
	    to="$$(cd $(CURDIR) && $(GO) list -f '{{.Dir}}' $$p)/testdata/fuzz/$$f"; mkdir -p "$$to"; \
	    n=$$(find "$$f" -type f -size -4k | wc -l); \
	    find "$$f" -type f -size -4k | xargs ls -S | awk -v k=$$((n / keep + 1)) 'NR % k == 0' | xargs -I{} cp {} "$$to"; done; cd $(CURDIR); done

# What gosec finds and was judged to be right; docs/security-tests.md says why.
GOSEC_JUDGED = -exclude=G104,G115,G204,G301,G302,G304,G306,G401,G404,G501,G505 \
	-exclude-rules="localstack/table/.*:G101;torture/.*:G703;ingress/console/.*:G124;(report|load)/.*:G203;payment/sandbox/server/.*:G710"
.PHONY: security vuln
security: ## Look for insecure patterns with gosec (run from its module, no dependency of ours)
	$(GO) run github.com/securego/gosec/v2/cmd/gosec@v2.30.0 -quiet $(GOSEC_JUDGED) ./...
vuln: ## Look for known vulnerabilities with govulncheck; needs vuln.go.dev, or VULNDB=https://… for a mirror
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 $(if $(VULNDB),-db $(VULNDB)) ./...

.PHONY: redis
redis:
	@./localstack/install-redis.sh

.PHONY: chromium
chromium:
	@./browsertest/install-chromium.sh

.PHONY: clean
clean: ## Remove what the targets built
	rm -rf bin dist .holdfast torture-report soak-report artefacts
