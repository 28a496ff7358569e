/* task_rows.h - for tests: the table of tasks as structs. */
#pragma once

#include "tasks/mpi/mpi.h"

struct task_row {
    ker_time finish, compute, wait, send_wait;
    uint64_t messages_sent, bytes_sent, messages_received, bytes_received, passes;
};

static inline uint64_t task_row_cell(const struct stats_table *table, size_t row, const char *column)
{
    return (uint64_t)stats_table_cell(table, row, stats_table_find(table, column, false));
}

/* In the order in which the tasks were made. */
static inline void task_rows(const struct task_mpi *mpi, ker_time end, struct task_row *rows)
{
    struct task_mpi_names nobody = {0};
    struct stats_table *t = task_mpi_results(mpi, &nobody, end);
    for (size_t i = 0; i < stats_table_rows(t); i++)
        rows[i] = (struct task_row){(ker_time)task_row_cell(t, i, "finish_ps"),
                                    (ker_time)task_row_cell(t, i, "compute_ps"),
                                    (ker_time)task_row_cell(t, i, "wait_ps"),
                                    (ker_time)task_row_cell(t, i, "send_wait_ps"),
                                    task_row_cell(t, i, "messages_sent"),
                                    task_row_cell(t, i, "bytes_sent"),
                                    task_row_cell(t, i, "messages_received"),
                                    task_row_cell(t, i, "bytes_received"),
                                    task_row_cell(t, i, "passes")};
    stats_table_free(t);
}
