# What is needed beside Swift, as packages of Debian and Ubuntu. python3 serves the example pictures; the tests start
# nginx and tinyproxy themselves, with certificates made by openssl.
PACKAGES := libcurl4-openssl-dev libjpeg-dev libpng-dev libdeflate-dev liblcms2-dev libsqlite3-dev libssl-dev \
  libxxhash-dev zlib1g-dev pkg-config python3 nginx tinyproxy-bin openssl
SERVERS := python3 Tests/Servers/run.py
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
SWIFT := swift
RELEASE := $(SWIFT) build -c release

.PHONY: run test test-thread test-address test-cache fuzz bench-pixels bench-fetch bench-cache docs format lint build clean \
  setup

## The main job on the example pictures: download, thumbnails, cache, report.
run: setup
	$(SWIFT) build --product thumbs
	@python3 Examples/serve.py sh Examples/run.sh "$$($(SWIFT) build --show-bin-path)/thumbs" .build/example-cache

## All tests, with real servers beside, and the examples of the libraries.
test: setup
	$(SERVERS) $(SWIFT) test
	$(SWIFT) build --package-path Examples/LibraryCall
	for example in LibraryCall TableOfIcons; do \
	  python3 Examples/serve.py $(SWIFT) run --skip-build --package-path Examples/LibraryCall $$example \
	    Examples/apps.plist || exit 1; \
	done

## The tests under the thread sanitizer; those of the command by themselves, which need the processors too.
test-thread: setup
	mkdir -p .build-thread
	clang -shared -fPIC -O1 -o .build-thread/mutex.so Tests/Sanitizers/mutex.c -ldl
	$(SWIFT) build --build-tests --sanitize=thread --scratch-path .build-thread
	for tests in 'ImageCacheTests|BatchFetchTests' ThumbsTests; do \
	  $(SERVERS) env LD_PRELOAD=$(CURDIR)/.build-thread/mutex.so \
	  $(SWIFT) test --skip-build --sanitize=thread --scratch-path .build-thread --filter "$$tests" || exit 1; \
	done

## The tests of pixels and caches under the address sanitizer.
test-address: setup
	$(SWIFT) build --build-tests --sanitize=address --scratch-path .build-address
	ASAN_OPTIONS=detect_leaks=1 $(SWIFT) test --skip-build --sanitize=address --scratch-path .build-address \
	  --filter ImageCacheTests

## What the cache must survive, at length: 200 kills, 500 rounds of flipped bits, four processes for 20 seconds, and
## every system call of a run failing once.
test-cache: setup
	$(SWIFT) build --build-tests
	THUMBS_KILL_ROUNDS=200 THUMBS_FLIP_ROUNDS=500 THUMBS_PROCESS_SECONDS=20 \
	  $(SWIFT) test --skip-build --filter 'KillTests|DiskFaultTests|SystemFaultTests|ProcessTests'
	python3 Examples/serve.py Tests/Faults/run.sh "$$($(SWIFT) build --show-bin-path)/thumbs"

## The decoders against damaged input, under the address and undefined-behaviour sanitizers, some seconds each.
FUZZ_SECONDS := 60
fuzz: setup
	Tests/Fuzzing/run.sh $(FUZZ_SECONDS)

## The documentation of both libraries, as pages for a browser below .build/docs. A broken link stops it.
docs: setup
	Documentation/build.sh

## Decoding and resizing beside a bare codec loop, vipsthumbnail and Pillow, on real photos and icons.
bench-pixels: setup
	Benchmarks/pixels/run.sh

## Downloads beside a bare libcurl loop, curl --parallel and aria2c, and 100,000 of them.
bench-fetch: setup
	Benchmarks/fetch/run.sh

## Both levels of the cache beside NSCache, LRU, the optimum and plain files; a million entries; some minutes.
bench-cache: setup
	Benchmarks/cache/run.sh

build: setup
	$(RELEASE) --product thumbs

format:
	$(SWIFT) format -i --parallel --recursive Package.swift Sources Tests Examples

lint:
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests Examples

clean:
	rm -rf .build .build-* Examples/LibraryCall/.build thumbs

setup:
	@missing=$$(for package in $(PACKAGES); do \
	  dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || echo $$package; done); \
	if [ -n "$$missing" ]; then \
	  echo "Installing what is missing:" $$missing; \
	  $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing; \
	fi
