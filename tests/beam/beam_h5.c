/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/beam/beam_h5.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/assert_close.h"

#define EV_OVER_C 5.344285993e-28 /* kg m/s */

static void text(hid_t object, const char *name, const char *value)
{
    const hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
    assert_true(H5Tset_size(type, strlen(value) + 1) >= 0);
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, value) >= 0);
    H5Aclose(attribute);
    H5Tclose(type);
    H5Sclose(space);
}

static void number(hid_t object, const char *name, double value)
{
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute =
        H5Acreate2(object, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
}

hid_t beam_h5_create(const char *path, const char *particles_path)
{
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    text(file, "openPMD", "2.0.0");
    text(file, "basePath", "/data/%T/");
    text(file, "particlesPath", particles_path);
    return file;
}

static void data(hid_t group, const char *name, hid_t type, const void *value, int n, double unit)
{
    const hsize_t size = (hsize_t)n;
    const hid_t space = H5Screate_simple(1, &size, NULL), more = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(more, 1);
    const hid_t set = H5Dcreate2(group, name, type, space, more, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
    number(set, "unitSI", unit);
    H5Dclose(set);
    H5Pclose(more);
    H5Sclose(space);
}

static void constant(hid_t group, const char *name, double value, int n)
{
    const hid_t one = H5Gcreate2(group, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    number(one, "value", value);
    number(one, "shape", n);
    number(one, "unitSI", 1.0);
    H5Gclose(one);
}

void beam_h5_species(hid_t file, const char *group, const char *species, int n, int seed)
{
    static const char *const name[] = {"position/x", "position/y", "position/z",
                                       "momentum/x", "momentum/y", "momentum/z"};
    static const double size[] = {5e-5, 3e-5, 6e-5, 1e4, 2e4, 1e5};
    double *value = malloc((size_t)n * sizeof *value);
    uint64_t *id = malloc((size_t)n * sizeof *id);
    const hid_t more = H5Pcreate(H5P_LINK_CREATE);
    assert_true(value && id);
    H5Pset_create_intermediate_group(more, 1);
    const hid_t into = H5Gcreate2(file, group, more, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(into >= 0);
    text(into, "speciesType", species);
    number(into, "totalCharge", 1e-10);
    number(into, "chargeUnitSI", 1.0);
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < n; ++i)
            value[i] = size[k] * sin(1.0 + seed + i * (3.0 + 1.7 * k)) + (k == 5 ? 5e8 : 0.0);
        data(into, name[k], H5T_NATIVE_DOUBLE, value, n, k < 3 ? 1.0 : EV_OVER_C);
    }
    for (int i = 0; i < n; ++i) {
        value[i] = 1e-10 / n * (1.0 + 0.5 * sin(7.0 * i));
        id[i] = (uint64_t)i + 1;
    }
    data(into, "weight", H5T_NATIVE_DOUBLE, value, n, 1.0);
    data(into, "id", H5T_NATIVE_UINT64, id, n, 1.0);
    constant(into, "time", 0.0, n);
    constant(into, "particleStatus", 1.0, n);
    H5Gclose(into);
    H5Pclose(more);
    free(value);
    free(id);
}
