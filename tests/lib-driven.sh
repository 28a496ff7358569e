# lib-driven.sh - for scripts that run message-driven programs: sourced behind lib-script.sh or lib-runs.sh. Results go to $t/o by program_run, which
# the script defines.

column() { # NAME [FILE]
    awk -F, -v name="$1" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) at = i; next} {printf "%s ", $at}' "$t/o/${2:-tasks}.csv"
}
is() { # TIMES NAME ARGUMENTS...: the program, from standard input, ends at these times
    local got
    cat >"$t/program"
    rm -rf "$t/o"
    program_run jobs[0].trace="$t/program" "${@:3}"
    got=$(column finish_ps)
    verdict "$([ "$got" = "$1 " ] || echo "finish times are $got")" "$2"
}

# A block that sends one message from the middle of it.
one='driven 1
tasks 2
entry work
object a on 0
block begin entry work time 10us
send 1000B to b.more at 4us
object b on 1
block more entry work time 3us'
# Two messages, of unlike priority, come while a block runs.
two='driven 1
tasks 2
entry work priority 2
entry urgent priority -1
object a on 0
block begin entry work time 10us
send 1000B to b.more at 4us
send 1000B to b.rush at 9us
block end entry work time 5us after begin
object b on 1
block long entry work time 20us
block more entry work time 3us
block rush entry urgent time 2us
send 8B to a.end at 2us'
