# The targets of tests beyond `make test`.

.PHONY: test-clean test-clean-13 test-examples test-service test-thread test-thread-command test-address test-cache \
  test-jpeg test-arm build-traits test-traits test-readme test-metrics test-worker test-python test-cluster \
  structure-paths test-decoders test-gallery test-pages test-buckets gallery-screenshot test-install fuzz \
  fuzz-libraries fuzz-http

## Runs `make run` and tests in an empty Debian 12, and `test-clean-13` in an empty Debian 13, as root. The packages
## that `make setup` installs are all there is. ALL=1 runs all tests instead of those of decoders, transport and TLS.
test-clean test-clean-13: PACKAGES := debootstrap python3
test-clean: setup
	python3 -B Tests/Scripts/clean_systems.py bookworm $(if $(ALL),--all)
test-clean-13: setup
	python3 -B Tests/Scripts/clean_systems.py trixie $(if $(ALL),--all)

# Both packages share what they build of the libraries.
EXAMPLES := --package-path Examples/LibraryCall --scratch-path .build-examples
SERVICE := --package-path Examples/Service --scratch-path .build-examples
## Builds and runs the examples of the libraries, with their tests.
test-examples: setup
	$(SWIFT) build --build-tests $(EXAMPLES)
	for example in LibraryCall TableOfIcons; do \
	  python3 Examples/serve.py $(SWIFT) run --skip-build $(EXAMPLES) $$example Examples/apps.plist || exit 1; \
	done
	printf 'j   kkk' | python3 Examples/serve.py $(SWIFT) run --skip-build $(EXAMPLES) ScrollingTable Examples/apps.plist
	python3 -B Examples/photos.py "$$($(SWIFT) build $(EXAMPLES) --show-bin-path)/PhotoFolder"
	python3 -B Examples/packages.py "$$($(SWIFT) build $(EXAMPLES) --show-bin-path)/PackageDownloader"
	$(SWIFT) test --skip-build $(EXAMPLES)
	$(SWIFT) build $(SERVICE)
	python3 -B Examples/service.py "$$($(SWIFT) build $(SERVICE) --show-bin-path)/ThumbnailService"

# Optimizes C in a debug build.
FAST_C := -Xcc -O1

.build-thread/mutex.so: Tests/Scripts/mutex.c
	mkdir -p $(@D)
	clang -shared -fPIC -O1 -o $@ $< -ldl

