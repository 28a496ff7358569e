# scaling.awk - the model of docs/scaling.md: awk -f bench/scaling.awk
#
# One epoch of P ranks, 32 on a host, lasts as long as the records of the rank that has most, and then: copying batches, bundles for other
# hosts and their messages, agreeing on the host and between hosts, and what is sent over the wire. One rank would need its records alone.

function most(ranks) { return ranks <= 32 ? 2.07 : ranks <= 128 ? 2.59 : 3.25 } # of this many normal draws, in deviations

# records: per rank and epoch; cost: of one, ns; spread: deviation of the records between ranks, as a share; bytes: sent per rank
# and epoch; neighbours; latency in ns, rate in bytes per ns.
function share(ranks, records, cost, spread, bytes, neighbours, latency, rate,    hosts, far, fits, work, time) {
    hosts = ranks / 32
    far = hosts <= 1 ? 0 : neighbours < ranks - 1 ? 2 / 3 : 1 - 1 / hosts
    work = records * cost
    time = work * (1 + most(ranks) * spread)
    time += 0.9 * bytes                                        # copied out, sorted in
    time += 3000                                               # on the host: two stages
    if (hosts > 1) {
        fits = bytes * far <= 262144                            # in bundles, else each batch is a message
        time += (fits ? 400 : 1250) * neighbours * far          # put there and found, or sent and taken
        time += 1200 * (1 + (neighbours < 31 ? 0 : hosts / 32)) # bundles that a rank bears, sent and taken
        time += 1500 + (fits ? 0.2 * bytes * far : 0)           # a stage more; bundles copied together, and out of them
        time += (latency + 1000) * log(hosts) / log(2) + latency + 32 * bytes * far / rate
    }
    return work / time
}

function row(name, ranks, records, cost, spread, bytes, neighbours,    i) {
    printf "| %s | %d | %d | %d | %d |", name, ranks, records, bytes / 1000, neighbours
    for (i = 1; i <= 5; i++)
        printf " %.0f %% |", 100 * share(ranks, records, i == 5 ? cost / 2 : cost, spread, bytes, neighbours, latency[i], rate[i])
    printf "\n"
}

# A torus of this many nodes per rank: measured with 1,024 on 32 ranks.
function torus(name, ranks, records, cost, spread, bytes,    nodes) {
    nodes = 1048576 / ranks / 1024
    row(name, ranks, records * nodes, cost, spread / sqrt(nodes), bytes * nodes ^ (2 / 3), 15)
}

BEGIN {
    split("1500 6000 1500 6000 1500", latency)
    split("25 25 6.25 6.25 25", rate)
    print "| system | ranks | records | KB sent | neighbours | 1.5 us, 25 GB/s | 6 us | 6.25 GB/s | both | records half as dear |"
    print "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |"
    split("32 128 1024", count)
    for (i = 1; i <= 3; i++)
        torus("torus, dense", count[i], 9423, 150, 0.0122, 73860)
    for (i = 1; i <= 3; i++)
        torus("torus, sparse", count[i], 713, 300, 0.031, 6334)
    for (i = 1; i <= 2; i++)
        row("GUPS 65,536", count[i], 10157776 / count[i], 200, 0.0012 * sqrt(count[i] / 16), 1.05e8 / count[i], count[i] - 1)
    row("GUPS 65,536", 512, 10157776 / 512, 200, 0.0012 * sqrt(512 / 16), 1.05e8 / 512, 511)
    row("GUPS 65,536", 1024, 10157776 * 60 / 230 / 1024, 200, 0.0012 * sqrt(64 * 230 / 60), 1.05e8 * 60 / 230 / 1024, 257)
}
