# Every target but `demo` installs what it needs and is missing, and does nothing about the rest.
.DEFAULT_GOAL := help
.PHONY: help demo test lint fuzz bench docs router packages sbom wheel notebook

# A file of your own to send through the demo: make demo FILE=photo.jpg
FILE ?=
# Seconds for each fuzz target.
SECONDS_EACH ?= 60
# The parts of the benchmark to run; `make bench PARTS=help` lists them.
PARTS ?=

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## publish a file and fetch it twice through three forwarders
	@cargo run --release --package weir -- demo $(if $(FILE),"$(FILE)")

test: ## run every test: unit, property, interoperation, end to end
	scripts/test

lint: ## check format, lints, documentation, house rules, scripts
	scripts/lint

fuzz: ## fuzz every decoder (SECONDS_EACH=60)
	fuzz/run $(SECONDS_EACH)

bench: ## measure Weir and its peers on this machine (PARTS="host veth")
	bench/run $(PARTS)

wheel: ## build the Python package, with the program in it
	@scripts/wheel

notebook: ## open the notebooks of docs/notebooks with Weir's Python package
	@scripts/notebook

router: ## build `weir-router`, a small static program for routers
	@scripts/router

packages: ## build a .tar.gz with a static program, a .deb, and an OCI image
	@scripts/packages

sbom: ## print the bill of materials of `weir` (CycloneDX 1.5, JSON)
	@scripts/sbom

docs: ## write the generated references, the API documentation and the site
	scripts/docs
