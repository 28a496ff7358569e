/* hosts.c - which nodes the hosts of a job are.
 *
 * Names are read from node.hosts, or taken from the network's own file, into an array that is sorted by name;
 * each host of the job is looked up there. Invariant: no name is twice in it, and every node is below the
 * number of nodes.
 */
#include "tasks/jobs/hosts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_MOST 20000000u

struct name {
    char *text;
    uint32_t node;
};

struct names {
    struct name *name;
    uint32_t count, room;
    uint32_t next, nodes; /* of the next name of a line; of the system */
};

struct chosen {
    const struct names *names;
    uint32_t *node, count, room;
    bool *taken; /* by node */
    char unknown[256];
};

static void names_release(struct names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        free(names->name[i].text);
    free(names->name);
}

static bool names_add(void *context, const char *text)
{
    struct names *names = context;
    if (names->next >= names->nodes)
        return false;
    *KER_PUSH(names->name, names->count, names->room) = (struct name){ker_format("%s", text), names->next++};
    return true;
}

static int name_compare(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

/* A line: hosts, and the node that the first of them is; the others are those behind it. */
static enum ker_status names_line(struct names *names, struct ker_lines *in)
{
    const char *text;
    size_t length;
    struct task_hosts_list list = {names_add, names, NAMES_MOST, ""};
    ker_take_text(in, &text, &length);
    if (!ker_take_u32(in, &names->next) || in->p < in->stop)
        return ker_lines_fail(in,
                              "a line is: HOSTS NODE, as in \"n[001-004] 0\", which are the nodes 0 to 3");
    if (task_hosts_each(&list, text, length))
        return KER_OK;
    if (list.why[0])
        return ker_lines_fail(in, "%s", list.why);
    return ker_lines_fail(in, "names the node %u; they go from 0 to %u", names->next, names->nodes - 1);
}

static enum ker_status names_file(struct names *names, const struct ker_config *config,
                                  struct ker_error *error)
{
    const char *path = ker_config_file(config, "node.hosts");
    char *text;
    struct ker_lines in;
    enum ker_status status = ker_input_lines(ker_config_inputs(config), path, &in, &text, error);
    while (!status && ker_lines_next_full(&in))
        status = names_line(names, &in);
    free(text);
    if (status)
        return status;
    qsort(names->name, names->count, sizeof *names->name, name_compare);
    for (uint32_t i = 1; i < names->count; i++)
        if (name_compare(&names->name[i - 1], &names->name[i]) == 0)
            return ker_fail(error, KER_BAD_INPUT, "%s: names %s twice", path, names->name[i].text);
    return KER_OK;
}

static enum ker_status names_read(struct names *names, const struct ker_config *config, const char *key,
                                  const struct route_topology *topology, struct ker_error *error)
{
    if (ker_config_has(config, "node.hosts"))
        return names_file(names, config, error);
    if (!topology || !route_name(topology, true, 0))
        return ker_config_fail(config, error, key,
                               "nodes have no names here: node.hosts names a file of them, with lines HOSTS "
                               "NODE");
    for (uint32_t i = 0; i < names->nodes; i++) {
        names->next = i;
        names_add(names, route_name(topology, true, i));
    }
    qsort(names->name, names->count, sizeof *names->name, name_compare);
    return KER_OK;
}

/* The names that are most like one that there is not. */
static void names_near(const struct names *names, const char *text, char *out, size_t room)
{
    enum { NEAR = 3 };
    uint32_t near[NEAR], count = 0;
    int far[NEAR];
    for (uint32_t i = 0; i < names->count; i++) {
        int distance = ker_config_distance(names->name[i].text, text);
        uint32_t k = count < NEAR ? count++ : NEAR;
        for (; k > 0 && far[k - 1] > distance; k--)
            if (k < NEAR) {
                far[k] = far[k - 1];
                near[k] = near[k - 1];
            }
        if (k < NEAR) {
            far[k] = distance;
            near[k] = i;
        }
    }
    size_t length = 0;
    for (uint32_t k = 0; k < count && length < room; k++)
        length +=
            (size_t)snprintf(out + length, room - length, "%s%s", k ? ", " : "", names->name[near[k]].text);
}

static bool chosen_add(void *context, const char *text)
{
    struct chosen *chosen = context;
    struct name wanted = {(char *)(uintptr_t)text, 0};
    const struct name *found = bsearch(&wanted, chosen->names->name, chosen->names->count,
                                       sizeof *chosen->names->name, name_compare);
    if (found && !chosen->taken[found->node]) {
        chosen->taken[found->node] = true;
        *KER_PUSH(chosen->node, chosen->count, chosen->room) = found->node;
        return true;
    }
    char near[128] = "";
    if (!found)
        names_near(chosen->names, text, near, sizeof near);
    snprintf(chosen->unknown, sizeof chosen->unknown,
             found ? "names %.60s twice, or another name of its node"
                   : "names %.60s, which there is not; nearest are %s",
             text, near);
    return false;
}

/* The text of jobs[].hosts, or of the file that it names: names in lines, or a list. */
static enum ker_status chosen_read(struct chosen *chosen, const struct ker_config *config, const char *key,
                                   struct ker_error *error)
{
    const char *path = ker_config_file(config, key), *slash = strrchr(path, '/');
    struct task_hosts_list list = {chosen_add, chosen, NAMES_MOST, ""};
    if (access(path, R_OK) != 0 || strchr(path, '[')) {
        const char *text = slash ? slash + 1 : path; /* names have none */
        if (task_hosts_each(&list, text, strlen(text)))
            return KER_OK;
        return ker_config_fail(config, error, key, "%s%s", list.why[0] ? list.why : chosen->unknown,
                               strpbrk(text, ",[") ? "" : ", and there is no file of that name");
    }
    size_t length;
    char *text;
    const char *word;
    struct ker_lines in;
    enum ker_status status = ker_input_lines(ker_config_inputs(config), path, &in, &text, error);
    while (!status && ker_lines_next_full(&in)) {
        ker_take_text(&in, &word, &length);
        if (in.p < in.stop)
            status = ker_lines_fail(&in, "a line is one name, or a list without blanks");
        else if (!task_hosts_each(&list, word, length))
            status = ker_lines_fail(&in, "%s", list.why[0] ? list.why : chosen->unknown);
    }
    if (!status && chosen->count == 0)
        status = ker_lines_fail_at(&in, 1, "the file names no host");
    free(text);
    return status;
}

enum ker_status task_hosts_read(const struct ker_config *config, uint32_t job,
                                const struct route_topology *topology, uint32_t nodes, uint32_t **node,
                                uint32_t *count, struct ker_error *error)
{
    const char *key = KER_KEY("jobs[%u].hosts", job);
    struct names names = {.nodes = nodes};
    struct chosen chosen = {.names = &names, .taken = ker_alloc(nodes * sizeof *chosen.taken)};
    enum ker_status status = names_read(&names, config, key, topology, error);
    status = status ?: chosen_read(&chosen, config, key, error);
    names_release(&names);
    free(chosen.taken);
    *node = chosen.node;
    *count = chosen.count;
    return status;
}
