/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of `arcwake tune`: what is written is read again; a stale or damaged file is ignored
 * with one line; the path of the file. */
#include <stdlib.h>
#include <string.h>

#include "src/tuning/file.h"
#include "tests/assert_close.h"
#include "tests/output/scratch.h"

static const aw_tuning_key key = {"1.2.3", "A CPU (tm) @ 2.0GHz: #1", "avx2", 2};
static const aw_tuning tuned = {.sweep_group = 100,
                                .sweep_pieces = 8,
                                .blend_points = 257,
                                .cluster_tiles = 16,
                                .cluster_batch = 64,
                                .form_sums = 8192};
static const aw_tuning zeros;

static void written_values_are_read_again(void **state)
{
    const scratch_fixture *f = *state;
    const char *path = scratch_path(f->dir, "below/this/tuning.yaml");
    aw_tuning got = zeros;
    assert_ok(aw_tuning_write(path, &key, &tuned)); /* with the directories above it */
    assert_ok(aw_tuning_read(path, &key, &got));
    assert_memory_equal(&got, &tuned, sizeof got);
    assert_int_equal(scratch_count(scratch_path(f->dir, "below/this")), 1); /* no .tmp */
    /* Another number of threads does not make it stale, or results would depend on it. */
    aw_tuning_key more = key;
    more.threads = 64;
    assert_ok(aw_tuning_read(path, &more, &got));
    assert_memory_equal(&got, &tuned, sizeof got);
}

static void key_of_this_machine_is_read_as_it_was_written(void **state)
{
    const scratch_fixture *f = *state;
    const char *path = scratch_path(f->dir, "tuning.yaml");
    aw_tuning_key here;
    aw_tuning got;
    aw_tuning_key_here(3, &here);
    assert_true(here.version[0] && here.cpu[0] && here.variant[0]);
    assert_int_equal(here.threads, 3);
    assert_ok(aw_tuning_write(path, &here, &tuned));
    assert_ok(aw_tuning_read(path, &here, &got));
    assert_memory_equal(&got, &tuned, sizeof got);
}

/* Reading the file prints one line with its path, `why` and the remedy, and gives the defaults. */
static void assert_ignored(const scratch_fixture *f, const char *path, const char *why)
{
    aw_tuning got = tuned;
    scratch_stderr_begin(f->dir);
    aw_status status = aw_tuning_read(path, &key, &got);
    char *text = scratch_stderr_end();
    assert_status(status, AW_ERR_INPUT);
    assert_memory_equal(&got, &zeros, sizeof got);
    if (!strstr(text, why)) fail_msg("'%s' is not in: %s", why, text);
    assert_non_null(strstr(text, "arcwake: warning: "));
    assert_non_null(strstr(text, path));
    assert_non_null(strstr(text, "(run arcwake tune again)\n"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    free(text);
}

static void another_version_cpu_or_variant_is_stale(void **state)
{
    const scratch_fixture *f = *state;
    const char *path = scratch_path(f->dir, "tuning.yaml");
    aw_tuning_key other[3] = {key, key, key};
    strcpy(other[0].version, "1.2.30");
    strcpy(other[1].cpu, "another CPU");
    strcpy(other[2].variant, "avx512");
    for (int i = 0; i < 3; ++i) {
        assert_ok(aw_tuning_write(path, &other[i], &tuned));
        assert_ignored(f, path, "is stale");
    }
    /* Nothing else is read from a file of another version: its parameters may be different ones. */
    scratch_write(path, "key: {version: \"1\", cpu: \"A CPU (tm) @ 2.0GHz: #1\", variant: avx2, "
                        "threads: 2}\nwhatever: 3\n");
    assert_ignored(f, path, "made for '1', this is '1.2.3'");
}

#define GOOD_KEY \
    "key: {version: 1.2.3, cpu: 'A CPU (tm) @ 2.0GHz: #1', variant: avx2, threads: 2}\n"
#define GOOD_UNIT                                                                       \
    "cpu_unit: {sweep_group: 64, sweep_pieces: 8, blend_points: 6, cluster_tiles: 64, " \
    "cluster_batch: 32, form_sums: 8192}\n"

static void damaged_file_is_ignored(void **state)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "is empty"},
        {"\x01\x02", "is a control character"},
        {"key: [", "YAML"},
        {"- 1\n", "is not a mapping"},
        {"3\n", "is not a mapping"},
        {GOOD_UNIT, "lacks 'key'"},
        {GOOD_KEY, "lacks 'cpu_unit'"},
        {"key: 3\n" GOOD_UNIT, "is not a mapping"},
        {"key: {version: 1.2.3}\n" GOOD_UNIT, "lacks 'cpu'"},
        {GOOD_KEY "cpu_unit: [1, 2]\n", "is not a mapping"},
        {GOOD_KEY GOOD_UNIT "gpu_unit: {}\n", "gpu_unit: unknown key"},
        {GOOD_KEY GOOD_UNIT GOOD_UNIT, "given before"},
        {GOOD_KEY "cpu_unit: {sweep_group: 64, sweep_pieces: 8, blend_points: 6}\n",
         "lacks 'cluster_tiles'"},
        {GOOD_KEY "cpu_unit: {sweep_group: 64, sweep_pieces: 8, blend_points: 6, cluster_tiles: "
                  "64, batch: 32}\n",
         "batch: unknown key"},
        {GOOD_KEY "cpu_unit: {sweep_group: 15, sweep_pieces: 8, blend_points: 6, cluster_tiles: "
                  "64}\n",
         "sweep_group: '15' is too small (expected 16 to 256)"},
        {GOOD_KEY "cpu_unit: {sweep_group: 64, sweep_pieces: 129, blend_points: 6, cluster_tiles: "
                  "64}\n",
         "too large (expected 1 to 128)"},
        {GOOD_KEY "cpu_unit: {sweep_group: 64, sweep_pieces: 0, blend_points: 6, cluster_tiles: "
                  "64}\n",
         "too small"},
        {GOOD_KEY "cpu_unit: {sweep_group: 64, sweep_pieces: 8, blend_points: -6, cluster_tiles: "
                  "64}\n",
         "blend_points: '-6' is negative"},
        {GOOD_KEY "cpu_unit: {sweep_group: 64, sweep_pieces: 8, blend_points: six, cluster_tiles: "
                  "64}\n",
         "blend_points: 'six' is not a plain number"},
        {GOOD_KEY "cpu_unit: {sweep_group: 64, sweep_pieces: 8, blend_points: 6, cluster_tiles: "
                  "8.5}\n",
         "cluster_tiles: '8.5' is not whole"}};
    const scratch_fixture *f = *state;
    const char *path = scratch_path(f->dir, "tuning.yaml");
    aw_tuning got;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        scratch_write(path, bad[i].text);
        assert_ignored(f, path, bad[i].why);
    }
    scratch_write(path, GOOD_KEY GOOD_UNIT); /* these two have no other mistakes */
    assert_ok(aw_tuning_read(path, &key, &got));
    assert_int_equal(got.sweep_group, 64);
    assert_ignored(f, f->dir, "is a directory");
}

