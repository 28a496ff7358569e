# tracer.mk - marstrace and the libraries that it loads into programs: one for each MPI library there is. Part of the Makefile.
#
# Wrappers are made of traces/functions.def and the installed mpi.h by generate.awk. Libraries show their wrappers only, and are built
# without what a build of the simulator may bring with it (sanitizers, this machine's processor): programs are not ours.

TRC := tools/tracer
TRC_BUILD := $(BUILD)/tracer
TRC_CODEC := block encode writer ranks map
TRC_LIBRARY := record left threads sides constants completion before tests light requests handles hints map typemap wall clock start functions fortran fortran_dynamic profile spawn connect region region_parse posix counters
TRC_PROGRAM := marstrace list merge region_parse
TRC_CFLAGS := -std=gnu17 -O2 -g -fPIC -fvisibility=hidden $(WARN) -Wno-deprecated-declarations -I.
MPICH_SHOW := $(if $(shell command -v mpicc.mpich 2>/dev/null),$(shell mpicc.mpich -show 2>/dev/null))
TRC_CFLAGS_ompi := $(MPI_CFLAGS)
TRC_LIBS_ompi := $(MPI_LIBS)
TRC_CFLAGS_mpich := $(filter -I%,$(MPICH_SHOW))
TRC_LIBS_mpich := $(filter -L% -l%,$(MPICH_SHOW))
TRC_LIBRARIES := $(BUILD)/libmarstrace.so $(BUILD)/libmarstrace-io.so $(if $(MPICH_SHOW),$(BUILD)/libmarstrace-mpich.so)

marstrace: $(BUILD)/marstrace $(TRC_LIBRARIES) FORCE
	$(Q)for f in $(filter-out FORCE,$^); do cmp -s $$f $$(basename $$f) || cp -f $$f $$(basename $$f); done

$(BUILD)/marstrace: $(TRC_PROGRAM:%=$(BUILD)/$(TRC)/%.o) $(LIBRARY) $(EXTRA)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(PKG_LIBS) -lpthread

$(TRC_BUILD)/flags: FORCE | $(BUILD)/flags
	@mkdir -p $(@D)
	@echo '$(CC) $(TRC_CFLAGS) $(MPI_CFLAGS) $(MPICH_SHOW)' | cmp -s - $@ || echo '$(CC) $(TRC_CFLAGS) $(MPI_CFLAGS) $(MPICH_SHOW)' >$@

$(TRC_BUILD)/codec/%.o: traces/mars/%.c $(TRC_BUILD)/flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC $<")
	$(Q)$(CC) $(TRC_CFLAGS) -MMD -MP -c -o $@ $<

# For a library $(1), ompi or mpich, in file $(2).
define TRC_RULES
$(TRC_BUILD)/$(1)/mpi.i: $(TRC_BUILD)/flags
	@mkdir -p $$(@D)
	$(Q)echo '#include <mpi.h>' | $(CC) -E -P $(TRC_CFLAGS_$(1)) -x c - -o $$@

$(TRC_BUILD)/$(1)/list.h $(TRC_BUILD)/$(1)/table.inc $(TRC_BUILD)/$(1)/wrap.c $(TRC_BUILD)/$(1)/wrap_fortran.c: \
		$(TRC)/generate.awk traces/functions.def $(TRC_BUILD)/$(1)/mpi.i
	$(Q)awk -v what=$$(notdir $$@) -f $$^ >$$@

$(TRC_BUILD)/$(1)/%.o: $(TRC)/%.c $(TRC_BUILD)/flags $(TRC_BUILD)/$(1)/list.h $(TRC_BUILD)/$(1)/table.inc
	$(if $(V),,@echo "  CC $$< ($(1))")
	$(Q)$(CC) $(TRC_CFLAGS) -I$(TRC) -I$(TRC_BUILD)/$(1) $(TRC_CFLAGS_$(1)) -MMD -MP -c -o $$@ $$<

$(TRC_BUILD)/$(1)/wrap.o $(TRC_BUILD)/$(1)/wrap_fortran.o: %.o: %.c $(TRC_BUILD)/$(1)/list.h
	$(if $(V),,@echo "  CC $$<")
	$(Q)$(CC) $(TRC_CFLAGS) -Wno-missing-prototypes -I$(TRC) -I$(TRC_BUILD)/$(1) $(TRC_CFLAGS_$(1)) -MMD -MP -c -o $$@ $$<

$(BUILD)/$(2): $(TRC_LIBRARY:%=$(TRC_BUILD)/$(1)/%.o) $(TRC_BUILD)/$(1)/wrap.o $(TRC_BUILD)/$(1)/wrap_fortran.o \
		$(TRC_CODEC:%=$(TRC_BUILD)/codec/%.o)
	$(if $(V),,@echo "  LD $$@")
	$(Q)$(CC) $(TRC_CFLAGS) -shared -Wl,--exclude-libs,ALL -Wl,-soname,$(2) -o $$@ $$^ $(TRC_LIBS_$(1)) -lzstd -ldl
endef
$(eval $(call TRC_RULES,ompi,libmarstrace.so))
$(eval $(call TRC_RULES,mpich,libmarstrace-mpich.so))

$(BUILD)/libmarstrace-io.so: $(TRC_BUILD)/ompi/io.o
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(TRC_CFLAGS) -shared -Wl,-soname,$(notdir $@) -o $@ $^ -ldl

.PRECIOUS: $(TRC_BUILD)/%.o $(TRC_BUILD)/%.c $(TRC_BUILD)/%.h $(TRC_BUILD)/%.inc $(TRC_BUILD)/%.i
-include $(wildcard $(TRC_BUILD)/*/*.d) $(TRC_PROGRAM:%=$(BUILD)/$(TRC)/%.d)
