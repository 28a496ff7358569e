/* page.c - writes the page: page.html, in which marks are replaced by style sheets, scripts and data.
 *
 * In the data no `<` is left: in JSON it can only stand inside a text, where \u003c means the same. So no
 * text of a result ends the script element or begins a comment, whatever it is. The page itself shows texts
 * as texts, never as HTML (page/base.js).
 */
#include "tools/marsreport/report.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* The files of the page, put into the program by embed.S. */
#define FILE_OF_PAGE(name) extern const char rep_##name[], rep_##name##_end[];
#include "tools/marsreport/page_files.h"
#undef FILE_OF_PAGE

static const struct page_file {
    const char *name, *text, *end;
} files[] = {
#define FILE_OF_PAGE(name) {#name, rep_##name, rep_##name##_end},
#include "tools/marsreport/page_files.h"
#undef FILE_OF_PAGE
};

static int escape(const char *text, size_t length, void *out)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '<')
            fputs("\\u003c", out);
        else
            putc_unlocked(text[i], out);
    return 0;
}

/* All files whose name ends so, in the order of page_files.h. */
static void files_put(FILE *out, const char *ending)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const struct page_file *f = &files[i];
        size_t length = strlen(f->name), wanted = strlen(ending);
        if (length >= wanted && strcmp(f->name + length - wanted, ending) == 0) {
            fwrite(f->text, 1, (size_t)(f->end - f->text), out);
            putc('\n', out);
        }
    }
}

static void mark_put(FILE *out, const char *mark, size_t length, const json_t *data)
{
    if (length == strlen("style") && strncmp(mark, "style", length) == 0)
        files_put(out, "_css");
    else if (length == strlen("script") && strncmp(mark, "script", length) == 0)
        files_put(out, "_js");
    else if (length == strlen("licence") && strncmp(mark, "licence", length) == 0)
        files_put(out, "_licence");
    else if (length == strlen("data") && strncmp(mark, "data", length) == 0)
        json_dump_callback(data, escape, out, JSON_COMPACT | JSON_REAL_PRECISION(17));
    else
        ker_assert(!"a mark that is known");
}

/* Marks are @name@. */
static void page_put(FILE *out, const json_t *data)
{
    const char *at = rep_page_html, *end = rep_page_html_end;
    for (const char *mark; (mark = memchr(at, '@', (size_t)(end - at))) != NULL;) {
        const char *stop = memchr(mark + 1, '@', (size_t)(end - mark - 1));
        ker_assert(stop != NULL);
        fwrite(at, 1, (size_t)(mark - at), out);
        mark_put(out, mark + 1, (size_t)(stop - mark - 1), data);
        at = stop + 1;
    }
    fwrite(at, 1, (size_t)(end - at), out);
}

/* Under another name until it is whole. */
enum ker_status rep_page_write(const char *path, const json_t *data, struct ker_error *error)
{
    char *part = ker_format("%s.part", path);
    enum ker_status status = KER_OK;
    FILE *out = fopen(part, "wb");
    if (out) {
        page_put(out, data);
        bool failed = ferror(out) != 0;
        failed |= fclose(out) != 0;
        if (failed || rename(part, path) != 0)
            status = ker_fail(error, KER_BAD_INPUT, "%s: cannot be written: %s", path, strerror(errno));
        if (status)
            unlink(part);
    } else {
        status = ker_fail(error, KER_BAD_INPUT, "%s: cannot be written: %s", path, strerror(errno));
    }
    free(part);
    return status;
}
