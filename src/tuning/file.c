/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/tuning/file.h"

#include <aw_version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "kernels/cpu/simd/simd.h"
#include "src/base/log.h"
#include "src/io/file.h"
#include "src/yaml/yaml.h"

/* ------------------------------------------------------------------------------------ machine */

/* Copy the characters that need no escape between double quotes; leading and trailing spaces go. */
static void copy_plain(const char *from, char *out, size_t size)
{
    size_t n = 0;
    for (; *from && n + 1 < size; ++from)
        if (*from >= ' ' && *from <= '~' && *from != '"' && *from != '\\' &&
            (n > 0 || *from != ' '))
            out[n++] = *from;
    while (n > 0 && out[n - 1] == ' ') --n;
    out[n] = '\0';
}

/* The value of the first line "name : value" of /proc/cpuinfo. */
static int cpuinfo(const char *name, char *out, size_t size)
{
    char line[512];
    const size_t length = strlen(name);
    out[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) return 0;
    while (!out[0] && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, name, length) != 0) continue;
        if (line[length + strspn(line + length, " \t")] != ':') continue;
        copy_plain(colon + 1, out, size);
    }
    fclose(file);
    return out[0] != '\0';
}

void aw_tuning_key_here(int threads, aw_tuning_key *key)
{
    static const char *const names[] = {"model name", "Model", "cpu"}; /* x86, ARM, POWER */
    struct utsname system;
    *key = (aw_tuning_key){.threads = threads};
    snprintf(key->version, sizeof key->version, "%s", AW_VERSION);
    snprintf(key->variant, sizeof key->variant, "%s", aw_variant_find(NULL)->name);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (cpuinfo(names[i], key->cpu, sizeof key->cpu)) return;
    if (uname(&system) == 0) copy_plain(system.machine, key->cpu, sizeof key->cpu);
}

int aw_tuning_path(char *path, size_t size)
{
    const char *own = getenv("ARCWAKE_TUNING"), *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int n;
    if (own && own[0]) {
        if (strcmp(own, "none") == 0) return 0;
        n = snprintf(path, size, "%s", own);
    } else if (cache && cache[0] == '/') { /* the XDG specification ignores relative paths */
        n = snprintf(path, size, "%s/arcwake/tuning.yaml", cache);
    } else if (home && home[0]) {
        n = snprintf(path, size, "%s/.cache/arcwake/tuning.yaml", home);
    } else {
        return 0;
    }
    return n > 0 && (size_t)n < size;
}

/* --------------------------------------------------------------------------------------- read */

/* Child `key` of a mapping; it is an error if that is missing. */
static const aw_yaml_node *need(aw_input_errors *errors, const aw_yaml_node *map, const char *key)
{
    const aw_yaml_node *node = aw_yaml_get(map, key);
    if (!node) aw_yaml_error(errors, map, "lacks '%s'", key);
    return node;
}

/* An error if the text under `key` is not `here`. */
static void compare(aw_input_errors *errors, const aw_yaml_node *map, const char *key,
                    const char *here)
{
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *node = need(errors, map, key);
    const char *text = node ? aw_yaml_text(errors, node, "a text") : NULL;
    if (text && strcmp(text, here) != 0)
        aw_yaml_error(errors, node, "is stale: made for %s, this is '%s'",
                      aw_yaml_show(node, shown), here);
}

/* An error for every key of a mapping that is not one of known[n]. */
static void refuse_others(aw_input_errors *errors, const aw_yaml_node *map,
                          const char *const *known, int n)
{
    for (const aw_yaml_node *c = map->first; c; c = c->next) {
        int found = 0;
        for (int i = 0; i < n; ++i) found = found || strcmp(c->key, known[i]) == 0;
        if (!found) aw_yaml_key_error(errors, c, "unknown key");
    }
}

/* The mapping under `key`, which may have the keys known[n] and no others; NULL if it is not
 * one. */
static const aw_yaml_node *section(aw_input_errors *errors, const aw_yaml_node *root,
                                   const char *key, const char *const *known, int n)
{
    const aw_yaml_node *map = need(errors, root, key);
    if (!map) return NULL;
    if (map->kind != AW_YAML_MAP) {
        aw_yaml_error(errors, map, "is not a mapping");
        return NULL;
    }
    refuse_others(errors, map, known, n);
    return map;
}

