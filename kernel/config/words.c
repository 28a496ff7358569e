/* words.c - what other programs and papers call things that have another name here: hints for messages,
 * and how like each other two words are; nothing else.
 *
 * The names of keys and values are here as text only; what they mean is known where their options are.
 */
#include "kernel/config/value.h"

#include <string.h>
#include <strings.h>

#define MAX_WORD 64

/* Instead of a value of this key. */
static const struct {
    const char *key, *value, *hint;
} values[] = {
    {"topology.kind", "mesh", "a mesh is a \"torus\" with topology.wrap = false"},
    {"topology.kind", "hypercube",
     "a hypercube is a \"torus\" of extents [2, 2, ...] with topology.wrap = false"},
    {"topology.kind", "clos", "a folded Clos network is a \"fat_tree\""},
    {"topology.kind", "xgft", "an XGFT is a \"fat_tree\" with topology.down and topology.up"},
    {"topology.kind", "infiniband", "a cluster as ibnetdiscover sees it is a \"fabric\""},
    {"topology.kind", "crossbar", "one switch with all nodes is a \"star\""},
    {"routing.algorithm", "dor", "dimension-order routing is \"minimal\" on a torus"},
    {"routing.algorithm", "xy", "dimension-order routing is \"minimal\" on a torus"},
    {"routing.algorithm", "dimension_order", "dimension-order routing is \"minimal\" on a torus"},
    {"routing.algorithm", "direct", "the direct path of a hierarchical network is \"minimal\""},
    {"routing.algorithm", "ecmp", "equal-cost paths are \"shortest\" with routing.selection = \"flow\""},
    {"routing.algorithm", "duato", "all shortest paths with an escape channel are \"adaptive\""},
    {"routing.algorithm", "sssp", "one shortest path each, weighted, is \"layered\""},
    {"routing.algorithm", "dfsssp", "one shortest path each, in layers free of deadlock, is \"layered\""},
    {"routing.algorithm", "ftree", "what OpenSM calls ftree is like \"d_mod_k\""},
    {"traffic.pattern", "random", "random destinations are \"uniform\""},
    {"traffic.pattern", "alltoall", "did you mean \"all_to_all\"?"},
    {"traffic.pattern", "bitcomp", "did you mean \"bit_complement\"?"},
    {"traffic.pattern", "bitrev", "did you mean \"bit_reverse\"?"},
    {"jobs[].program", "allprof", "the replay of a trace is \"trace\""},
    {"jobs[].program", "halo", "a halo exchange is \"stencil\""},
    {"jobs[].placement", "linear", "node after node is \"sequential\""},
    {"jobs[].placement", "block", "node after node is \"sequential\""},
};

/* Instead of a key; the last word alone is looked for as well. */
static const struct {
    const char *key, *hint;
} keys[] = {
    {"output.dir", "the folder of the results is given by -o DIR"},
    {"output.folder", "the folder of the results is given by -o DIR"},
    {"output.directory", "the folder of the results is given by -o DIR"},
    {"output_dir", "the folder of the results is given by -o DIR"},
    {"threads", "the number of processes is given by mpirun -n N"},
    {"ranks", "the number of processes is given by mpirun -n N"},
    {"processes", "the number of processes is given by mpirun -n N"},
    {"duration", "simulated time ends at run.end, or is measured for run.measure"},
    {"cycles", "simulated time ends at run.end, or is measured for run.measure"},
    {"sim_time", "simulated time ends at run.end, or is measured for run.measure"},
    {"topology.type", "did you mean topology.kind?"},
    {"topology.size", "each kind of topology has keys of its own: --help-config topology"},
    {"topology.dimensions", "did you mean topology.extents?"},
    {"topology.k", "did you mean topology.extents?"},
    {"num_vcs", "did you mean switch.channels?"},
    {"vcs", "did you mean switch.channels?"},
    {"virtual_channels", "did you mean switch.channels?"},
    {"vc_buf_size", "did you mean switch.buffer?"},
    {"mtu", "did you mean adapter.packet_size?"},
    {"injection_rate", "did you mean traffic.load?"},
    {"message_size", "did you mean traffic.size?"},
    {"eager_threshold", "did you mean mpi.eager_limit?"},
};

const char *ker_config_value_hint(const char *key, const char *value)
{
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i].key, key) == 0 && strcasecmp(values[i].value, value) == 0)
            return values[i].hint;
    return NULL;
}

const char *ker_config_key_hint(const char *key)
{
    const char *point = strrchr(key, '.'), *last = point ? point + 1 : key;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i].key, key) == 0 || strcmp(keys[i].key, last) == 0)
            return keys[i].hint;
    return NULL;
}

/* One row of the table of distances at a time. */
int ker_config_distance(const char *a, const char *b)
{
    int row[MAX_WORD + 1];
    int length_a = (int)strnlen(a, MAX_WORD), length_b = (int)strnlen(b, MAX_WORD);
    for (int j = 0; j <= length_b; j++)
        row[j] = j;
    for (int i = 1; i <= length_a; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= length_b; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            int insert = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < insert ? change : insert;
        }
    }
    return row[length_b];
}
