# marssweep.mk - marssweep: many runs of one configuration, their table, figure and page. Part of the Makefile; wants SQLite.

SWEEP := tools/marssweep
SWEEP_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(SWEEP)/*.c)) $(patsubst %.c,$(BUILD)/%.o,$(REP_SHARED) $(REP)/page.c) $(BUILD)/$(REP)/embed.o
SQLITE_LIBS := $(if $(SQLITE),$(shell pkg-config --libs sqlite3))

marssweep: $(BUILD)/marssweep FORCE
	$(Q)cmp -s $< $@ || cp -f $< $@

$(SWEEP_OBJECTS): private ALL_CFLAGS += $(if $(SQLITE),$(shell pkg-config --cflags sqlite3))
$(BUILD)/marssweep: $(SWEEP_OBJECTS) $(LIBRARY) $(EXTRA)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) $(PROGRAM_LINK) -o $@ $^ $(SQLITE_LIBS) $(LIBS)

# The fuzzer links all but main().
build/fuzz/fuzz_sweep: build/fuzz/tests/fuzz/fuzz_sweep.o $(filter-out %/marssweep.o,$(SWEEP_OBJECTS:$(BUILD)/%=build/fuzz/%)) $(LIBRARY)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $^ $(SQLITE_LIBS) $(LIBS)

-include $(SWEEP_OBJECTS:.o=.d)