static void read_key(aw_input_errors *errors, const aw_yaml_node *root, const aw_tuning_key *here)
{
    static const char *const known[] = {"version", "cpu", "variant", "threads"};
    uint64_t threads;
    const aw_yaml_node *map = section(errors, root, "key", known, 4);
    if (!map) return;
    compare(errors, map, "version", here->version);
    compare(errors, map, "cpu", here->cpu);
    compare(errors, map, "variant", here->variant);
    const aw_yaml_node *node = need(errors, map, "threads");
    if (node) aw_yaml_whole(errors, node, "a number of threads", 1, 4096, &threads);
}

static void read_values(aw_input_errors *errors, const aw_yaml_node *root, aw_tuning *tuning)
{
    const char *known[8];
    int n = 0;
    for (; aw_tuning_list(n); ++n) known[n] = aw_tuning_list(n)->name;
    const aw_yaml_node *map = section(errors, root, "cpu_unit", known, n);
    for (int i = 0; map && i < n; ++i) {
        const aw_tuning_field *field = aw_tuning_list(i);
        const aw_yaml_node *node = need(errors, map, field->name);
        char expected[64];
        uint64_t value = 0;
        snprintf(expected, sizeof expected, "%d to %d", field->least, field->most);
        if (node && aw_yaml_whole(errors, node, expected, (uint64_t)field->least,
                                  (uint64_t)field->most, &value))
            aw_tuning_set(tuning, field, (int)value);
    }
}

static void read_document(aw_input_errors *errors, const aw_yaml_node *root,
                          const aw_tuning_key *here, aw_tuning *tuning)
{
    static const char *const known[] = {"key", "cpu_unit"};
    if (root->kind != AW_YAML_MAP) {
        aw_yaml_error(errors, root, "is not a mapping");
        return;
    }
    /* The key first: if the file is of another version, no other error matters. */
    read_key(errors, root, here);
    if (aw_input_count(errors) > 0) return;
    refuse_others(errors, root, known, 2);
    read_values(errors, root, tuning);
}

aw_status aw_tuning_read(const char *path, const aw_tuning_key *here, aw_tuning *tuning)
{
    aw_input_errors errors = {0};
    aw_yaml *doc = NULL;
    struct stat info;
    memset(tuning, 0, sizeof *tuning);
    if (stat(path, &info) != 0) return AW_ERR_IO;
    aw_status status = aw_yaml_read(path, NULL, &errors, &doc);
    if (status == AW_OK) read_document(&errors, aw_yaml_root(doc), here, tuning);
    if (status != AW_OK || aw_input_count(&errors) > 0) {
        char none[AW_PATH_MAX_LEN + 32];
        snprintf(none, sizeof none, "%s: cannot be read", path);
        aw_warn("%s; the tuning file is ignored (run arcwake tune again)",
                errors.n > 0 ? errors.item[0].text : none);
        memset(tuning, 0, sizeof *tuning);
        status = AW_ERR_INPUT;
    }
    aw_yaml_free(doc);
    aw_input_errors_free(&errors);
    return status;
}

/* -------------------------------------------------------------------------------------- write */

aw_status aw_tuning_write(const char *path, const aw_tuning_key *key, const aw_tuning *tuning)
{
    char text[1024];
    aw_status status = AW_OK;
    int n = snprintf(text, sizeof text,
                     "# Written by `arcwake tune`. Without this file, or with ARCWAKE_TUNING=none, "
                     "defaults are used.\n"
                     "key: {version: \"%s\", cpu: \"%s\", variant: \"%s\", threads: %d}\n"
                     "cpu_unit:\n",
                     key->version, key->cpu, key->variant, key->threads);
    for (int i = 0; aw_tuning_list(i); ++i)
        n += snprintf(text + n, sizeof text - (size_t)n, "  %s: %d\n", aw_tuning_list(i)->name,
                      aw_tuning_get(tuning, aw_tuning_list(i)));
    AW_TRY(aw_file_parents(path));
    AW_TRY(aw_file_replace(path, text, (size_t)n));
done:
    return status;
}

void aw_tuning_load(aw_tuning *tuning)
{
    char path[AW_PATH_MAX_LEN];
    aw_tuning_key here;
    memset(tuning, 0, sizeof *tuning);
    if (!aw_tuning_path(path, sizeof path)) return;
    aw_tuning_key_here(1, &here);
    aw_tuning_read(path, &here, tuning); /* prints why it ignores a file */
}
