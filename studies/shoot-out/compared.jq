# Run times of the networks, by load: the fat tree comes first, the others are measured against it.
{group: (.tag.job | gsub("_"; " ")), contender: (.tag.network | gsub("_"; " ")), value: ([.result.jobs[].finish_ps] | add / length / 1e6)}
