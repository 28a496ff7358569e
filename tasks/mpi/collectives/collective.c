/* collective.c - the table of algorithms, and the collectives' names. */
#include "tasks/mpi/collectives/collective.h"

/* The table of algorithms: one line each. Where rules leave sizes open, the first one for the collective is
 * taken. */
#define ALGORITHMS(KIND)                                                                                     \
    KIND(task_coll_kind_linear_from)                                                                         \
    KIND(task_coll_kind_linear_to)                                                                           \
    KIND(task_coll_kind_linear_both)                                                                         \
    KIND(task_coll_kind_linear_waiting)                                                                      \
    KIND(task_coll_kind_linear_alltoall)                                                                     \
    KIND(task_coll_kind_linear_allgather)                                                                    \
    KIND(task_coll_kind_chain_scan)                                                                          \
    KIND(task_coll_kind_binomial_from)                                                                       \
    KIND(task_coll_kind_in_order_from)                                                                       \
    KIND(task_coll_kind_binomial_to)                                                                         \
    KIND(task_coll_kind_binomial_blocks)                                                                     \
    KIND(task_coll_kind_binomial_both)                                                                       \
    KIND(task_coll_kind_chain)                                                                               \
    KIND(task_coll_kind_binary)                                                                              \
    KIND(task_coll_kind_in_order_binary)                                                                     \
    KIND(task_coll_kind_knomial)                                                                             \
    KIND(task_coll_kind_scatter_ring)                                                                        \
    KIND(task_coll_kind_scatter_doubling)                                                                    \
    KIND(task_coll_kind_doubling_allreduce)                                                                  \
    KIND(task_coll_kind_doubling_barrier)                                                                    \
    KIND(task_coll_kind_doubling_allgather)                                                                  \
    KIND(task_coll_kind_doubling_scan)                                                                       \
    KIND(task_coll_kind_halving_reduce_scatter)                                                              \
    KIND(task_coll_kind_rabenseifner)                                                                        \
    KIND(task_coll_kind_rabenseifner_reduce)                                                                 \
    KIND(task_coll_kind_ring_allreduce)                                                                      \
    KIND(task_coll_kind_ring_allgather)                                                                      \
    KIND(task_coll_kind_ring_reduce_scatter)                                                                 \
    KIND(task_coll_kind_neighbour_allgather)                                                                 \
    KIND(task_coll_kind_dissemination)                                                                       \
    KIND(task_coll_kind_pairwise_alltoall)                                                                   \
    KIND(task_coll_kind_pairwise_reduce_scatter)                                                             \
    KIND(task_coll_kind_bruck_alltoall)                                                                      \
    KIND(task_coll_kind_bruck_allgather)                                                                     \
    KIND(task_coll_kind_shared_from)                                                                         \
    KIND(task_coll_kind_shared_to)                                                                           \
    KIND(task_coll_kind_shared_both)                                                                         \
    KIND(task_coll_kind_shared_parts)                                                                        \
    KIND(task_coll_kind_shared_across)                                                                       \
    KIND(task_coll_kind_linear_neighbours)                                                                   \
    KIND(task_coll_kind_analytic_constant)                                                                   \
    KIND(task_coll_kind_analytic_log)                                                                        \
    KIND(task_coll_kind_analytic_linear)                                                                     \
    KIND(task_coll_kind_analytic_table)                                                                      \
    KIND(task_coll_kind_ideal)
KER_KINDS_TABLE(algorithm_kinds, ALGORITHMS);
const struct ker_kinds task_collectives = {"mpi.collectives", "collectives and their algorithms",
                                           sizeof(struct task_coll_algorithm), algorithm_kinds};

const char *task_coll_name(unsigned collective)
{
#define NAME(collective, name, call) name,
    static const char *const names[TASK_COLL_COUNT] = {TASK_COLLECTIVES(NAME)};
#undef NAME
    return collective < TASK_COLL_COUNT ? names[collective] : "?";
}

struct task_coll_choice task_coll_find(const struct ker_config *config, unsigned collective, const char *name)
{
    const struct ker_kind *algorithm =
        ker_registry_find(ker_config_registry(config), "mpi.collectives", name, task_coll_name(collective));
    const struct task_coll_algorithm *a = algorithm ? algorithm->operations : NULL;
    return (struct task_coll_choice){.algorithm = algorithm, .fanout = a ? a->fanout_usual : 0};
}
