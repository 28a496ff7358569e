/* What a run reads: digests do not depend on the pieces they were made of, and every byte counts. */
#include "kernel/base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* With what was added so far, as two ranks would compare it: the lanes after a closing block of the length.
 */
static struct ker_digest digest_of(const uint8_t *data, size_t bytes, size_t piece)
{
    struct ker_digest d = {0};
    for (size_t at = 0; at < bytes; at += piece)
        ker_digest_add(&d, data + at, piece < bytes - at ? piece : bytes - at);
    static const uint8_t end[64];
    ker_digest_add(&d, end, 64 - bytes % 32); /* so that all that was added is in the lanes */
    return d;
}

static void pieces(void **state)
{
    uint8_t data[1000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    for (size_t bytes = 0; bytes <= 200; bytes++) {
        struct ker_digest whole = digest_of(data, bytes, sizeof data);
        for (size_t piece = 1; piece < 70; piece++) {
            struct ker_digest other = digest_of(data, bytes, piece);
            assert_memory_equal(whole.lane, other.lane, sizeof whole.lane);
            assert_int_equal(whole.bytes, other.bytes);
        }
    }
}

static void every_bit(void **state)
{
    uint8_t data[200] = {0};
    struct ker_digest before = digest_of(data, sizeof data, 77);
    for (size_t bit = 0; bit < 8 * sizeof data; bit++) {
        data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        struct ker_digest after = digest_of(data, sizeof data, 77);
        assert_int_not_equal(before.lane[0], after.lane[0]);
        assert_int_not_equal(before.lane[1], after.lane[1]);
        data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

/* Words of 64 bits that change places, too: a sum would not notice. */
static void order(void **state)
{
    uint8_t data[96];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i + 1);
    struct ker_digest before = digest_of(data, sizeof data, 96);
    for (size_t a = 0; a < 12; a++)
        for (size_t b = a + 1; b < 12; b++) {
            uint8_t swapped[96];
            memcpy(swapped, data, sizeof data);
            memcpy(swapped + 8 * a, data + 8 * b, 8);
            memcpy(swapped + 8 * b, data + 8 * a, 8);
            assert_int_not_equal(before.lane[0], digest_of(swapped, sizeof data, 96).lane[0]);
            assert_int_not_equal(before.lane[1], digest_of(swapped, sizeof data, 96).lane[1]);
        }
}

static void whole_file(void **state)
{
    char path[] = "/tmp/marssim-input-XXXXXX";
    struct ker_error error = {.status = KER_OK};
    size_t length = 7;
    int file = mkstemp(path);
    assert_int_equal(write(file, "ab\0c", 4), 4);
    close(file);
    char *text;
    assert_int_equal(ker_input_read(NULL, path, &text, &length, &error), KER_OK);
    assert_int_equal(length, 4);
    assert_memory_equal(text, "ab\0c", 5); /* a 0 behind it */
    free(text);
    assert_int_equal(ker_input_open(path, 3, &file, NULL, &error), KER_BAD_INPUT);
    assert_int_equal(file, -1);
    assert_non_null(strstr(error.text, "is larger than the limit"));
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(ker_input_read(NULL, path, &text, &length, &error), KER_OK);
    assert_int_equal(length, 0);
    assert_string_equal(text, "");
    free(text);
    unlink(path);
    error = (struct ker_error){.status = KER_OK};
    assert_int_equal(ker_input_read(NULL, path, &text, &length, &error), KER_BAD_INPUT);
    assert_null(text);
    assert_int_equal(error.status, KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "cannot be read: No such file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces),
        cmocka_unit_test(every_bit),
        cmocka_unit_test(order),
        cmocka_unit_test(whole_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
