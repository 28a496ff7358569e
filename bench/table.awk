# table.awk - bench/run.sh's table: awk -f table.awk GOALS PAIRS INSTRUCTIONS RUNS

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

FNR == 1 { file = FILENAME ~ /goals$/ ? 1 : FILENAME ~ /pairs$/ ? 2 : FILENAME ~ /instructions/ ? 3 : 4 } # one may be empty
/^#/ || /^ *$/ { next }
file == 1 { goals++; goal[goals] = $0; next }
file == 2 { pairs++; pair[pairs] = $0; next }
file == 3 { split($0, f, ","); instructions[f[1]] = f[2]; next }
file == 4 && header == "" { header = $0; columns = split($0, column, ","); next }
file == 4 {
    split($0, f, ",")
    if (!runs[f[1]]++) order[++count] = f[1]
    for (i = 2; i <= columns; i++) run[f[1], runs[f[1]], column[i]] = f[i]
}
END {
    print "| workload | ranks | packet-hops | CPU s | packet-hops / CPU s | instructions / packet-hop | wall s | memory |"
    print "| --- | --: | --: | --: | --: | --: | --: | --: |"
    for (i = 1; i <= count; i++) {
        n = order[i]
        hops = median(n, "packet_hops")
        printf "| %s | %d | %s | %s | %s | %s | %s | %s |\n", n, median(n, "ranks"), hops ? sprintf("%d", hops) : "", seconds(median(n, "cpu_s")),
               hops ? sprintf("%.2f M", hops / cpu(n) / 1e6) : "", instructions[n] ? sprintf("%.0f", instructions[n]) : "",
               seconds(median(n, "wall_s")), memory(median(n, "memory"))
    }
    print "\n| goal | |\n| --- | --- |"
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
