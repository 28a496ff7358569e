# marsbench.mk - marsbench: measures the ends of a machine's messages, and fits them. Part of the Makefile.

BEN := tools/marsbench
BEN_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(BEN)/*.c))

marsbench: $(BUILD)/marsbench FORCE
	$(Q)cmp -s $< $@ || cp -f $< $@

$(BUILD)/marsbench: $(BEN_OBJECTS) $(LIBRARY) $(EXTRA)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) $(PROGRAM_LINK) -o $@ $^ $(LIBS)

# The fuzzer links all but main().
build/fuzz/fuzz_marsbench: build/fuzz/tests/fuzz/fuzz_marsbench.o \
		$(patsubst %.c,build/fuzz/%.o,$(filter-out %/marsbench.c,$(wildcard $(BEN)/*.c))) $(LIBRARY)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

-include $(BEN_OBJECTS:.o=.d)
