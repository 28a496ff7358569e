/* vl_text.c - VL arbitration tables and limits as OpenSM writes them. */
#include "net/switch/vl.h"

#include <stdlib.h>
#include <string.h>

/* A whole number from `*text` on; false: none is there. */
static bool number_take(const char **text, unsigned long *number)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    *number = strtoul(*text, &end, 0);
    *text = end;
    return true;
}

static void blanks_pass(const char **text)
{
    *text += strspn(*text, " \t");
}

char *net_vl_table_read(struct vl_table *t, const char *text)
{
    t->count = 0;
    for (blanks_pass(&text); *text;) {
        unsigned long lane, weight;
        const char *entry = text;
        if (!number_take(&text, &lane) || *text++ != ':' || !number_take(&text, &weight))
            return ker_format("\"%.12s\" is no LANE:WEIGHT, such as 0:64", entry);
        if (lane > NET_VL_LANES - 1)
            return ker_format("there is no lane %lu for data; they go from 0 to 14", lane);
        if (weight > 255)
            return ker_format("the weight of lane %lu is %lu; at most 255 (units of 64 bytes)", lane, weight);
        if (t->count == NET_VL_ENTRIES)
            return ker_format("has more than %u entries", NET_VL_ENTRIES);
        t->entry[t->count++] = (struct vl_entry){(uint8_t)lane, (uint8_t)weight};
        blanks_pass(&text);
        if (*text == ',')
            text++;
        else if (*text)
            return ker_format("\"%.12s\": entries are separated by commas", text);
        blanks_pass(&text);
    }
    return NULL;
}

char *net_vl_map_read(uint8_t lane[NET_LEVELS], const char *text)
{
    const char *all = text;
    memset(lane, NET_NO_LANE, NET_LEVELS);
    blanks_pass(&text);
    for (uint32_t level = 0; *text; level++) {
        unsigned long number = 0;
        bool good = level < NET_LEVELS && number_take(&text, &number) && number <= NET_NO_LANE;
        blanks_pass(&text);
        if (!good || (*text && *text++ != ','))
            return ker_format("\"%.40s\" is no list of the lanes of service levels 0 to 15, such as 0,0,1,1",
                              all);
        lane[level] = (uint8_t)number;
        blanks_pass(&text);
    }
    return NULL;
}

uint32_t net_vl_limit(int64_t limit)
{
    return limit == NET_VL_LIMIT_NONE ? UINT32_MAX : limit ? (uint32_t)limit * (4096 / NET_VL_UNIT) : 1;
}
