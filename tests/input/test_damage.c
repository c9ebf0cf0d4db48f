/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damaged input: for any bytes the readers return and report errors that name the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/assert_close.h"
#include "tests/input/files.h"

#define CASES 3000
#define TEXT_MAX 65536

/* SplitMix64 (Steele, Lea, Flood 2014), so that the cases are the same on every machine. */
static uint64_t next(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static size_t below(uint64_t *seed, size_t n) { return n ? (size_t)(next(seed) % n) : 0; }

typedef struct text {
    char bytes[TEXT_MAX];
    size_t n;
} text;

static void insert(text *t, size_t at, const char *what, size_t length)
{
    if (t->n + length >= TEXT_MAX) return;
    memmove(t->bytes + at + length, t->bytes + at, t->n - at);
    memcpy(t->bytes + at, what, length);
    t->n += length;
}

/* Start and length, with its end of line, of the line that contains byte `at`. */
static size_t line_at(const text *t, size_t at, size_t *length)
{
    size_t start = at, end = at;
    while (start > 0 && t->bytes[start - 1] != '\n') --start;
    while (end < t->n && t->bytes[end] != '\n') ++end;
    *length = (end < t->n ? end + 1 : end) - start;
    return start;
}

static void repeat_line(text *t, size_t at)
{
    char line[TEXT_MAX];
    size_t length = 0, start = line_at(t, at, &length);
    memcpy(line, t->bytes + start, length);
    insert(t, start, line, length);
}

static void drop_line(text *t, size_t at)
{
    size_t length = 0, start = line_at(t, at, &length);
    memmove(t->bytes + start, t->bytes + start + length, t->n - start - length);
    t->n -= length;
}

static void nest(text *t, size_t at, uint64_t *seed)
{
    static const char *const open[] = {"[", "{a: ", "- ", "\n  - "};
    const char *what = open[below(seed, 4)];
    for (size_t i = below(seed, 200); i > 0; --i) insert(t, at, what, strlen(what));
}

static void damage(text *t, uint64_t *seed)
{
    static const char *const words[] = {"1e999",
                                        "-1",
                                        "0",
                                        "nan",
                                        ".inf",
                                        "1e-320",
                                        "99999999999999999999",
                                        "~",
                                        "null",
                                        "&a ",
                                        "*a",
                                        "!!str ",
                                        "\t",
                                        "---\n",
                                        "...\n",
                                        "? ",
                                        "<<: ",
                                        "\"",
                                        "'",
                                        "|\n",
                                        ">\n",
                                        ": ",
                                        "- ",
                                        "#",
                                        "%YAML 9",
                                        "\xef\xbb\xbf",
                                        "\xff",
                                        "[]",
                                        "{}",
                                        "[,]",
                                        "{a: b}"};
    size_t at = below(seed, t->n);
    const char *word = words[below(seed, sizeof words / sizeof words[0])];
    switch (below(seed, 9)) {
    case 0:
        if (t->n) t->bytes[at] = (char)next(seed);
        break;
    case 1:
        if (t->n) t->bytes[at] = (char)(t->bytes[at] ^ (1 << below(seed, 8)));
        break;
    case 2: t->n = at; break;
    case 3: repeat_line(t, at); break;
    case 4: drop_line(t, at); break;
    case 5: nest(t, at, seed); break;
    case 6: /* a number or word in front of a value */
        while (at < t->n && t->bytes[at] != ' ') ++at;
        if (at < t->n) insert(t, at + 1, word, strlen(word));
        break;
    case 7: insert(t, at, word, strlen(word)); break;
    default: /* a copy of another byte */
        if (t->n) insert(t, at, t->bytes + below(seed, t->n), 1);
        break;
    }
}

/* There is at least one error, and every line of the messages names its file. */
static void assert_named(uint64_t number)
{
    static const char *const heads[] = {"arcwake: error: " RUN ":", "arcwake: error: " LATTICE ":",
                                        "arcwake: error: lattice", "arcwake: warning: " RUN ":"};
    assert_true(message_count() > 0);
    for (const char *at = messages(); *at; at += strcspn(at, "\n") + 1) {
        int good = 0;
        for (int i = 0; i < 4; ++i) good |= strncmp(at, heads[i], strlen(heads[i])) == 0;
        if (!good) fail_msg("case %llu: %s", (unsigned long long)number, messages());
    }
}

static int read_damaged(int of_lattice, uint64_t number)
{
    static text t;
    uint64_t seed = number * 2 + (uint64_t)of_lattice;
    const char *from = of_lattice ? good_lattice : good_run;
    aw_config *config = NULL;
    t.n = strlen(from);
    memcpy(t.bytes, from, t.n);
    for (size_t i = 1 + below(&seed, 4); i > 0; --i) damage(&t, &seed);
    file_write(of_lattice ? LATTICE : RUN, t.bytes, t.n);
    aw_status status = read_run(NULL, 0, &config);
    if (status == AW_OK) {
        char *again = aw_config_text(config);
        assert_non_null(again);
        free(again);
        aw_config_free(config);
        return 1;
    }
    if (status != AW_ERR_INPUT)
        fail_msg("case %llu: status %d", (unsigned long long)number, status);
    assert_null(config);
    assert_named(number);
    return 0;
}

static void damaged_run_files_are_refused_or_read(void **state)
{
    int read = 0;
    (void)state;
    write_good();
    for (uint64_t i = 0; i < CASES; ++i) read += read_damaged(0, i);
    assert_in_range(read, 1, CASES - 1); /* damage is neither always harmless nor always fatal */
}

static void damaged_lattices_are_refused_or_read(void **state)
{
    int read = 0;
    (void)state;
    write_good();
    for (uint64_t i = 0; i < CASES; ++i) read += read_damaged(1, i);
    assert_in_range(read, 1, CASES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_run_files_are_refused_or_read),
        cmocka_unit_test(damaged_lattices_are_refused_or_read),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
