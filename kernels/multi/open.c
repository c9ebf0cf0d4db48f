/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a user calls a unit, or a list of units as one device: "cpu:0,cpu:1,manycore". */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/simd/simd.h"
#include "kernels/multi/devices.h"
#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"

/* Take the next word of a list into `word`.
 * @param[in,out] rest  what is left of the list; NULL after the last word
 * @return 0: the word does not fit */
static int next_word(const char **rest, char *word, size_t room)
{
    const char *list = *rest;
    const size_t n = strcspn(list, ",");
    if (n >= room) return 0;
    memcpy(word, list, n);
    word[n] = '\0';
    *rest = list[n] == ',' ? list + n + 1 : NULL;
    return 1;
}

static const aw_device_ops *kind_of(const char *name)
{
    const size_t n = strcspn(name, ":");
    for (int i = 0; aw_device_kind(i); ++i) {
        const aw_device_ops *ops = aw_device_kind(i);
        if (strlen(ops->kind) == n && strncmp(ops->kind, name, n) == 0) return ops;
    }
    return NULL;
}

/* ":0", ":12" or nothing. */
static int is_index(const char *text)
{
    if (*text == '\0') return 1;
    const size_t digits = strspn(text + 1, "0123456789");
    return *text == ':' && digits > 0 && digits < 4 && text[1 + digits] == '\0';
}

/* Names of the units of a list. */
static aw_status read_names(const char *spec, aw_named_device unit[AW_DEVICES_MAX], int *units)
{
    const char *rest = spec;
    int n = 0;
    do {
        char word[sizeof unit->name];
        if (n == AW_DEVICES_MAX || !next_word(&rest, word, sizeof word))
            return aw_error(AW_ERR_BACKEND, "device '%s': more than %d units, or too long a name",
                            spec, AW_DEVICES_MAX);
        const aw_device_ops *ops = kind_of(word);
        if (!ops || !is_index(word + strlen(ops->kind)))
            return aw_error(AW_ERR_BACKEND,
                            "device '%s': '%s' is not known (use auto, cpu, manycore, cuda, or a "
                            "list of such, each with a number: cpu,cuda:0,cuda:1)",
                            spec, word);
        for (int i = 0; i < n; ++i)
            if (strcmp(unit[i].name, word) == 0)
                return aw_error(AW_ERR_BACKEND,
                                "device '%s': '%s' is given twice (number them: %s:0,%s:1)", spec,
                                word, ops->kind, ops->kind);
        unit[n] = (aw_named_device){.device = {.ops = ops}, .heavy = ops->heavy, .slow = 1.0};
        strcpy(unit[n++].name, word);
    } while (rest);
    *units = n;
    return AW_OK;
}

/* "cpu:1=2.0,manycore=1.5" */
static aw_status read_slow(const char *slow, aw_named_device *unit, int n)
{
    for (const char *rest = slow; rest;) {
        char word[64], *end;
        const int fits = next_word(&rest, word, sizeof word);
        char *value = fits ? strchr(word, '=') : NULL;
        int found = 0;
        if (value) *value++ = '\0';
        const double times = value ? strtod(value, &end) : 0.0;
        if (!value || end == value || *end || !(times >= 1.0 && times <= 1e6))
            return aw_error(AW_ERR_ARG,
                            "slow: '%s' is not a device and a factor from 1 on (cpu:1=2)", slow);
        for (int i = 0; i < n; ++i) {
            if (strcmp(unit[i].name, word) != 0) continue;
            unit[i].slow = times;
            found = 1;
        }
        if (!found)
            return aw_error(AW_ERR_ARG, "slow: there is no unit '%s' among those asked for", word);
    }
    return AW_OK;
}

/* Which one of its kind a device is. Ranks of a node that do not say which take one after the
 * other: of GPUs, each its own. */
static int index_of(const aw_device_ops *ops, const char *name)
{
    const char *number = strchr(name, ':');
    char why[8];
    if (number) return atoi(number + 1);
    const int n = ops->count ? ops->count(why, sizeof why) : 0;
    return n > 0 ? aw_comm_local() % n : 0;
}

