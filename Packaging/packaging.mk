# The targets of releases and their packages.

.PHONY: install install-files install-decoder install-pdf-decoder uninstall dist image test-packages order

## Builds the release and installs it below $(PREFIX).
install: release install-files install-decoder install-pdf-decoder

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

## Installs thumbs-decode-pdf, which has the license of poppler.
install-pdf-decoder:
	install -D -m 755 $(DIST)/thumbs-decode-pdf $(DESTDIR)$(PREFIX)/libexec/thumbs/thumbs-decode-pdf

## Removes what `make install` has installed.
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
	Packaging/dist.sh $(DIST) $(PACKED)

## Makes a container image of the release in $(PACKED).
image: PACKAGES += buildah
image: release
	mkdir -p $(PACKED)
	version=$$($(DIST)/thumbs --version); Packaging/image.sh $(DIST)/thumbs $$version $(PACKED)/thumbs-$$version-image.tar

## Tests these files and a container image: each is installed and used in a clean system, and removed.
test-packages: PACKAGES += debootstrap lintian buildah python3-venv shared-mime-info
test-packages: dist
	$(SERVERS) python3 -B Tests/Scripts/packages.py $(PACKED)

## Writes Packaging/order.txt: the functions that a usual run calls, which the linker puts next to each other. An old
## list only costs memory.
order: PACKAGES += valgrind
order: export THUMBS_STRIP = --strip-debug
order: linked
	python3 -B Packaging/order.py "$$($(STATIC) --show-bin-path)/thumbs" > .build-static/order.txt
	mv .build-static/order.txt Packaging/order.txt
