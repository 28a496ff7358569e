/* Descriptions of machines: what becomes of the shipped ones, and what is refused. */
#include "nodes/structure/hwloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *file_text(const char *name, size_t *bytes)
{
    char *text, *path = ker_format("configs/nodes/%s.xml", name);
    struct ker_error error = {0};
    if (ker_input_read(NULL, path, &text, bytes, &error))
        fail_msg("%s", error.text);
    free(path);
    return text;
}

static void shipped(struct node_structure *s, struct node_hwloc *h, const char *name)
{
    size_t bytes;
    char *why, *text = file_text(name, &bytes);
    if (!node_structure_hwloc(s, h, text, bytes, &why))
        fail_msg("%s %s", name, why);
    free(text);
}

/* 2 packages of 8 cores of 2 threads, each with its memory and an adapter behind a bridge of its own. */
static void test_server(void **state)
{
    struct node_structure s;
    struct node_hwloc h = {.adapters = 2};
    shipped(&s, &h, "server");
    assert_int_equal(s.sockets, 2);
    assert_int_equal(s.domains, 2);
    assert_int_equal(s.cores, 16);
    assert_int_equal(s.buses, 2);
    assert_true(h.located);
    assert_int_equal(h.core_kinds, 0);
    for (uint32_t i = 0; i < 16; i++) {
        assert_int_equal(s.core[i].threads, 2);
        assert_int_equal(s.core[i].socket, i / 8);
        assert_int_equal(s.core[i].domain, i / 8);
    }
    assert_int_equal(node_adapter_socket(&s, 0), 0);
    assert_int_equal(node_adapter_socket(&s, 1), 1);
    node_structure_release(&s);
    /* one of them, by its name: the second, whose bus is the only one that counts */
    static const char *const second[] = {"mlx5_1"}, *const net[] = {"ib0"};
    h = (struct node_hwloc){.adapters = 1, .devices = second};
    shipped(&s, &h, "server");
    assert_int_equal(s.buses, 1);
    assert_int_equal(node_adapter_socket(&s, 0), 1);
    node_structure_release(&s);
    h.devices = net;
    shipped(&s, &h, "server");
    assert_int_equal(node_adapter_socket(&s, 0), 0);
    node_structure_release(&s);
}

/* 2 packages of 2 NUMA nodes of 8 cores; 2 adapters at each package, each behind its bridge. */
static void test_four_gpus(void **state)
{
    struct node_structure s;
    struct node_hwloc h = {.adapters = 4};
    shipped(&s, &h, "four-gpus");
    assert_int_equal(s.domains, 4);
    assert_int_equal(s.cores, 32);
    assert_int_equal(s.buses, 4);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(s.core[i].domain, i / 8);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(s.domain_socket[i], i / 2);
        assert_int_equal(node_adapter_socket(&s, i), i / 2);
    }
    node_structure_release(&s);
}

/* 2 fast cores of 2 threads, 4 slow ones of one: kind 1 and kind 0. The network is WLAN; no adapter of
 * InfiniBand. */
static void test_laptop(void **state)
{
    struct node_structure s;
    struct node_hwloc h = {.adapters = 1};
    shipped(&s, &h, "laptop");
    assert_int_equal(s.cores, 6);
    assert_int_equal(h.core_kinds, 2);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(s.core[i].threads, i < 2 ? 2 : 1);
        assert_int_equal(h.core_kind[i], i < 2);
    }
    assert_true(h.located);
    free(h.core_kind);
    node_structure_release(&s);
}

static void refused(const char *text, uint32_t adapters, const char *why)
{
    struct node_structure s;
    struct node_hwloc h = {.adapters = adapters};
    char *said;
    assert_false(node_structure_hwloc(&s, &h, text, strlen(text), &said));
    if (!strstr(said, why))
        fail_msg("%s", said);
    free(said);
}

static void replaced(const char *name, const char *old, const char *new, uint32_t adapters, const char *why)
{
    size_t bytes;
    char *text = file_text(name, &bytes), *at = strstr(text, old);
    assert_non_null(at);
    char *other = ker_format("%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    refused(other, adapters, why);
    free(text);
    free(other);
}

static void test_refused(void **state)
{
    refused("", 1, "is no description of a machine; right would be");
    refused("<system/>", 1, "is no description of a machine");
    refused("<topology>\n</topology>", 1, "is of hwloc 1; right would be");
    refused("<topology version=\"2.0\"></topology>", 1, "cannot be read by hwloc");
    replaced("server", "version=\"2.0\"", "version=\"3.0\"", 2, "is of version 3.0; right would be");
    replaced("server", "</topology>", "", 2, "cannot be read by hwloc");
    replaced("server", "", "", 1, "has 2 network adapters (mlx5_0, mlx5_1), but node.adapters is 1");
    replaced("server", "", "", 3, "give node.adapters = 2");
    replaced("server", "type=\"PU\" os_index=\"3\"", "type=\"PU\" os_index=\"3000000000\"", 2,
             "an object's os_index is none below 1000000");
    replaced("server", "type=\"PU\" os_index=\"3\"", "type=\"PU\" os_index=\"-3\"", 2,
             "an object's os_index is none below 1000000");
    /* hwloc 2.9 ends at this by an assertion: its own process does */
    replaced("four-gpus", "complete_nodeset=\"0x00000001\" gp_index=\"13\"",
             "complete_nodeset=\",x00000001\" gp_index=\"13\"", 4,
             "makes hwloc fail (Aborted): it is damaged");
    refused("<?xml version=\"1.0\"?><!DOCTYPE topology SYSTEM \"hwloc2.dtd\"><topology version=\"2.0\">"
            "<object type=\"Machine\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
            "allowed_cpuset=\"0x1\""
            " nodeset=\"0x1\" complete_nodeset=\"0x1\" allowed_nodeset=\"0x1\" gp_index=\"1\">"
            "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\""
            " complete_nodeset=\"0x1\" gp_index=\"2\" local_memory=\"1024\"/>"
            "<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\""
            " complete_nodeset=\"0x1\" gp_index=\"3\"/></object></topology>",
            1, "has no cores");
}

static void test_no_such_device(void **state)
{
    size_t bytes;
    char *said, *text = file_text("server", &bytes);
    static const char *const none[] = {"mlx5_7"};
    struct node_structure s;
    struct node_hwloc h = {.adapters = 1, .devices = none};
    assert_false(node_structure_hwloc(&s, &h, text, bytes, &said));
    assert_non_null(strstr(said, "has no PCI device with the OS device \"mlx5_7\""));
    free(said);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_server), cmocka_unit_test(test_four_gpus),
                                       cmocka_unit_test(test_laptop), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_no_such_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
