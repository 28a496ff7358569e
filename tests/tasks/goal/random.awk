# A random schedule that cannot get stuck: the operations of every task follow one order of all messages. awk -v seed=N
BEGIN {
    srand(seed); n = 1 + int(rand() * 12); cpus = 1 + int(rand() * 3); split("1 2 100 65535 65536 1000000", size, " ")
    for (m = 0; m < 60; m++) {
        a = int(rand() * n); b = int(rand() * n); bytes = size[1 + int(rand() * 6)]
        if (a == b) { # a long message to oneself waits for a receive that was there before
            add(a, "recv " bytes "b from " a " tag " m place(1), 0.2)
            add(a, "send " bytes "b to " a " tag " m place(1), 1)
            continue
        }
        add(a, "send " bytes "b to " b " tag " m place(1), 0.2)
        if (rand() < 0.4) add(b, "calc " int(rand() * 100000) place(0), 0.2)
        add(b, "recv " bytes "b from " (rand() < 0.3 ? -1 : a) " tag " m place(1), 0.2)
    }
    print "num_ranks " n
    for (i = 0; i < n; i++) print "rank " i " {\n" text[i] "}"
}
function place(message) { return (cpus > 1 ? " cpu " int(rand() * cpus) : "") (message && cpus > 2 ? " nic " int(rand() * 2) : "") }
function add(task, what, begun) {
    count[task]++; text[task] = text[task] "l" count[task] ": " what "\n"
    if (count[task] > 1 && rand() < (begun == 1 ? 1 : 0.8))
        text[task] = text[task] "l" count[task] " " (rand() < begun ? "i" : "") "requires l" (count[task] - 1) "\n"
}
