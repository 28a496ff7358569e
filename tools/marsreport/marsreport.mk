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

$(REP_FILM:%.c=$(BUILD)/%.o): private ALL_CFLAGS += $(CAIRO_CFLAGS)
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

# The page lies inside the program: page.html with styles, scripts and licences in place of their marks. A file in panels/ is a panel, and
# is where its name sorts.
REP_STYLE := $(REP)/third-party/uplot/uPlot.min.css $(REP)/page/style.css
REP_SCRIPT := $(REP)/third-party/uplot/uPlot.iife.min.js $(REP)/page/base.js $(sort $(wildcard $(REP)/page/shared/*.js)) \
	$(sort $(wildcard $(REP)/page/panels/*.js)) $(REP)/page/main.js
REP_LICENCE := $(REP)/third-party/uplot/LICENSE
REP_PAGE := $(BUILD)/$(REP)/page.html
in_place_of = -e '/^@$(1)@$$/{' $(foreach file,$(2),-e 'r $(file)') -e 'd' -e '}'
# Also after a panel was taken away: the folder is then newer.
$(REP_PAGE): $(REP)/page/page.html $(REP_STYLE) $(REP_SCRIPT) $(REP_LICENCE) $(REP)/page/panels $(REP)/marsreport.mk
	@mkdir -p $(@D)
	$(Q)sed $(call in_place_of,style,$(REP_STYLE)) $(call in_place_of,script,$(REP_SCRIPT)) $(call in_place_of,licence,$(REP_LICENCE)) $< >$@

$(BUILD)/$(REP)/embed.o: $(REP)/embed.S $(REP_PAGE)
	$(Q)$(CC) -DPAGE='"$(REP_PAGE)"' -c -o $@ $<

-include $(REP_OBJECTS:.o=.d) $(FILM_OBJECTS:.o=.d)
