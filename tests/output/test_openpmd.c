/* SPDX-License-Identifier: GPL-3.0-or-later */
/* openPMD files, read back with libhdf5: attributes and their types, numbers, bytes, failures. */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/units.h"
#include "src/output/openpmd.h"
#include "tests/assert_close.h"
#include "tests/output/sample.h"
#include "tests/output/scratch.h"

enum { STEP = 12, NODES = SAMPLE_NX * SAMPLE_NS };

typedef struct fixture {
    char dir[SCRATCH_PATH];
    char path[SCRATCH_PATH];
    sample s;
    hid_t file;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    scratch_make(f->dir);
    snprintf(f->path, sizeof f->path, "%.400s/a.h5", f->dir);
    sample_fill(&f->s, STEP);
    f->file = -1;
    *state = f;
    return 0;
}

static int setup_written(void **state)
{
    setup(state);
    fixture *f = *state;
    assert_ok(aw_openpmd_write(f->path, &f->s.snapshot));
    f->file = H5Fopen(f->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(f->file >= 0);
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    if (f->file >= 0) H5Fclose(f->file);
    scratch_remove(f->dir);
    free(f);
    return 0;
}

/* Open attribute `name` of `object`, which must have that rank (0: scalar) and n items. */
static hid_t attribute(fixture *f, const char *object, const char *name, int rank, hssize_t n)
{
    hid_t a = H5Aopen_by_name(f->file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    if (a < 0) fail_msg("%s has no attribute %s", object, name);
    hid_t space = H5Aget_space(a);
    assert_int_equal(H5Sget_simple_extent_ndims(space), rank);
    assert_int_equal(H5Sget_simple_extent_npoints(space), n);
    H5Sclose(space);
    return a;
}

static void assert_type(hid_t a, hid_t want)
{
    hid_t type = H5Aget_type(a);
    assert_true(H5Tequal(type, want) > 0);
    H5Tclose(type);
}

/* A text must be scalar, fixed-length ASCII of exactly its own length. */
static void assert_attr_text(fixture *f, const char *object, const char *name, const char *want)
{
    char got[512] = "";
    hid_t a = attribute(f, object, name, 0, 1), type = H5Aget_type(a);
    assert_int_equal(H5Tget_class(type), H5T_STRING);
    assert_int_equal(H5Tis_variable_str(type), 0);
    assert_int_equal(H5Tget_cset(type), H5T_CSET_ASCII);
    assert_int_equal(H5Tget_size(type), strlen(want));
    assert_true(H5Aread(a, type, got) >= 0);
    assert_string_equal(got, want);
    H5Tclose(type);
    H5Aclose(a);
}

static void assert_attr_uint32(fixture *f, const char *object, const char *name, uint32_t want)
{
    uint32_t got = 0;
    hid_t a = attribute(f, object, name, 0, 1);
    assert_type(a, H5T_STD_U32LE);
    assert_true(H5Aread(a, H5T_NATIVE_UINT32, &got) >= 0);
    assert_int_equal(got, want);
    H5Aclose(a);
}

/* n = 0: scalar. Numbers are copied, not computed, so they must be equal. */
static void assert_attr_doubles(fixture *f, const char *object, const char *name, int n,
                                const double *want)
{
    double got[16] = {0};
    hid_t a = attribute(f, object, name, n > 0, n > 0 ? n : 1);
    assert_type(a, H5T_IEEE_F64LE);
    assert_true(H5Aread(a, H5T_NATIVE_DOUBLE, got) >= 0);
    for (int i = 0; i < (n > 0 ? n : 1); ++i) assert_close(got[i], want[i], 0.0, 0.0);
    H5Aclose(a);
}

static void assert_attr_double(fixture *f, const char *object, const char *name, double want)
{
    assert_attr_doubles(f, object, name, 0, &want);
}

static void read_doubles(fixture *f, const char *name, int rank, hsize_t n0, hsize_t n1,
                         double *out)
{
    hsize_t dims[2] = {0, 0};
    hid_t set = H5Dopen2(f->file, name, H5P_DEFAULT);
    if (set < 0) fail_msg("no dataset %s", name);
    hid_t space = H5Dget_space(set);
    assert_int_equal(H5Sget_simple_extent_ndims(space), rank);
    H5Sget_simple_extent_dims(space, dims, NULL);
    assert_int_equal(dims[0], n0);
    if (rank == 2) assert_int_equal(dims[1], n1);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
    H5Sclose(space);
    H5Dclose(set);
}

static void root_says_version_extension_and_where_things_are(void **state)
{
    fixture *f = *state;
    assert_attr_text(f, "/", "openPMD", "1.1.0");
    assert_attr_uint32(f, "/", "openPMDextension", 1);
    assert_attr_text(f, "/", "basePath", "/data/%T/");
    assert_attr_text(f, "/", "meshesPath", "meshes/");
    assert_attr_text(f, "/", "particlesPath", "particles/");
    assert_attr_text(f, "/", "iterationEncoding", "fileBased");
    assert_attr_text(f, "/", "iterationFormat", "arcwake_%08T.h5");
    assert_attr_text(f, "/", "software", "arcwake");
    assert_attr_text(f, "/", "softwareVersion", "0.1.0");
    assert_attr_text(f, "/", "date", "2026-01-01 00:00:00 +0000");
    assert_attr_text(f, "/", "input", "title: sample\n");
    assert_attr_text(f, "/", "latticeName", "bend");
    assert_attr_double(f, "/data/12", "time", f->s.snapshot.time);
    assert_attr_double(f, "/data/12", "dt", f->s.snapshot.dt);
    assert_attr_double(f, "/data/12", "timeUnitSI", 1.0);
}

static void meshes_carry_our_numbers_with_the_electrons_sign(void **state)
{
    fixture *f = *state;
    const sample *s = &f->s;
    const struct {
        const char *name;
        const double *data;
        double sign;
    } want[] = {{"rho", s->rho, -1},   {"J/z", s->Jz, -1},   {"J/x", s->Jx, -1},
                {"phi", s->phi, -1},   {"A/z", s->phi, -1},  {"A/x", s->psi, -1},
                {"psi", s->psi, -1},   {"F/z", s->Fz, 1},    {"F/x", s->Fx, 1},
                {"F_eff/z", s->Fx, 1}, {"F_eff/x", s->Fz, 1}};
    for (size_t i = 0; i < sizeof want / sizeof *want; ++i) {
        char name[64];
        double got[NODES];
        snprintf(name, sizeof name, "/data/12/meshes/%s", want[i].name);
        read_doubles(f, name, 2, SAMPLE_NX, SAMPLE_NS, got);
        for (int k = 0; k < NODES; ++k)
            assert_close(got[k], want[i].sign * want[i].data[k], 0.0, 0.0);
    }
}

static void a_force_has_an_error_where_it_is_known(void **state)
{
    fixture *f = *state;
    assert_attr_double(f, "/data/12/meshes/F/z", "estimatedError", SAMPLE_F_ERROR);
    assert_int_equal(
        H5Aexists_by_name(f->file, "/data/12/meshes/F/x", "estimatedError", H5P_DEFAULT), 0);
}

static void every_mesh_has_its_unit_and_the_grid(void **state)
{
    fixture *f = *state;
    const double dimension[7][7] = {{-2, 0, 1, 1},  {-1, 0, 0, 1}, {2, 1, -3, -1}, {1, 1, -2, -1},
                                    {2, 1, -3, -1}, {1, 1, -2},    {1, 1, -2}};
    const char *const name[7] = {"rho", "J", "phi", "A", "psi", "F", "F_eff"};
    /* node (0, 0) of 24 x 40 nodes lies 11.5 and 19.5 cells from the centre */
    const double spacing[2] = {2e-5, 1e-5}, offset[2] = {-11.5 * 2e-5, -19.5 * 1e-5};
    for (int i = 0; i < 7; ++i) {
        char path[64];
        snprintf(path, sizeof path, "/data/12/meshes/%s", name[i]);
        assert_attr_doubles(f, path, "unitDimension", 7, dimension[i]);
        assert_attr_doubles(f, path, "gridSpacing", 2, spacing);
        assert_attr_doubles(f, path, "gridGlobalOffset", 2, offset);
        assert_attr_double(f, path, "gridUnitSI", 1.0);
        assert_attr_double(f, path, "timeOffset", 0.0);
        assert_attr_text(f, path, "geometry", "cartesian");
        assert_attr_text(f, path, "dataOrder", "C");
    }
    assert_attr_double(f, "/data/12/meshes/rho", "unitSI", 1.0);
    assert_attr_double(f, "/data/12/meshes/F/z", "unitSI", 1.602176634e-19);
    assert_attr_double(f, "/data/12/meshes/F_eff/x", "unitSI", 1.602176634e-19);
    char axes[2] = "";
    hid_t a = attribute(f, "/data/12/meshes/rho", "axisLabels", 1, 2), type = H5Aget_type(a);
    assert_int_equal(H5Tget_size(type), 1);
    assert_true(H5Aread(a, type, axes) >= 0);
    assert_memory_equal(axes, "xz", 2); /* datasets are [ix][iz] */
    H5Tclose(type);
    H5Aclose(a);
}

/* The matrix must take the axes of the frame to the directions of units.h: z to (cos, sin) and x to
 * (-sin, cos) in the lab's (z, x), y to y. */
static void assert_rotation(fixture *f, const char *object, const char *name, double theta)
{
    double m[9];
    hid_t a = attribute(f, object, name, 1, 9);
    assert_true(H5Aread(a, H5T_NATIVE_DOUBLE, m) >= 0);
    H5Aclose(a);
    const double x_axis[3] = {cos(theta), 0.0, -sin(theta)}; /* (x, y, z) */
    const double y_axis[3] = {0.0, 1.0, 0.0};
    const double z_axis[3] = {sin(theta), 0.0, cos(theta)};
    for (int i = 0; i < 3; ++i) { /* rounding of sin and cos */
        assert_close(m[3 * i], x_axis[i], 0.0, 1e-15);
        assert_close(m[3 * i + 1], y_axis[i], 0.0, 1e-15);
        assert_close(m[3 * i + 2], z_axis[i], 0.0, 1e-15);
    }
}

static void frame_is_on_every_mesh_and_on_the_species(void **state)
{
    fixture *f = *state;
    const aw_snapshot *s = &f->s.snapshot;
    /* sample.c tilts the grid by 0.1 rad against the design tangent -S/R and shifts it off the
     * design orbit, on which the particles' axes lie */
    const double grid[3] = {s->frame.x, 0.0, s->frame.z}, tangent = -0.24 / 25.13;
    const double orbit[3] = {s->species->axes.x, 0.0, s->species->axes.z};
    const struct {
        const char *name;
        const double *origin;
        double theta;
    } object[] = {{"/data/12/meshes/rho", grid, s->frame.theta},
                  {"/data/12/meshes/F", grid, s->frame.theta},
                  {"/data/12/meshes/F_eff", grid, s->frame.theta},
                  {"/data/12/particles/electron", orbit, tangent}};
    assert_true(fabs(grid[0] - orbit[0]) > 9e-6);
    for (size_t i = 0; i < sizeof object / sizeof *object; ++i) {
        assert_attr_doubles(f, object[i].name, "frameOrigin", 3, object[i].origin);
        assert_attr_double(f, object[i].name, "s_ref", 0.24);
        assert_attr_double(f, object[i].name, "t_ref", s->t_ref);
        assert_attr_double(f, object[i].name, "gamma_ref", 1e4);
        assert_attr_double(f, object[i].name, "kappa_ref", 1.0 / 25.13);
        assert_rotation(f, object[i].name, "frameRotation", object[i].theta);
        assert_rotation(f, object[i].name, "designRotation", tangent);
    }
}

static void particles_have_the_records_of_both_conventions(void **state)
{
    fixture *f = *state;
    const sample *s = &f->s;
    const double *want[] = {s->x, s->z, s->px, s->pz};
    const char *const name[] = {"position/x", "position/z", "momentum/x", "momentum/z"};
    for (int i = 0; i < 4; ++i) {
        char path[64];
        double got[SAMPLE_N];
        snprintf(path, sizeof path, "/data/12/particles/electron/%s", name[i]);
        read_doubles(f, path, 1, SAMPLE_N, 0, got);
        for (int k = 0; k < SAMPLE_N; ++k) assert_close(got[k], want[i][k], 0.0, 0.0);
        assert_attr_double(f, path, "unitSI", 1.0);
    }
    const char *species = "/data/12/particles/electron";
    assert_attr_text(f, species, "speciesType", "electron");
    assert_attr_double(f, species, "totalCharge", s->species.charge * SAMPLE_N);
    const struct {
        const char *name;
        double value, power;
        uint32_t macro;
    } constant[] = {{"charge", -1.602176634e-19, 1, 0},
                    {"mass", 9.1093837015e-31, 1, 0},
                    {"weighting", s->species.charge / 1.602176634e-19, 1, 1},
                    {"weight", s->species.charge, 1, 1},
                    {"time", s->snapshot.time, 0, 0},
                    {"position/y", 0, -1, 0},
                    {"momentum/y", 0, -1, 0}};
    for (size_t i = 0; i < sizeof constant / sizeof *constant; ++i) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", species, constant[i].name);
        assert_attr_double(f, path, "value", constant[i].value);
        if (constant[i].power < 0) continue; /* a component: these are on its record */
        assert_attr_double(f, path, "weightingPower", constant[i].power);
        assert_attr_uint32(f, path, "macroWeighted", constant[i].macro);
    }
    uint64_t shape = 0;
    hid_t a = attribute(f, "/data/12/particles/electron/weight", "shape", 1, 1);
    assert_type(a, H5T_STD_U64LE);
    assert_true(H5Aread(a, H5T_NATIVE_UINT64, &shape) >= 0);
    assert_int_equal(shape, SAMPLE_N);
    H5Aclose(a);
}

static void patch_holds_every_particle(void **state)
{
    fixture *f = *state;
    const char *const axis[] = {"x", "y", "z"};
    const double zero[SAMPLE_N] = {0};
    const double *value[] = {f->s.x, zero, f->s.z};
    for (int i = 0; i < 3; ++i) {
        char path[96];
        double from, extent;
        snprintf(path, sizeof path, "/data/12/particles/electron/particlePatches/offset/%s",
                 axis[i]);
        read_doubles(f, path, 1, 1, 0, &from);
        snprintf(path, sizeof path, "/data/12/particles/electron/particlePatches/extent/%s",
                 axis[i]);
        read_doubles(f, path, 1, 1, 0, &extent);
        for (int k = 0; k < SAMPLE_N; ++k)
            assert_true(value[i][k] >= from && value[i][k] < from + extent);
    }
}

static void equal_snapshots_give_equal_bytes(void **state)
{
    fixture *f = *state;
    sample *other = calloc(1, sizeof *other);
    assert_non_null(other);
    sample_fill(other, STEP);
    size_t n = 0, m = 0;
    assert_ok(aw_openpmd_write(scratch_path(f->dir, "b.h5"), &other->snapshot));
    char *a = scratch_read(f->path, &n), *b = scratch_read(scratch_path(f->dir, "b.h5"), &m);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(b);
    other->rho[0] += 1.0; /* and other numbers give other bytes */
    assert_ok(aw_openpmd_write(scratch_path(f->dir, "b.h5"), &other->snapshot));
    b = scratch_read(scratch_path(f->dir, "b.h5"), &m);
    assert_int_equal(n, m);
    assert_memory_not_equal(a, b, n);
    free(a);
    free(b);
    free(other);
}

static void flipped_bit_is_noticed_when_read(void **state)
{
    fixture *f = *state;
    size_t n = 0, at = 0;
    char *bytes = scratch_read(f->path, &n);
    while (at + 64 < n && memcmp(bytes + at, (const char *)f->s.Fz, 64) != 0) ++at;
    assert_true(at + 64 < n); /* F/z stands there as it is */
    bytes[at + 100] = (char)(bytes[at + 100] ^ 1);
    FILE *file = fopen(scratch_path(f->dir, "b.h5"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
    free(bytes);
    double got[NODES];
    hid_t bad = H5Fopen(scratch_path(f->dir, "b.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = H5Dopen2(bad, "/data/12/meshes/F/z", H5P_DEFAULT);
    assert_true(set >= 0);
    herr_t code = 0;
    H5E_BEGIN_TRY { code = H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, got); }
    H5E_END_TRY;
    assert_true(code < 0);
    H5Dclose(set);
    H5Fclose(bad);
}

static void without_particles_no_particles_path_is_promised(void **state)
{
    fixture *f = *state;
    f->s.snapshot.species = NULL;
    assert_ok(aw_openpmd_write(f->path, &f->s.snapshot));
    f->file = H5Fopen(f->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(H5Aexists(f->file, "meshesPath") > 0);
    assert_int_equal(H5Aexists(f->file, "particlesPath"), 0);
    assert_int_equal(H5Lexists(f->file, "/data/12/particles", H5P_DEFAULT), 0);
}

static void input_too_long_for_an_attribute_does_not_stop_the_file(void **state)
{
    fixture *f = *state;
    char *text = malloc(200001);
    assert_non_null(text);
    memset(text, 'a', 200000);
    text[200000] = '\0';
    f->s.snapshot.input = text;
    assert_ok(aw_openpmd_write(f->path, &f->s.snapshot));
    text[60000] = '\0';
    assert_ok(aw_openpmd_write(f->path, &f->s.snapshot));
    free(text);
}

static void arrays_larger_than_a_chunk_come_back(void **state)
{
    fixture *f = *state;
    enum { N = 300000 }; /* a chunk has 131072 items */
    double *data = malloc(N * sizeof *data), *got = malloc(N * sizeof *got);
    assert_non_null(data);
    assert_non_null(got);
    for (int i = 0; i < N; ++i) data[i] = i;
    aw_mesh mesh;
    assert_ok(aw_mesh_describe("F", data, data, &mesh));
    f->s.snapshot.mesh = &mesh;
    f->s.snapshot.meshes = 1;
    f->s.snapshot.species = NULL;
    f->s.snapshot.frame.nx = 600;
    f->s.snapshot.frame.ns = 500;
    assert_ok(aw_openpmd_write(f->path, &f->s.snapshot));
    f->file = H5Fopen(f->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    read_doubles(f, "/data/12/meshes/F/x", 2, 600, 500, got);
    for (int i = 0; i < N; ++i) assert_true(got[i] == data[i]);
    free(data);
    free(got);
}

static void full_disk_leaves_no_file_of_any_name(void **state)
{
    fixture *f = *state;
    scratch_disk_full(20000); /* the file has some 150 kB */
    aw_status status = aw_openpmd_write(f->path, &f->s.snapshot);
    scratch_disk_free();
    assert_int_equal(status, AW_ERR_IO);
    assert_int_equal(scratch_count(f->dir), 0);
}

static void wrong_snapshots_are_refused_before_anything_is_written(void **state)
{
    fixture *f = *state;
    aw_mesh mesh;
    assert_status(aw_mesh_describe("E", f->s.rho, NULL, &mesh), AW_ERR_ARG);
    assert_status(aw_mesh_describe("F", f->s.Fz, NULL, &mesh), AW_ERR_ARG);
    assert_status(aw_mesh_describe("rho", f->s.rho, f->s.Fx, &mesh), AW_ERR_ARG);
    aw_snapshot bad = f->s.snapshot;
    bad.frame.theta = NAN;
    assert_status(aw_openpmd_write(f->path, &bad), AW_ERR_NONFINITE);
    bad = f->s.snapshot;
    bad.step = -1;
    assert_status(aw_openpmd_write(f->path, &bad), AW_ERR_ARG);
    f->s.mesh[2].data[0] = NULL;
    assert_status(aw_openpmd_write(f->path, &f->s.snapshot), AW_ERR_ARG);
    f->s.mesh[2].data[0] = f->s.phi;
    f->s.species.n = 0;
    assert_status(aw_openpmd_write(f->path, &f->s.snapshot), AW_ERR_ARG);
    assert_int_equal(scratch_count(f->dir), 0);
}

static void refusal_of_libhdf5_is_one_line_with_its_reason(void **state)
{
    fixture *f = *state;
    f->s.mesh[1].name = "rho"; /* a second object of that name */
    scratch_stderr_begin(f->dir);
    aw_status status = aw_openpmd_write(f->path, &f->s.snapshot);
    char *text = scratch_stderr_end();
    assert_int_equal(status, AW_ERR_IO);
    assert_non_null(strstr(text, f->path));
    assert_non_null(strstr(text, "'rho'"));
    assert_non_null(strstr(text, "exists"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    free(text);
    assert_int_equal(scratch_count(f->dir), 0);
}

static void file_names_and_dates_are_as_documented(void **state)
{
    (void)state;
    char path[64], date[32];
    assert_ok(aw_openpmd_path("out", 42, path, sizeof path));
    assert_string_equal(path, "out/diag/arcwake_00000042.h5");
    assert_status(aw_openpmd_path("out", 42, path, 28), AW_ERR_ARG);
    aw_openpmd_date(951782400, date); /* a leap day */
    assert_string_equal(date, "2000-02-29 00:00:00 +0000");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_WRITTEN(name) cmocka_unit_test_setup_teardown(name, setup_written, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WRITTEN(root_says_version_extension_and_where_things_are),
        TEST_WRITTEN(meshes_carry_our_numbers_with_the_electrons_sign),
        TEST_WRITTEN(a_force_has_an_error_where_it_is_known),
        TEST_WRITTEN(every_mesh_has_its_unit_and_the_grid),
        TEST_WRITTEN(frame_is_on_every_mesh_and_on_the_species),
        TEST_WRITTEN(particles_have_the_records_of_both_conventions),
        TEST_WRITTEN(patch_holds_every_particle),
        TEST_WRITTEN(equal_snapshots_give_equal_bytes),
        TEST_WRITTEN(flipped_bit_is_noticed_when_read),
        TEST(without_particles_no_particles_path_is_promised),
        TEST(input_too_long_for_an_attribute_does_not_stop_the_file),
        TEST(arrays_larger_than_a_chunk_come_back),
        TEST(full_disk_leaves_no_file_of_any_name),
        TEST(wrong_snapshots_are_refused_before_anything_is_written),
        TEST(refusal_of_libhdf5_is_one_line_with_its_reason),
        TEST(file_names_and_dates_are_as_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
