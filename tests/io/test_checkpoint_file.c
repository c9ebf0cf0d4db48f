/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checkpoint files: what is written is read, and no damaged file is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/archive/hash.h"
#include "src/base/memory.h"
#include "src/io/checkpoint_file.h"
#include "tests/assert_close.h"
#include "tests/output/scratch.h"

enum { NUMBERS = 30000 };

/* What is saved: more than a buffer of the archive. */
typedef struct things {
    int flag;
    double *number; /* [n] */
    size_t n, capacity;
} things;

typedef struct fixture {
    char dir[SCRATCH_PATH];
    things saved;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    scratch_make(f->dir);
    f->saved.flag = 42;
    assert_ok(aw_grow((void **)&f->saved.number, &f->saved.capacity, NUMBERS, sizeof(double)));
    f->saved.n = NUMBERS;
    for (size_t i = 0; i < NUMBERS; ++i) f->saved.number[i] = 0.5 * (double)i;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    aw_free(f->saved.number);
    scratch_remove(f->dir);
    free(f);
    return 0;
}

static void archive_things(things *t, aw_archive *archive)
{
    AW_ARCHIVE_ITEM(archive, t->flag);
    aw_archive_array(archive, (void **)&t->number, &t->n, &t->capacity, sizeof *t->number);
}

static void save(fixture *f, long step)
{
    aw_checkpoint file;
    assert_ok(aw_checkpoint_create(f->dir, step, "a run", &file));
    archive_things(&f->saved, &file.archive);
    assert_ok(aw_checkpoint_commit(&file));
}

static aw_status load(const fixture *f, const char *file, things *out)
{
    aw_checkpoint from;
    const aw_status status = aw_checkpoint_open(f->dir, file, &from);
    if (status != AW_OK) return status;
    assert_string_equal(from.text, "a run");
    archive_things(out, &from.archive);
    return aw_checkpoint_close(&from);
}

static void what_is_saved_is_loaded(void **state)
{
    fixture *f = *state;
    things t = {.flag = 0};
    save(f, 7);
    assert_ok(load(f, NULL, &t));
    assert_int_equal(t.flag, 42);
    assert_int_equal(t.n, NUMBERS);
    assert_memory_equal(t.number, f->saved.number, NUMBERS * sizeof *t.number);
    aw_free(t.number);
}

static void the_newest_two_stay_and_the_newest_is_loaded(void **state)
{
    fixture *f = *state;
    things t = {.flag = 0};
    for (long step = 8; step <= 11; ++step) { /* 9, 10: the order is not that of texts */
        f->saved.flag = (int)step;
        save(f, step);
    }
    assert_int_equal(access(scratch_path(f->dir, "checkpoints/arcwake_00000009.ckpt"), F_OK), -1);
    assert_int_equal(access(scratch_path(f->dir, "checkpoints/arcwake_00000010.ckpt"), F_OK), 0);
    assert_ok(load(f, NULL, &t));
    assert_int_equal(t.flag, 11);
    aw_free(t.number);
}

/* Any byte of the file changed, or the file cut off anywhere. */
static void every_damage_is_refused(void **state)
{
    fixture *f = *state;
    size_t size;
    save(f, 1);
    char path[SCRATCH_PATH + 64];
    snprintf(path, sizeof path, "%s", scratch_path(f->dir, "checkpoints/arcwake_00000001.ckpt"));
    unsigned char *whole = (unsigned char *)scratch_read(path, &size);
    for (uint64_t k = 0; k < 300; ++k) {
        const uint64_t random = aw_hash(&k, sizeof k, 1);
        const size_t at =
            k < 100 ? (size_t)k : (size_t)(random % size); /* the head, byte by byte */
        const int cut = k % 3 == 0;
        const unsigned char change = (unsigned char)(1U << (random >> 32) % 8);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        whole[at] ^= change;
        assert_int_equal(fwrite(whole, 1, cut ? at : size, file), cut ? at : size);
        whole[at] ^= change;
        assert_int_equal(fclose(file), 0);
        things t = {.flag = 0};
        assert_status(load(f, path, &t), AW_ERR_INPUT);
        aw_free(t.number);
    }
    free(whole);
}

