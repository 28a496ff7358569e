# generate.awk - makes the wrappers: awk -v what=WHAT -f generate.awk mpi.table HEADER
#
# HEADER is mpi.h after the preprocessor. WHAT: list.h (the numbers of functions), table.inc (their words as roles, and the
# fields that a trace shows of them), wrap.c and wrap_fortran.c. Functions are numbered in the order of the header.

FNR == 1 { file++ }
file == 1 {
    if ($0 !~ /^#/ && NF > 0) {
        name = $1; $1 = ""; sub(/^ */, "")
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
        "statuses done[]|iostatus got|flag flag|parts partitions|rparts partitions|part partition|lastpart partition_last|newmsg message|msg message|int value|lock value|assert value|amode value|whence value|color value|splittype value|ints values[]|name name$|" \
        "wbase buffer|wsize win_bytes|wunit unit|newwin newwin|win win|freewin win|target target|tdisp target_offset|" \
        "group members[]|file file|newfile newfile|freefile file|offset offset|etype etype|ftype filetype", part, "|")
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
}

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

function wrappers(    i, j, count, call, array, word, light) {
    print "#include \"trc.h\"\n"
    for (i = 1; i <= functions; i++) {
        count = arguments(names[i]); roles(names[i], count)
        call = ""; array = ""; original = ""
        for (j = 1; j <= count; j++) {
            word = bare(role[j])
            one = argument[j]
            original = original (j > 1 ? ", " : "") one
            if (word ~ /status/) one = "(MPI_Status *)a_[" j - 1 "]"
            call = call (j > 1 ? ", " : "") one
            array = array (j > 1 ? ", " : "") "(intptr_t)" argument[j]
        }
        printf "TRC_EXPORT %s %s(%s)\n{\n", results[names[i]], names[i], parameters[names[i]]
        light = names[i] ~ /^MPI_Test(any|all|some)?$/
        if (light) {
            print "    intptr_t a_[] = {" array "};"
            print "    struct trc_thread *t_ = trc_me;"
            print "    if (t_ && t_->unread && trc_light_begin(t_, " number_of(names[i]) ", a_)) {"
            print "        int result_ = P" names[i] "(" call ");"
            print "        trc_light_end(t_, " number_of(names[i]) ", a_, result_);"
            print "        return result_;\n    }"
            print "    t_ = trc_enter();"
        } else
            print "    struct trc_thread *t_ = trc_enter();"
        print "    if (!t_)\n        return P" names[i] "(" original ");"
        if (!light) print "    intptr_t a_[] = {" (array ? array : "0") "};"
        if (needs_before(count)) print "    trc_before(t_, " number_of(names[i]) ", a_);"
        print "    " results[names[i]] " result_ = " (is_dynamic(names[i]) ? "trc_" : "P") names[i] "(" call ");"
        print "    trc_after(t_, " number_of(names[i]) ", a_, " (results[names[i]] == "int" ? "result_" : "0") ");"
        print "    return result_;\n}\n"
    }
}

# Functions whose Fortran binding has other arguments than the C one, or is a function.
function fortran_differs(name) {
    return results[name] != "int" || name ~ /^MPI_(Sizeof|Address|Attr_.*|Keyval_create|Errhandler_.*|Info_get)$/ ||
        name ~ /_c$/ || name ~ /(_keyval|_errhandler|_attr)$/ || name ~ /^MPI_(Get_address|Aint_.*|Register_datarep|Grequest_start)$/ ||
        name ~ /^MPI_(Buffer_detach|Error_string|Status_set.*|Test_cancelled|Alloc_mem|Free_mem|Win_shared_query|Session_.*)$/
}

# What stands behind mpi_x_f08_ is pmpi_x_f08_ in Open MPI and pmpir_x_f08_ in MPICH, whose calls with buffers (mpi_x_f08ts_)
# go through MPI_x.
function fortran_one(name, real, profiled, count,    j, list, call, lengths, mangled, n) {
    n = 0
    for (j = 1; j <= count; j++) {
        list = list "void *p" j - 1 ", "
        call = call "p[" j - 1 "], "
        if (type[j] ~ /(^| )char ?\*|(^| )char [a-z_]*\[/) {
            lengths = lengths ", size_t l" ++n
            given = n == 1 ? ", l1" : given ", l" n
        }
    }
    if (n == 0) given = ""
    printf "extern __attribute__((weak)) void %s(%svoid *ierror%s);\n", profiled, list, lengths
    printf "TRC_EXPORT void %s(%svoid *ierror%s)\n{\n", real, list, lengths
    original = call
    gsub(/p\[/, "p", original); gsub(/\]/, "", original)
    print "    intptr_t a[TRC_ARGUMENTS];"
    printf "    void *p[] = {"
    for (j = 1; j <= count; j++) printf "p%d, ", j - 1
    print (n ? "(void *)l1};" : "NULL};")
    print "    struct trc_thread *t = trc_fortran_enter(" number_of(name) ", p, a);"
    dynamic = tolower(name); sub(/^mpi_/, "", dynamic)
    if (is_dynamic(name))
        print "    if (t)\n        trc_fortran_" dynamic "(p" given ", ierror);\n    else\n    ";
    print "    " profiled "(" call "ierror" given ");"
    print "    if (t)\n        trc_fortran_leave(t, " number_of(name) ", p, a);\n}\n"
}

function fortran(    i, count, lower) {
    print "#include \"trc.h\"\n"
    mpich = text ~ /MPIR_F08_/
    for (i = 1; i <= functions; i++) {
        if (fortran_differs(names[i]))
            continue
        count = arguments(names[i]); roles(names[i], count)
        lower = tolower(names[i])
        fortran_one(names[i], lower "_", "p" lower "_", count)
        profiled = lower "_f08_"
        sub(/^mpi/, mpich ? "pmpir" : "pmpi", profiled)
        fortran_one(names[i], lower "_f08_", profiled, count)
    }
}
