/* system.h - private to run/tasks/: what struct task_system is. */
#pragma once

#include "run/tasks/tasks.h"

#include "tasks/driven/driven.h"
#include "tasks/mpi/mpi.h"
#include "tasks/traffic/traffic.h"

struct task_system {
    const struct route_topology *topology;
    struct task_jobs *jobs;
    const struct node_services *services;
    struct task_mpi *mpi; /* NULL without jobs */
    uint32_t mpi_service;
    bool asks;                      /* tasks ask for their cores: task_mpi_service_asking */
    struct loggops_system *loggops; /* NULL, or it has tasks, too: those of schedules */
    struct task_driven *driven;     /* NULL: no job is message-driven */
    uint32_t driven_service;
    struct task_traffic *traffic; /* NULL: none */
    struct task_traffic_node *traffic_nodes;
    size_t traffic_bytes;
    uint32_t foreground;            /* jobs */
    struct seating *seating;        /* between prepare and attach */
    struct task_series *series;     /* NULL: no jobs or tasks are collected in periods */
    struct task_call_series *calls; /* NULL: not wanted */
    struct task_matrix *matrix;     /* NULL: not wanted */
    char **traced_name;             /* of functions in traced timelines */
    uint32_t traced_names;
    bool *stuck; /* jobs that task_system_stuck has found, on every rank alike; NULL: none */
};

/* matrix.c; but read and load take NULL for none. */
struct task_matrix;
enum ker_status task_matrix_read(struct task_system *, const struct ker_config *, struct ker_error *);
void task_matrix_beside(struct task_matrix *, struct loggops_system *);
void task_matrix_free(struct task_matrix *);
void task_matrix_want(struct task_matrix *, struct stats_series_files *);
void task_matrix_period(struct task_matrix *, ker_time at);
enum ker_status task_matrix_write(struct task_matrix *, struct ker_comm *, const struct stats_folder *,
                                  struct ker_error *);
void task_matrix_save(const struct task_matrix *, struct ker_state_writer *);
void task_matrix_load(void *system, struct ker_chunk *);
extern const struct stats_schema stats_matrix_task_schema, stats_matrix_task_series_schema;

/* call_series.c; free and add take NULL */
struct task_call_series;
enum ker_status task_call_series_check(const struct ker_config *, struct ker_error *);
struct task_call_series *task_call_series_want(const struct task_system *, const struct ker_config *,
                                               struct stats_series_files *);
void task_call_series_free(struct task_call_series *);
void task_call_series_add(struct task_call_series *, ker_time at); /* collective */
extern const struct stats_schema task_function_series_schema, task_communicator_series_schema;

/* models.c: what concerns the models of tasks alike. */
enum ker_status task_models_read(struct task_system *, const struct ker_config *, const struct node_model *,
                                 const struct task_mpi_outside *, struct ker_error *);
void task_models_free(struct task_system *);
void task_models_serve(struct task_system *, struct node_services *);
/* As task_mpi_job, task_mpi_results and task_mpi_waiting. done: by job (only message-driven ones are looked
 * at); NULL only where there are none. */
void task_models_job(const struct task_system *, uint32_t job, int64_t *open, uint64_t *unfinished);
struct stats_table *task_models_results(const struct task_system *, const struct task_mpi_names *,
                                        const bool *done, ker_time end);
uint64_t task_models_waiting(const struct task_system *, struct task_mpi_wait *rows, uint64_t room);
/* The seats of this rank's nodes, node after node; first[i] .. first[i + 1] - 1 are those of node i, ordered
 * by (job, task). */
void task_models_attach(struct task_system *, const uint32_t *nodes, uint32_t count,
                        const struct task_mpi_seat *, const uint32_t *first, void **state);

/* measured.c */
/* Collective: jobs[].io, on rank 0. */
void task_io_report(const struct task_system *, struct ker_comm *, json_t *jobs);
enum ker_status task_measured_report(const struct task_system *, struct ker_comm *, const struct task_files *,
                                     json_t *jobs, struct ker_error *);
void task_measured_state(void *context, struct ker_chunk *);
extern const struct stats_schema task_measured_schema;

/* traced.c */
void task_traced_free(struct task_system *);

/* series.c */
void task_series_free(struct task_series *); /* takes NULL */
/* The job's tasks have ended where they began to wait, which periods have counted. */
void task_series_cut(struct task_system *, uint32_t job);
void task_series_save(struct task_system *, struct ker_state_writer *);
void task_series_load(void *system, struct ker_chunk *);
void task_sent_state(void *system, struct ker_chunk *);
extern const struct stats_schema task_job_series_schema, task_task_series_schema, task_traffic_series_schema;
