# marssim: `make help` lists what there is. `make demo` and `make check` do everything on a fresh Debian machine.

ifeq ($(origin CC),default)
CC := gcc
endif
# The processor to build for, as gcc's -march knows it: this machine's, or any (`make ARCH=x86-64-v3`). Each has a build of its own.
ARCH ?= native
build_of = build/release$(if $(filter-out native,$(1)),-$(1))
BUILD ?= $(call build_of,$(ARCH))
# What is installed is to run on other machines, too, unless ARCH says for which. generic: whatever the compiler takes by itself.
INSTALL_ARCH := $(if $(filter file default,$(origin ARCH)),$(if $(filter x86_64,$(shell uname -m)),x86-64,generic),$(ARCH))
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
# Packing two addresses into a vector to multiply them costs more than it saves: 3 to 10 % of packet-hops per CPU second.
OPTIMISE ?= -O3 $(if $(filter-out generic,$(ARCH)),-march=$(ARCH)) -fno-plt -fno-tree-slp-vectorize
CFLAGS ?=
WARN := -Wall -Wextra -Wno-missing-field-initializers -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter $(WERROR)
Q := $(if $(V),,@)
MAKEFLAGS += --no-print-directory
# All cores, unless -j says how many; of several goals (clean all) one after the other.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
ifneq ($(and $(word 2,$(MAKECMDGOALS)),$(filter-out mars% build/%,$(MAKECMDGOALS))),)
.NOTPARALLEL:
endif
endif

# Empty where the tools are still missing: demo and check install them first, then call make again.
MPI_CFLAGS := $(shell mpicc --showme:compile 2>/dev/null)
MPI_LIBS := $(shell mpicc --showme:link 2>/dev/null)
# OTF2, HDF5, cairo and SQLite are there or not: without them marssim refuses what they are for, and there is no marsmovie or marssweep.
there = $(firstword $(foreach module,$(1),$(shell pkg-config --exists $(module) 2>/dev/null && echo $(module))))
OTF2 := $(call there,otf2)
HDF5 := $(call there,hdf5-openmpi hdf5 hdf5-serial)
CAIRO := $(call there,cairo)
SQLITE := $(call there,sqlite3)
PKG := libconfig jansson gsl hwloc libzstd $(OTF2)
PKG_CFLAGS := $(shell pkg-config --cflags $(PKG) 2>/dev/null)
# HDF5 is loaded when it is used (stats/hdf5_load.h), by the name that the linker would note.
ifneq ($(HDF5),)
HDF5_FOLDER := $(firstword $(patsubst -L%,%,$(shell pkg-config --libs-only-L $(HDF5))))
HDF5_LIBRARY := $(if $(HDF5_FOLDER),$(HDF5_FOLDER)/libhdf5.so,$(shell $(CC) -print-file-name=libhdf5.so))
HDF5_CFLAGS := $(shell pkg-config --cflags $(HDF5)) -DSTATS_HDF5_FILE=\"$(shell objdump -p $(HDF5_LIBRARY) | awk '$$1 == "SONAME" { print $$2 }')\"
endif
PKG_LIBS := $(shell pkg-config --libs $(PKG) 2>/dev/null)
# Some forty functions of GSL: from its archive, where there is one, since its library alone is a tenth of a start of the program.
archive = $(wildcard $(shell $(CC) -print-file-name=$(1:-l%=lib%.a)))
PKG_LIBS := $(foreach library,$(PKG_LIBS),$(or $(if $(filter -lgsl%,$(library)),$(call archive,$(library))),$(library)))
# The same bits on every rank and build: no fused multiply-add.
ALL_CFLAGS = -std=gnu17 -ffp-contract=off $(WARN) -I. $(if $(OTF2),-DMARSSIM_OTF2) -g1 $(OPTIMISE) $(CFLAGS) $(MPI_CFLAGS) $(PKG_CFLAGS) $(HDF5_CFLAGS)
# What plugins may call stays visible.
PROGRAM_LINK := -rdynamic
LIBS = $(MPI_LIBS) $(PKG_LIBS) -lmetis -lm