/* Whatever is in the place of the newest, the one before it is taken, and the messages name it. */
static void the_older_one_is_taken(void **state)
{
    static const char hdf5[] = "\x89HDF\r\n\x1a\n", text[] = "step,time_s\n0,0\n";
    fixture *f = *state;
    size_t size;
    char path[SCRATCH_PATH + 64];
    save(f, 1);
    f->saved.flag = 43;
    save(f, 2);
    snprintf(path, sizeof path, "%s", scratch_path(f->dir, "checkpoints/arcwake_00000002.ckpt"));
    unsigned char *whole = (unsigned char *)scratch_read(path, &size);
    for (uint64_t k = 0; k < 104; ++k) {
        const uint64_t random = aw_hash(&k, sizeof k, 2);
        const size_t at = k % 2 ? (size_t)(random % size) : (size_t)(random % 64);
        const size_t run = at + 8 < size ? 8 : size - at;
        unsigned char kept[8];
        const void *bytes = whole;
        size_t n = size;
        memcpy(kept, whole + at, run);
        switch (k < 100 ? k % 4 : k) {
        case 0: whole[at] ^= (unsigned char)(1U << (random >> 32) % 8); break;
        case 1: n = at; break;
        case 2: memset(whole + at, kept[0] ? 0 : 255, run); break;
        case 3: memcpy(whole + at, &random, run); break;
        case 100: n = 0; break;
        case 101: bytes = hdf5, n = sizeof hdf5 - 1; break;
        case 102: bytes = text, n = sizeof text - 1; break;
        default: n = 32; break; /* a head without a rest */
        }
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, n, file), n);
        assert_int_equal(fclose(file), 0);
        memcpy(whole + at, kept, run);
        things t = {.flag = 0};
        assert_ok(load(f, NULL, &t));
        if (t.flag != 42) fail_msg("case %d: the damaged one was taken", (int)k);
        assert_memory_equal(t.number, f->saved.number, NUMBERS * sizeof *t.number);
        aw_free(t.number);
    }
    free(whole);
}

/* An archive of other things is noticed item by item. */
static void other_items_are_refused(void **state)
{
    fixture *f = *state;
    aw_checkpoint from;
    double number = 0.0;
    int flag = 0;
    save(f, 1);
    assert_ok(aw_checkpoint_open(f->dir, NULL, &from));
    AW_ARCHIVE_ITEM(&from.archive, number); /* was an int */
    assert_status(aw_checkpoint_close(&from), AW_ERR_INPUT);
    assert_ok(aw_checkpoint_open(f->dir, NULL, &from));
    AW_ARCHIVE_ITEM(&from.archive, flag); /* the rest is not read */
    assert_status(aw_checkpoint_close(&from), AW_ERR_INPUT);
}

static void names_are_known(void **state)
{
    (void)state;
    assert_true(aw_checkpoint_is_file("arcwake_00000012.ckpt"));
    assert_true(aw_checkpoint_is_file("arcwake_123456789.ckpt"));
    assert_true(aw_checkpoint_is_file("arcwake_00000012.ckpt.abcdef.tmp"));
    assert_false(aw_checkpoint_is_file("arcwake_.ckpt"));
    assert_false(aw_checkpoint_is_file("arcwake_12x.ckpt"));
    assert_false(aw_checkpoint_is_file("arcwake_00000012.ckpt.abcdef"));
    assert_false(aw_checkpoint_is_file("arcwake_00000012.h5"));
    assert_false(aw_checkpoint_is_file("notes.txt"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_saved_is_loaded, setup, teardown),
        cmocka_unit_test_setup_teardown(the_newest_two_stay_and_the_newest_is_loaded, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(every_damage_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(the_older_one_is_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(other_items_are_refused, setup, teardown),
        cmocka_unit_test(names_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
