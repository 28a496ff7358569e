/* field.h - private to routing/: finite fields GF(q), q a prime power. Elements are 0 .. q-1: the digits of a
 * number to base p are the coefficients of a polynomial; 1 is the one. */
#pragma once

#include "kernel/base/base.h"

#include <stdbool.h>

#define ROUTE_FIELD_MOST 32768 /* elements */

struct route_field {
    uint32_t q, p;      /* elements; characteristic, a prime */
    uint16_t *power;    /* of a primitive element: exponents 0 .. 2q */
    uint16_t *exponent; /* of an element but 0 */
};

/* Is q a prime power, 2 to ROUTE_FIELD_MOST? */
bool route_field_possible(uint32_t q);
void route_field_make(struct route_field *, uint32_t q);
void route_field_release(struct route_field *);

uint32_t route_field_add(const struct route_field *, uint32_t a, uint32_t b);
uint32_t route_field_sub(const struct route_field *, uint32_t a, uint32_t b);

static inline uint32_t route_field_mul(const struct route_field *f, uint32_t a, uint32_t b)
{
    return a && b ? f->power[f->exponent[a] + f->exponent[b]] : 0;
}

/* b is not 0. */
static inline uint32_t route_field_div(const struct route_field *f, uint32_t a, uint32_t b)
{
    return a ? f->power[f->exponent[a] + f->q - 1 - f->exponent[b]] : 0;
}
