! A task that waits for messages by tests, in Fortran: by MPI_Test, by MPI_Testany of three, by MPI_Iprobe, each many times
! without anything found, then found. WAY says which binding: mpi or mpi_f08. It says how many polls it made.
program waiting
    use WAY
    implicit none
    integer, parameter :: many = 3, polls = 20000
    integer :: in(many), out, i, j, index, ierror, version, part
    logical :: flag
#ifdef F08
    type(MPI_Request) :: request(many)
    type(MPI_Status) :: status
#else
    integer :: request(many), status(MPI_STATUS_SIZE)
#endif
    out = 7
    call MPI_Init(ierror)
    call MPI_Get_version(version, part, ierror)
    do j = 1, 2
        do i = 1, many
            call MPI_Irecv(in(i), 1, MPI_INTEGER, 0, i, MPI_COMM_SELF, request(i), ierror)
        end do
        do i = 1, polls
            call MPI_Test(request(2), flag, MPI_STATUS_IGNORE, ierror)
            if (flag) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
        end do
        do i = 1, polls
            call MPI_Testany(many, request, index, flag, status, ierror)
            if (flag) call MPI_Abort(MPI_COMM_WORLD, 2, ierror)
            call MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_SELF, flag, MPI_STATUS_IGNORE, ierror)
            if (flag) call MPI_Abort(MPI_COMM_WORLD, 3, ierror)
        end do
        call MPI_Send(out, 1, MPI_INTEGER, 0, 2, MPI_COMM_SELF, ierror)
        call MPI_Test(request(2), flag, MPI_STATUS_IGNORE, ierror)
        if (.not. flag) call MPI_Abort(MPI_COMM_WORLD, 4, ierror)
        do i = 1, polls
            call MPI_Testany(many, request, index, flag, MPI_STATUS_IGNORE, ierror)
            if (flag) call MPI_Abort(MPI_COMM_WORLD, 5, ierror)
        end do
        call MPI_Send(out, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF, ierror)
        call MPI_Testany(many, request, index, flag, MPI_STATUS_IGNORE, ierror)
        if (.not. flag) call MPI_Abort(MPI_COMM_WORLD, 6, ierror)
        call MPI_Isend(out, 1, MPI_INTEGER, 0, 9, MPI_COMM_SELF, request(2), ierror)
        call MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_SELF, flag, MPI_STATUS_IGNORE, ierror)
        if (.not. flag) call MPI_Abort(MPI_COMM_WORLD, 7, ierror)
        call MPI_Recv(in(2), 1, MPI_INTEGER, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
        call MPI_Wait(request(2), MPI_STATUS_IGNORE, ierror)
        call MPI_Send(out, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, ierror)
        call MPI_Wait(request(1), MPI_STATUS_IGNORE, ierror)
    end do
    call MPI_Finalize(ierror)
end program waiting
