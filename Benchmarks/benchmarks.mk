# The targets that compare speed, as ratios to other programs in the same run.

.PHONY: bench bench-pixels bench-decoders bench-crops bench-fetch bench-cache bench-eviction bench-start bench-worker \
  bench-spark bench-duplicates

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

## Compares AVIF, HEIC, JPEG 2000, JPEG XL, PDF, PSD, TIFF and SVG files, and AVIF thumbnails, with vipsthumbnail; PDF
## with pdftoppm, too, and camera raw files with dcraw.
bench-decoders: PACKAGES += libvips-tools libavif-bin libheif-examples libopenjp2-tools libjxl-tools imagemagick \
  dcraw qpdf poppler-utils libtasn1-doc shared-mime-info breeze-icon-theme $(CORPUS)
bench-decoders: release
	[ -d $(PHOTOS) ] || /usr/bin/python3 Benchmarks/pixels/corpus.py $(dir $(PHOTOS)) 600 2000
	/usr/bin/python3 -B Benchmarks/decoders.py $(DIST)/thumbs $(PHOTOS)

## Compares the windows of smart crops with those of vipsthumbnail, and their time with that of the center, on photos.
bench-crops: PACKAGES += libvips-tools python3-numpy python3-pil python3-pip
bench-crops: setup
	Benchmarks/crops/run.sh

SECTIONS :=
## Compares downloads over plain HTTP, TLS and HTTP/2, and from 200 hosts, with a bare libcurl loop, curl --parallel and
## aria2c; then measures a slow server, 100,000 files, and rows grouped by host. SECTIONS="plain tls" runs only these.
bench-fetch: PACKAGES += curl aria2
bench-fetch: setup
	Benchmarks/fetch/run.sh $(SECTIONS)

## Compares both levels of the cache with NSCache, LRU, the optimum and plain files; takes some minutes.
bench-cache: setup
	Benchmarks/cache/run.sh

## Simulates policies of eviction for lists that are fetched every night, and for a service, and draws the plot of the
## documentation.
bench-eviction:
	python3 -B Benchmarks/eviction/simulate.py Documentation/eviction.svg

## Compares the startup time of the command with that of curl.
bench-start: PACKAGES += curl
bench-start: release
	python3 Benchmarks/start.py $(DIST)/thumbs

## Compares the worker with `thumbs fetch`, on photos and on rows from a fresh cache.
bench-worker: PACKAGES += $(CORPUS)
bench-worker: release
	[ -d $(PHOTOS) ] || /usr/bin/python3 Benchmarks/pixels/corpus.py $(dir $(PHOTOS)) 600 2000
	python3 -B Benchmarks/worker.py $(DIST)/thumbs $(PHOTOS)

## Measures how many changed copies of photos the perceptual hash recognizes, next to the Python package ImageHash, and
## the time and memory for the duplicates of a million rows.
bench-duplicates: PACKAGES += python3-venv python3-pip
bench-duplicates: release
	Benchmarks/duplicates/run.sh $(CURDIR)/$(DIST)/thumbs

## Kills every kind of process of a Spark cluster that fetches a million rows; then compares fetching photos on two
## Spark workers with the command alone and with img2dataset on the same cluster.
bench-spark: PACKAGES += python3-venv openjdk-17-jre-headless $(CORPUS)
bench-spark: THUMBS_BINARY = $(CURDIR)/$(DIST)/thumbs
bench-spark: release
	Python/tests/environment.sh $(PYTHON)
	cd Python && THUMBS_CLUSTER_ROWS=1000000 $(PYTEST) -p no:cacheprovider -s tests/test_spark_kills.py
	Benchmarks/spark/run.sh $(CURDIR)/$(DIST)/thumbs $(CURDIR)/$(PYTHON)
