# marsreport.mk - marsreport: a result folder as a page. Part of the Makefile.

REP := tools/marsreport
REP_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(REP)/*.c)) $(BUILD)/$(REP)/embed.o

marsreport: $(BUILD)/marsreport FORCE
	$(Q)cmp -s $< $@ || cp -f $< $@

$(BUILD)/marsreport: $(REP_OBJECTS) $(LIBRARY) $(EXTRA)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIBS)

# The page's files lie inside the program.
$(BUILD)/$(REP)/embed.o: $(REP)/embed.S $(wildcard $(REP)/page/* $(REP)/third-party/*/*)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -c -o $@ $<

-include $(REP_OBJECTS:.o=.d)
