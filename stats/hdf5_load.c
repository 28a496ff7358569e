/* hdf5_load.c - see hdf5_load.h. */
#define STATS_HDF5_LOADS
#include "stats/hdf5_load.h"

#ifdef STATS_HDF5_FILE

#include <dlfcn.h>

struct stats_hdf5_library stats_hdf5_library;

struct symbol {
    const char *name;
    void *pointer; /* where its address belongs */
};

enum ker_status stats_hdf5_load(struct ker_error *error)
{
    static const struct symbol symbols[] = {
#define SYMBOL(name) {#name, &stats_hdf5_library.to_##name},
        STATS_HDF5_FUNCTIONS(SYMBOL) STATS_HDF5_NUMBERS(SYMBOL)
#undef SYMBOL
    };
    static bool loaded;
    if (loaded)
        return KER_OK;
    void *library = dlopen(STATS_HDF5_FILE, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return ker_fail(error, KER_RUN_FAILED, "results.h5 needs the library HDF5: %s", dlerror());
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *found = dlsym(library, symbols[i].name);
        if (!found)
            return ker_fail(error, KER_RUN_FAILED, "results.h5: %s has no %s", STATS_HDF5_FILE,
                            symbols[i].name);
        memcpy(symbols[i].pointer, &found, sizeof found);
    }
    /* else it visits its files once more at exit, and crashes over one that a full disk has cut */
    stats_hdf5_library.to_H5dont_atexit();
    loaded = true;
    return KER_OK;
}

#else

enum ker_status stats_hdf5_load(struct ker_error *error)
{
    return ker_fail(error, KER_BAD_INPUT,
                    "results.h5 (output.hdf5): this marssim was built without HDF5: install "
                    "libhdf5-openmpi-dev (Debian) and rebuild it");
}

#endif
