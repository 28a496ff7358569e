/* hosts_list.c - lists of host names as Slurm prints them: "lrdn[0024-0031,0064],login2".
 *
 * An item is text with any number of brackets, each of which stands for numbers and ranges of numbers; a
 * number has as many digits at least as the first one of its range. Invariant: what is in front of a bracket
 * has been put into `name` when the bracket is gone through.
 */
#include "tasks/jobs/hosts.h"

#include <ctype.h>
#include <string.h>

#define NAME_MOST 200
#define DIGITS_MOST 9

struct item {
    struct task_hosts_list *list;
    char name[NAME_MOST + 1];
};

static bool wrong(struct task_hosts_list *list, const char *what, const char *text, const char *stop)
{
    int shown = stop - text < 40 ? (int)(stop - text) : 40;
    snprintf(list->why, sizeof list->why, "\"%.*s\" %s; right would be as in \"n[001-004,007],m12\"", shown,
             text, what);
    return false;
}

/* Digits in [*at, stop); false: there are none, or too many. */
static bool number_take(const char **at, const char *stop, uint32_t *number, int *digits)
{
    *number = 0;
    for (*digits = 0; *at < stop && isdigit((unsigned char)**at); ++*digits, ++*at) {
        if (*digits == DIGITS_MOST)
            return false;
        *number = *number * 10 + (uint32_t)(**at - '0');
    }
    return *digits > 0;
}

/* The rest of an item, behind `length` bytes of its name. */
static bool item_rest(struct item *item, size_t length, const char *at, const char *stop)
{
    const char *open = memchr(at, '[', (size_t)(stop - at)), *end = open ? open : stop;
    if (length + (size_t)(end - at) + DIGITS_MOST > NAME_MOST)
        return wrong(item->list, "is too long for a name", at, stop);
    memcpy(item->name + length, at, (size_t)(end - at));
    length += (size_t)(end - at);
    item->name[length] = 0;
    if (!open) {
        if (length == 0 || strpbrk(item->name, "] \t"))
            return wrong(item->list, "is no name", at, stop);
        if (item->list->left-- == 0)
            return wrong(item->list, "makes too many names", at, stop);
        return item->list->add(item->list->context, item->name);
    }
    const char *close = memchr(open, ']', (size_t)(stop - open)), *p = open + 1;
    while (close) {
        uint32_t from, to;
        int digits, more;
        if (!number_take(&p, close, &from, &digits))
            return wrong(item->list, "has no number in its brackets", at, stop);
        to = from;
        if (*p == '-' && (++p, !number_take(&p, close, &to, &more) || to < from))
            return wrong(item->list, "has a range that does not ascend", at, stop);
        for (uint32_t i = from; i <= to; i++) {
            int more_digits = snprintf(item->name + length, DIGITS_MOST + 2, "%0*u", digits, i);
            if (!item_rest(item, length + (size_t)more_digits, close + 1, stop))
                return false;
        }
        if (p == close)
            return true;
        if (*p++ != ',')
            break;
    }
    return wrong(item->list, "has brackets that do not close, or more than numbers in them", at, stop);
}

bool task_hosts_each(struct task_hosts_list *list, const char *text, size_t length)
{
    const char *end = text + length, *at = text;
    list->why[0] = 0;
    while (true) {
        const char *stop = at;
        for (bool inside = false; stop < end && (inside || *stop != ','); stop++)
            inside = *stop == '[' || (inside && *stop != ']');
        struct item item = {.list = list};
        if (!item_rest(&item, 0, at, stop))
            return false;
        if (stop == end)
            return true;
        at = stop + 1;
        while (at < end && (*at == ' ' || *at == '\n'))
            at++;
    }
}
