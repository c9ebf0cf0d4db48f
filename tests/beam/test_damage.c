/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damaged and foreign files of particles: for any bytes the reader returns, with a beam of numbers
 * or with one line that says what is wrong. A file whose damage leaves it valid, such as another
 * position, is read: nothing in it could tell. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/beam/beam_file.h"
#include "src/beam/guard.h"
#include "tests/assert_close.h"
#include "tests/beam/beam_h5.h"
#include "tests/output/scratch.h"

enum { CASES = 100, PARTICLES = 60 };

typedef struct fixture {
    char dir[SCRATCH_PATH], path[SCRATCH_PATH + 64];
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    scratch_make(f->dir);
    snprintf(f->path, sizeof f->path, "%s", scratch_path(f->dir, "beam"));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    scratch_remove(f->dir);
    free(f);
    return 0;
}

/* SplitMix64 (Steele, Lea, Flood 2014), so that the cases are the same on every machine. */
static uint64_t next(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void write_bytes(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* Change a file of n bytes at one to three places, half of them at its beginning, where HDF5 has
 * what it knows of the rest. @return its new size */
static size_t damage(unsigned char *bytes, size_t n, uint64_t *seed)
{
    static const unsigned char digit[] = "0123456789.eE+-, \n#naif";
    size_t left = n;
    for (uint64_t i = 1 + next(seed) % 3; i > 0; --i) {
        const uint64_t random = next(seed);
        const size_t at = random % (random >> 60 & 1 ? n : n < 4096 ? n : 4096);
        const size_t run = at + 16 < n ? 16 : n - at;
        switch (random >> 32 & 7) {
        case 0:
        case 1: bytes[at] ^= (unsigned char)(1u << (random >> 40 & 7)); break;
        case 2: left = at; break;
        case 3: memset(bytes + at, 0, run); break;
        case 4: memset(bytes + at, 255, run); break;
        case 5: bytes[at] = digit[(random >> 40) % (sizeof digit - 1)]; break;
        default:
            for (size_t k = 0; k < run / 2; ++k) bytes[at + k] = (unsigned char)next(seed);
        }
    }
    return left;
}

/* Read. @return 1: it was read; 0: refused, in one line with a remedy */
static int read_beam(const char *path, const char *what)
{
    const aw_beam_source source = {.path = path, .iteration = AW_ITERATION_LAST, .charge = 1e-10};
    aw_particles *beam = NULL;
    aw_beam_found found;
    char why[AW_WHY_MAX] = "";
    const aw_status status = aw_beam_read(&source, &beam, &found, why);
    if (status != AW_OK) {
        if (status != AW_ERR_INPUT || !strstr(why, "(expected") || strchr(why, '\n'))
            fail_msg("%s: status %d: %s", what, status, why);
        assert_null(beam);
        return 0;
    }
    assert_true(beam->n >= 2 && beam->charge > 0.0);
    for (size_t i = 0; i < beam->n; ++i)
        if (!isfinite(beam->z[i]) || !isfinite(beam->x[i]) || !(beam->pz[i] > 0.0))
            fail_msg("%s: particle %zu", what, i);
    aw_particles_free(beam);
    return 1;
}

/* CASES damaged copies of a file. */
static void read_damaged(const fixture *f, uint64_t series)
{
    int read = 0;
    size_t n;
    char *whole = scratch_read(f->path, &n);
    unsigned char *bytes = malloc(n);
    assert_non_null(bytes);
    assert_true(read_beam(f->path, "the whole file"));
    for (uint64_t i = 0; i < CASES; ++i) {
        char what[64];
        uint64_t seed = 1000 * series + i;
        memcpy(bytes, whole, n);
        const size_t left = damage(bytes, n, &seed);
        write_bytes(f->path, bytes, left);
        snprintf(what, sizeof what, "series %d, case %d", (int)series, (int)i);
        read += read_beam(f->path, what);
    }
    print_message("%d of %d damaged files were read\n", read, CASES);
    assert_in_range(read, 1, CASES - 1); /* damage is neither always harmless nor always fatal */
    free(bytes);
    free(whole);
}

static void damaged_hdf5_is_refused_or_read(void **state)
{
    const fixture *f = *state;
    hid_t file = beam_h5_create(f->path, "particles/");
    beam_h5_species(file, "data/1/particles/driver", "electron", PARTICLES, 1);
    beam_h5_species(file, "data/1/particles/witness", "electron", PARTICLES / 2, 2);
    H5Fclose(file);
    read_damaged(f, 1);
}

static void damaged_text_is_refused_or_read(void **state)
{
    const fixture *f = *state;
    FILE *file = fopen(f->path, "w");
    assert_non_null(file);
    for (int i = 0; i < PARTICLES; ++i)
        fprintf(file, "%.17g %.9g, %.17g %.9g %.9g %.17g %.9g # particle\n", 1e-5 * sin(i),
                1e-5 * cos(i), 1e-4 * sin(3.0 * i), 1e4 * cos(2.0 * i), 1e3 * sin(5.0 * i), 5e8,
                1e-12);
    assert_int_equal(fclose(file), 0);
    read_damaged(f, 2);
}

/* A file with that beginning and zeros behind it. */
static void refuse_bytes(const fixture *f, const void *bytes, size_t n, size_t size)
{
    unsigned char *whole = calloc(size + 1, 1);
    assert_non_null(whole);
    memcpy(whole, bytes, n);
    write_bytes(f->path, whole, size);
    if (read_beam(f->path, "a foreign file")) fail_msg("%.8s was read", (const char *)bytes);
    free(whole);
}

static void foreign_files_are_refused(void **state)
{
    static const char mark[] = "\x89HDF\r\n\x1a\n", png[] = "\x89PNG\r\n\x1a\n",
                      gz[] = "\x1f\x8b\x08";
    static const char yaml[] = "beam: {file: beam.h5}\n", sdds[] = "SDDS1\n&column name=x, &end\n";
    static const char one[] = "1 2 3 4 5 6\n";
    const fixture *f = *state;
    refuse_bytes(f, "", 0, 0);
    refuse_bytes(f, mark, 8, 8);
    refuse_bytes(f, mark, 8, 4096);
    refuse_bytes(f, png, 8, 4096);
    refuse_bytes(f, gz, 3, 1000);
    refuse_bytes(f, yaml, sizeof yaml - 1, sizeof yaml - 1);
    refuse_bytes(f, sdds, sizeof sdds - 1, sizeof sdds - 1);
    refuse_bytes(f, one, sizeof one - 1, sizeof one - 1); /* one particle is no beam */
    assert_false(read_beam(f->dir, "a directory"));
    assert_false(read_beam(scratch_path(f->dir, "nothing"), "no file"));
}

/* HDF5 of other programs: with nothing in it, with a data set, with groups, with images. */
static void foreign_hdf5_is_refused(void **state)
{
    static const char *const group[] = {NULL, "position", "data/1/meshes/E", "position/z",
                                        "data/1/particles/electron"};
    const fixture *f = *state;
    for (size_t i = 0; i < sizeof group / sizeof group[0]; ++i) {
        const hid_t file = H5Fcreate(f->path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        const hid_t more = H5Pcreate(H5P_LINK_CREATE);
        H5Pset_create_intermediate_group(more, 1);
        if (group[i]) H5Gclose(H5Gcreate2(file, group[i], more, H5P_DEFAULT, H5P_DEFAULT));
        H5Pclose(more);
        H5Fclose(file);
        if (read_beam(f->path, "HDF5 of others")) fail_msg("%s was read", group[i]);
    }
    hid_t file = beam_h5_create(f->path, "particles/"); /* no iterations */
    H5Fclose(file);
    assert_false(read_beam(f->path, "openPMD without particles"));
    file = beam_h5_create(f->path, "a\nname/"); /* which the message shows */
    H5Gclose(H5Gcreate2(file, "data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Gclose(H5Gcreate2(file, "data/1", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(file);
    assert_false(read_beam(f->path, "a name of two lines"));
    file = beam_h5_create(f->path, "particles/");
    beam_h5_species(file, "data/1/particles/ions", "proton", PARTICLES, 1);
    H5Fclose(file);
    assert_false(read_beam(f->path, "protons"));
}

static int *handled; /* shared by both processes */

static void handle(int number)
{
    ++*handled;
    _exit(number);
}

static aw_status faulty(void *context)
{
    raise(*(int *)context);
    return AW_OK;
}

static aw_status endless(void *context)
{
    for (volatile int *go = context; *go;) continue;
    return AW_OK;
}

static aw_status good(void *context)
{
    *(int *)context += 1;
    return AW_ERR_IO;
}

/* What libhdf5 does to itself with some damaged files. */
static void a_fault_ends_the_child_alone(void **state)
{
    static const int fault[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGKILL};
    int *shared = aw_guard_alloc(sizeof *shared), ended;
    (void)state;
    handled = aw_guard_alloc(sizeof *handled);
    assert_non_null(shared);
    assert_non_null(handled);
    for (size_t i = 0; i < sizeof fault / sizeof fault[0]; ++i) {
        void (*before)(int) = signal(fault[i], handle); /* none of SIGKILL */
        *shared = fault[i];
        assert_int_equal(aw_guard_run(faulty, shared, 10.0, &ended), AW_ERR_INPUT);
        assert_int_equal(ended, 0);
        signal(fault[i], before);
    }
    assert_int_equal(*handled, 0); /* what handles faults of the caller does not see the child's */
    aw_guard_free(handled, sizeof *handled);
    assert_int_equal(aw_guard_run(endless, shared, 0.0, &ended), AW_ERR_INPUT);
    assert_int_equal(ended, 0);
    *shared = 41;
    assert_int_equal(aw_guard_run(good, shared, 10.0, &ended), AW_ERR_IO);
    assert_int_equal(ended, 1);
    assert_int_equal(*shared, 42);
    aw_guard_free(shared, sizeof *shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(damaged_hdf5_is_refused_or_read, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_text_is_refused_or_read, setup, teardown),
        cmocka_unit_test_setup_teardown(foreign_files_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(foreign_hdf5_is_refused, setup, teardown),
        cmocka_unit_test(a_fault_ends_the_child_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
