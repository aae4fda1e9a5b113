# The packages of thumbs-decode. It can be built without any of them, and then lacks a format; without the last one, it
# decodes only with --unsafe-decoders.
DECODERS := libavif-dev libheif-dev libjxl-dev libtiff-dev librsvg2-dev libseccomp-dev
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
  -ld-path=$(CURDIR)/.packaging/link.sh -Xclang-linker -static-libgcc -Xfrontend -function-sections \
  -Xfrontend -internalize-at-link)
DIST := .build-static/dist
# The destination of `make install`; DESTDIR is put in front of it to build packages.
PREFIX := /usr/local
SHARE = $(DESTDIR)$(PREFIX)/share

.PHONY: run test test-clean test-clean-13 test-examples test-service test-thread test-thread-command test-address \
  test-cache test-jpeg test-arm test-traits test-readme test-gallery test-metrics test-worker test-python \
  test-cluster gallery-screenshot test-install test-packages test-decoders fuzz fuzz-libraries fuzz-http bench \
  bench-pixels bench-decoders bench-crops bench-fetch bench-cache bench-start bench-worker bench-spark docs format \
  lint structure build build-traits release install install-files install-decoder uninstall dist image clean setup

## Fetches the example images twice, and prints the cache statistics.
run: setup
	$(SWIFT) build --product thumbs-decode
	$(SWIFT) build --product thumbs
	@python3 Examples/serve.py sh Examples/run.sh "$$($(SWIFT) build --show-bin-path)/thumbs" .build/example-cache

## Runs all tests, with real servers, and the examples of the libraries. If all tests began at once, each would wait for
## seconds between two of its steps. With FILTER=REGEX, runs only the tests that match.
test: setup
	$(SERVERS) $(SWIFT) test --experimental-maximum-parallelization-width 24 $(if $(FILTER),--filter '$(FILTER)')
	$(if $(FILTER),,$(MAKE) test-examples)

## Runs the commands above in an empty Debian 12, and `test-clean-13` in an empty Debian 13, as root: the packages that
## `make setup` installs are all there is. ALL=1 runs all tests there instead of those of decoders, transport and TLS.
test-clean test-clean-13: PACKAGES := debootstrap python3
test-clean: setup
	python3 -B Tests/CleanSystems/run.py bookworm $(if $(ALL),--all)
test-clean-13: setup
	python3 -B Tests/CleanSystems/run.py trixie $(if $(ALL),--all)

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
	python3 -B Examples/packages.py "$$($(SWIFT) build $(EXAMPLES) --show-bin-path)/PackageDownloader"
	$(SWIFT) test --skip-build $(EXAMPLES)
	$(SWIFT) build $(SERVICE)
	python3 -B Examples/service.py "$$($(SWIFT) build $(SERVICE) --show-bin-path)/ThumbnailService"

# Optimizes C in a debug build.
FAST_C := -Xcc -O1

.build-thread/mutex.so: Tests/Sanitizers/mutex.c
	mkdir -p $(@D)
	clang -shared -fPIC -O1 -o $@ $< -ldl

