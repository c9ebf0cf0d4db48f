/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening devices by their names, and lists of devices as one: "cpu:0,cpu:1,manycore". */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/simd/simd.h"
#include "kernels/multi/devices.h"
#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"

/* Copy the next word of a list to `word` [size].
 * @param[in,out] rest  what is left of the list; NULL after the last word
 * @return 0: the word does not fit */
static int next_word(const char **rest, char *word, size_t size)
{
    const char *list = *rest;
    const size_t n = strcspn(list, ",");
    if (n >= size) return 0;
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

/* Names of the devices of a list. */
static aw_status read_names(const char *spec, aw_named_device named[AW_DEVICES_MAX], int *devices)
{
    const char *rest = spec;
    int n = 0;
    do {
        char word[sizeof named->name];
        if (n == AW_DEVICES_MAX || !next_word(&rest, word, sizeof word))
            return aw_error(AW_ERR_BACKEND, "device '%s': more than %d devices, or too long a name",
                            spec, AW_DEVICES_MAX);
        const aw_device_ops *ops = kind_of(word);
        if (!ops || !is_index(word + strlen(ops->kind)))
            return aw_error(AW_ERR_BACKEND,
                            "device '%s': '%s' is not known (use auto, a device that 'arcwake "
                            "devices' lists, or several, numbered: cpu,cuda:0,cuda:1)",
                            spec, word);
        for (int i = 0; i < n; ++i)
            if (strcmp(named[i].name, word) == 0)
                return aw_error(AW_ERR_BACKEND,
                                "device '%s': '%s' is given twice (number them: %s:0,%s:1)", spec,
                                word, ops->kind, ops->kind);
        named[n] = (aw_named_device){.device = {.ops = ops}, .heavy = ops->heavy, .slow = 1.0};
        strcpy(named[n++].name, word);
    } while (rest);
    *devices = n;
    return AW_OK;
}

aw_status aw_device_check(const char *spec)
{
    aw_named_device named[AW_DEVICES_MAX];
    int n = 0;
    return strcmp(spec, "auto") == 0 ? AW_OK : read_names(spec, named, &n);
}

/* "cpu:1=2.0,manycore=1.5" */
static aw_status read_slow(const char *slow, aw_named_device *named, int n)
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
            if (strcmp(named[i].name, word) != 0) continue;
            named[i].slow = times;
            found = 1;
        }
        if (!found)
            return aw_error(AW_ERR_ARG, "slow: there is no device '%s' in the list of devices",
                            word);
    }
    return AW_OK;
}

/* Index of a device among those of its kind: the number in its name. Without a number, the ranks of
 * a node take the devices in turn, so that each has a GPU of its own. */
static int index_of(const aw_device_ops *ops, const char *name)
{
    const char *number = strchr(name, ':');
    char why[8];
    if (number) return atoi(number + 1);
    const int n = ops->count ? ops->count(why, sizeof why) : 0;
    return n > 0 ? aw_comm_local() % n : 0;
}

/* Threads of device i of the n devices on this processor, which divide its threads evenly: the
 * first devices have one more. */
static int threads_of(int all, int n, int i)
{
    const int mine = all / n + (i < all % n);
    return mine > 0 ? mine : 1;
}

aw_status aw_device_list_open(const char *spec, const aw_device_params *params, aw_device *out)
{
    aw_named_device named[AW_DEVICES_MAX];
    const int all = params->threads > 0 ? params->threads : omp_get_max_threads();
    aw_status status = AW_OK;
    int n = 0, open = 0, on_host = 0, opened = 0;
    AW_TRY(read_names(spec, named, &n));
    AW_TRY(read_slow(params->slow, named, n));
    for (int i = 0; i < n; ++i) on_host += named[i].device.ops->on_host;
    if (on_host > all)
        aw_warn("device '%s': %d devices share %d thread%s (use fewer, or --threads)", spec,
                on_host, all, all > 1 ? "s" : "");
    for (; open < n; ++open) {
        aw_named_device *one = &named[open];
        aw_device_params mine = *params;
        if (one->device.ops->on_host) mine.threads = threads_of(all, on_host, opened++);
        mine.index = index_of(one->device.ops, one->name);
        AW_TRY(one->device.ops->open(&mine, &one->device.state));
    }
    AW_TRY(aw_multi_open(named, n, out));
    open = 0; /* they belong to `out` now */
done:
    for (int i = 0; i < open; ++i) aw_device_close(&named[i].device);
    return status;
}

/* All ranks must compute the same bits, since each decides for itself how a strategy goes on. */
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
            status =
                aw_error(AW_ERR_BACKEND,
                         "ranks 0 and %d run on processors with different SIMD variants and would "
                         "compute different results (use nodes of one kind)",
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

/* Open an accelerator if there is one that works, else the CPU. */
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
        if (why[0]) aw_info_once("device auto: using cpu; %s: %s", ops->kind, why);
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
    const aw_status own = status;
    status = aw_comm_agree(own); /* or ranks with a device would wait for those without */
    if (status != AW_OK && own == AW_OK) {
        aw_device_close(out);
        out->ops = NULL;
    }
done:
    return status;
}
