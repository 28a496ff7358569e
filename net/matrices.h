/* matrices.h - inside net/: who sends to whom, at the levels of nodes, boards and racks (stats/matrix.h). */
#ifndef NET_MATRICES_H
#define NET_MATRICES_H

#include "net/state.h"

/* What output.matrix and output.series.matrix ask for: net->matrices, or NULL. */
void net_matrices_read(struct net_network *, const struct ker_config *);
void net_matrices_free(struct net_matrices *); /* takes NULL */
/* The last packet of a message has begun to leave its endpoint. */
void net_matrices_add(struct net_network *, uint32_t from, uint32_t to, uint64_t messages, uint64_t bytes);
void net_matrices_want(struct net_network *, struct stats_series_files *);
void net_matrices_period(struct net_network *, ker_time at);
/* Collective. */
enum ker_status net_matrices_write(struct net_network *, struct ker_comm *, const struct stats_folder *,
                                   struct ker_error *);
/* Chunks "matrix". */
void net_matrices_save(const struct net_network *, struct ker_state_writer *);
void net_matrices_load(struct net_loading *, struct ker_chunk *);

#endif
