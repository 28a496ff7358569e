/* expect.c - what --check expects of message-driven jobs: blocks of some objects, of their first iteration.
 */
#include "tasks/driven/model.h"

#define OBJECTS 4096 /* of a job, at most: as many stand for all */

static uint32_t node_of(const struct task_driven *d, uint32_t job, const struct driven_program *p,
                        uint32_t object)
{
    return d->outside.node(d->outside.jobs, job, p->class->home(p, object));
}

static void object_expect(const struct task_driven *d, uint32_t job, const struct driven_program *p,
                          uint32_t object, double times, struct net_expected *sum)
{
    uint32_t from = node_of(d, job, p, object);
    for (uint32_t b = 0; b < p->class->blocks(p, object); b++) {
        struct driven_block block;
        struct driven_send send;
        p->class->block(p, object, b, 0, &block);
        double runs = times * (block.each ? block.messages : 1);
        sum->events += runs;
        for (uint32_t i = 0; i < block.sends; i++) {
            p->class->send(p, object, b, i, &send);
            net_expect(sum, from, node_of(d, job, p, send.object), send.bytes, runs);
        }
    }
}

void task_driven_expect(const struct task_driven *d, uint32_t job, uint32_t part, uint32_t parts,
                        struct net_expected *sum)
{
    const struct driven_program *p = driven_program(d->outside.job(d->outside.jobs, job)->program);
    uint32_t step = p->objects / OBJECTS + 1, asked = (p->objects + step - 1) / step;
    for (uint32_t i = part; i < asked; i += parts)
        object_expect(d, job, p, i * step, (double)p->objects / asked * p->iterations, sum);
}
