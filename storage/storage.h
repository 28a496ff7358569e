/* storage.h - files that lie on servers in the system: what programs ask of them, and the services that do
 * it.
 *
 * Two services of nodes carry a file: servers, with a cache and a device, on the nodes that the configuration
 * names, and a client on every node. A task calls its node's client (TASK_OP_CALL) with the words of a
 * struct store_call, and is answered when what it has asked for is done; the client cuts it into chunks for
 * the servers that hold parts of it, by the layout of the file. All of it are messages of the network.
 *
 * Files have numbers, which the programs give them: the same file has the same number everywhere.
 */
#ifndef STORAGE_STORAGE_H
#define STORAGE_STORAGE_H

#include "nodes/nodes.h"

enum store_op {
    STORE_OPEN,  /* exists: how long the file is before anything has been written */
    STORE_CLOSE, /* what the node has written to the file is on the devices behind it */
    STORE_SYNC,  /* likewise */
    STORE_READ,  /* the answer's first word: how many bytes there were */
    STORE_WRITE,
    STORE_ACK /* between clients and servers */
};

/* `count` pieces of `bytes`, the first at `offset`, each next one `stride` further. */
struct store_run {
    uint64_t offset, bytes, stride;
    uint32_t count; /* 1 .. STORE_RUN_MOST */
};
#define STORE_RUN_MOST ((1u << 28) - 1)

struct store_call {
    enum store_op op;
    uint32_t file;
    struct store_run run; /* of READ and WRITE */
    uint64_t exists;
};
#define STORE_WORDS NODE_ANSWER_WORDS
void store_call_words(const struct store_call *, uint64_t words[STORE_WORDS]);

/* The name of the service that tasks call. */
#define STORE_CLIENT "storage_client"

/* Is there storage in this configuration? */
bool store_wanted(const struct ker_config *);
/* The services: for node_service_list_new. NULL: there is no storage. */
const struct node_service_own *store_services(const struct ker_config *);

extern const struct ker_option store_options[];
extern const struct stats_schema *const store_tables[]; /* NULL at the end */

#endif