# A hostile decoder without a sanitizer, for tests with one.
.build-thread/hostile-decode: $(wildcard Sources/CDecode*/*.c Sources/CDecode*/include/*.h Tests/HostileDecoder/*.c)
	mkdir -p $(@D)
	clang -std=c11 -O1 -D_GNU_SOURCE -ISources/CDecodeChannel/include -ISources/CDecoder/include -o $@ \
	  $(filter %.c,$^) -lseccomp

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
test-thread-command: THREAD_TESTS := ThumbsTests
THREAD_SKIPS := Advice|OptionName|OptionsTests|Manifest|Delimited|Plist|Configuration|SnippetTests|Template

## `test-thread` runs the libraries' tests of shared state under the thread sanitizer, and `test-thread-command` those
## of the command, whose processes take twelve minutes. Few tests run at a time, or they would time out while they wait.
## As without a sanitizer, an allocation that is too large returns null. THUMBS_CROWD_SIZE reduces the number of
## requests in the largest tests.
test-thread test-thread-command: setup .build-thread/mutex.so .build-thread/hostile-decode
	$(SWIFT) build --build-tests --sanitize=thread --scratch-path .build-thread $(FAST_C)
	$(SERVERS) env LD_PRELOAD=$(CURDIR)/.build-thread/mutex.so TSAN_OPTIONS=allocator_may_return_null=1 \
	  THUMBS_CROWD_SIZE=500 THUMBS_HOSTILE_DECODER=$(CURDIR)/.build-thread/hostile-decode \
	  $(SWIFT) test --skip-build --sanitize=thread --scratch-path .build-thread $(FAST_C) --filter '$(THREAD_TESTS)' \
	  --skip '$(THREAD_SKIPS)' --experimental-maximum-parallelization-width 4

# The tests in which processes are killed or stopped.
SEVERAL_PROCESSES := KillTests|PowerLossTests|ProcessTests

## Runs the imaging and cache tests under the address sanitizer.
test-address: setup .build-thread/hostile-decode
	$(SWIFT) build --build-tests --sanitize=address --scratch-path .build-address $(FAST_C)
	ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 \
	THUMBS_HOSTILE_DECODER=$(CURDIR)/.build-thread/hostile-decode \
	LSAN_OPTIONS=suppressions=$(CURDIR)/Tests/Sanitizers/leaks.supp \
	  $(SWIFT) test --skip-build --sanitize=address --scratch-path .build-address $(FAST_C) \
	  --filter ImageCacheTests --skip '$(SEVERAL_PROCESSES)'

## Runs long tests of the cache: 200 kills, 500 rounds of flipped bits, four processes for 20 seconds, and a failure of
## every system call of a run.
test-cache: PACKAGES += strace
test-cache: setup
	$(SWIFT) build --build-tests
	THUMBS_KILL_ROUNDS=200 THUMBS_FLIP_ROUNDS=500 THUMBS_PROCESS_SECONDS=20 \
	  $(SWIFT) test --skip-build --filter 'KillTests|DiskFaultTests|SystemFaultTests|ProcessTests'
	python3 Examples/serve.py Tests/Faults/run.sh "$$($(SWIFT) build --show-bin-path)/thumbs"

## Compiles the codecs with the three APIs of libjpeg: 6b, 7 and 8.
test-jpeg: setup
	Tests/Portability/jpeg-api.sh

## Compiles the codecs for 64-bit ARM, and compares their results under QEMU with those of this processor.
test-arm: PACKAGES += qemu-user
test-arm: setup
	Tests/Portability/arm.sh

TRAITS := --disable-default-traits --scratch-path .build-traits
## Builds the libraries without the package traits.
build-traits: setup
	$(SWIFT) build --target BatchFetch $(TRAITS)

## Builds without the package traits and runs the imaging tests.
test-traits: setup
	$(SWIFT) build --build-tests $(TRAITS)
	$(SWIFT) test --skip-build $(TRAITS) \
	  --filter 'ImageCacheTests.*(codecs|Recognition|references|check of a spec|mark)'

## Compares the output of the commands in the README and the cookbook with what they show.
test-readme: PACKAGES += jq
test-readme: setup
	$(SWIFT) build --product thumbs
	python3 Examples/serve.py python3 -B Tests/Readme/run.py "$$($(SWIFT) build --show-bin-path)/thumbs"

## Checks the files of --metrics with the parser of Prometheus's Python client.
test-metrics: PACKAGES += python3-prometheus-client
test-metrics: setup
	$(SWIFT) build --product thumbs
	python3 Examples/serve.py /usr/bin/python3 -B Tests/Metrics/run.py "$$($(SWIFT) build --show-bin-path)/thumbs"

## Tests the worker and the shards at full size, with the release build. SECTIONS="kill shards" runs only these; ROWS
## and KILLS set the numbers of rows and kills.
test-worker: setup
	$(RELEASE) --product thumbs
	python3 -B Tests/Worker/run.py "$$($(RELEASE) --show-bin-path)/thumbs" $(SECTIONS)

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

## Compares the pixels of AVIF, HEIC, JPEG XL, SVG and TIFF files, and of AVIF thumbnails, with those of other
## programs; takes half a minute.
test-decoders: PACKAGES += libavif-bin libheif-examples libjxl-tools libtiff-tools librsvg2-bin python3-pil \
  python3-numpy breeze-icon-theme
test-decoders: setup
	$(SWIFT) build --product thumbs
	$(SWIFT) build --product thumbs-decode
	/usr/bin/python3 -B Tests/Decoders/compare.py "$$($(SWIFT) build --show-bin-path)/thumbs"

GALLERY_SHOTS := .build/gallery
## Tests the gallery in a headless browser and writes screenshots to $(GALLERY_SHOTS).
test-gallery: PACKAGES += chromium
test-gallery: setup
	$(SWIFT) build --product thumbs
	python3 Examples/serve.py python3 -B Tests/Gallery/run.py "$$($(SWIFT) build --show-bin-path)/thumbs" $(GALLERY_SHOTS)

## Replaces the screenshot in the README by one of the present gallery.
gallery-screenshot: test-gallery
	cp $(GALLERY_SHOTS)/readme.jpg Documentation/gallery.jpg

## Tests the result of `make install`: the command, its manual page, and the completions in each shell; and install.sh.
test-install: PACKAGES += man-db zsh fish
test-install: release
	python3 -B Tests/Install/script.py
	python3 Examples/serve.py Tests/Install/run.sh

## Fuzzes the decoders under the address and undefined behavior sanitizers, for FUZZ_SECONDS each, and the messages of
## thumbs-decode for a quarter of that.
FUZZ_SECONDS := 60
fuzz: setup
	Tests/Fuzzing/run.sh $(FUZZ_SECONDS)
	Tests/Fuzzing/run.sh $$(($(FUZZ_SECONDS) / 4)) session decoder

## Builds the codec libraries with the address sanitizer, and fuzzes with them.
fuzz-libraries: PACKAGES += cmake autoconf automake libtool dpkg-dev
fuzz-libraries: setup
	Tests/Fuzzing/libraries.sh
	Tests/Fuzzing/run.sh $(FUZZ_SECONDS)

## Builds the documentation of the libraries as web pages in .build/docs. A broken link is an error.
docs: setup
	Documentation/build.sh

RESPONSES := 1000000
## Downloads RESPONSES=1000000 responses of structured garbage with a libcurl that is built with the address sanitizer;
## takes about ten minutes. With CURL_SUITE=trixie, the libcurl is that of Debian 13.
fuzz-http: PACKAGES += libnghttp2-dev build-essential dpkg-dev
fuzz-http: setup
	Tests/Fuzzing/http.sh $(RESPONSES)

# Real photos and icons, and the programs that scale them to common web sizes.
PHOTOS := Benchmarks/peers/.build/corpus/photos
CORPUS := mate-backgrounds oxygen-icon-theme libjpeg-turbo-progs python3-pil

## Compares fetching with curl and vipsthumbnail, img2dataset, and a bare codec loop; then runs each on broken input.
bench: PACKAGES += curl libvips-tools python3-venv $(CORPUS)
bench: release
	Benchmarks/peers/run.sh $(CURDIR)/$(DIST)/thumbs

## Compares decoding and resizing with a bare codec loop, vipsthumbnail and Pillow, on real photos and icons.
bench-pixels: PACKAGES += libvips-tools $(CORPUS)
bench-pixels: setup
	Benchmarks/pixels/run.sh

## Compares AVIF, HEIC, JPEG XL, TIFF and SVG files, and AVIF thumbnails, with vipsthumbnail.
bench-decoders: PACKAGES += libvips-tools libavif-bin libheif-examples libjxl-tools breeze-icon-theme $(CORPUS)
bench-decoders: release
	[ -d $(PHOTOS) ] || /usr/bin/python3 Benchmarks/pixels/corpus.py $(dir $(PHOTOS)) 600 2000
	/usr/bin/python3 -B Benchmarks/decoders.py $(DIST)/thumbs $(PHOTOS)

## Compares the windows of smart crops with those of vipsthumbnail, and their time with that of the center, on photos.
bench-crops: PACKAGES += libvips-tools python3-numpy python3-pil python3-pip
bench-crops: setup
	Benchmarks/crops/run.sh

## Compares downloads over plain HTTP, TLS and HTTP/2, and from 200 hosts, with a bare libcurl loop, curl --parallel and
## aria2c; then measures a slow server, 100,000 files, and rows grouped by host. SECTIONS="plain tls" runs only these.
SECTIONS :=
bench-fetch: PACKAGES += curl aria2
bench-fetch: setup
	Benchmarks/fetch/run.sh $(SECTIONS)

## Compares both levels of the cache with NSCache, LRU, the optimum and plain files; takes some minutes.
bench-cache: setup
	Benchmarks/cache/run.sh

## Compares the startup time of the command with that of curl.
bench-start: PACKAGES += curl
bench-start: release
	python3 Benchmarks/start.py $(DIST)/thumbs

## Compares the worker with `thumbs fetch`, on photos and on rows from a fresh cache.
bench-worker: PACKAGES += $(CORPUS)
bench-worker: release
	[ -d $(PHOTOS) ] || /usr/bin/python3 Benchmarks/pixels/corpus.py $(dir $(PHOTOS)) 600 2000
	python3 -B Benchmarks/worker.py $(DIST)/thumbs $(PHOTOS)

## Kills every kind of process of a Spark cluster that fetches a million rows; then compares fetching photos on two
## Spark workers with the command alone and with img2dataset on the same cluster.
bench-spark: PACKAGES += python3-venv openjdk-17-jre-headless $(CORPUS)
bench-spark: THUMBS_BINARY = $(CURDIR)/$(DIST)/thumbs
bench-spark: release
	Python/tests/environment.sh $(PYTHON)
	cd Python && THUMBS_CLUSTER_ROWS=1000000 $(PYTEST) -p no:cacheprovider -s tests/test_spark_kills.py
	Benchmarks/spark/run.sh $(CURDIR)/$(DIST)/thumbs $(CURDIR)/$(PYTHON)

build: setup
	$(RELEASE) --product thumbs-decode
	$(RELEASE) --product thumbs

## Builds the command, its manual page and its completions in $(DIST).
release: PACKAGES += libnghttp2-dev libidn2-dev libunistring-dev build-essential dpkg-dev
release: setup
	.packaging/libraries.sh $(LIBRARIES)
	rm -f "$$($(STATIC) --show-bin-path)/thumbs"
	$(STATIC)
	mkdir -p $(DIST)
	install -m 755 "$$($(STATIC) --show-bin-path)/thumbs" $(DIST)/thumbs
	.packaging/decoder.sh $(DIST)/thumbs-decode
	python3 .packaging/manual.py $(DIST)/thumbs > $(DIST)/thumbs.1
	for shell in bash zsh fish; do \
	  $(DIST)/thumbs --generate-completion-script $$shell | sed '1{/^#!/d}' > $(DIST)/thumbs.$$shell; done
	python3 -B .packaging/licenses.py .build-static/checkouts $(DIST)/licenses $(DIST)/thumbs

install: release install-files install-decoder

## Installs the result of `make release`.
install-files:
	install -D -m 755 $(DIST)/thumbs $(DESTDIR)$(PREFIX)/bin/thumbs
	install -D -m 644 $(DIST)/thumbs.1 $(SHARE)/man/man1/thumbs.1
	install -D -m 644 $(DIST)/thumbs.bash $(SHARE)/bash-completion/completions/thumbs
	install -D -m 644 $(DIST)/thumbs.zsh $(SHARE)/zsh/site-functions/_thumbs
	install -D -m 644 $(DIST)/thumbs.fish $(SHARE)/fish/vendor_completions.d/thumbs.fish
	install -D -m 644 LICENSE $(SHARE)/doc/thumbs/copyright
	install -D -m 644 -t $(SHARE)/doc/thumbs/licenses $(DIST)/licenses/*

## Installs thumbs-decode, which needs the libraries of the system it was built on.
install-decoder:
	install -D -m 755 $(DIST)/thumbs-decode $(DESTDIR)$(PREFIX)/libexec/thumbs/thumbs-decode

uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/libexec/thumbs
	rm -f $(DESTDIR)$(PREFIX)/bin/thumbs $(SHARE)/man/man1/thumbs.1 $(SHARE)/bash-completion/completions/thumbs \
	  $(SHARE)/zsh/site-functions/_thumbs $(SHARE)/fish/vendor_completions.d/thumbs.fish $(SHARE)/doc/thumbs/copyright
	rm -rf $(SHARE)/doc/thumbs/licenses

## Makes the files of a release in $(PACKED): tarball, wheel, Debian packages, install.sh and their SHA-256 sums. With
## SIGNING_KEY=FILE, a private key in PEM form, also signs the sums.
PACKED := .build-static/packages
dist: PACKAGES += debhelper
dist: release
	.packaging/dist.sh $(DIST) $(PACKED)

## Makes a container image of the release in $(PACKED).
image: PACKAGES += buildah
image: release
	mkdir -p $(PACKED)
	version=$$($(DIST)/thumbs --version); .packaging/image.sh $(DIST)/thumbs $$version $(PACKED)/thumbs-$$version-image.tar

## Tests these files and a container image: each is installed and used in a clean system, and removed.
test-packages: PACKAGES += debootstrap lintian buildah python3-venv
test-packages: dist
	$(SERVERS) python3 -B Tests/Packages/run.py $(PACKED)

format:
	$(SWIFT) format -i --parallel --recursive Package.swift Sources Tests Examples

lint:
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests Examples

## Prints the sizes of files and functions, and fails if comments, messages or documents use words to avoid.
structure:
	python3 -B Tests/Structure/run.py --self-test
	python3 -B Tests/Structure/run.py

clean:
	rm -rf .build .build-* Examples/*/.build* thumbs

setup:
	@missing=$$(for package in $(PACKAGES); do \
	  dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || echo $$package; done); \
	if [ -n "$$missing" ]; then \
	  echo "Installing missing packages:" $$missing; \
	  $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing; \
	fi
