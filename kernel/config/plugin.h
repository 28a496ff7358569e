/* plugin.h - kinds from outside the program: shared libraries that the key `plugins` names.
 *
 * A library exports `marssim_plugin`, a struct ker_plugin: the kinds that it brings (kind.h), and what it was
 * built with. It is loaded when the configuration has been read and before it is checked, so that its kinds
 * and keys are as good as any. Refused are a library of another ABI number, or with a structure of another
 * size; names that are taken; purposes of random streams that collide. The library's digest is one of the
 * inputs that ranks compare (input.h): all run the same code. It stays loaded until the process ends.
 *
 * What a plugin may use is what <marssim/plugin.h> includes; CONTRIBUTING.md has an example.
 */
#pragma once

#include "kernel/config/kind.h"

/* Changes whenever what a plugin may use means something else while its structures keep their sizes. */
#define KER_PLUGIN_ABI 1

/* The size of a structure on both sides; name NULL at the end. */
struct ker_size {
    const char *name;
    size_t bytes;
};

struct ker_plugin {
    uint32_t abi, bytes; /* KER_PLUGIN_ABI; sizeof(struct ker_plugin) */
    const struct ker_size *sizes;
    const struct ker_bring *brings; /* key NULL at the end */
    const char *const *purposes;    /* names for ker_purpose, NULL at the end; NULL: none */
};

/* Loads a library and adds its kinds; sizes are the program's. path: as the program opens it. */
enum ker_status ker_plugin_load(struct ker_registry *, struct ker_inputs *, const struct ker_size *sizes,
                                const char *path, struct ker_error *);

/* All libraries that the key `plugins` of this configuration names; the rest of it is not looked at. */
enum ker_status ker_plugins_load(struct ker_registry *, const struct ker_size *sizes, const char *file,
                                 struct ker_error *);
