! f08.f90 - plain.f90 with `use mpi_f08`, whose calls are mpi_x_f08_.
program f08
  use mpi_f08
  implicit none
  integer :: ierr, rank, size, right, left, where
  type(MPI_Comm) :: half
  type(MPI_Datatype) :: pairs
  type(MPI_Request) :: request(3)
  type(MPI_Status) :: status, statuses(3)
  integer :: counts(8), displacements(8)
  integer :: in(64), out(64), i
  logical :: flag
  out = 1
  in = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierr)
  call MPI_Type_vector(3, 2, 4, MPI_INTEGER, pairs, ierr)
  call MPI_Type_commit(pairs, ierr)
  call MPI_Sendrecv(out, 2, pairs, right, 1, in, 64, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Irecv(in, 3, MPI_INTEGER, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, request(1), ierr)
  call MPI_Isend(out, 3, MPI_INTEGER, right, 2, MPI_COMM_WORLD, request(2), ierr)
  call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, ierr)
  call MPI_Irecv(in, 4, MPI_INTEGER, left, MPI_ANY_TAG, MPI_COMM_WORLD, request(1), ierr)
  request(2) = MPI_REQUEST_NULL
  call MPI_Send(out, 4, MPI_INTEGER, right, 3, MPI_COMM_WORLD, ierr)
  call MPI_Waitany(2, request, where, status, ierr)
  call MPI_Recv_init(in, 5, MPI_INTEGER, left, 4, MPI_COMM_WORLD, request(1), ierr)
  call MPI_Send_init(out, 5, MPI_INTEGER, right, 4, MPI_COMM_WORLD, request(2), ierr)
  call MPI_Startall(2, request, ierr)
  call MPI_Waitall(2, request, statuses, ierr)
  call MPI_Request_free(request(1), ierr)
  call MPI_Request_free(request(2), ierr)
  call MPI_Allreduce(MPI_IN_PLACE, in, 6, MPI_INTEGER, MPI_SUM, half, ierr)
  call MPI_Bcast(in, 7, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  counts = 2
  displacements = (/ (8 * i, i = 0, 7) /)
  call MPI_Alltoallv(out, counts, displacements, MPI_INTEGER, in, counts, displacements, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call MPI_Ibarrier(half, request(1), ierr)
  flag = .false.
  do while (.not. flag)
     call MPI_Test(request(1), flag, MPI_STATUS_IGNORE, ierr)
  end do
  call MPI_Type_free(pairs, ierr)
  call MPI_Comm_free(half, ierr)
  call MPI_Finalize(ierr)
end program f08
