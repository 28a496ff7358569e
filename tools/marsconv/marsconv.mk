# marsconv.mk - marsconv: converts, cuts, sums up and checks traces. Part of the Makefile.

CNV := tools/marsconv
CNV_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(CNV)/*.c))

marsconv: $(BUILD)/marsconv FORCE
	$(Q)cmp -s $< $@ || cp -f $< $@

$(BUILD)/marsconv: $(CNV_OBJECTS) $(LIBRARY) $(EXTRA)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIBS)

-include $(CNV_OBJECTS:.o=.d)
