# marsconv.mk - marsconv: converts, cuts, sums up and checks traces. Part of the Makefile.

CNV := tools/marsconv
CNV_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(CNV)/*.c))

marsconv: $(BUILD)/marsconv FORCE
	$(Q)cmp -s $< $@ || cp -f $< $@

$(BUILD)/marsconv: $(CNV_OBJECTS) $(LIBRARY) $(EXTRA)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIBS)

# The fuzzer links all but main().
build/fuzz/fuzz_marsconv: build/fuzz/tests/fuzz/fuzz_marsconv.o \
		$(patsubst %.c,build/fuzz/%.o,$(filter-out %/marsconv.c,$(wildcard $(CNV)/*.c))) $(LIBRARY)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

-include $(CNV_OBJECTS:.o=.d)