/* Threads of device i of n that share this processor's: all get as many, the first ones one
 * more. */
static int threads_of(int all, int n, int i)
{
    const int mine = all / n + (i < all % n);
    return mine > 0 ? mine : 1;
}

aw_status aw_device_list_open(const char *spec, const aw_device_params *params, aw_device *out)
{
    aw_named_device unit[AW_DEVICES_MAX];
    const int all = params->threads > 0 ? params->threads : omp_get_max_threads();
    aw_status status = AW_OK;
    int n = 0, open = 0, sharing = 0, place = 0;
    AW_TRY(read_names(spec, unit, &n));
    AW_TRY(read_slow(params->slow, unit, n));
    for (int i = 0; i < n; ++i) sharing += unit[i].device.ops->on_host;
    if (sharing > all)
        aw_warn("device '%s': %d devices share %d thread%s (use fewer, or --threads)", spec,
                sharing, all, all > 1 ? "s" : "");
    for (; open < n; ++open) {
        aw_named_device *one = &unit[open];
        aw_device_params mine = *params;
        if (one->device.ops->on_host) mine.threads = threads_of(all, sharing, place++);
        mine.index = index_of(one->device.ops, one->name);
        AW_TRY(one->device.ops->open(&mine, &one->device.state));
    }
    AW_TRY(aw_multi_open(unit, n, out));
    open = 0; /* they are the set's */
done:
    for (int i = 0; i < open; ++i) aw_device_close(&unit[i].device);
    return status;
}

/* Ranks decide alike what a strategy does next, for which they must compute alike. */
static aw_status check_ranks(const aw_device_params *params)
{
    const char *name = params->variant ? params->variant : aw_variant_find(NULL)->name;
    const int ranks = aw_comm_size();
    double mine = 0.0, *all = aw_alloc((size_t)ranks, sizeof *all);
    aw_status status = AW_OK;
    AW_TRY(aw_comm_agree(all ? AW_OK : AW_ERR_NOMEM));
    for (const char *c = name; *c; ++c) mine = 2.0 * mine + *c;
    aw_comm_allgather(&mine, 1, all);
    for (int r = 0; r < ranks && status == AW_OK; ++r)
        if (all[r] != all[0])
            status = aw_error(AW_ERR_BACKEND,
                              "ranks 0 and %d run on processors with different vectors, and would "
                              "not compute alike (take nodes of one kind)",
                              r);
done:
    aw_free(all);
    return status;
}

static aw_status open_spec(const char *spec, const aw_device_params *params, aw_device *out)
{
    const int alone = !params->slow && aw_comm_size() == 1;
    const aw_device_ops *ops = strchr(spec, ',') ? NULL : kind_of(spec);
    const char *number = ops ? spec + strlen(ops->kind) : "";
    if (!alone || !ops || (*number && !(ops->count && is_index(number))))
        return aw_device_list_open(spec, params, out);
    aw_device_params mine = *params;
    mine.index = index_of(ops, spec);
    const aw_status status = ops->open(&mine, &out->state);
    if (status == AW_OK) out->ops = ops;
    return status;
}

/* An accelerator, if there is one. */
static aw_status open_best(const aw_device_params *params, aw_device *out)
{
    for (int i = 0; aw_device_kind(i); ++i) {
        const aw_device_ops *ops = aw_device_kind(i);
        char why[200] = "";
        if (!ops->count) continue;
        if (ops->count(why, sizeof why) > 0) {
            if (open_spec(ops->kind, params, out) == AW_OK) return AW_OK;
            snprintf(why, sizeof why, "it does not work");
        }
        if (why[0]) aw_info_once("device auto: cpu; of %s: %s", ops->kind, why);
    }
    return open_spec("cpu", params, out);
}

aw_status aw_device_open(const char *spec, const aw_device_params *params, aw_device *out)
{
    aw_status status = AW_OK;
    out->ops = NULL;
    out->state = NULL;
    if (aw_comm_size() > 1) AW_TRY(check_ranks(params));
    status = strcmp(spec, "auto") == 0 ? open_best(params, out) : open_spec(spec, params, out);
done:
    return status;
}
