#!/bin/sh
# Writes the completion for bash from what the program says of itself: tools/write-completion.sh MARSSIM [marstrace|marsconv|marsreport|marsmovie|marsnoise|marsbench|marssweep] >marssim
#
# Completed are options, configuration files, keys and, behind the =, the values of keys that have a choice.
set -eu
marssim=${1:?usage: tools/write-completion.sh MARSSIM [marstrace|marsconv|marsreport|marsmovie|marsnoise|marsbench|marssweep]}

# Options and files; of a sweep the keys, too.
if [ "${2:-}" = marsbench ] || [ "${2:-}" = marssweep ]; then
    echo "# bash completion for $2; written by tools/write-completion.sh from --help"
    printf '_%s_options="%s"\n' "$2" "$("$(dirname "$marssim")/$2" --help | grep -o -e '--[a-z-]*' | sort -u | tr '\n' ' ' | sed 's/ $//')"
    printf '_%s_keys="%s"\n' "$2" "$([ "$2" = marsbench ] || "$marssim" --help-config | sed -n 's/^  \([a-z][^: ]*\):.*/\1/p' | sed 's/\[\]/[0]/' |
        tr '\n' ' ' | sed 's/ $//')"
    sed "s/PROGRAM/$2/g" <<'END'
_PROGRAM()
{
    local word=${COMP_LINE:0:COMP_POINT}
    word=${word##*[[:space:]]}
    COMPREPLY=()
    case $word in
    --*=*) mapfile -t COMPREPLY < <(compgen -f -- "${word#*=}") ;;
    -*) mapfile -t COMPREPLY < <(compgen -W "$_PROGRAM_options" -- "$word") ;;
    *)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        [[ ${#COMPREPLY[@]} -gt 0 ]] || { mapfile -t COMPREPLY < <(compgen -W "$_PROGRAM_keys" -S = -- "$word"); compopt -o nospace 2>/dev/null; }
        ;;
    esac
}
complete -F _PROGRAM PROGRAM
END
    exit 0
fi

if [ "${2:-}" = marsconv ]; then
    marsconv=$(dirname "$marssim")/marsconv
    echo '# bash completion for marsconv; written by tools/write-completion.sh from --help'
    printf '_marsconv_options="%s"\n' "$("$marsconv" --help | grep -o -e '--[a-z-]*' | sort -u | tr '\n' ' ' | sed 's/ $//')"
    printf '_marsconv_formats="%s"\n' "$("$marsconv" --help | sed -n '/^Formats/,$ s/^  \([a-z]*\)  .*/\1/p' | tr '\n' ' ' | sed 's/ $//')"
    cat <<'END'
_marsconv()
{
    local word=${COMP_LINE:0:COMP_POINT}
    word=${word##*[[:space:]]}
    COMPREPLY=()
    case $word in
    --to=*) mapfile -t COMPREPLY < <(compgen -W "$_marsconv_formats" -- "${word#*=}") ;;
    -*) mapfile -t COMPREPLY < <(compgen -W "$_marsconv_options" -- "$word") ;;
    *)
        if [[ ${COMP_WORDS[COMP_CWORD - 1]} == @(-t|--to) ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$_marsconv_formats" -- "$word")
        else
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        ;;
    esac
}
complete -F _marsconv marsconv
END
    exit 0
fi

if [ "${2:-}" = marstrace ]; then
    echo '# bash completion for marstrace; written by tools/write-completion.sh from --help'
    printf '_marstrace_options="%s"\n' "$("$(dirname "$marssim")/marstrace" --help | grep -o -e '--[a-z-]*' | sort -u | tr '\n' ' ' | sed 's/ $//')"
    cat <<'END'
_marstrace()
{
    local word=${COMP_LINE:0:COMP_POINT}
    word=${word##*[[:space:]]}
    COMPREPLY=()
    case $word in
    --clock=*) mapfile -t COMPREPLY < <(compgen -W "cpu wall" -- "${word#*=}") ;;
    --*=*) mapfile -t COMPREPLY < <(compgen -f -- "${word#*=}") ;;
    -*) mapfile -t COMPREPLY < <(compgen -W "$_marstrace_options" -- "$word") ;;
    *)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word"; compgen -c -- "$word")
        ;;
    esac
}
complete -F _marstrace marstrace
END
    exit 0
