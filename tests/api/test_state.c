/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A field that is saved and loaded: the same bits, and what is no saved field is refused. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/archive/archive.h"
#include "src/archive/hash.h"
#include "tests/api/bunch_fixture.h"
#include "tests/assert_close.h"

enum { HEADER = 40, POINTS = 500 };

static aw_options small(const char *solver, int threads)
{
    aw_options options = aw_default_options();
    options.grid[0] = options.grid[1] = 24;
    options.solver = solver;
    options.threads = threads;
    return options;
}

static void force(aw_field *field, const bunch *b, double F[2 * POINTS])
{
    assert_int_equal(aw_field_force(field, POINTS, b->s, b->x, F, F + POINTS), AW_DONE);
}

/* Save and load. @param[in] threads  of the new one */
static aw_field *copy_of(aw_field *field, int threads)
{
    const aw_options machine = small("projection", threads);
    void *bytes;
    size_t size;
    aw_field *copy;
    assert_int_equal(aw_field_save(field, &bytes, &size), AW_DONE);
    if (aw_field_load(bytes, size, threads ? &machine : NULL, &copy) != AW_DONE)
        fail_msg("%s", aw_message(copy));
    aw_bytes_free(bytes);
    return copy;
}

/* Steps on which the older field and its copies agree in every bit. @param[in] solved  1: it is
 * copied after its forces were asked for; 0: before */
static void go_on_alike(const char *solver, int solved)
{
    bunch *b = draw();
    const aw_options options = small(solver, 2);
    double want[2 * POINTS], got[2 * POINTS];
    aw_field *field, *copy[2];
    assert_int_equal(aw_field_new(&options, bend, 2, &field), AW_DONE);
    for (int k = 0; k < 12; ++k) {
        assert_int_equal(observe_at(field, b, 0.06 * k), AW_DONE);
        if (k < 11 || solved) force(field, b, want);
    }
    copy[0] = copy_of(field, 0);
    copy[1] = copy_of(field, 1);
    for (int k = 12; k < 18; ++k) {
        force(field, b, want);
        assert_true(want[0] == want[0] && want[0] != 0.0);
        for (int i = 0; i < 2; ++i) {
            force(copy[i], b, got);
            assert_memory_equal(want, got, sizeof want);
        }
        for (int i = 0; i < 2; ++i) assert_int_equal(observe_at(copy[i], b, 0.06 * k), AW_DONE);
        assert_int_equal(observe_at(field, b, 0.06 * k), AW_DONE);
    }
    for (int i = 0; i < 2; ++i) aw_field_free(copy[i]);
    aw_field_free(field);
    free(b);
}

static void a_loaded_field_goes_on_to_the_same_bits(void **state)
{
    (void)state;
    go_on_alike("projection", 0);
    go_on_alike("projection", 1);
    go_on_alike("predictive", 1);
}

/* Before the first observation there is only the orbit. */
static void a_field_without_observations(void **state)
{
    (void)state;
    bunch *b = draw();
    const aw_options options = small("projection", 0);
    double want[2 * POINTS], got[2 * POINTS];
    aw_field *field, *copy;
    assert_int_equal(aw_field_new(&options, bend, 2, &field), AW_DONE);
    copy = copy_of(field, 0);
    assert_int_equal(aw_field_force(copy, 1, b->s, b->x, got, got + 1), AW_WRONG_ARGUMENT);
    says(copy, "nothing has been observed yet");
    assert_int_equal(observe_at(field, b, 0.5), AW_DONE);
    assert_int_equal(observe_at(copy, b, 0.5), AW_DONE);
    force(field, b, want);
    force(copy, b, got);
    assert_memory_equal(want, got, sizeof want);
    aw_field_free(copy);
    aw_field_free(field);
    free(b);
}

/* Bytes of a field with some slices and its forces. */
static unsigned char *saved(size_t *size)
{
    bunch *b = draw();
    const aw_options options = small("projection", 0);
    double F[2 * POINTS];
    void *bytes;
    aw_field *field;
    assert_int_equal(aw_field_new(&options, bend, 2, &field), AW_DONE);
    for (int k = 0; k < 3; ++k) assert_int_equal(observe_at(field, b, 0.06 * k), AW_DONE);
    force(field, b, F);
    assert_int_equal(aw_field_save(field, &bytes, size), AW_DONE);
    aw_field_free(field);
    free(b);
    return bytes;
}

