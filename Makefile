# The packages of thumbs-decode. It can be built without any of them, and then lacks a format; without the last one, it
# decodes only with --unsafe-decoders.
DECODERS := libavif-dev libheif-dev libopenjp2-7-dev libjxl-dev libtiff-dev librsvg2-dev libraw-dev \
  libpoppler-glib-dev libseccomp-dev
# The required packages of Debian and Ubuntu, besides Swift. python3 serves the example images; the tests start nginx
# and tinyproxy, with certificates made by openssl.
PACKAGES := libcurl4-openssl-dev libjpeg-dev libpng-dev libwebp-dev libdeflate-dev liblcms2-dev libsqlite3-dev \
  libssl-dev libtomlplusplus-dev libxxhash-dev zlib1g-dev pkg-config python3 nginx tinyproxy-bin openssl $(DECODERS)
SERVERS := python3 Tests/Servers/run.py
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
SWIFT := swift
RELEASE := $(SWIFT) build -c release
# The command for release: a single file that needs only glibc 2.34. Every function has a separate section, and the
# linker removes those that the command does not use.
LIBRARIES := $(CURDIR)/.build-static/libraries
STATIC := PKG_CONFIG_PATH=$(LIBRARIES)/pkgconfig $(RELEASE) --static-swift-stdlib --scratch-path .build-static \
  --product thumbs -Xcc -ffunction-sections -Xcc -fdata-sections $(addprefix -Xswiftc ,\
  -ld-path=$(CURDIR)/Packaging/link.sh -Xclang-linker -static-libgcc -Xfrontend -function-sections \
  -Xfrontend -internalize-at-link)
DIST := .build-static/dist
# The destination of `make install`; DESTDIR is put in front of it to build packages.
PREFIX := /usr/local
SHARE = $(DESTDIR)$(PREFIX)/share

.PHONY: help run test build docs release linked format lint structure clean setup

## Prints the targets.
help:
	@awk '/^## / { text = text substr($$0, 3) } /^[a-z][a-z0-9 -]*:/ && text && !/=/ { \
	  sub(/:.*/, ""); sub(/\. .*/, "."); sub(/^ /, "", text); split(text, parts, /\. /); sub(/\.$$/, "", parts[1]); \
	  printf "%-30s %s\n", $$0, parts[1]; text = "" }' $(MAKEFILE_LIST)

## Fetches the example images twice, and prints the cache statistics.
run: setup
	$(SWIFT) build --product thumbs-decode
	$(SWIFT) build --product thumbs-decode-pdf
	$(SWIFT) build --product thumbs
	@python3 Examples/serve.py sh Examples/run.sh "$$($(SWIFT) build --show-bin-path)/thumbs" .build/example-cache

## Runs all tests, with real servers, and the examples of the libraries. If all tests began at once, each would wait for
## seconds between two of its steps. With FILTER=REGEX, runs only the tests that match.
test: setup
	$(SERVERS) $(SWIFT) test --experimental-maximum-parallelization-width 24 $(if $(FILTER),--filter '$(FILTER)')
	$(if $(FILTER),,$(MAKE) test-examples)

## Builds the documentation of the libraries as web pages in .build/docs. A broken link is an error.
docs: setup
	Documentation/build.sh

## Builds the command for this system in .build/release.
build: setup
	$(RELEASE) --product thumbs-decode
	$(RELEASE) --product thumbs-decode-pdf
	$(RELEASE) --product thumbs

## Builds the command, its manual page and its completions in $(DIST).
release: linked
	mkdir -p $(DIST)
	install -m 755 "$$($(STATIC) --show-bin-path)/thumbs" $(DIST)/thumbs
	Packaging/decoder.sh $(DIST)
	python3 Packaging/manual.py $(DIST)/thumbs > $(DIST)/thumbs.1
	for shell in bash zsh fish; do \
	  $(DIST)/thumbs --generate-completion-script $$shell | sed '1{/^#!/d}' > $(DIST)/thumbs.$$shell; done
	python3 -B Packaging/licenses.py .build-static/checkouts $(DIST)/licenses $(DIST)/thumbs

## Links the command with all of its libraries, for `make release` and `make order`.
linked: PACKAGES += libnghttp2-dev libidn2-dev libunistring-dev build-essential dpkg-dev
linked: setup
	Packaging/libraries.sh $(LIBRARIES)
	rm -f "$$($(STATIC) --show-bin-path)/thumbs"
	$(STATIC)

## Corrects the format of the sources.
format:
	$(SWIFT) format -i --parallel --recursive Package.swift Sources Tests Examples

## Checks the format of the sources.
lint:
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests Examples

## Prints the sizes of files and functions, and fails if comments, messages or documents use words to avoid.
structure:
	python3 -B Tests/Structure/run.py --self-test
	python3 -B Tests/Structure/run.py

## Removes everything that was built.
clean:
	rm -rf .build .build-* Examples/*/.build* thumbs

## Installs the missing packages of the system.
setup:
	@missing=$$(for package in $(PACKAGES); do \
	  dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || echo $$package; done); \
	if [ -n "$$missing" ]; then \
	  echo "Installing missing packages:" $$missing; \
	  $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing; \
	fi

include Tests/tests.mk Benchmarks/benchmarks.mk Packaging/packaging.mk
