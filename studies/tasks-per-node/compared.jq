# Algorithms for one vector and order of ranks, against recursive doubling: what the reductions take beside the computation of 4 x 20 us.
{group: "\(.tag.size) \(.tag.order)", contender: .tag.algorithm, value: (.result.jobs[0].finish_ps - 80e6)}
