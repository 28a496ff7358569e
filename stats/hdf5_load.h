/* hdf5_load.h - HDF5 as hdf5.c and marsreport call it, loaded when results.h5 is first asked for.
 *
 * The library needs thirty others (for files on the web), which make the start of the program take 6.4 ms in
 * place of 1.7, and few runs write results.h5. So nothing links to it: whoever includes this in the place of
 * <hdf5.h> calls its functions through pointers. All that is used has to be in the lists.
 */
#pragma once

#include "kernel/base/base.h"

/* Before anything else is called; fails where the program was built without it. */
enum ker_status stats_hdf5_load(struct ker_error *);

#ifdef STATS_HDF5_FILE /* the library's name */

#include <hdf5.h>

/* clang-format off */
#define STATS_HDF5_FUNCTIONS(F) \
    F(H5check_version) F(H5dont_atexit) F(H5open) \
    F(H5Eset_auto2) F(H5Iget_name) F(H5Aclose) F(H5Acreate2) F(H5Aget_type) \
    F(H5Aget_space) F(H5Aopen) F(H5Aread) F(H5Awrite) F(H5Dget_create_plist) F(H5Dget_num_chunks) \
    F(H5Dget_storage_size) F(H5Pget_chunk) F(H5Pget_layout) \
    F(H5Dclose) F(H5Dcreate2) F(H5Dget_space) F(H5Dget_type) F(H5Dopen2) F(H5Dread) F(H5Dset_extent) \
    F(H5Dwrite) F(H5Fclose) F(H5Fcreate) F(H5Fflush) F(H5Fopen) F(H5Gclose) F(H5Gcreate2) F(H5Gopen2) \
    F(H5Lexists) F(H5Pclose) F(H5Pcreate) F(H5Pset_chunk) F(H5Pset_file_locking) F(H5Pset_fill_time) \
    F(H5Pset_obj_track_times) F(H5Sclose) F(H5Screate) F(H5Screate_simple) \
    F(H5Sget_simple_extent_ndims) F(H5Sget_simple_extent_npoints) F(H5Sselect_hyperslab) F(H5Tclose) \
    F(H5Tcopy) F(H5Tget_class) F(H5Tget_sign) F(H5Tget_size) F(H5Tis_variable_str) F(H5Tset_cset) \
    F(H5Tset_size) F(H5Tset_strpad)
/* Numbers that the library sets when it begins. */
#define STATS_HDF5_NUMBERS(F) \
    F(H5P_CLS_DATASET_CREATE_ID_g) F(H5P_CLS_FILE_ACCESS_ID_g) F(H5P_CLS_FILE_CREATE_ID_g) \
    F(H5P_CLS_GROUP_CREATE_ID_g) F(H5T_C_S1_g) F(H5T_IEEE_F64LE_g) F(H5T_STD_I64LE_g) F(H5T_STD_U64LE_g)
/* clang-format on */

struct stats_hdf5_library {
#define STATS_HDF5_POINTER(name) __typeof__(name) *to_##name;
    STATS_HDF5_FUNCTIONS(STATS_HDF5_POINTER) STATS_HDF5_NUMBERS(STATS_HDF5_POINTER)
#undef STATS_HDF5_POINTER
};
extern struct stats_hdf5_library stats_hdf5_library;

