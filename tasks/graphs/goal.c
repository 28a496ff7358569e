/* Which of the two forms a GOAL schedule has: the binary one says so in its first bytes. */
#include "tasks/graphs/goal.h"

#include <unistd.h>

bool graph_goal_known(const char *file)
{
    struct ker_error ignored = {.status = KER_OK};
    int opened;
    if (ker_input_open(file, KER_INPUT_MOST, &opened, NULL, &ignored) != KER_OK)
        return false;
    bool known = goal_is_binary(opened) || goal_text_known(file);
    close(opened);
    return known;
}

enum ker_status graph_goal_tasks(const char *file, uint32_t *tasks, struct ker_error *error)
{
    int opened;
    uint64_t bytes;
    *tasks = 0;
    enum ker_status status = ker_input_open(file, KER_INPUT_MOST, &opened, &bytes, error);
    if (status != KER_OK)
        return status;
    if (goal_is_binary(opened))
        status = goal_binary_tasks(file, opened, bytes, tasks, error);
    else
        status = goal_text_tasks(file, tasks, error);
    close(opened);
    return status;
}

enum ker_status graph_goal_read(struct graph **graph, const char *file, const struct graph_form *form,
                                uint32_t first, uint32_t count, struct ker_error *error)
{
    int opened;
    uint64_t bytes;
    *graph = NULL;
    enum ker_status status = ker_input_open(file, KER_INPUT_MOST, &opened, &bytes, error);
    if (status != KER_OK)
        return status;
    if (goal_is_binary(opened))
        status = goal_binary_read(graph, file, opened, bytes, form, first, count, error);
    else
        status = goal_text_read(graph, file, form, first, count, error);
    close(opened);
    return status;
}
