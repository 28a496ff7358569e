# marsnoise.mk - marsnoise: records the detours of this machine's cores. Part of the Makefile.

NOISE_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/marsnoise/*.c))

marsnoise: $(BUILD)/marsnoise FORCE
	$(Q)cmp -s $< $@ || cp -f $< $@

$(BUILD)/marsnoise: $(NOISE_OBJECTS) $(LIBRARY) $(EXTRA)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIBS)

-include $(NOISE_OBJECTS:.o=.d)
