! lu.f90 - a kernel that communicates as a relaxation by planes does: lu PASSES
!
! Tasks are a two-dimensional grid. In each pass a front goes over the planes from the first task to the last, and back: a task
! waits for its neighbours before it, plane by plane, and tells those behind it; then faces are exchanged with all
! neighbours, and a norm is taken.
program lu
  use mpi
  implicit none
  integer, parameter :: planes = 24, edge = 12
  integer :: rank, tasks, columns, row, column, rows, error, passes, pass, plane
  integer :: north, south, west, east
  double precision :: grid(5, edge, edge), side(5, edge), told(5, edge), norm(5), all(5)
  character(len=16) :: word

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, tasks, error)
  passes = 10
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) passes
  end if
  columns = 1
  do while (columns * columns < tasks)
    columns = columns * 2
  end do
  rows = tasks / columns
  row = rank / columns
  column = mod(rank, columns)
  north = MPI_PROC_NULL; south = MPI_PROC_NULL; west = MPI_PROC_NULL; east = MPI_PROC_NULL
  if (row > 0) north = rank - columns
  if (row + 1 < rows) south = rank + columns
  if (column > 0) west = rank - 1
  if (column + 1 < columns) east = rank + 1
  grid = 1d0 / (1 + rank)
  side = 0
  do pass = 1, passes
    do plane = 1, planes
      call step(north, west, south, east, 20)
    end do
    do plane = planes, 1, -1
      call step(south, east, north, west, 21)
    end do
    call faces(north, south, 22)
    call faces(west, east, 23)
    norm = sum(sum(grid, 3), 2)
    call MPI_Allreduce(norm, all, 5, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    grid = grid / (1 + maxval(all))
  end do
  call MPI_Finalize(error)

contains

  subroutine step(from1, from2, to1, to2, tag)
    integer, intent(in) :: from1, from2, to1, to2, tag
    if (from1 /= MPI_PROC_NULL) call MPI_Recv(told, 5 * edge, MPI_DOUBLE_PRECISION, from1, tag, MPI_COMM_WORLD, &
                                              MPI_STATUS_IGNORE, error)
    if (from2 /= MPI_PROC_NULL) call MPI_Recv(side, 5 * edge, MPI_DOUBLE_PRECISION, from2, tag, MPI_COMM_WORLD, &
                                              MPI_STATUS_IGNORE, error)
    call relax
    if (to1 /= MPI_PROC_NULL) call MPI_Send(grid(:, :, edge), 5 * edge, MPI_DOUBLE_PRECISION, to1, tag, MPI_COMM_WORLD, error)
    if (to2 /= MPI_PROC_NULL) call MPI_Send(grid(:, :, 1), 5 * edge, MPI_DOUBLE_PRECISION, to2, tag, MPI_COMM_WORLD, error)
  end subroutine step

  subroutine relax
    integer :: i, j
    do j = 2, edge
      do i = 2, edge
        grid(:, i, j) = 0.5d0 * grid(:, i, j) + 0.25d0 * (grid(:, i - 1, j) + grid(:, i, j - 1)) + 0.01d0 * side(:, i)
      end do
    end do
  end subroutine relax

  subroutine faces(one, other, tag)
    integer, intent(in) :: one, other, tag
    double precision :: mine(5, edge, 4), theirs(5, edge, 4)
    integer :: request
    mine = 1d0
    call MPI_Irecv(theirs, 20 * edge, MPI_DOUBLE_PRECISION, one, tag, MPI_COMM_WORLD, request, error)
    call MPI_Send(mine, 20 * edge, MPI_DOUBLE_PRECISION, other, tag, MPI_COMM_WORLD, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call MPI_Irecv(theirs, 20 * edge, MPI_DOUBLE_PRECISION, other, tag, MPI_COMM_WORLD, request, error)
    call MPI_Send(mine, 20 * edge, MPI_DOUBLE_PRECISION, one, tag, MPI_COMM_WORLD, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  end subroutine faces

end program lu
