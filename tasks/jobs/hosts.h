/* hosts.h - nodes by the names that a machine gives them: jobs[].hosts and node.hosts. Private to
 * tasks/jobs/.
 */
#pragma once

#include "routing/routing.h"

/* Reads jobs[job].hosts: malloc'ed, the node of each host in their order, each once. Names are those of
 * node.hosts, or else of the network's file (topology; NULL: none). */
enum ker_status task_hosts_read(const struct ker_config *, uint32_t job, const struct route_topology *,
                                uint32_t nodes, uint32_t **node, uint32_t *count, struct ker_error *);

/* Calls add(context, name) for each name of a list as Slurm prints it, "n[01-03,7],m4"; add returns false to
 * end it. false: the list is wrong, or add has ended it; in the first case `why` says what is wrong. */
struct task_hosts_list {
    bool (*add)(void *context, const char *name);
    void *context;
    uint32_t left; /* how many names there may be */
    char why[160];
};
bool task_hosts_each(struct task_hosts_list *, const char *text, size_t length);
