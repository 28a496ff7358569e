# generate.awk - makes the wrappers: awk -v what=WHAT -f generate.awk functions.def HEADER
#
# HEADER is mpi.h after the preprocessor. WHAT: list.h (the numbers of functions), table.inc (their words as roles, and the
# fields that a trace shows of them), wrap.c and wrap_fortran.c. Functions are numbered in the order of the header.

FNR == 1 { file++ }
file == 1 {
    if ($0 ~ /^MPI_(FUNCTION|OTHER)\(/) {
        name = $0; sub(/^[A-Z_]*\(/, "", name); sub(/,.*/, "", name)
        sub(/^[^"]*"/, ""); sub(/".*/, "")
        words["MPI_" name] = $0
    }
    next
}
{ text = text " " $0 }

END {
    fields_set()
    declarations()
    if (what == "list.h") make_list()
    else if (what == "table.inc") make_table()
    else if (what == "wrap.c") wrappers()
    else if (what == "wrap_fortran.c") fortran()
}

# Which fields a word leaves in the trace, in the order in which record.c writes them.
function fields_set() {
    split("type bytes type buffer|bothtype bytes type buffer recvbytes recvtype recvbuffer|type1 bytes type buffer|" \
        "rtype recvbytes recvtype recvbuffer|vtype bytes_each[] type buffer|rvtype recvbytes_each[] recvtype recvbuffer|" \
        "wtypes bytes_each[] buffer|rwtypes recvbytes_each[] recvbuffer|ttype target_bytes target_type|dest dest|" \
        "source source|tag tag|rtag recvtag|comm comm|comm2 comm2|newcomm newcomm|inewcomm newcomm|parent newcomm|freecomm comm|" \
        "root root|op op|newop newop|freeop op|req request|rreq request|preq request|prreq request|ioreq request|" \
        "reqref request|reqval request|cancelreq request|freereq request|startreq requests[]|startreqs requests[]|" \
        "reqio requests[]|reqs requests[]|status from got_tag got|fstatus from got_tag got|wstatus done[]|" \
        "statuses done[]|iostatus got|flag flag|parts partitions|rparts partitions|part partition|lastpart partition_last|newmsg message|msg message|int value|lock value|assert value|amode value|whence value position|color value|splittype value|ints values[]|name name$|" \
        "wbase buffer|wsize win_bytes|wunit unit|newwin newwin|win win|freewin win|target target|tdisp target_offset|" \
        "group members[]|file file|newfile newfile position|info hints$|freefile file|offset offset|etype etype|ftype filetype", part, "|")
    for (i in part) {
        name = part[i]; sub(/ .*/, "", name)
        rest = part[i]; sub(/^[^ ]* /, "", rest)
        fields[name] = rest
    }
}

# Functions that are written by hand (start.c, pcontrol.c), or are not about communication at all.
function skipped(name) {
    return name ~ /^MPI_(Init|Init_thread|Finalize|Abort|Pcontrol)$/ || name ~ /^MPI_T_/ ||
        name ~ /(_c2f|_f2c|_c2f08|_f082c|_f082f|_f2f08)$/ || name ~ /_(FN|FN_NULL|NULL)$/ || name ~ /[A-Z]_[A-Z]*$/ ||
        name ~ /^MPI_(DUP_FN|COMM_DUP_FN|CONVERSION)/
}

function declarations(    statement, count, i, rest, name, depth, j, c) {
    gsub(/\[[ \t]*\]/, "[]", text)
    count = split(text, statement, ";")
    for (i = 1; i <= count; i++) {
        if (statement[i] ~ /typedef/ || !match(statement[i], /(int|double|MPI_Aint)[ \t]+MPI_[A-Z][A-Za-z0-9_]*[ \t]*\(/))
            continue
        rest = substr(statement[i], RSTART)
        name = rest; sub(/[ \t]*\(.*/, "", name)
        result = name; sub(/[ \t].*/, "", result); sub(/.*[ \t]/, "", name)
        if (skipped(name) || name in parameters || rest ~ /\.\.\./)
            continue
        sub(/^[^(]*\(/, "", rest)
        for (j = depth = 1; j <= length(rest); j++) {
            c = substr(rest, j, 1)
            depth += c == "(" ? 1 : c == ")" ? -1 : 0
            if (depth == 0)
                break
        }
        rest = substr(rest, 1, j - 1); gsub(/[ \t]+/, " ", rest); sub(/^ /, "", rest); sub(/ $/, "", rest)
        names[++functions] = name
        results[name] = result
        parameters[name] = rest
        known_words(name)
    }
}

function known_words(name,    base) {
    base = name
    if (!(base in words))
        sub(/_c$/, "", base)
    said[name] = base in words ? words[base] : ""
}

# The arguments of a function: type[i], argument[i]; returns how many.
function arguments(name,    part, count, i, one) {
    if (parameters[name] == "void" || parameters[name] == "")
        return 0
    count = split(parameters[name], part, ",")
    for (i = 1; i <= count; i++) {
        one = part[i]; gsub(/^ | $/, "", one)
        argument[i] = one; sub(/(\[[0-9]*\])+$/, "", argument[i]); sub(/.*[ *]/, "", argument[i])
        type[i] = one
    }
    return count
}

# The words of a function's arguments, of what they mean here.
function roles(name, count,    i, one, has_requests) {
    split("", role)
    split(said[name], one, " ")
    has_requests = said[name] ~ /(^| )(reqio|reqs)( |$)/
    for (i = 1; i <= count; i++) {
        role[i] = one[i] == "" ? "-" : one[i]
        if (role[i] == "status" && has_requests) role[i] = "wstatus"
        if (role[i] == "status" && one[1] == "file") role[i] = "iostatus"
    }
}

function bare(word) { sub(/^[!^]/, "", word); return word }

function number_of(name) { sub(/^MPI_/, "TRC_", name); return name }

function make_list(    i) {
    print "enum trc_number {"
    for (i = 1; i <= functions; i++)
        print "    " number_of(names[i]) ","
    print "    TRC_FUNCTIONS\n};"
    print "enum trc_way { /* wrappers of polls: in C, in Fortran, in mpi_f08 */"
    for (i = 1; i <= functions; i++)
        if (is_light(names[i]))
            print "    " way_of(names[i], "C") ", " way_of(names[i], "F") ", " way_of(names[i], "F08") ","
    print "    TRC_WAYS\n};"
}

# Polls that may be counted without being timed (light.h): they have a flag, or a number, that says whether something was found.
function is_light(name) { return name ~ /^MPI_(Test(any|all|some)?|Iprobe|Improbe|Request_get_status)$/ }

function way_of(name, binding) { sub(/^MPI/, "TRC_" binding, name); return name }

# How the Fortran binding has an argument: i integer, a address, o offset, c count, p anything else.
function fortran_class(one) {
    if (one ~ /[*\[]/) return "p"
    if (one ~ /MPI_Aint/) return "a"
    if (one ~ /MPI_Offset/) return "o"
    if (one ~ /MPI_Count/) return "c"
    return "i"
}

function make_table(    i, j, count, schema, flags, line, classes, before) {
    for (i = 1; i <= functions; i++) {
        count = arguments(names[i]); roles(names[i], count)
        schema = ""; line = ""; classes = ""; flags = "0"
        comm = root = req = -1
        for (j = 1; j <= count; j++) {
            word = bare(role[j])
            if (word in fields) schema = schema " " fields[word]
            line = line (line ? ", " : "") "TRC_R_" (word == "-" ? "none" : word)
            if (role[j] ~ /^\^/) line = line " | TRC_ROOT_ONLY"
            if (role[j] ~ /^!/) line = line " | TRC_NOT_ROOT"
            if (word ~ /^(ns|rns)$/ && type[j] ~ /MPI_Count/) line = line " | TRC_LARGE"
            classes = classes fortran_class(type[j])
            if (word == "comm" || word == "freecomm") comm = j - 1
            if (word == "root") root = j - 1
            if (word ~ /^(status|fstatus|wstatus|statuses|iostatus|reqio|reqs|startreq|startreqs|freereq|cancelreq|free.*|msg)$/)
                flags = "TRC_BEFORE"
        }
        if (said[names[i]] ~ /(^| )[!^]?(rtype|rvtype|rwtypes)( |$)/) flags = flags " | TRC_TWO_SIDES"
        if (said[names[i]] ~ /(^| )op( |$)/) flags = flags " | TRC_REDUCES"
        if (names[i] ~ /^MPI_Test(all|any|some)?$/) flags = flags " | TRC_TESTS"
        if (names[i] ~ /eighbor/) flags = flags " | TRC_NEIGHBOURS"
        if (names[i] ~ /^MPI_(Barrier|Bcast|Gatherv?|Scatterv?|All[a-z]*v?w?|Reduce(_scatter)?(_block)?|Scan|Exscan)(_c)?$/)
            flags = flags " | TRC_COLLECTIVE"
        printf "[%s] = {\"%s\", \"%s%s\", \"%s\", %s, %d, %d, %d, {%s}},\n", number_of(names[i]), names[i], names[i], schema,
            classes, flags, count, comm, root, line ? line : "0"
    }
}

function needs_before(count,    j) {
    for (j = 1; j <= count; j++)
        if (bare(role[j]) ~ /^(status|fstatus|wstatus|statuses|iostatus|reqio|reqs|startreq|startreqs|freereq|cancelreq|free.*|msg)$/)
            return 1
    return 0
}

# It makes further worlds, or connects them: the tracer has more to do (spawn.c, connect.c).
function is_dynamic(name) { return name ~ /^MPI_Comm_(spawn(_multiple)?|accept|connect)$/ }

# A poll as it was asked last: `one` is an argument of the wrapper, `word` what it means; in Fortran it comes by reference.
function light_same(j, one, word, refers,    same) {
    same = "poll_->asked.match[" j - 1 "] == (intptr_t)" one
    if (!refers && type[j] ~ /^int [a-z_]*$/)
        same = "(int)" same
    if (word == "reqio")
        same = same light_single(refers, one)
    if (word == "reqs")
        light_list = one
    if (refers && word ~ /^(nreq|source|tag|comm|reqval)$/)
        same = same " && *(const MPI_Fint *)" one " == poll_->asked.value[" light_values++ "]"
    return same
}

# Several requests, or one: this needs fewer registers, none of them to be saved.
function light_many() {
    return " &&\n        trc_same_handles(poll_->asked.handles, (const char *)" light_list ", poll_->asked.bytes)"
}

function light_single(refers, one) {
    return " &&\n        poll_->asked.handle." (refers ? "fortran == *(const MPI_Fint *)" : "c == *(const MPI_Request *)") one
}

# A wrapper that makes the poll without timing it if it is the `same`; else it is passed on.
function light_one(result, name, prefix, list, same, way, call, onward) {
    printf "%s %s %s%s(%s)\n{\n", prefix == "" ? "TRC_EXPORT" : "static __attribute__((noinline))", result, prefix, name, list
    print "    struct trc_poll *poll_ = trc_light." (prefix == "" ? "poll" : "list") "[" way "];"
    print "    if (__builtin_expect(poll_ &&\n        " same ", 1)) {\n        trc_light_begin(poll_);"
    if (result == "int")
        print "        return trc_light_end(poll_, " call ");\n    }\n    return " onward ";\n}\n"
    else
        print "        " call ";\n        trc_light_end(poll_, trc_fortran_result(ierror));\n    } else {\n        " onward ";\n    }\n}\n"
}

function wrappers(    i, j, count, call, original, given, same, light, light_call, one, word) {
    print "#include \"light.h\"\n"
    for (i = 1; i <= functions; i++) {
        count = arguments(names[i]); roles(names[i], count)
        call = original = given = same = light_call = light_list = ""
        for (j = 1; j <= count; j++) {
            word = bare(role[j])
            one = argument[j]
            original = original (j > 1 ? ", " : "") one
            light_call = light_call (j > 1 ? ", " : "") (word ~ /status/ ? "(MPI_Status *)poll_->asked.status" : one)
            if (word ~ /status/) one = "(MPI_Status *)a_[" j - 1 "]"
            call = call (j > 1 ? ", " : "") one
            given = given (j > 1 ? ", " : "") "(intptr_t)" argument[j]
            same = same (j > 1 ? " &&\n        " : "") light_same(j, argument[j], word, 0)
        }
        light = is_light(names[i])
        if (light) {
            print "extern __attribute__((noplt)) int P" names[i] "(" parameters[names[i]] ");"
            printf "static __attribute__((noinline)) int timed_%s(%s)\n{\n", names[i], parameters[names[i]]
            print "    intptr_t a_[] = {" given "}, given_[] = {" given "};"
            print "    struct trc_poll *poll_ = trc_light_other(" way_of(names[i], "C") ", a_);"
            print "    if (poll_) {\n        trc_light_begin(poll_);"
            print "        return trc_light_end(poll_, P" names[i] "(" light_call "));\n    }"
        } else
            printf "TRC_EXPORT %s %s(%s)\n{\n", results[names[i]], names[i], parameters[names[i]]
        print "    struct trc_thread *t_ = trc_enter(" number_of(names[i]) ");"
        print "    if (!t_)\n        return " (names[i] == "MPI_Session_init" ? "trc_" : "P") names[i] "(" original ");"
        if (!light) print "    intptr_t a_[] = {" (given ? given : "0") "};"
        if (needs_before(count)) print "    trc_before(t_, " number_of(names[i]) ", a_);"
        print "    " results[names[i]] " result_ = " (is_dynamic(names[i]) ? "trc_" : "P") names[i] "(" call ");"
        print "    trc_after(t_, " number_of(names[i]) ", a_, " (results[names[i]] == "int" ? "result_" : "0") ");"
        if (light) print "    if (t_->light)\n        trc_light_learn(t_, " way_of(names[i], "C") ", given_);"
        print "    return result_;\n}\n"
        if (light && light_list != "")
            light_one("int", names[i], "listed_", parameters[names[i]], same light_many(), way_of(names[i], "C"),
                "P" names[i] "(" light_call ")", "timed_" names[i] "(" original ")")
        if (light)
            light_one("int", names[i], "", parameters[names[i]], same (light_list == "" ? "" : light_single(0, light_list)),
                way_of(names[i], "C"), "P" names[i] "(" light_call ")", (light_list == "" ? "timed_" : "listed_") names[i] "(" original ")")
    }
}

# Functions whose Fortran binding has other arguments than the C one, or is a function.
function fortran_differs(name) {
    return results[name] != "int" || name ~ /^MPI_(Sizeof|Address|Attr_.*|Keyval_create|Errhandler_.*|Info_get)$/ ||
        name ~ /_c$/ || name ~ /(_keyval|_errhandler|_attr)$/ || name ~ /^MPI_(Get_address|Aint_.*|Register_datarep|Grequest_start)$/ ||
        name ~ /^MPI_(Buffer_detach|Error_string|Status_set.*|Test_cancelled|Alloc_mem|Free_mem|Win_shared_query|Session_.*)$/
}

# What is behind mpi_x_f08_ is pmpi_x_f08_ in Open MPI and pmpir_x_f08_ in MPICH, whose calls with buffers (mpi_x_f08ts_)
# go through MPI_x.
function fortran_one(name, real, profiled, count, binding,    j, list, call, lengths, n, light, same, light_call, given, original) {
    n = light_values = 0
    light_list = ""
    light = is_light(name)
    for (j = 1; j <= count; j++) {
        list = list "void *p" j - 1 ", "
        call = call "p[" j - 1 "], "
        light_call = light_call (bare(role[j]) ~ /status/ ? "poll_->asked.status" : "p" j - 1) ", "
        same = same (j > 1 ? " &&\n        " : "") light_same(j, "p" j - 1, bare(role[j]), 1)
        if (type[j] ~ /(^| )char ?\*|(^| )char [a-z_]*\[/) {
            lengths = lengths ", size_t l" ++n
            given = n == 1 ? ", l1" : given ", l" n
        }
    }
    if (n == 0) given = ""
    original = call
    gsub(/p\[/, "p", original); gsub(/\]/, "", original)
    printf "extern __attribute__((weak%s)) void %s(%svoid *ierror%s);\n", light ? ", noplt" : "", profiled, list, lengths
    printf "%s void %s(%svoid *ierror%s)\n{\n", light ? "static __attribute__((noinline))" : "TRC_EXPORT", (light ? "timed_" : "") real, list, lengths
    print "    intptr_t a[TRC_ARGUMENTS];"
    printf "    void *p[] = {"
    for (j = 1; j <= count; j++) printf "p%d, ", j - 1
    print (n ? "(void *)l1};" : "NULL};")
    if (light) {
        print "    struct trc_poll *poll_ = trc_light_other(" way_of(name, binding) ", (intptr_t *)p);"
        print "    if (poll_) {\n        trc_light_begin(poll_);\n        " profiled "(" light_call "ierror);"
        print "        trc_light_end(poll_, trc_fortran_result(ierror));\n        return;\n    }"
    }
    print "    struct trc_thread *t = trc_fortran_enter(" number_of(name) ", p, a);"
    dynamic = tolower(name); sub(/^mpi_/, "", dynamic)
    if (is_dynamic(name))
        print "    if (t)\n        trc_fortran_" dynamic "(p" given ", ierror);\n    else\n    ";
    print "    " profiled "(" call "ierror" given ");"
    print "    if (t)\n        trc_fortran_leave(t, " number_of(name) ", p, a, ierror);"
    if (light) {
        gsub(/p[0-9]+/, "(intptr_t)&", original); sub(/, $/, "", original)
        print "    const intptr_t given[] = {" original "};"
        print "    if (t && t->light)\n        trc_light_learn(t, " way_of(name, binding) ", given);"
    }
    print "}\n"
    if (!light) return
    gsub(/\(intptr_t\)/, "", original)
    list = list "void *ierror"
    light_call = profiled "(" light_call "ierror)"
    if (light_list != "")
        light_one("void", real, "listed_", list, same light_many(), way_of(name, binding), light_call, "timed_" real "(" original ", ierror)")
    light_one("void", real, "", list, same (light_list == "" ? "" : light_single(1, light_list)), way_of(name, binding), light_call,
        (light_list == "" ? "timed_" : "listed_") real "(" original ", ierror)")
}

function fortran(    i, count, lower) {
    print "#include \"light.h\"\n"
    mpich = text ~ /MPIR_F08_/
    for (i = 1; i <= functions; i++) {
        if (fortran_differs(names[i]))
            continue
        count = arguments(names[i]); roles(names[i], count)
        lower = tolower(names[i])
        fortran_one(names[i], lower "_", "p" lower "_", count, "F")
        profiled = lower "_f08_"
        sub(/^mpi/, mpich ? "pmpir" : "pmpi", profiled)
        fortran_one(names[i], lower "_f08_", profiled, count, "F08")
    }
}
