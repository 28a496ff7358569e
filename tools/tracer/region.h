/* region.h - the part of a run that is recorded, as text. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum trc_region_kind {
    TRC_REGION_ALL,
    TRC_REGION_PCONTROL, /* "pcontrol": what MPI_Pcontrol says, from the start on nothing */
    TRC_REGION_CALLS,    /* "A-B" or "MPI_NAME:A-B": from the A-th to the B-th such call in MPI_COMM_WORLD */
    TRC_REGION_TIME,     /* "As-Bs": from the first collective after A seconds on */
};

struct trc_region {
    enum trc_region_kind kind;
    char name[64];   /* of the function; empty: any collective */
    double from, to; /* to: infinite when nothing is said */
};

/* False: it is no region. */
bool trc_region_parse(const char *text, struct trc_region *);