static void missing_file_gives_the_defaults_without_a_message(void **state)
{
    const scratch_fixture *f = *state;
    aw_tuning got = tuned;
    scratch_stderr_begin(f->dir);
    aw_status status = aw_tuning_read(scratch_path(f->dir, "none/such.yaml"), &key, &got);
    char *text = scratch_stderr_end();
    assert_status(status, AW_ERR_IO);
    assert_string_equal(text, "");
    assert_memory_equal(&got, &zeros, sizeof got);
    free(text);
}

static void environment_determines_the_path(void **state)
{
    const scratch_fixture *f = *state;
    char path[SCRATCH_PATH], tiny[8];
    aw_tuning got;
    aw_tuning_key here;
    (void)state;
    setenv("HOME", "/nobody", 1);
    setenv("XDG_CACHE_HOME", "relative", 1); /* to be ignored */
    unsetenv("ARCWAKE_TUNING");
    assert_true(aw_tuning_path(path, sizeof path));
    assert_string_equal(path, "/nobody/.cache/arcwake/tuning.yaml");
    assert_false(aw_tuning_path(tiny, sizeof tiny));
    setenv("XDG_CACHE_HOME", "/cache", 1);
    assert_true(aw_tuning_path(path, sizeof path));
    assert_string_equal(path, "/cache/arcwake/tuning.yaml");
    setenv("ARCWAKE_TUNING", "none", 1);
    assert_false(aw_tuning_path(path, sizeof path));
    setenv("ARCWAKE_TUNING", scratch_path(f->dir, "mine.yaml"), 1);
    assert_true(aw_tuning_path(path, sizeof path));
    assert_string_equal(path, scratch_path(f->dir, "mine.yaml"));
    /* The same as a run does it. */
    got = tuned;
    aw_tuning_load(&got);
    assert_memory_equal(&got, &zeros, sizeof got);
    aw_tuning_key_here(1, &here);
    assert_ok(aw_tuning_write(path, &here, &tuned));
    aw_tuning_load(&got);
    assert_memory_equal(&got, &tuned, sizeof got);
    setenv("ARCWAKE_TUNING", "none", 1);
    aw_tuning_load(&got);
    assert_memory_equal(&got, &zeros, sizeof got);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(written_values_are_read_again),
        TEST(key_of_this_machine_is_read_as_it_was_written),
        TEST(another_version_cpu_or_variant_is_stale),
        TEST(damaged_file_is_ignored),
        TEST(missing_file_gives_the_defaults_without_a_message),
        TEST(environment_determines_the_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
