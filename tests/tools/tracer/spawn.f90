! spawn.f90 - a Fortran program that spawns itself, for tests of the tracer: by MPI_Comm_spawn and by MPI_Comm_spawn_multiple, with mpi_f08 or
! (-DPLAIN) with the module mpi; its halves connect by a port.
program spawn
#ifdef PLAIN
#define COMM integer
#define STATUS_OF(s) s(MPI_STATUS_SIZE)
#define STATUS integer
    use mpi
#else
#define COMM type(MPI_Comm)
#define STATUS_OF(s) s
#define STATUS type(MPI_Status)
    use mpi_f08
#endif
    implicit none
    COMM :: parent, one, two, half, other
    character(len=200) :: program
    character(len=8) :: argv(2), argvs(2, 2), commands_of
    character(len=200) :: commands(2)
    character(len=MPI_MAX_PORT_NAME) :: port
    integer :: codes(2), rank, error, most(2)
#ifdef PLAIN
    integer :: infos(2)
#else
    type(MPI_Info) :: infos(2)
#endif
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_get_parent(parent, error)
    if (parent == MPI_COMM_NULL) then
        call get_command_argument(0, program)
        argv(1) = 'leaf'
        argv(2) = ' '
        call MPI_Comm_spawn(program, argv, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, one, MPI_ERRCODES_IGNORE, error)
        call talk(one)
        commands = program
        argvs = ' '
        argvs(1, 1) = 'leaf'
        argvs(2, 1) = 'twig'
        most = 1
        infos = MPI_INFO_NULL
        call MPI_Comm_spawn_multiple(2, commands, argvs, most, infos, 1, MPI_COMM_WORLD, two, codes, error)
        if (rank == 1 .and. (codes(1) /= MPI_SUCCESS .or. codes(2) /= MPI_SUCCESS)) call MPI_Abort(MPI_COMM_WORLD, 3, error)
        call talk(two)
        call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), 0, half, error)
        if (rank == 0) call MPI_Open_port(MPI_INFO_NULL, port, error)
        call MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 0, MPI_COMM_WORLD, error)
        if (mod(rank, 2) == 0) then
            call MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, other, error)
        else
            call MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, other, error)
        end if
        call talk(other)
    else
        call get_command_argument(1, commands_of)
        if (commands_of /= 'leaf' .and. commands_of /= 'twig') call MPI_Abort(MPI_COMM_WORLD, 4, error)
        call talk(parent)
    end if
    call MPI_Finalize(error)
contains
    subroutine talk(inter)
        COMM :: inter
        STATUS :: STATUS_OF(status)
        integer :: others, i, number
        call MPI_Comm_remote_size(inter, others, error)
        do i = 0, others - 1
            call MPI_Send(rank, 1, MPI_INTEGER, i, 7, inter, error)
        end do
        do i = 0, others - 1
            call MPI_Recv(number, 1, MPI_INTEGER, i, 7, inter, status, error)
        end do
        call MPI_Comm_disconnect(inter, error)
    end subroutine talk
end program spawn
