/* sort.c - by digits, which costs the same for any order.
 *
 * Two digits distinguish nearly all keys where these are spread over their range, as times are: they are
 * sorted by their highest two, then each is moved past the few that are wrong. Where many keys agree in these
 * digits, that would take the square of their number; then they are sorted by all digits.
 */
#include "stats/timelines/sort.h"

#include <stdbool.h>

#define DIGIT 11u
#define DIGITS (1u << DIGIT)
#define MANY 32u /* places that a key moves past */

static uint32_t digit(uint64_t key, unsigned shift)
{
    return (uint32_t)(key >> shift) & (DIGITS - 1);
}

/* Numbers of each digit become places. */
static void places_make(uint32_t place[DIGITS])
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < DIGITS; i++) {
        uint32_t here = place[i];
        place[i] = sum;
        sum += here;
    }
}

/* By the digits at shift and behind it, stable. */
static void pair_sort(uint64_t *key, uint64_t *other, uint32_t count, unsigned shift)
{
    uint32_t low[DIGITS] = {0}, high[DIGITS] = {0};
    for (uint32_t i = 0; i < count; i++) {
        low[digit(key[i], shift)]++;
        high[digit(key[i] >> DIGIT, shift)]++;
    }
    places_make(low);
    places_make(high);
    for (uint32_t i = 0; i < count; i++)
        other[low[digit(key[i], shift)]++] = key[i];
    for (uint32_t i = 0; i < count; i++)
        key[high[digit(other[i] >> DIGIT, shift)]++] = other[i];
}

/* The keys are in order but for few; false: for too many. */
static bool rest_sort(uint64_t *key, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint64_t one = key[i];
        uint32_t at = i;
        if (key[i - 1] < one)
            continue;
        for (; at && key[at - 1] > one; at--)
            key[at] = key[at - 1];
        key[at] = one;
        if (i - at > MANY)
            return false;
    }
    return true;
}

void line_sort(uint64_t *key, uint64_t *other, uint32_t count, unsigned bits)
{
    pair_sort(key, other, count, bits > 2 * DIGIT ? bits - 2 * DIGIT : 0);
    if (bits <= 2 * DIGIT || rest_sort(key, count))
        return;
    for (unsigned shift = 0; shift < bits; shift += 2 * DIGIT)
        pair_sort(key, other, count, shift);
}
