# marsreport.mk - marsreport and marsmovie: a result folder as a page, and as a film. Part of the Makefile.

REP := tools/marsreport
REP_FILM := $(REP)/marsmovie.c $(REP)/film.c $(REP)/film_out.c
REP_SHARED := $(filter-out $(REP_FILM) $(REP)/marsreport.c $(REP)/page.c,$(wildcard $(REP)/*.c))
REP_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(REP_SHARED) $(REP)/marsreport.c $(REP)/page.c) $(BUILD)/$(REP)/embed.o
FILM_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(REP_SHARED) $(REP_FILM))
CAIRO_CFLAGS := $(if $(CAIRO),$(shell pkg-config --cflags cairo))
CAIRO_LIBS := $(if $(CAIRO),$(shell pkg-config --libs cairo))

marsmovie: $(BUILD)/marsmovie FORCE
	$(Q)cmp -s $< $@ || cp -f $< $@

$(REP_FILM:%.c=$(BUILD)/%.o): ALL_CFLAGS += $(CAIRO_CFLAGS)
$(BUILD)/marsmovie: $(FILM_OBJECTS) $(LIBRARY) $(EXTRA)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(CAIRO_LIBS) $(LIBS)

marsreport: $(BUILD)/marsreport FORCE
	$(Q)cmp -s $< $@ || cp -f $< $@

$(BUILD)/marsreport: $(REP_OBJECTS) $(LIBRARY) $(EXTRA)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIBS)

# The fuzzer links all but main().
build/fuzz/fuzz_report: build/fuzz/tests/fuzz/fuzz_report.o $(REP_SHARED:%.c=build/fuzz/%.o) build/fuzz/$(REP)/page.o build/fuzz/$(REP)/embed.o $(LIBRARY)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

# The page's files lie inside the program.
$(BUILD)/$(REP)/embed.o: $(REP)/embed.S $(wildcard $(REP)/page/* $(REP)/third-party/*/*)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -c -o $@ $<

-include $(REP_OBJECTS:.o=.d) $(FILM_OBJECTS:.o=.d)
