# marssim: see README.md. `make demo` and `make check` do everything on a fresh Debian machine.
CC := gcc
BUILD ?= build/release
OPTIMISE ?= -O3 -march=native -fno-plt
CFLAGS ?= $(OPTIMISE) -g
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
MPI_CFLAGS := $(shell mpicc --showme:compile 2>/dev/null)
MPI_LIBS := $(shell mpicc --showme:link 2>/dev/null)
PKG := libconfig jansson gsl hwloc libzstd
ALL_CFLAGS = -std=gnu17 -ffp-contract=off $(WARN) -I. $(CFLAGS) $(MPI_CFLAGS) $(shell pkg-config --cflags $(PKG))
LIBS = $(MPI_LIBS) $(shell pkg-config --libs $(PKG)) -lmetis -lm
Q := $(if $(V),,@)

FOLDERS := kernel stats routing partition net nodes tasks
SOURCES := $(wildcard $(addsuffix /*.c,$(FOLDERS)))
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_*.c))

all: marssim
marssim: $(BUILD)/marssim
	$(Q)cp $< $@
$(BUILD)/marssim: $(BUILD)/marssim.o $(OBJECTS)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIBS)
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC $<")
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(OBJECTS)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIBS) -lcmocka
clean:
	rm -rf build marssim
.PHONY: all clean
.PRECIOUS: $(BUILD)/%.o
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
