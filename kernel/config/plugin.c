/* plugin.c - loading a library of kinds.
 *
 * The file is read once for its digest, then given to the dynamic linker. Nothing of it is looked at before
 * the ABI number and the size of struct ker_plugin agree, and no kind before the sizes of all structures do.
 */
#include "kernel/config/config.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOL "marssim_plugin"

static enum ker_status sizes_check(const struct ker_plugin *plugin, const struct ker_size *own,
                                   const char *path, struct ker_error *error)
{
    for (const struct ker_size *size = plugin->sizes; size && size->name; size++) {
        const struct ker_size *mine = own;
        while (mine->name && strcmp(mine->name, size->name) != 0)
            mine++;
        if (!mine->name)
            return ker_fail(error, KER_BAD_INPUT,
                            "%s: was built with a %s, which this marssim does not know: rebuild it", path,
                            size->name);
        if (mine->bytes != size->bytes)
            return ker_fail(
                error, KER_BAD_INPUT,
                "%s: was built with a %s of %zu bytes, here it has %zu: rebuild it with the headers "
                "of this marssim",
                path, size->name, size->bytes, mine->bytes);
    }
    return KER_OK;
}

static enum ker_status plugin_check(const struct ker_plugin *plugin, const struct ker_size *own,
                                    const char *path, struct ker_error *error)
{
    if (!plugin)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: is a library, but no plugin of marssim: it does not export " SYMBOL, path);
    if (plugin->abi != KER_PLUGIN_ABI || plugin->bytes != sizeof *plugin)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: was built for ABI %u of marssim's plugins, this is %u: rebuild it", path,
                        plugin->abi, KER_PLUGIN_ABI);
    return sizes_check(plugin, own, path, error);
}

enum ker_status ker_plugin_load(struct ker_registry *registry, struct ker_inputs *inputs,
                                const struct ker_size *sizes, const char *path, struct ker_error *error)
{
    size_t length;
    char *bytes;
    enum ker_status status = ker_input_read(inputs, path, &bytes, &length, error);
    if (status)
        return status;
    free(bytes);
    char *file = strchr(path, '/') ? ker_format("%s", path) : ker_format("./%s", path);
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    free(file);
    if (!library)
        return ker_fail(error, KER_BAD_INPUT, "%s: cannot be loaded: %s", path, dlerror());
    const struct ker_plugin *plugin = dlsym(library, SYMBOL);
    status = plugin_check(plugin, sizes, path, error);
    status = status ?: ker_registry_purposes(registry, path, plugin->purposes, error);
    return status ?: ker_registry_add(registry, path, plugin->brings, error);
}