# A hostile decoder without a sanitizer, for tests with one.
.build-thread/hostile-decode: $(wildcard Sources/CDecode*/*.c Sources/CDecode*/include/*.h Tests/HostileDecoder/*.c)
	mkdir -p $(@D)
	clang -std=c11 -O1 -D_GNU_SOURCE -ISources/CDecodeChannel/include -ISources/CDecoder/include -o $@ \
	  $(filter %.c,$^) -lseccomp -lm

SERVICE_THREAD := --package-path Examples/Service --sanitize=thread --scratch-path .build-service $(FAST_C)
LOAD_SECONDS := 30
## Runs the example service under the thread sanitizer, with 200 clients for LOAD_SECONDS. Half of them disconnect at
## random.
test-service: setup .build-thread/mutex.so
	$(SWIFT) build $(SERVICE_THREAD)
	LD_PRELOAD=$(CURDIR)/.build-thread/mutex.so TSAN_OPTIONS=allocator_may_return_null=1 \
	  python3 -B Examples/service.py "$$($(SWIFT) build $(SERVICE_THREAD) --show-bin-path)/ThumbnailService" \
	  --load $(LOAD_SECONDS)

# The tests of what several threads or processes share. The suites that are named by a type in `ImageCacheTests` are
# those of the cache. Parsing and pixels use one thread, and would take most of the time.
CACHE_TESTS := ImageCacheTests.[A-Z]|ImageCacheTests.*(renderer|memory of decoding|Isolated)
test-thread: THREAD_TESTS := $(CACHE_TESTS)|DownloadsTests|BatchFetchTests
test-thread: THREAD_TARGETS := ImageCacheTests DownloadsTests BatchFetchTests
test-thread-command: THREAD_TESTS := ThumbsTests
test-thread-command: THREAD_TARGETS := ThumbsTests
# Long tests of a single thread, and those that start other processes.
THREAD_SKIPS := Advice|OptionName|OptionsTests|Manifest|Delimited|Plist|Configuration|SnippetTests|Template|$(\
  )PriorityQueueTests|RobotsMatch|RobotsFile|RobotsRules|RobotsLimit|LogTests|KillTests|PowerLossTests|ProcessTests

## `test-thread` runs the libraries' tests of shared state under the thread sanitizer, and `test-thread-command` those
## of the command, whose processes take twelve minutes. Few tests run at a time, or they would time out while they wait.
## As without a sanitizer, an allocation that is too large returns null. THUMBS_CROWD_SIZE reduces the number of
## requests in the largest tests.
test-thread test-thread-command: setup .build-thread/mutex.so .build-thread/hostile-decode
	THUMBS_TARGETS='$(THREAD_TARGETS)' \
	  $(SWIFT) build --build-tests --sanitize=thread --scratch-path .build-thread $(FAST_C)
	$(SERVERS) env LD_PRELOAD=$(CURDIR)/.build-thread/mutex.so TSAN_OPTIONS=allocator_may_return_null=1 \
	  THUMBS_TARGETS='$(THREAD_TARGETS)' \
	  THUMBS_CROWD_SIZE=500 THUMBS_HOSTILE_DECODER=$(CURDIR)/.build-thread/hostile-decode \
	  $(SWIFT) test --skip-build --sanitize=thread --scratch-path .build-thread $(FAST_C) --filter '$(THREAD_TESTS)' \
	  --skip '$(THREAD_SKIPS)' --experimental-maximum-parallelization-width 4

# With optimized Swift, these tests take a quarter of the time, and the build half as long again. Under the thread
# sanitizer, nothing would be gained, and there are false reports: the standard library, which is then compiled into the
# tests, is checked, but not the continuations of the runtime that order its accesses.
ADDRESS := --sanitize=address --scratch-path .build-address $(FAST_C) -Xswiftc -O -Xswiftc -enable-testing
# The tests in which processes are killed or stopped.
SEVERAL_PROCESSES := KillTests|PowerLossTests|ProcessTests

## Runs the imaging and cache tests under the address sanitizer. Few tests run at a time, or some would time out while
## they wait.
test-address: setup .build-thread/hostile-decode
	THUMBS_TARGETS=ImageCacheTests $(SWIFT) build --build-tests $(ADDRESS)
	ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 THUMBS_TARGETS=ImageCacheTests \
	THUMBS_HOSTILE_DECODER=$(CURDIR)/.build-thread/hostile-decode \
	LSAN_OPTIONS=suppressions=$(CURDIR)/Tests/Scripts/leaks.supp \
	  $(SWIFT) test --skip-build $(ADDRESS) --filter ImageCacheTests --skip '$(SEVERAL_PROCESSES)|LogTests|SmartCrop' \
	  --experimental-maximum-parallelization-width 8

## Runs long tests of the cache: 200 kills, 500 rounds of flipped bits, four processes for 20 seconds, and a failure of
## every system call of a run.
test-cache: PACKAGES += strace
test-cache: setup
	$(SWIFT) build --build-tests
	THUMBS_KILL_ROUNDS=200 THUMBS_FLIP_ROUNDS=500 THUMBS_PROCESS_SECONDS=20 \
	  $(SWIFT) test --skip-build --filter 'KillTests|DiskFaultTests|SystemFaultTests|ProcessTests'
	python3 Examples/serve.py Tests/Scripts/faults.sh "$$($(SWIFT) build --show-bin-path)/thumbs"

## Compiles the codecs with the three APIs of libjpeg: 6b, 7 and 8; and compares the planes of JPEG files of many kinds,
## whole and damaged, with those of libjpeg alone.
test-jpeg: setup
	Tests/Scripts/jpeg-api.sh
	Tests/Scripts/planes.sh

## Compiles the codecs for 64-bit ARM, and compares their results under QEMU with those of this processor.
test-arm: PACKAGES += qemu-user
test-arm: setup
	Tests/Scripts/arm.sh

TRAITS := --disable-default-traits --scratch-path .build-traits
## Builds the libraries without the package traits.
build-traits: setup
	$(SWIFT) build --target BatchFetch $(TRAITS)

## Builds without the package traits and runs the imaging tests.
test-traits: setup
	$(SWIFT) build --build-tests $(TRAITS)
	$(SWIFT) test --skip-build $(TRAITS) \
	  --filter 'ImageCacheTests.*(codecs|Recognition|references|check of a spec|mark)'

## Compares the output of the commands in the README and its pages with what they show.
test-readme: PACKAGES += jq
test-readme: setup
	$(SWIFT) build --product thumbs
	python3 Examples/serve.py python3 -B Tests/Scripts/readme.py "$$($(SWIFT) build --show-bin-path)/thumbs"

## Checks the files of --metrics with the parser of Prometheus's Python client.
test-metrics: PACKAGES += python3-prometheus-client
test-metrics: setup
	$(SWIFT) build --product thumbs
	python3 Examples/serve.py /usr/bin/python3 -B Tests/Scripts/metrics.py "$$($(SWIFT) build --show-bin-path)/thumbs"

## Tests the worker and the shards at full size, with the release build. SECTIONS="kill shards" runs only these; ROWS
## and KILLS set the numbers of rows and kills.
test-worker: setup
	$(RELEASE) --product thumbs
	python3 -B Tests/Scripts/worker.py "$$($(RELEASE) --show-bin-path)/thumbs" $(SECTIONS)

BUCKETS := .build-buckets
## Moves images between buckets of a server in Python, and kills the command several times; takes a minute. At first,
## installs the server.
test-buckets: PACKAGES += python3-venv
test-buckets: setup
	$(SWIFT) build --product thumbs
	test -x $(BUCKETS)/bin/moto_server || { python3 -m venv $(BUCKETS) && \
	  $(BUCKETS)/bin/pip install -q 'moto[s3,server]==5.1.*' boto3 pillow; }
	$(BUCKETS)/bin/python -B Tests/Scripts/buckets.py "$$($(SWIFT) build --show-bin-path)/thumbs"

# The virtual environment of the Python package is kept between runs.
PYTHON := .build-python
PYTEST = THUMBS_BINARY=$(THUMBS_BINARY) ../$(PYTHON)/venv/bin/python -B -m pytest -q
THUMBS_BINARY = $(abspath $(shell $(SWIFT) build --show-bin-path)/thumbs)

## Checks the types of the Python package, and tests it with the worker and with Spark; takes about three minutes.
test-python: PACKAGES += python3-venv openjdk-17-jre-headless
test-python: setup
	$(SWIFT) build --product thumbs
	Python/tests/environment.sh $(PYTHON)
	cd Python && ../$(PYTHON)/venv/bin/mypy --cache-dir ../$(PYTHON)/mypy
	cd Python && ../$(PYTHON)/venv/bin/pyright -p pyproject.toml --pythonpath ../$(PYTHON)/venv/bin/python
	cd Python && $(PYTEST) -m 'not cluster' -p no:cacheprovider

## Kills every kind of process of Spark and Ray clusters on this machine; takes half an hour. THUMBS_CLUSTER_ROWS and
## THUMBS_CLUSTER_URLS set the size for Spark. Ray gets its own network, because it listens on all interfaces.
test-cluster: PACKAGES += python3-venv openjdk-17-jre-headless iproute2
test-cluster: setup
	$(SWIFT) build --product thumbs
	Python/tests/environment.sh $(PYTHON) ray
	cd Python && $(PYTEST) -p no:cacheprovider -s tests/test_spark_kills.py
	cd Python && RAY_USAGE_STATS_ENABLED=0 unshare -rn sh -c 'ip link set lo up && exec "$$@"' sh \
	  env $(PYTEST) -p no:cacheprovider -s tests/test_ray.py

## Compares the pixels of AVIF, HEIC, JPEG 2000, JPEG XL, PDF, PSD, SVG, TIFF and camera raw files, of AVIF thumbnails
## and of animated ones, with those of other programs; takes half a minute.
test-decoders: PACKAGES += libavif-bin libheif-examples libopenjp2-tools libjxl-tools libtiff-tools librsvg2-bin \
  imagemagick dcraw ffmpeg qpdf poppler-utils libtasn1-doc shared-mime-info python3-pil python3-numpy \
  breeze-icon-theme webp
test-decoders: setup
	$(SWIFT) build --product thumbs
	$(SWIFT) build --product thumbs-decode
	$(SWIFT) build --product thumbs-decode-pdf
	/usr/bin/python3 -B Tests/Decoders/compare.py "$$($(SWIFT) build --show-bin-path)/thumbs"

## Counts the files that a row, a hit in the disk cache and an isolated AVIF image pass, with callgrind; takes minutes.
structure-paths: PACKAGES += valgrind binutils libavif-bin
structure-paths: setup
	$(SWIFT) build --product thumbs
	$(SWIFT) build --product thumbs-decode
	python3 -B Tests/Structure/paths.py "$$($(SWIFT) build --show-bin-path)/thumbs" \
	  Tests/Fixtures/pictures/orientation-6.jpg

GALLERY_SHOTS := .build/gallery
## Tests the gallery in a headless browser, with the rules of axe-core, and writes screenshots to $(GALLERY_SHOTS).
test-gallery: PACKAGES += chromium python3-venv
test-gallery: setup
	$(SWIFT) build --product thumbs
	test -x .build-axe/bin/pip || python3 -m venv .build-axe
	.build-axe/bin/pip install -q axe-core-python==0.1.0
	AXE_CORE=$$(find .build-axe -name axe.min.js) python3 Examples/serve.py python3 -B Tests/Scripts/gallery.py \
	  "$$($(SWIFT) build --show-bin-path)/thumbs" $(GALLERY_SHOTS)

## Compares the images found in generated web pages with those of a browser.
test-pages: PACKAGES += chromium
test-pages: setup
	$(SWIFT) build --product thumbs
	python3 -B Tests/Scripts/pages.py "$$($(SWIFT) build --show-bin-path)/thumbs" 1000

## Replaces the screenshot in the README by one of the present gallery.
gallery-screenshot: test-gallery
	cp $(GALLERY_SHOTS)/readme.jpg Documentation/gallery.jpg

## Tests the result of `make install`: the command, its manual page, and the completions in each shell; and install.sh.
test-install: PACKAGES += man-db zsh fish
test-install: release
	python3 -B Tests/Scripts/install_script.py
	python3 Examples/serve.py Tests/Scripts/install.sh

FUZZ_SECONDS := 60
# All, unless some are named.
FUZZ_TARGETS :=
## Fuzzes the decoders under the address and undefined behavior sanitizers, for FUZZ_SECONDS each, and the messages of
## thumbs-decode for a quarter of that and a second, because libFuzzer takes 0 for no limit.
fuzz: PACKAGES += libavif-bin libopenjp2-tools qpdf librsvg2-bin python3-pil python3-numpy
fuzz: setup
	Tests/Fuzzing/run.sh $(FUZZ_SECONDS) $(FUZZ_TARGETS)
	Tests/Fuzzing/run.sh $$(($(FUZZ_SECONDS) / 4 + 1)) session psd $(if $(FUZZ_TARGETS),,decoder avif jpeg2000 raw pdf)

## Builds the codec libraries with the address sanitizer, and fuzzes with them.
fuzz-libraries: PACKAGES += cmake autoconf automake libtool dpkg-dev
fuzz-libraries: setup
	Tests/Fuzzing/libraries.sh
	Tests/Fuzzing/run.sh $(FUZZ_SECONDS)

RESPONSES := 1000000
## Downloads RESPONSES=1000000 responses of structured garbage with a libcurl that is built with the address sanitizer;
## takes 40 minutes. With CURL_SUITE=trixie, libcurl is that of Debian 13.
fuzz-http: PACKAGES += cmake build-essential dpkg-dev
fuzz-http: setup
	Tests/Fuzzing/http.sh $(RESPONSES)
