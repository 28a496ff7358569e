/* schema.h - what the two files that write the schema have in common. Inside kernel/ only. */
#pragma once

#include "kernel/config/json.h"
#include "kernel/config/registry.h"

struct ker_schema {
    struct ker_json json;
    const struct ker_registry *registry;
    ker_config_tables tables;
};

/* rules.c: "allOf", for the groups below `scope`: "" or "jobs[].". */
void ker_schema_rules(struct ker_schema *, const char *scope);
