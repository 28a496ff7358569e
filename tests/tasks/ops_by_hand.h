/* ops_by_hand.h - operations of scenes that are known by hand, over the network of fake_net.h: a message of n
 * bytes leaves after LEAVES(n) and arrives 1 us later; WAY(n) is both.
 */
#pragma once

#include "fake_net.h"

#define LEAVES(bytes) ((ker_time)((bytes) + 32) * 40)
#define WAY(bytes) (LEAVES(bytes) + KER_US)
#define BIG 100000
/* clang-format off */
#define END {.kind = TASK_OP_FINALIZE, .call = "MPI_Finalize"}
#define COMPUTE(t) {.kind = TASK_OP_COMPUTE, .time = t, .call = "computation"}
#define SEND(p, n) {.kind = TASK_OP_SEND, .peer = p, .bytes = n, .call = "MPI_Send"}
#define SSEND(p, n) {.kind = TASK_OP_SEND, .peer = p, .bytes = n, \
    .mode = TASK_MODE_SYNCHRONOUS, .call = "MPI_Ssend"}
#define ISEND(p, n) {.kind = TASK_OP_ISEND, .peer = p, .bytes = n, .request = 1, .call = "MPI_Isend"}
#define RECV(p, n) {.kind = TASK_OP_RECV, .peer = p, .bytes = n, .call = "MPI_Recv"}
#define IRECV(p, n) {.kind = TASK_OP_IRECV, .peer = p, .bytes = n, .request = 1, .call = "MPI_Irecv"}
#define WAIT {.kind = TASK_OP_WAIT, .request = 1, .call = "MPI_Wait"}
#define BARRIER {.kind = TASK_OP_COLLECTIVE, .collective = TASK_COLL_BARRIER, .call = "MPI_Barrier"}
#define IBARRIER {.kind = TASK_OP_ICOLLECTIVE, \
    .collective = TASK_COLL_BARRIER, .request = 1, .call = "MPI_Ibarrier"}
/* clang-format on */
