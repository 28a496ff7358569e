# paraver.awk - is it a Paraver trace? By the trace format's documentation (BSC, "Paraver: Trace format description").
#
# Prints what is wrong, and ends with status 1. Checked: the header and its lists, the number and range of each record's fields, times
# within the trace and in order, states of a thread that do not overlap, events that end what they began, pairs of tasks in communications.

function wrong(why) { if (++errors <= 10) print FILENAME ":" FNR ": " why ": " $0 }
function thread(i) { # the fields i.. are CPU:APPLICATION:TASK:THREAD
    if ($i < 1 || $i > cpus) wrong("a processor that is not there")
    if ($(i + 1) < 1 || $(i + 1) > applications) wrong("an application that is not there")
    else if ($(i + 2) < 1 || $(i + 2) > tasks[$(i + 1)]) wrong("a task that is not there")
    else if ($(i + 3) < 1 || $(i + 3) > threads[$(i + 1), $(i + 2)]) wrong("a thread that is not there")
    return $i
}
function in_order(time) { if (time + 0 < last + 0) wrong("out of order"); last = time; if (time + 0 > end + 0) wrong("behind the end") }

BEGIN { FS = ":" }
FNR == 1 {
    if ($0 !~ /^#Paraver \([0-9][0-9]\/[0-9][0-9]\/[0-9][0-9][0-9][0-9] at [0-9][0-9]:[0-9][0-9]\):[0-9]+_ns:1\([0-9]+\):[0-9]+(:[0-9]+\(([0-9]+:1,)*[0-9]+:1\))*$/)
        wrong("no header")
    head = $0
    sub(/^#Paraver \([^)]*\):/, "", head)
    end = head + 0
    sub(/^[0-9]+_ns:1\(/, "", head)
    cpus = head + 0
    sub(/^[0-9]+\):/, "", head)
    applications = head + 0
    sub(/^[0-9]+/, "", head)
    for (a = 1; a <= applications; a++) {
        sub(/^:/, "", head)
        tasks[a] = head + 0
        sub(/^[0-9]+\(/, "", head)
        for (t = 1; t <= tasks[a]; t++) {
            threads[a, t] = head + 0
            sum += head
            sub(/^[0-9]+:1[,)]/, "", head)
        }
    }
    if (sum != cpus) wrong("as many processors as threads")
    next
}
/^#/ { next }
$0 !~ /^[123](:[0-9]+)+$/ { wrong("no record"); next }
$1 == 1 {
    if (NF != 8) wrong("a state has 8 fields")
    id = thread(2)
    in_order($6)
    if ($7 + 0 <= $6 + 0) wrong("a state without length")
    if ($7 + 0 > end + 0) wrong("behind the end")
    if ($6 + 0 < state[id] + 0) wrong("states that overlap")
    state[id] = $7
    states++
}
$1 == 2 {
    if (NF != 8) wrong("an event of one type has 8 fields")
    id = thread(2)
    in_order($6)
    if ($8 == 0 && !inside[id, $7]) wrong("an end of what has not begun")
    if ($8 > 0 && inside[id, $7]) wrong("a call inside a call")
    inside[id, $7] = $8
    events++
}
$1 == 3 {
    if (NF != 15) wrong("a communication has 15 fields")
    thread(2)
    in_order($6)
    thread(8)
    if ($12 + 0 < $6 + 0 || $13 + 0 < $7 + 0) wrong("received before it was sent")
    if ($12 + 0 > end + 0) wrong("behind the end")
    communications++
}
END {
    for (i in inside) if (inside[i]) { print "a call that does not end"; errors++ }
    print states + 0, events + 0, communications + 0
    exit errors > 0
}