# Lowest first; tests/source/layers.sh checks that no include runs upward.
FOLDERS := kernel stats routing partition net traces nodes storage tasks run
SOURCES := $(shell find $(FOLDERS) -name "*.c")
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
LIBRARY := $(BUILD)/libmarssim.a
TESTS_IN_C := $(wildcard tests/test_*.c tests/*/test_*.c)
TEST_OBJECTS := $(TESTS_IN_C:%.c=$(BUILD)/%.o)
# Whatever folder a test is in: build/release/tests/test_NAME.
TEST_PROGRAMS := $(patsubst %.c,$(BUILD)/tests/%,$(notdir $(TESTS_IN_C)))
FUZZERS := $(filter-out $(if $(SQLITE),,fuzz_sweep),$(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c)))

# mpirun as root and with more ranks than cores, for Open MPI 4 and 5: the demo and the tests run anywhere.
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export OMPI_MCA_rmaps_base_oversubscribe := 1
export PRTE_MCA_rmaps_default_mapping_policy := :oversubscribe

# What is built; TRC_LIBRARIES (tracer.mk) go with marstrace.
PROGRAMS := marssim marstrace marsconv marsreport $(if $(CAIRO),marsmovie) marsnoise marsbench $(if $(SQLITE),marssweep)

all: $(PROGRAMS) ## build ./marssim and the programs around it, optimised for this machine

# Of whatever BUILD is asked for, though another may be newer.
marssim: $(BUILD)/marssim FORCE
	$(Q)cmp -s $< $@ || cp -f $< $@

$(BUILD)/marssim: $(BUILD)/marssim.o $(LIBRARY) $(EXTRA)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) $(PROGRAM_LINK) -o $@ $^ $(LIBS)

# An archive, so that a test links only what it uses; q: two folders may have a file of the same name.
$(LIBRARY): $(OBJECTS)
	$(Q)rm -f $@ && ar qcs $@ $^

include tools/tracer/tracer.mk
include tools/marsconv/marsconv.mk
include tools/marsreport/marsreport.mk
include tools/marsnoise/marsnoise.mk
include tools/marsbench/marsbench.mk
include tools/marssweep/marssweep.mk

# Objects of other flags or another compiler are never mixed: this file changes when they do.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo "$$FLAGS" | cmp -s - $@ || { CC='$(CC)' CFLAGS='$(CFLAGS)' tools/install-deps.sh --name build && echo "$$FLAGS" >$@; }
$(BUILD)/flags: export FLAGS = $(CC) $(ALL_CFLAGS)

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC $<")
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# What is tested is in the library.
$(BUILD)/tests/%.o: private ALL_CFLAGS += -O1
$(foreach o,$(TEST_OBJECTS),$(eval $(BUILD)/tests/$(basename $(notdir $o)): $o))
$(BUILD)/tests/turns.so: tests/run/turns_plugin.c $(BUILD)/flags
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) -shared -fPIC -MMD -MP -o $@ $<
$(BUILD)/tests/test_equal_bits $(BUILD)/tests/test_checkpoint: $(BUILD)/tests/turns.so
$(BUILD)/tests/test_equal_bits: LIBS := $(PROGRAM_LINK) $(LIBS) # it is the program, too, with plugins
$(TEST_PROGRAMS): $(LIBRARY) $(EXTRA)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(filter %/$(@F).o,$^) $(LIBRARY) $(EXTRA) $(LIBS) -lcmocka

demo: ## install what is missing, build, run a real application's trace on two ranks, write its page
	@tools/install-deps.sh build
	$(Q)$(MAKE) marssim marsreport
	mpirun -n 2 ./marssim configs/fat-tree-lammps.cfg output.period="500 us" output.series.links=periods output.matrix=true
	@printf 'page        '; ./marsreport results/fat-tree-lammps

check: ## install what is missing, build, run all tests
	@tools/install-deps.sh build check
	$(Q)$(MAKE) counted
	$(Q)$(MAKE) check-built

check-nightly: ## the same with all systems in full, and sanitize-random
	$(Q)LONG=1 $(MAKE) check
	$(Q)$(MAKE) sanitize-random

# What check and sanitize have in common; the build is the one of BUILD and OPTIMISE.
check-built: $(PROGRAMS:%=$(BUILD)/%) $(TRC_LIBRARIES) $(TEST_PROGRAMS)
	@tests/run-tests.sh $(BUILD)

# What tests/run/instructions.sh counts, where it can: valgrind does not know every processor.
COUNTED := build/release-x86-64-v3
counted:
	$(Q)if command -v valgrind >/dev/null && $(CC) -march=x86-64-v3 -E -x c /dev/null >/dev/null 2>&1; then \
		$(MAKE) ARCH=x86-64-v3 BUILD=$(COUNTED) $(COUNTED)/marssim; fi

recount: counted ## record the instructions per packet-hop that make check compares with
	$(Q)tests/run/instructions.sh record

debug: ## build build/debug/marssim: no optimisation, all assertions
	$(Q)$(MAKE) BUILD=build/debug OPTIMISE='-O0 -g3 -DKER_DEBUG' build/debug/marssim

# It takes hours: what has passed with this build is not run again (tests/run-tests.sh), so that an interrupted run continues. REST= begins again.
REST ?= 1
SANITIZED = REST=$(REST) TEST_PATIENCE=10 ASAN_OPTIONS=fast_unwind_on_malloc=0:exitcode=99 UBSAN_OPTIONS=print_stacktrace=1:exitcode=99 \
	LSAN_OPTIONS=suppressions=$(CURDIR)/tests/lsan.supp:print_suppressions=0:exitcode=99 \
	$(MAKE) BUILD=build/sanitize EXTRA=build/sanitize/tests/keep_libraries.o OPTIMISE='-O1 -DKER_DEBUG -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=undefined'
sanitize: ## build with AddressSanitizer and UBSan, run all tests that have not passed so
	@tools/install-deps.sh build check
	+$(Q)$(SANITIZED) check-built

# Others every day; what is printed begins again at a number: RANDOM_FIRST=n.
RANDOM_FIRST ?= $(shell echo $$(($$(date +%s) / 86400 * 100)))
RANDOM_SECONDS ?= 120
sanitize-random: ## with both, marssim alone: RANDOM_SECONDS=120 of random systems that run, are killed and resumed
	@tools/install-deps.sh build check
	+$(Q)$(SANITIZED) random-built

random-built: $(BUILD)/marssim $(BUILD)/tests/test_checkpoint
	$(Q)MARSSIM=$(BUILD)/marssim CHECKPOINT_FIRST=$(RANDOM_FIRST) CHECKPOINT_SYSTEMS=100000 CHECKPOINT_SECONDS=$(RANDOM_SECONDS) $(BUILD)/tests/test_checkpoint

check-loggops: $(BUILD)/marssim ## finish times of LogGOPSim, where they are at hand
	$(Q)MARSSIM=$(BUILD)/marssim tests/tasks/loggops-golden.sh

# What has passed is not looked at again while it and what it includes stay as they are: an interrupted run continues, and findings are
# mended file by file. Other settings of the tools begin again.
lint: ## warnings as errors, clang-format, clang-tidy, cppcheck, the order of the folders: what has changed since the last run
	@tools/install-deps.sh build check lint
	$(Q)tests/source/layers.sh
	$(Q)clang-format --dry-run --Werror $(shell git ls-files '*.c' '*.h')
	$(Q)$(MAKE) -k BUILD=build/lint OPTIMISE=-O1 WERROR=-Werror lint-built

LINTED := $(SOURCES) marssim.c
lint-built: $(PROGRAMS:%=$(BUILD)/%) $(TRC_LIBRARIES) $(TEST_OBJECTS) $(LINTED:%.c=$(BUILD)/%.linted)

CPPCHECK := cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability --inline-suppr \
	--suppressions-list=tests/cppcheck.supp -I.
TIDY_FLAGS := -std=gnu17 -I. $(if $(OTF2),-DMARSSIM_OTF2) $(MPI_CFLAGS) $(PKG_CFLAGS) $(HDF5_CFLAGS)
$(BUILD)/%.linted: %.c $(BUILD)/%.o .clang-tidy tests/cppcheck.supp
	$(if $(V),,@echo "  LINT $<")
	$(Q)$(CPPCHECK) $< && clang-tidy --quiet --warnings-as-errors='*' $< -- $(TIDY_FLAGS) 2>$@.said || { cat $@.said; exit 1; }
	$(Q)mv $@.said $@

bench: marssim ## the measurements of bench/README.md
	$(Q)$(MAKE) counted
	$(Q)bench/run.sh ./marssim
	$(Q)tests/run/instructions.sh show | tee -a results/bench/table.md

# QUICK=1: a few points. What is shipped in the folder is compared with what came out; SHIP=1: that takes its place.
study-%: ## the study of folder studies/NAME: install what is missing, build, run its sweep, compare with what is shipped
	@tools/install-deps.sh build studies
	$(Q)$(MAKE) all
	$(Q)./marssweep $(if $(QUICK),--quick) -o results/studies/$*$(if $(QUICK),-quick) studies/$*/$*.cfg
	$(if $(QUICK),,$(Q)cd studies/$* && for f in *.csv figure.svg; do $(if $(SHIP),cp,diff -q) ../../results/studies/$*/$$f .; done)

study-congestion-night: all ## what study-congestion leaves out: more bytes, more bursts
	$(Q)./marssweep -o results/studies/congestion-night studies/congestion/night.cfg

studies: ## all of them, one after the other
	$(Q)for s in $(patsubst studies/%/README.md,%,$(wildcard studies/*/README.md)); do $(MAKE) study-$$s || exit 1; done

validate-machines: marssim ## foretell what was measured on real machines, all errors, the worst first; write docs/validation.md's table and figures
	@tools/install-deps.sh studies
	tools/validate-machines --docs

validate-skip: marssim ## does the interval of run.skip hold? 24 workloads in full and from 20 beginnings each; write docs/validation.md's table
	tools/validate-skip --docs

fuzz: ## every reader for FUZZ_SECONDS (60) seconds
	@tools/install-deps.sh build fuzz
	$(Q)$(MAKE) CC=clang BUILD=build/fuzz OPTIMISE='-O1 -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=undefined' fuzz-built

fuzz-built: $(FUZZERS:%=build/fuzz/%)
	$(Q)for f in $(FUZZERS); do tests/run-fuzz.sh build/fuzz/$$f $(FUZZ_SECONDS) || exit 1; done

build/fuzz/fuzz_%: build/fuzz/tests/fuzz/fuzz_%.o $(LIBRARY)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

docs: all ## write docs/configuration.md and the tables of docs/results.md anew
	tools/write-reference.sh ./marssim > docs/configuration.md
	tools/write-results.sh ./marssim > docs/results.md.new && mv docs/results.md.new docs/results.md

install: ## into PREFIX (/usr/local), under DESTDIR; for any processor of this kind, or for ARCH
	$(if $(filter $(ARCH),$(INSTALL_ARCH)),,@echo "installing a build for $(INSTALL_ARCH), which other machines run, too: \
	$(call build_of,$(INSTALL_ARCH)), compiled now if it is not there; make install ARCH=native installs the one for this machine")
	$(Q)$(MAKE) ARCH=$(INSTALL_ARCH) BUILD=$(call build_of,$(INSTALL_ARCH)) install-built
	$(Q)$(MAKE) PROGRAM=$(call build_of,$(INSTALL_ARCH))/marssim install-files

install-built: $(PROGRAMS:%=$(BUILD)/%) $(TRC_LIBRARIES)

# All that plugin/plugin.h includes, under the same names: what a plugin may use.
PLUGIN_HEADERS = $(sort $(filter %.h,$(shell $(CC) -MM -std=gnu17 -I. $(PKG_CFLAGS) $(MPI_CFLAGS) -include plugin/plugin.h -x c /dev/null)))
ROOT = $(DESTDIR)$(PREFIX)
SHARE = $(ROOT)/share/marssim
COMPLETION = $(ROOT)/share/bash-completion/completions
install-files:
	for h in $(filter-out plugin/plugin.h,$(PLUGIN_HEADERS)); do install -D -m 644 $$h $(ROOT)/include/marssim/$$h || exit 1; done
	install -m 644 plugin/plugin.h $(ROOT)/include/marssim/plugin.h
	install -d $(ROOT)/share/pkgconfig
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|'"$$($(PROGRAM) --version | cut -d' ' -f2)"'|' plugin/marssim.pc.in >$(ROOT)/share/pkgconfig/marssim.pc
	install -d $(ROOT)/bin $(ROOT)/lib $(ROOT)/share/man/man1 $(COMPLETION) $(SHARE)/docs $(SHARE)/bench $(SHARE)/python
	install -m 755 $(PROGRAMS:%=$(dir $(PROGRAM))%) $(ROOT)/bin
	install -m 644 $(wildcard $(dir $(PROGRAM))libmarstrace*.so) $(ROOT)/lib
	tools/write-man.sh $(PROGRAM) >$(ROOT)/share/man/man1/marssim.1
	for p in $(filter-out marssim,$(PROGRAMS)); do tools/write-man.sh $(PROGRAM) $$p >$(ROOT)/share/man/man1/$$p.1 && \
		tools/write-completion.sh $(PROGRAM) $$p >$(COMPLETION)/$$p || exit 1; done
	tools/write-completion.sh $(PROGRAM) >$(COMPLETION)/marssim
	install -m 644 tools/python/marsresult.py $(SHARE)/python
	rm -rf $(SHARE)/configs $(SHARE)/studies
	cp -R configs studies $(SHARE)
	install -m 644 $(wildcard docs/*.*) $(SHARE)/docs
	install -m 644 bench/README.md $(SHARE)/bench
	install -m 644 README.md LICENSE CHANGELOG.md CONTRIBUTING.md $(SHARE)

FORCE:

clean: ## remove what was built
	rm -rf build $(PROGRAMS) marsmovie marssweep libmarstrace*.so

help: ## this list
	@sed -n 's/^\([a-z%-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | sed 's/study-%/study-NAME/' | expand -t 18

.PHONY: FORCE install-built install-files all docs demo studies check check-nightly check-built check-loggops counted recount debug sanitize sanitize-random random-built lint lint-built bench fuzz fuzz-built install clean help
.PRECIOUS: $(BUILD)/%.o
.DELETE_ON_ERROR:
-include $(OBJECTS:.o=.d) $(BUILD)/marssim.d $(TEST_OBJECTS:.o=.d) $(BUILD)/tests/turns.d $(FUZZERS:%=$(BUILD)/tests/fuzz/%.d)
