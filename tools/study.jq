# For the columns.jq of studies (tools/run-study).

# A number with n significant digits.
def digits(n):
    if . == null or . == 0 or isnan then .
    else (n - 1 - (fabs | log10 | floor)) as $shift
    | if $shift >= 0 then (. * pow(10; $shift) | round) / pow(10; $shift)
      else (. / pow(10; -$shift) | round) * pow(10; -$shift) end
    end;

# "12.5 GB/s", "80 Gb/s", "3": the number in front.
def number: capture("^(?<n>[0-9.eE+-]*[0-9])").n | tonumber;

# A point, its results without a number where nothing was measured (null): an empty cell of the table, and no point of a figure.
def measured: .result |= with_entries(if .key == "jobs" then . else .value |= walk(if . == null then nan else . end) end);

# Traffic of a class of links as a share of all packets; a packet that goes up comes down again, hence / 2 for a tree's.
def share_of(class): if .links[class] then .links[class].packets / (.result.packets_delivered | if . == 0 then nan else . end) else 0 end;

# The rows as CSV below the first's keys. A row with other columns, or a cell without a value, is an error: the column does not exist in
# the results. A cell that may be empty says so: .tag.kind // "".
def table:
    (.[0] | keys_unsorted) as $columns
    | (to_entries[] | .key as $row | .value
       | if (keys_unsorted | sort) != ($columns | sort)
         then error("row \($row + 1) has the columns \(keys_unsorted | join(", ")), the first has \($columns | join(", "))") else . end
       | to_entries[] | select(.value == null)
       | error("row \($row + 1): column \"\(.key)\" is not in the results; what may be empty ends with // \"\"")),
      ($columns | @csv), (.[] | [.[$columns[]]] | @csv);
