/* former.c - the clock of an open-loop source, whose law may have changed at forks (docs/checkpoints.md).
 *
 * Until a fork a source creates messages by its former law, also those that it is asked for only later, since
 * its queue needs no memory. The first message that the former law would create at the fork or later is not
 * created by it: the source begins again at the fork, as it would at traffic.start, by the law that follows.
 * Everything else of a message follows from its number, as ever. Only gaps that begin at a fork are drawn for
 * a purpose of their own: what a source has drawn already says something of the gap that the fork cut short.
 */
#include "tasks/traffic/traffic.h"

#include <stdlib.h>
#include <string.h>

/* By which messages are created now, unless they come behind the fork that ends it. */
static const struct task_traffic *law_of(const struct task_traffic_node *n)
{
    const struct task_traffic *t = n->shared;
    return n->law < t->formers ? t->former[n->law] : t;
}

/* The next law, from the fork on. */
static void law_begin(struct task_traffic_node *n)
{
    const struct task_traffic *t = n->shared;
    ker_time fork = t->former[n->law]->until;
    n->law++;
    n->next_ps = fork > t->begin ? fork : t->begin;
    n->next_fraction = 0;
    n->burst_ended = n->begins = true;
    struct ker_bits bits = ker_random_bits(t->seed, t->fork_purpose, t->first + n->node, n->renewed++);
    const struct task_traffic *law = law_of(n);
    law->arrival->advance(law, n, &bits);
    n->begins = false;
}

void task_traffic_clock_former(struct task_traffic_node *n, const struct ker_bits *bits)
{
    const struct task_traffic *law = law_of(n);
    law->arrival->advance(law, n, bits);
    n->begins = false;
    while (n->law < n->shared->formers && n->next_ps >= law_of(n)->until)
        law_begin(n);
}

bool task_traffic_more_laws(const struct task_traffic_node *n)
{
    return n->law < n->shared->formers && law_of(n)->until < n->shared->stop;
}

bool task_traffic_renew(void *state, ker_time *created)
{
    struct task_traffic_node *n = state;
    const struct task_traffic *t = n->shared;
    if (n->law < t->formers) {
        law_begin(n);
    } else {
        struct ker_bits bits = ker_random_bits(t->seed, t->fork_purpose, t->first + n->node, n->renewed++);
        t->arrival->advance(t, n, &bits);
    }
    *created = n->next_ps;
    return n->next_ps < t->stop;
}

static bool same_law(const struct task_traffic *a, const struct task_traffic *b)
{
    return a->arrival == b->arrival && a->gap.mean_ps == b->gap.mean_ps &&
           a->gap.whole_ps == b->gap.whole_ps && a->gap.fraction == b->gap.fraction &&
           a->gap.off_ps == b->gap.off_ps && a->gap.end_probability == b->gap.end_probability &&
           a->gap.burst_ps == b->gap.burst_ps && a->gap.burst_fraction == b->gap.burst_fraction &&
           a->gap.slot_factor == b->gap.slot_factor;
}

enum ker_status task_traffic_former(struct task_traffic *t, const struct ker_config *config, uint64_t rate,
                                    ker_time until, struct ker_error *error)
{
    if (!t->arrival)
        return KER_OK;
    struct task_traffic *law = ker_alloc(sizeof *law),
                        *before = t->formers ? t->former[t->formers - 1] : NULL;
    *law = *t; /* what it points to stays the other's */
    memset(&law->gap, 0, sizeof law->gap);
    law->until = until;
    enum ker_status status = task_traffic_arrival_read(law, config, rate, error);
    if (status == KER_OK && before && same_law(before, law)) {
        before->until = until;
        free(law);
        return KER_OK;
    }
    *KER_APPEND(t->former, t->formers) = law;
    return status;
}

void task_traffic_formers_end(struct task_traffic *t)
{
    if (t->formers && same_law(t->former[t->formers - 1], t))
        free(t->former[--t->formers]);
}

void task_traffic_formers_free(struct task_traffic *t)
{
    ker_free_all(t->former, t->formers);
}