#ifndef STATS_HDF5_LOADS
#define H5check_version (*stats_hdf5_library.to_H5check_version)
#define H5dont_atexit (*stats_hdf5_library.to_H5dont_atexit)
#define H5open (*stats_hdf5_library.to_H5open)
#define H5Eset_auto2 (*stats_hdf5_library.to_H5Eset_auto2)
#define H5Iget_name (*stats_hdf5_library.to_H5Iget_name)
#define H5Aclose (*stats_hdf5_library.to_H5Aclose)
#define H5Acreate2 (*stats_hdf5_library.to_H5Acreate2)
#define H5Aget_type (*stats_hdf5_library.to_H5Aget_type)
#define H5Aget_space (*stats_hdf5_library.to_H5Aget_space)
#define H5Dget_create_plist (*stats_hdf5_library.to_H5Dget_create_plist)
#define H5Dget_num_chunks (*stats_hdf5_library.to_H5Dget_num_chunks)
#define H5Dget_storage_size (*stats_hdf5_library.to_H5Dget_storage_size)
#define H5Pget_chunk (*stats_hdf5_library.to_H5Pget_chunk)
#define H5Pget_layout (*stats_hdf5_library.to_H5Pget_layout)
#define H5Aopen (*stats_hdf5_library.to_H5Aopen)
#define H5Aread (*stats_hdf5_library.to_H5Aread)
#define H5Awrite (*stats_hdf5_library.to_H5Awrite)
#define H5Dclose (*stats_hdf5_library.to_H5Dclose)
#define H5Dcreate2 (*stats_hdf5_library.to_H5Dcreate2)
#define H5Dget_space (*stats_hdf5_library.to_H5Dget_space)
#define H5Dget_type (*stats_hdf5_library.to_H5Dget_type)
#define H5Dopen2 (*stats_hdf5_library.to_H5Dopen2)
#define H5Dread (*stats_hdf5_library.to_H5Dread)
#define H5Dset_extent (*stats_hdf5_library.to_H5Dset_extent)
#define H5Dwrite (*stats_hdf5_library.to_H5Dwrite)
#define H5Fclose (*stats_hdf5_library.to_H5Fclose)
#define H5Fcreate (*stats_hdf5_library.to_H5Fcreate)
#define H5Fflush (*stats_hdf5_library.to_H5Fflush)
#define H5Fopen (*stats_hdf5_library.to_H5Fopen)
#define H5Gclose (*stats_hdf5_library.to_H5Gclose)
#define H5Gcreate2 (*stats_hdf5_library.to_H5Gcreate2)
#define H5Gopen2 (*stats_hdf5_library.to_H5Gopen2)
#define H5Lexists (*stats_hdf5_library.to_H5Lexists)
#define H5Pclose (*stats_hdf5_library.to_H5Pclose)
#define H5Pcreate (*stats_hdf5_library.to_H5Pcreate)
#define H5Pset_chunk (*stats_hdf5_library.to_H5Pset_chunk)
#define H5Pset_file_locking (*stats_hdf5_library.to_H5Pset_file_locking)
#define H5Pset_fill_time (*stats_hdf5_library.to_H5Pset_fill_time)
#define H5Pset_obj_track_times (*stats_hdf5_library.to_H5Pset_obj_track_times)
#define H5Sclose (*stats_hdf5_library.to_H5Sclose)
#define H5Screate (*stats_hdf5_library.to_H5Screate)
#define H5Screate_simple (*stats_hdf5_library.to_H5Screate_simple)
#define H5Sget_simple_extent_ndims (*stats_hdf5_library.to_H5Sget_simple_extent_ndims)
#define H5Sget_simple_extent_npoints (*stats_hdf5_library.to_H5Sget_simple_extent_npoints)
#define H5Sselect_hyperslab (*stats_hdf5_library.to_H5Sselect_hyperslab)
#define H5Tclose (*stats_hdf5_library.to_H5Tclose)
#define H5Tcopy (*stats_hdf5_library.to_H5Tcopy)
#define H5Tget_class (*stats_hdf5_library.to_H5Tget_class)
#define H5Tget_sign (*stats_hdf5_library.to_H5Tget_sign)
#define H5Tget_size (*stats_hdf5_library.to_H5Tget_size)
#define H5Tis_variable_str (*stats_hdf5_library.to_H5Tis_variable_str)
#define H5Tset_cset (*stats_hdf5_library.to_H5Tset_cset)
#define H5Tset_size (*stats_hdf5_library.to_H5Tset_size)
#define H5Tset_strpad (*stats_hdf5_library.to_H5Tset_strpad)
#define H5P_CLS_DATASET_CREATE_ID_g (*stats_hdf5_library.to_H5P_CLS_DATASET_CREATE_ID_g)
#define H5P_CLS_FILE_ACCESS_ID_g (*stats_hdf5_library.to_H5P_CLS_FILE_ACCESS_ID_g)
#define H5P_CLS_FILE_CREATE_ID_g (*stats_hdf5_library.to_H5P_CLS_FILE_CREATE_ID_g)
#define H5P_CLS_GROUP_CREATE_ID_g (*stats_hdf5_library.to_H5P_CLS_GROUP_CREATE_ID_g)
#define H5T_C_S1_g (*stats_hdf5_library.to_H5T_C_S1_g)
#define H5T_IEEE_F64LE_g (*stats_hdf5_library.to_H5T_IEEE_F64LE_g)
#define H5T_STD_I64LE_g (*stats_hdf5_library.to_H5T_STD_I64LE_g)
#define H5T_STD_U64LE_g (*stats_hdf5_library.to_H5T_STD_U64LE_g)
#endif

#endif
