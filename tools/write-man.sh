#!/bin/sh
# Writes the manual pages from what the programs say of themselves: tools/write-man.sh MARSSIM [marstrace|marsconv|marsreport|marsmovie|marsnoise|marsbench|marssweep] >marssim.1
set -eu
marssim=${1:?usage: tools/write-man.sh MARSSIM [marstrace|marsconv|marsreport|marsmovie|marsnoise|marsbench|marssweep]}
version=$("$marssim" --version | sed 's/marssim //')

# Texts for troff: backslashes, hyphens that are to be copied, points and apostrophes at the beginning of a line.
roff='function roff(text) { gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); sub(/^[.'"'"']/, "\\\\\\&&", text); return text }'

# Programs that argp describes: what each is for, and its exit status.
about=""
case ${2:-} in
marsconv)
    about='convert, cut, sum up and check traces of MPI programs'
    statuses='0:it is done 1:\-\-check found something 2:a trace cannot be read, or written' ;;
marstrace)
    about='record the MPI calls of a program, for marssim to replay'
    statuses="0:it is done; of a program that is run: the program's own status 2:bad options, or a trace cannot be read, or written" ;;
marsreport)
    about='show the results of a run of marssim as a page'
    statuses='0:it is done 1:the page is written, but something in the folder could not be read 2:no page was written' ;;
marsmovie)
    about='make a film of the links of a simulated machine'
    statuses='0:it is done 1:it is done, but something in the folder could not be read 2:there is no film' ;;
marsbench)
    about='measure what messages cost at their ends, and fit a machine to it'
    statuses='0:it is done 2:bad options, nothing to measure with, or a file that cannot be read, fitted or written' ;;
marssweep)
    about='run a configuration of marssim at many points, with one table and one figure'
    statuses='0:it is done 1:some points failed, or have no results yet 2:bad input 130:interrupted; the same command continues' ;;
marsnoise)
    about='record how the operating system takes cores away from programs'
    statuses='0:it is done 2:a core cannot be used, or a file not written' ;;
esac
if [ -n "$about" ]; then
    printf '.TH %s 1 "" "marssim %s" "User Commands"\n.SH NAME\n%s \\- %s\n' "$(echo "$2" | tr a-z A-Z)" "$version" "$2" "$about"
    # As argp lays it out: usage, what it is for, options from column 2 with their text from column 29, then paragraphs.
    "$(dirname "$marssim")/$2" --help | awk "$roff"'
        /^Usage: / || /^  or: / {
            if (!usage++) print ".SH SYNOPSIS"; else print ".br"
            sub(/^(Usage:|  or:) */, ""); print ".B " roff($0); next
        }
        /^  (    )?-/ {
            if (!options++) print ".SH OPTIONS"
            text = substr($0, 30); option = substr($0, 1, 29)
            if (option !~ / $/) { option = $0; text = "" }
            sub(/^ +/, "", option); sub(/ +$/, "", option)
            print ".TP"; print ".B " roff(option)
            if (text != "") print roff(text)
            next
        }
        options && /^                             / { sub(/^ +/, ""); print roff($0); next }
        usage && !told && $0 != "" { told = 1; print ".SH DESCRIPTION" }
        /^Mandatory / { skip = 1 }
        $0 == "" { skip = 0; if (options) print ".PP"; next }
        skip { next }
        /^  / { sub(/^ +/, ""); print ".br"; print roff($0); next }
        { print roff($0) }'
    printf '.SH EXIT STATUS\n'
    printf '%s\n' "$statuses" | sed 's/ \([0-9]\):/\n\1:/g' | sed 's/^\([0-9]\):/.TP\n.B \1\n/'
    printf '.SH SEE ALSO\n.BR marssim (1)\n'
    exit 0
fi

cat <<END
.TH MARSSIM 1 "" "marssim $version" "User Commands"
.SH NAME
marssim \- packet-level simulator of high-performance computers
.SH SYNOPSIS
.B marssim
[\fIOPTION\fR]... \fIFILE\fR [\fIKEY\fR=\fIVALUE\fR]...
.br
.B mpirun \-n
\fIN\fR \fBmarssim\fR [\fIOPTION\fR]... \fIFILE\fR [\fIKEY\fR=\fIVALUE\fR]...
.SH DESCRIPTION
Simulates traced or generated MPI tasks on multicore nodes on a packet-level network, as the configuration FILE says. Each
KEY=VALUE replaces a key of the file. The results are the same on any number of ranks.
.SH OPTIONS
END

"$marssim" --help | awk "$roff"'
    /^  +-/ {
        option = $0
        text = ""
        if (match($0, /[^ ]   *[A-Z]/)) {
            option = substr($0, 1, RSTART)
            text = substr($0, RSTART + RLENGTH - 1)
        }
        sub(/^ +/, "", option)
        print ".TP"
        print ".B " roff(option)
        if (text != "") print roff(text)
        inside = 1
        next
    }
    inside && /^                    / { sub(/^ +/, ""); print roff($0); next }
    { inside = 0 }'

cat <<END
.SH CONFIGURATION
The file is in the format of libconfig: groups \fIname\fR: { ... };, lists ( ... ) and [ ... ], values with units in quotes.
END

# A section begins behind an empty line, a key with two blanks, its meaning with six; the rest continues with what is above.
"$marssim" --help-config | awk "$roff"'
    BEGIN { empty = 1 }
    $0 == "" { empty = 1; next }
    empty && /^[a-z]/ { print ".SS " $0; empty = 0; next }
    { empty = 0 }
    /^  [a-z]/ {
        key = $1; sub(/:$/, "", key)
        rest = $0; sub(/^  [^ ]+ */, "", rest)
        print ".TP"
        print ".B " roff(key)
        print roff(rest)
        told = 0
        next
    }
    /^      / && !told { told = 1; print ".br" }
    { sub(/^ +/, ""); print roff($0) }'

cat <<END
.SH EXIT STATUS
.TP
.B 0
the run ended as the configuration says
.TP
.B 1
the run itself failed; results up to then are written
.TP
.B 2
bad input: nothing was simulated
.TP
.B 130, 143
ended by SIGINT, SIGTERM; results up to then are written
.SH FILES
.TP
.I results/NAME/
summary.json, summary.txt, system.cfg, and tables as CSV
.TP
.I share/marssim/
configurations, studies and the documentation, in the folder that marssim was installed into
.SH SEE ALSO
.BR mpirun (1),
END
