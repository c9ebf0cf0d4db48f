/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A configuration back to the text of a run file; read again it gives the same bits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/input/fields.h"
#include "src/input/quote.h"
#include "src/io/directory.h"

static void put_key(FILE *out, const aw_field *field)
{
    const char *leaf = aw_field_leaf(field);
    fprintf(out, "%s%s: ", leaf == field->key ? "" : "  ", leaf);
}

/* The fewest digits that read back as the same double. */
static void put_double(FILE *out, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; ++digits) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, out);
}

static void put_number(FILE *out, const aw_field *field, double value)
{
    put_key(out, field);
    put_double(out, value);
    fputc('\n', out);
}

static void put_word(FILE *out, const char *words, int position)
{
    while (position-- > 0) {
        words = strchr(words, '|');
        if (!words) return;
        ++words;
    }
    fprintf(out, "%.*s\n", (int)strcspn(words, "|"), words);
}

static void put_at(FILE *out, const aw_field *field, const aw_config *config)
{
    put_key(out, field);
    fputc('[', out);
    for (size_t i = 0; i < config->at_n; ++i) {
        fputs(i == 0 ? "" : i % 8 ? ", " : ",\n         ", out);
        put_double(out, config->at_m[i]);
    }
    fputs("]\n", out);
}

/* The lattice's path is written whole, so that the text may lie in another directory. */
static int put_lattice(FILE *out, const aw_field *field, const aw_config *config)
{
    char *whole = realpath(config->lattice_path, NULL);
    put_key(out, field);
    aw_yaml_quote(out, whole ? whole : config->lattice_path);
    fputc('\n', out);
    free(whole);
    return 1;
}

/* Texts are quoted, because a plain one could read as a number, a null or another type. */
static void put_special(FILE *out, const aw_field *field, const aw_config *config)
{
    const char *leaf = aw_field_leaf(field);
    const aw_beam_params *beam = &config->beam;
    int by_emittance = beam->emittance > 0.0;
    if (strcmp(leaf, "title") == 0) {
        put_key(out, field);
        aw_yaml_quote(out, config->title);
        fputc('\n', out);
    } else if (strcmp(leaf, "lattice") == 0)
        put_lattice(out, field, config);
    else if (strcmp(leaf, "gamma") == 0)
        put_number(out, field, beam->gamma);
    else if (strcmp(leaf, "sigma_x_m") == 0 && !by_emittance)
        put_number(out, field, beam->sigma_x);
    else if (strcmp(leaf, "emittance_x_m") == 0 && by_emittance)
        put_number(out, field, beam->emittance);
    else if (strcmp(leaf, "beta_x_m") == 0 && by_emittance)
        put_number(out, field, beam->beta_x);
    else if (strcmp(leaf, "alpha_x") == 0 && by_emittance)
        put_number(out, field, beam->alpha_x);
    else if (strcmp(leaf, "grid") == 0)
        fprintf(out, "  grid: [%d, %d]\n", config->grid[0], config->grid[1]);
    else if (strcmp(leaf, "at_m") == 0)
        put_at(out, field, config);
}

static void put_field(FILE *out, const aw_field *field, const aw_config *config)
{
    const char *from = (const char *)config + field->offset;
    double number = 0.0;
    int integer = 0;
    size_t size = 0;
    uint64_t seed = 0;
    char *text = NULL;
    switch (field->kind) {
    case AW_FIELD_SPECIAL: put_special(out, field, config); return;
    case AW_FIELD_NUMBER:
        memcpy(&number, from, sizeof number);
        put_number(out, field, number);
        return;
    default: put_key(out, field);
    }
    switch (field->kind) {
    case AW_FIELD_INT:
        memcpy(&integer, from, sizeof integer);
        fprintf(out, "%d\n", integer);
        break;
    case AW_FIELD_SIZE:
        memcpy(&size, from, sizeof size);
        fprintf(out, "%zu\n", size);
        break;
    case AW_FIELD_SEED:
        memcpy(&seed, from, sizeof seed);
        fprintf(out, "%llu\n", (unsigned long long)seed);
        break;
    case AW_FIELD_CHOICE:
        memcpy(&integer, from, sizeof integer);
        put_word(out, field->choices, integer);
        break;
    case AW_FIELD_NAME: fprintf(out, "%s\n", from); break;
    case AW_FIELD_DEVICE:
        aw_yaml_quote(out, from);
        fputc('\n', out);
        break;
    default:
        memcpy(&text, from, sizeof text);
        aw_yaml_quote(out, text);
        fputc('\n', out);
    }
}

char *aw_config_text(const aw_config *config)
{
    char *text = NULL;
    const char *section = "";
    size_t size = 0, n = 0;
    const aw_field *fields = aw_fields(&n);
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    fputs(AW_DIRECTORY_MARK "\n", out);
    for (size_t i = 0; i < n; ++i) {
        size_t length = (size_t)(aw_field_leaf(&fields[i]) - fields[i].key);
        if (length && (i == 0 || strncmp(section, fields[i].key, length) != 0))
            fprintf(out, "%.*s:\n", (int)length - 1, fields[i].key);
        section = fields[i].key;
        put_field(out, &fields[i], config);
    }
    int failed = ferror(out);
    if (fclose(out) == 0 && !failed) return text;
    free(text);
    return NULL;
}
