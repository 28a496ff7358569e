/* link_text.c - a row of the table of links in words. */
#include "stats/stats.h"

/* "s12.3" (switch 12, port 3) or "n5" (a node has one port only); with a name, "left.3". */
static int print_end(char *text, size_t room, const struct stats_table *t, size_t row, bool from)
{
    int name = stats_table_find(t, from ? "from_name" : "to_name", true),
        kind = stats_table_find(t, from ? "from_kind" : "to_kind", false),
        id = stats_table_find(t, from ? "from" : "to", false);
    bool node = strcmp(stats_table_text(t, row, kind), "node") == 0;
    int used = name >= 0
                   ? snprintf(text, room, "%.14s", stats_table_text(t, row, name))
                   : snprintf(text, room, "%c%u", node ? 'n' : 's', (unsigned)stats_table_cell(t, row, id));
    if (!node && from)
        used += snprintf(text + used, room - (size_t)used, ".%u",
                         (unsigned)stats_table_cell(t, row, stats_table_find(t, "from_port", false)));
    return used;
}

char *stats_link_text(char *text, size_t room, const struct stats_table *links, size_t row)
{
    char ends[64];
    int used = print_end(ends, sizeof ends, links, row, true);
    used += snprintf(ends + used, sizeof ends - (size_t)used, " > ");
    print_end(ends + used, sizeof ends - (size_t)used, links, row, false);
    snprintf(text, room, "%-22.22s %-7.7s", ends,
             stats_table_text(links, row, stats_table_find(links, "class", false)));
    return text;
}
