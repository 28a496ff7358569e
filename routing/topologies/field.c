/* field.c - finite fields by tables of powers of a primitive element.
 *
 * GF(p^k) are polynomials below degree k over the integers modulo p, modulo one of degree k in which x is
 * primitive: its powers are then all elements but 0. The first such one is taken, in the order of the number
 * whose digits are the coefficients, so that the table depends on q alone. For k = 1 that is x = g, a
 * primitive root modulo p.
 */
#include "routing/topologies/field.h"

#include <stdlib.h>

/* The prime that q is a power of; 0: there is none. */
static uint32_t prime_of(uint32_t q)
{
    uint32_t p = 2, rest = q;
    if (q < 2)
        return 0;
    while (p * p <= q && q % p)
        p++;
    p = q % p ? q : p;
    while (rest % p == 0)
        rest /= p;
    return rest == 1 ? p : 0;
}

bool route_field_possible(uint32_t q)
{
    return q <= ROUTE_FIELD_MOST && prime_of(q) > 0;
}

/* a + times b, digit by digit modulo p. */
static uint32_t add_times(uint32_t p, uint32_t a, uint32_t b, uint32_t times)
{
    uint32_t sum = 0;
    for (uint32_t place = 1; a || b; place *= p, a /= p, b /= p)
        sum += (a % p + b % p * times) % p * place;
    return sum;
}

/* Powers of x modulo x^k = `modulus`; false: there are fewer than q - 1. */
static bool powers_fill(struct route_field *f, uint32_t modulus)
{
    uint32_t x = 1, high = f->q / f->p;
    for (uint32_t i = 0; i < f->q - 1; i++) {
        if (x == 0 || (i > 0 && x == 1))
            return false;
        f->power[i] = (uint16_t)x;
        f->exponent[x] = (uint16_t)i;
        x = add_times(f->p, x % high * f->p, modulus, x / high);
    }
    return x == 1;
}

void route_field_make(struct route_field *f, uint32_t q)
{
    *f = (struct route_field){.q = q,
                              .p = prime_of(q),
                              .power = ker_alloc((2 * q + 1ull) * sizeof *f->power),
                              .exponent = ker_alloc(q * sizeof *f->exponent)};
    uint32_t modulus = 1;
    while (!powers_fill(f, modulus))
        ker_assert(++modulus < q);
    for (uint32_t i = q - 1; i <= 2 * q; i++)
        f->power[i] = f->power[i - (q - 1)];
}

void route_field_release(struct route_field *f)
{
    free(f->power);
    free(f->exponent);
}

uint32_t route_field_add(const struct route_field *f, uint32_t a, uint32_t b)
{
    if (f->p == f->q)
        return a + b < f->q ? a + b : a + b - f->q;
    return f->p == 2 ? a ^ b : add_times(f->p, a, b, 1);
}

uint32_t route_field_sub(const struct route_field *f, uint32_t a, uint32_t b)
{
    if (f->p == f->q)
        return a < b ? a + f->q - b : a - b;
    return f->p == 2 ? a ^ b : add_times(f->p, a, b, f->p - 1);
}