/* One line that has these words; the field has no other use then. */
static void refused(const void *bytes, size_t size, const char *words)
{
    aw_field *field;
    assert_int_equal(aw_field_load(bytes, size, NULL, &field), AW_WRONG_ARGUMENT);
    says(field, words);
    assert_null(strchr(aw_message(field), '\n'));
    assert_int_equal(aw_field_grid(field, &(aw_grid_info){0}, NULL, NULL), AW_WRONG_ARGUMENT);
    says(field, "could not be made");
    aw_field_free(field);
}

/* One bit of a byte anywhere, in the header and the texts above all; and ends that are missing. */
static void damaged_bytes_are_refused(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = saved(&size);
    uint64_t random = 1;
    for (int i = 0; i < 200; ++i) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const size_t range = i < 60 ? 400 : size, at = (size_t)(random >> 20) % range;
        const unsigned char bit = (unsigned char)(1u << (random >> 17 & 7));
        bytes[at] ^= bit;
        refused(bytes, size, "the saved field ");
        bytes[at] ^= bit;
    }
    for (int i = 0; i < 50; ++i) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const size_t cut = (size_t)(random >> 20) % size;
        refused(bytes, cut, cut < HEADER ? "is not a checkpoint" : "ends too early");
    }
    unsigned char *longer = calloc(size + 8, 1);
    memcpy(longer, bytes, size);
    refused(longer, size + 8, "is damaged");
    refused(NULL, 0, "is NULL");
    free(longer);
    aw_bytes_free(bytes);
}

/* Give bytes that were changed on purpose their hash. */
static void sign(unsigned char *bytes, size_t size)
{
    uint64_t hash = 0;
    for (size_t at = HEADER; at < size; at += AW_ARCHIVE_BUFFER) {
        const size_t n = size - at < AW_ARCHIVE_BUFFER ? size - at : AW_ARCHIVE_BUFFER;
        hash = aw_hash(bytes + at, n, hash);
    }
    memcpy(bytes + 32, &hash, sizeof hash);
}

static void other_versions_and_kinds_are_refused(void **state)
{
    (void)state;
    size_t size;
    char words[64];
    unsigned char *bytes = saved(&size), *mark = bytes + HEADER + 8;
    aw_field *field;
    sign(bytes, size); /* as it was */
    assert_int_equal(aw_field_load(bytes, size, NULL, &field), AW_DONE);
    aw_field_free(field);
    char *version = strstr((char *)mark, aw_library_version());
    assert_non_null(version);
    version[0] = '9';
    sign(bytes, size);
    snprintf(words, sizeof words, "is of arcwake 9%s (expected %s)", aw_library_version() + 1,
             aw_library_version());
    refused(bytes, size, words);
    version[0] = aw_library_version()[0];
    mark[0] = 'x';
    sign(bytes, size);
    refused(bytes, size, "is not that of a field");
    mark[0] = 'a';
    bytes[HEADER + 8 + 64] = 99; /* the length of the next item: another layout */
    sign(bytes, size);
    refused(bytes, size, "is of another build");
    aw_bytes_free(bytes);
}

/* What a run saves begins otherwise. */
static void other_archives_are_refused(void **state)
{
    (void)state;
    unsigned char bytes[HEADER + 16];
    uint64_t item = 5;
    aw_archive a;
    aw_archive_save_memory(&a, bytes, sizeof bytes);
    AW_ARCHIVE_ITEM(&a, item);
    assert_int_equal(aw_archive_end(&a), AW_OK);
    assert_int_equal(aw_archive_length(&a), sizeof bytes);
    refused(bytes, sizeof bytes, "is not that of a field");
    aw_archive_save_memory(&a, bytes, sizeof bytes - 1);
    AW_ARCHIVE_ITEM(&a, item);
    assert_int_equal(aw_archive_end(&a), AW_ERR_IO);
}

static void bad_calls_have_a_line(void **state)
{
    (void)state;
    size_t size;
    void *bytes = &size;
    const aw_options options = small("magic", 0);
    aw_field *field;
    assert_int_equal(aw_field_new(&options, bend, 2, &field), AW_WRONG_ARGUMENT);
    assert_int_equal(aw_field_save(field, &bytes, &size), AW_WRONG_ARGUMENT);
    says(field, "there is no state");
    assert_null(bytes);
    aw_field_free(field);
    assert_int_equal(aw_field_save(NULL, &bytes, &size), AW_WRONG_ARGUMENT);
    assert_int_equal(aw_field_load(bytes, 0, NULL, NULL), AW_WRONG_ARGUMENT);
    aw_bytes_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loaded_field_goes_on_to_the_same_bits),
        cmocka_unit_test(a_field_without_observations),
        cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(other_versions_and_kinds_are_refused),
        cmocka_unit_test(other_archives_are_refused),
        cmocka_unit_test(bad_calls_have_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
