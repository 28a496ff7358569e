/* machine.h - the links of a machine without links.csv. Inside tools/marsreport/. */
#ifndef MARSREPORT_MACHINE_H
#define MARSREPORT_MACHINE_H

#include "tools/marsreport/scene.h"

typedef void rep_machine_link(void *context, const struct rep_link *, const char *class,
                              const char *from_name);
/* Calls `each` for every direction of every link of the machine that system.cfg and started.json are of, in
 * the order of links.csv, their utilisation 0; from_name: NULL where there are no names. False: it is not
 * known; a note says why where there is more to say than that a file is not there. measured_from: run.warmup.
 */
bool rep_machine_each(struct rep_folder *, rep_machine_link *each, void *context, ker_time *measured_from);

#endif
