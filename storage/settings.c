/* settings.c - what servers and clients read, and the words in which they speak to each other. */
#include "storage/private.h"

/* ---- what both read ---- */

static enum ker_status layout_read(struct store_settings *s, struct ker_error *error)
{
    const struct ker_config *config = s->setup->config;
    int64_t count = ker_config_int(config, "storage.layout.stripe_count");
    if (count > s->servers->members)
        return ker_config_fail(config, error, "storage.layout.stripe_count",
                               "%lld servers for each file, but there are only %u", (long long)count,
                               s->servers->members);
    s->layout.kind = ker_config_operations(config, "storage.layout.kind");
    s->layout.stripe_size = ker_config_bytes(config, "storage.layout.stripe_size");
    s->layout.servers = s->servers->members;
    s->layout.stripe_count = count ? (uint32_t)count : s->servers->members;
    return KER_OK;
}

static enum ker_status adapter_read(struct store_settings *s, struct ker_error *error)
{
    static const char key[] = "storage.adapter";
    const struct ker_config *config = s->setup->config;
    s->core = NODE_ANY_CORE;
    if (!ker_config_has(config, key))
        return KER_OK;
    int64_t adapter = ker_config_int(config, key), least = ker_config_int(config, "node.adapters");
    for (int i = 0; i < ker_config_count(config, "nodes"); i++) {
        const char *of = KER_KEY("nodes[%d].adapters", i);
        int64_t some = ker_config_has(config, of) ? ker_config_int(config, of) : least;
        least = some < least ? some : least;
    }
    s->core = NODE_BY_ADAPTER((uint32_t)adapter, 0);
    return adapter < least ? KER_OK
                           : ker_config_fail(config, error, key,
                                             "adapter %lld, but there are nodes with %lld: they count from 0",
                                             (long long)adapter, (long long)least);
}

static enum ker_status cache_read(struct store_settings *s, struct ker_error *error)
{
    const struct ker_config *config = s->setup->config;
    s->policy = ker_config_operations(config, "storage.servers.cache_policy");
    s->cache = s->policy->caches ? ker_config_bytes(config, "storage.servers.cache_bytes") : 0;
    s->granularity = ker_config_bytes(config, "storage.servers.granularity");
    if (s->policy->caches && s->cache < s->chunk)
        return ker_config_fail(config, error, "storage.servers.cache_bytes",
                               "holds less than a chunk (storage.chunk), which would never find room");
    return KER_OK;
}

enum ker_status store_settings_read(void *settings, const struct node_service_setup *setup,
                                    struct ker_error *error)
{
    struct store_settings *s = settings;
    const struct ker_config *config = setup->config;
    s->setup = setup;
    s->chunk = ker_config_bytes(config, "storage.chunk");
    s->window = (uint32_t)ker_config_int(config, "storage.window");
    s->threads = (uint32_t)ker_config_int(config, "storage.servers.threads");
    s->request_time = ker_config_time(config, "storage.servers.request_time");
    s->logs = ker_config_bool(config, "output.requests");
    s->open_time = ker_config_time(config, "storage.open_time");
    if (!ker_config_has(config, "storage.device.rate"))
        return ker_config_fail(config, error, "storage.device.rate",
                               "is missing: how many bytes a second a server's device moves, as in "
                               "\"200 MB/s\"");
    enum ker_status status =
        node_service_named(&s->servers, setup->all, config, "storage.servers", "storage", error);
    status = status ?: layout_read(s, error);
    status = status ?: cache_read(s, error);
    status = status ?: adapter_read(s, error);
    s->device.kind = ker_config_operations(config, "storage.device.kind");
    s->device.rate = ker_config_rate(config, "storage.device.rate");
    s->device.kind->read(&s->device, config);
    return status;
}

/* ---- words: those of the call, whose number is 7 bits of pieces, 21 of the chunk ---- */

void store_message_words(const struct store_message *m, uint64_t words[STORE_WORDS])
{
    struct store_call call = m->call;
    ker_assert(m->chunk < STORE_CHUNKS);
    call.run.count |= m->chunk << 7;
    store_call_words(&call, words);
}

struct store_message store_message_of(const uint64_t words[STORE_WORDS])
{
    struct store_message m = {store_call_of(words), 0};
    m.chunk = m.call.run.count >> 7;
    m.call.run.count &= 127;
    return m;
}
