/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/device/tuning.h"

#include <string.h>

#include "src/base/log.h"

/* The defaults were fastest on two cores of an EPYC with AVX-512. */
static const aw_tuning_field fields[] = {
    {"sweep_group", offsetof(aw_tuning, sweep_group), 16, AW_GROUP_MAX, 256},
    {"sweep_pieces", offsetof(aw_tuning, sweep_pieces), 1, AW_CHUNKS_MAX, 16},
    {"blend_points", offsetof(aw_tuning, blend_points), 1, AW_GROUP_MAX + 1, 6},
    {"cluster_tiles", offsetof(aw_tuning, cluster_tiles), 4, AW_CLUSTER_TILES, AW_CLUSTER_TILES},
    {"cluster_batch", offsetof(aw_tuning, cluster_batch), 8, AW_BATCH_MAX, 64},
    {"form_sums", offsetof(aw_tuning, form_sums), 1024, 1 << 20, 32768}};

enum { AW_FIELDS = sizeof fields / sizeof fields[0] };

const aw_tuning_field *aw_tuning_list(int i)
{
    return i >= 0 && i < (int)AW_FIELDS ? &fields[i] : NULL;
}

const aw_tuning_field *aw_tuning_find(const char *name)
{
    for (int i = 0; i < (int)AW_FIELDS; ++i)
        if (strcmp(fields[i].name, name) == 0) return &fields[i];
    return NULL;
}

int aw_tuning_get(const aw_tuning *tuning, const aw_tuning_field *field)
{
    int value;
    memcpy(&value, (const char *)tuning + field->offset, sizeof value);
    return value;
}

void aw_tuning_set(aw_tuning *tuning, const aw_tuning_field *field, int value)
{
    memcpy((char *)tuning + field->offset, &value, sizeof value);
}

aw_status aw_tuning_resolve(const aw_tuning *requested, aw_tuning *out)
{
    aw_status status = AW_OK;
    aw_tuning tuning = {0};
    for (int i = 0; i < (int)AW_FIELDS; ++i) aw_tuning_set(out, &fields[i], fields[i].initial);
    for (int i = 0; i < (int)AW_FIELDS; ++i) {
        const aw_tuning_field *field = &fields[i];
        const int value = requested ? aw_tuning_get(requested, field) : 0;
        aw_tuning_set(&tuning, field, value == 0 ? field->initial : value);
        if (value == 0 || (value >= field->least && value <= field->most)) continue;
        status = aw_error(AW_ERR_ARG, "tuning: %s is %d (expected %d to %d)", field->name, value,
                          field->least, field->most);
    }
    if (status == AW_OK) *out = tuning;
    return status;
}
