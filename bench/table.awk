# table.awk - bench/run.sh's table: awk -f table.awk PEERS GOALS PAIRS RUNS

function trim(s) { gsub(/^ +| +$/, "", s); return s }
function median(name, column,    n, i, j, v, t) { # insertion sort: there are few
    n = runs[name]
    for (i = 1; i <= n; i++) {
        v[i] = run[name, i, column]
        for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
function figure(name, what) {
    if (what == "per_cpu_s") return median(name, "packet_hops") / cpu(name)
    if (what == "events_per_cpu_s") return median(name, "events") / cpu(name)
    if (what == "cpu_ratio") return peer_cpu[name] / cpu(name)
    if (what == "memory_ratio") return peer_memory[name] * 1e6 / median(name, "memory")
    return median(name, what)
}
function cpu(name,    s) { s = median(name, "cpu_s"); return s > 0 ? s : 0.001 }
function memory(bytes) {
    if (bytes <= 0) return ""
    return bytes < 1e9 ? sprintf("%.1f MB", bytes / 1e6) : sprintf("%.2f GB", bytes / 1e9)
}
function seconds(s) { return sprintf(s < 10 ? "%.3f" : "%.1f", s) }
function verdict(text, reached) { printf "| %s | %s |\n", text, reached ? "reached" : "**missed**" }
function holds(value, relation, bound) {
    if (relation == ">=") return value >= bound
    if (relation == "<=") return value <= bound
    return value >= 1 - bound && value <= 1 + bound
}
function number(x) { return x >= 1e4 ? sprintf("%.3g million", x / 1e6) : sprintf("%.3g", x) }

FNR == 1 { file++ }
/^#/ || /^ *$/ { next }
file == 1 { split($0, f, ","); peer[f[1]] = f[2]; peer_cpu[f[1]] = f[3]; peer_memory[f[1]] = f[4]; next }
file == 2 { goals++; goal[goals] = $0; next }
file == 3 { pairs++; pair[pairs] = $0; next }
file == 4 && header == "" { header = $0; columns = split($0, column, ","); next }
file == 4 {
    split($0, f, ",")
    if (!runs[f[1]]++) order[++count] = f[1]
    for (i = 2; i <= columns; i++) run[f[1], runs[f[1]], column[i]] = f[i]
}
END {
    print "| workload | ranks | packet-hops | CPU s | packet-hops / CPU s | wall s | memory | peer | its CPU s | ratio | its memory | ratio |"
    print "| --- | --: | --: | --: | --: | --: | --: | --- | --: | --: | --: | --: |"
    for (i = 1; i <= count; i++) {
        n = order[i]
        hops = median(n, "packet_hops")
        printf "| %s | %d | %s | %s | %s | %s | %s |", n, median(n, "ranks"), hops ? sprintf("%d", hops) : "", seconds(median(n, "cpu_s")),
               hops ? sprintf("%.2f M", hops / cpu(n) / 1e6) : "", seconds(median(n, "wall_s")), memory(median(n, "memory"))
        if (n in peer)
            printf " %s | %s | %.1f | %s | %.1f |\n", peer[n], peer_cpu[n], figure(n, "cpu_ratio"), memory(peer_memory[n] * 1e6), figure(n, "memory_ratio")
        else
            print " | | | | |"
    }
    print "\n| goal | |\n| --- | --- |"
    for (i = 1; i <= count; i++) {
        n = order[i]
        if (n in peer) {
            verdict(sprintf("%s: %.1f times less CPU time than %s, goal 25", n, figure(n, "cpu_ratio"), peer[n]), figure(n, "cpu_ratio") >= 25)
            verdict(sprintf("%s: %.1f times less memory than %s, goal 20", n, figure(n, "memory_ratio"), peer[n]), figure(n, "memory_ratio") >= 20)
        }
    }
    for (i = 1; i <= goals; i++) {
        split(goal[i], f, "|")
        n = trim(f[1]); what = trim(f[2]); relation = trim(f[3]); bound = trim(f[4]) + 0
        if (runs[n])
            verdict(sprintf("%s: %s %s, goal %s %s", n, what, what == "memory" ? memory(figure(n, what)) : number(figure(n, what)), relation,
                            what == "memory" ? memory(bound) : number(bound)), holds(figure(n, what), relation, bound))
    }
    for (i = 1; i <= pairs; i++) {
        split(pair[i], f, "|")
        n = trim(f[1]); what = trim(f[2]); other = trim(f[3]); relation = trim(f[4]); bound = trim(f[5]) + 0
        if (runs[n] && runs[other]) {
            q = figure(n, what) / figure(other, what)
            verdict(sprintf("%s of %s / %s: %.2f, goal %s", what, n, other, q, relation == "~" ? "within 30 % of 1" : relation " " bound),
                    holds(q, relation, bound))
        }
    }
}
