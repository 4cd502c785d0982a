# The front door. CMake does the work; CMakePresets.json holds the ways to do it.

PREFIX ?= /usr/local
WORDS ?= /usr/share/dict/american-english
JOBS ?= $(shell nproc)
PORT ?= 8000

MAKEFLAGS += --no-print-directory

configure = cmake --preset $(1) --log-level=NOTICE
build = $(call configure,$(1)) && cmake --build --preset $(1) -j$(JOBS)
commit = $(shell git describe --always --dirty 2>/dev/null || echo unknown)
# Some tests wait for the disk or for the time to pass: one more than processors.
check = $(call build,$(1)) && ctest --preset $(1) -j$(shell expr $(JOBS) + 1)

.PHONY: all deps demo demo-kinds check test check-long bench redis web web-serve web-bench deb install uninstall clean help

all:
	@tools/bootstrap --look build
	$(call build,release)

deps:
	@tools/bootstrap build

demo:
	@tools/bootstrap demo
	@JOBS=$(JOBS) demo/build tamis-cli
	@demo/words build $(WORDS)

demo-kinds:
	@tools/bootstrap demo
	@JOBS=$(JOBS) demo/build tamis-cli tamis-demo-kinds
	@build/tamis-demo-kinds $(WORDS) demo/text.txt build/demo

check:
	@tools/bootstrap check
	@JOBS=$(JOBS) tools/check

# make test T=model.model [K=bloom]: what the folder of the test needs is built, or all.
test:
	@tools/bootstrap check
	$(call configure,check)
	cmake --build --preset check -j$(JOBS) --target \
	    $$(cmake --build --preset check --target help | grep -owm1 'tests-$(firstword $(subst ., ,$(T)))' || echo all)
	$(if $(K),KIND=$(K)) ctest --preset check --verbose -R '^$(subst .,\.,$(T))$$'

check-long:
	@tools/bootstrap check
	@tools/bootstrap bench
	$(call check,long)
	$(call check,asan-all)
	$(call check,tsan-all)
	@tools/bootstrap m32
	$(call check,m32)
	@tools/bootstrap fuzz
	tools/mutants
	JOBS=$(JOBS) tools/without_app
	tools/fuzz 600
	@tools/bootstrap cross
	$(call build,release)
	tests/cross/run
	@tools/bootstrap compilers
	tests/compilers/run
	@tools/bootstrap package
	packaging/build-deb
	tests/package/run

bench:
	@tools/bootstrap bench
	$(call build,release) --target tamis-bench tamis-cli
	@mkdir -p build/bench
	cd build/bench && ../tamis-bench --commit "$(commit)" --csv speed.csv $(ARGS)
	bench/commands build/tamis --csv build/bench/commands.csv --like build/bench/speed.csv \
	    $(filter --quick,$(ARGS))
	bench/report build/bench/speed.csv build/bench/commands.csv -o build/bench
	@echo 'build/bench/performance.md is the page of this run'

redis:
	@tools/bootstrap --look build
	$(call build,release) --target tamis-redis
	@echo 'redis-server --loadmodule $(CURDIR)/build/tamis-redis.so'

web:
	@tools/bootstrap web
	$(call build,release) --target tamis-web

web-serve: web
	@echo 'http://127.0.0.1:$(PORT)/ until Ctrl-C; PORT=... for another port'
	@python3 -m http.server --bind 127.0.0.1 --directory build/web $(PORT)

# Peers come from npm, and stay below build/.
web-bench: web
	@tools/bootstrap web-bench
	cd build/web/npm && npm install --no-audit --no-fund --no-package-lock --silent
	cd build/web/npm && node bench.js $(ARGS)

deb:
	@tools/bootstrap deb
	packaging/build-deb

install:
	@tools/bootstrap --look build
	$(call configure,release) -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	cmake --build --preset release -j$(JOBS)
	DESTDIR=$(DESTDIR) cmake --install build --strip
	@test -n "$(DESTDIR)" || ldconfig 2>/dev/null || true

uninstall:
	@tools/bootstrap --look build
	$(call configure,release) -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	cmake --build --preset release -j$(JOBS)
	DESTDIR=$(DESTDIR) tools/uninstall build
	@test -n "$(DESTDIR)" || ldconfig 2>/dev/null || true

clean:
	rm -rf build

help:
	@echo 'make             the library and the program: build/tamis, build/libtamis.{a,so}'
	@echo 'make deps        installs what that needs, with apt-get'
	@echo 'make demo        a list of words becomes a filter, is asked and measured, in under a minute'
	@echo 'make demo-kinds  a spelling checker with each kind of filter'
	@echo 'make check       every test, then again under sanitizers'
	@echo 'make test        one test, and one kind if it is of laws: T=model.model K=bloom, T=cli.query'
	@echo 'make check-long  the tests that take long, fuzzing, 32 bits, other processors and compilers, packages'
	@echo 'make bench       every kind beside other libraries and the memory itself, in 15 minutes;'
	@echo '                 ARGS=--quick in two, ARGS=--large with 100 million keys in 40;'
	@echo "                 ARGS='--large --resume speed.csv' goes on where that was stopped"
	@echo 'make redis       the module for Redis, build/tamis-redis.so'
	@echo 'make web         the library as WebAssembly with its page and npm package, in build/web;'
	@echo '                 make web-serve shows it at http://127.0.0.1:$(PORT)/'
	@echo 'make web-bench   the package beside other filters of npm, which it installs in build/web'
	@echo 'make deb         Debian packages, in build/deb'
	@echo 'make install     to PREFIX=$(PREFIX), below DESTDIR if that is given'
	@echo 'make uninstall   removes that again, with the same PREFIX and DESTDIR'
	@echo 'make clean       removes build/'