fi

# Options, and folders of results; marsnoise takes none, and folders do no harm.
if [ "${2:-}" = marsreport ] || [ "${2:-}" = marsmovie ] || [ "${2:-}" = marsnoise ]; then
    echo "# bash completion for $2; written by tools/write-completion.sh from --help"
    printf '_%s_options="%s"\n' "$2" "$("$(dirname "$marssim")/$2" --help | grep -o -e '--[a-z-]*' | sort -u | tr '\n' ' ' | sed 's/ $//')"
    sed "s/PROGRAM/$2/g" <<'END'
_PROGRAM()
{
    local word=${COMP_LINE:0:COMP_POINT}
    word=${word##*[[:space:]]}
    COMPREPLY=()
    case $word in
    --output=*) mapfile -t COMPREPLY < <(compgen -f -- "${word#*=}") ;;
    -*) mapfile -t COMPREPLY < <(compgen -W "$_PROGRAM_options" -- "$word") ;;
    *)
        compopt -o filenames 2>/dev/null
        if [[ ${COMP_WORDS[COMP_CWORD - 1]} == @(-o|--output) ]]; then
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
        fi
        ;;
    esac
}
complete -F _PROGRAM PROGRAM
END
    exit 0
fi

echo '# bash completion for marssim; written by tools/write-completion.sh from --help and --help-config'
printf '_marssim_options="'
"$marssim" --help | grep -o -e '--[a-z-]*' | sort -u | tr '\n' ' ' | sed 's/ $//'
echo '"'
printf '_marssim_keys="'
"$marssim" --help-config | sed -n 's/^  \([a-z][^: ]*\):.*/\1/p' | sed 's/\[\]/[0]/' | tr '\n' ' ' | sed 's/ $//'
echo '"'
echo 'declare -A _marssim_values=('
"$marssim" --help-config | awk '
    function flush() {
        if (line ~ /: (list of )?true or false/) values = "true false"
        else if (match(line, /: one of [^;]*/)) { values = substr(line, RSTART + 9, RLENGTH - 9); gsub(/,/, "", values) }
        else values = ""
        if (values != "") { key = line; sub(/:.*/, "", key); sub(/\[\]/, "[0]", key); printf "    [\"%s\"]=\"%s\"\n", key, values }
        line = ""
    }
    /^  [a-z]/ { flush(); line = substr($0, 3); next }
    /^      / || $0 == "" { flush(); next }
    line != "" { line = line " " $0 }
    END { flush() }'
echo ')'
cat <<'END'

_marssim()
{
    local word=${COMP_LINE:0:COMP_POINT} key
    word=${word##*[[:space:]]} # whole, though = and : divide it for readline
    COMPREPLY=()
    case $word in
    --output=*) mapfile -t COMPREPLY < <(compgen -d -- "${word#*=}") ;;
    --check=*) mapfile -t COMPREPLY < <(compgen -W full -- "${word#*=}") ;;
    -*) mapfile -t COMPREPLY < <(compgen -W "$_marssim_options" -- "$word") ;;
    *=*)
        key=${word%%=*}
        while [[ $key =~ \[[1-9][0-9]*\] ]]; do key=${key/"${BASH_REMATCH[0]}"/[0]}; done
        [[ -n ${_marssim_values[$key]-} ]] && mapfile -t COMPREPLY < <(compgen -W "${_marssim_values[$key]}" -- "${word#*=}")
        ;;
    *)
        if [[ ${COMP_WORDS[COMP_CWORD - 1]} == @(-o|--output) ]]; then
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
        elif [[ " ${COMP_WORDS[*]:1:COMP_CWORD-1} " == *.cfg\ * ]]; then # the file is there: keys follow
            mapfile -t COMPREPLY < <(compgen -W "$_marssim_keys" -S = -- "$word")
            compopt -o nospace 2>/dev/null
        else
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -X '!*.cfg' -- "$word"; compgen -d -- "$word")
        fi
        ;;
    esac
}
complete -F _marssim marssim
END
