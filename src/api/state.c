/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libarcwake: the state of a field as bytes, from which it goes on to the same bits. */
#include <aw_version.h>
#include <stdio.h>
#include <string.h>

#include "src/api/field.h"
#include "src/base/memory.h"

/* What the bytes begin with. */
static const char kind[] = "a field of arcwake ";
enum { MARK = 64 };

static void mark_here(char mark[MARK])
{
    memset(mark, 0, MARK);
    snprintf(mark, MARK, "%s%s", kind, AW_VERSION);
}

/* Of this kind, and of this version of the library. */
static aw_status pass_mark(aw_archive *a)
{
    char here[MARK], there[MARK];
    mark_here(here);
    memcpy(there, here, MARK);
    AW_ARCHIVE_ITEM(a, there);
    if (a->status == AW_OK && memcmp(there, here, MARK) == 0) return AW_OK;
    there[MARK - 1] = '\0';
    if (a->status == AW_OK && strncmp(there, kind, sizeof kind - 1) == 0)
        return aw_error(AW_ERR_ARG, "the saved field is of arcwake %s (expected " AW_VERSION ")",
                        there + sizeof kind - 1);
    if (a->status == AW_OK || a->status == AW_ERR_INPUT)
        return aw_error(AW_ERR_ARG, "the saved state is not that of a field");
    return a->status;
}

/* From which aw_field_make makes the field. */
static void pass_options(aw_field *f, aw_archive *a)
{
    aw_options *o = &f->options;
    size_t room = f->sections;
    AW_ARCHIVE_ITEM(a, o->grid);
    AW_ARCHIVE_ITEM(a, o->tolerance);
    AW_ARCHIVE_ITEM(a, o->gamma);
    AW_ARCHIVE_ITEM(a, o->step_m);
    AW_ARCHIVE_ITEM(a, o->steady);
    AW_ARCHIVE_ITEM(a, o->upstream_m);
    AW_ARCHIVE_ITEM(a, o->history_MiB);
    AW_ARCHIVE_ITEM(a, o->threads);
    AW_ARCHIVE_ITEM(a, f->solver);
    AW_ARCHIVE_ITEM(a, f->device_name);
    aw_archive_array(a, (void **)&f->section, &f->sections, &room, sizeof *f->section);
}

/* Potentials and forces of the newest observation. */
static void pass_solution(aw_field *f, aw_archive *a)
{
    aw_self_field *self = &f->self;
    AW_ARCHIVE_ITEM(a, f->solved);
    AW_ARCHIVE_ITEM(a, self->report);
    AW_ARCHIVE_ITEM(a, self->scales);
    if (!f->solved || a->status != AW_OK) return;
    AW_ARCHIVE_ITEM(a, f->found);
    AW_ARCHIVE_ITEM(a, f->found_text);
    aw_archive_bytes(a, self->point, self->nodes * sizeof *self->point);
    aw_archive_bytes(a, self->result, self->nodes * AW_RESULTS * sizeof *self->result);
    aw_archive_bytes(a, self->error, self->nodes * sizeof *self->error);
    if (a->way == AW_ARCHIVE_LOAD && a->status == AW_OK) aw_self_field_forces(self);
}

/* What a field remembers of its observations. */
static void pass_memory(aw_field *f, aw_archive *a)
{
    int begun = f->begun;
    AW_ARCHIVE_ITEM(a, begun);
    AW_ARCHIVE_ITEM(a, f->ct);
    AW_ARCHIVE_ITEM(a, f->first);
    if (!begun || a->status != AW_OK) return;
    if (a->way == AW_ARCHIVE_LOAD) {
        const aw_status status = aw_field_begin(f);
        if (status != AW_OK) {
            a->status = status;
            return;
        }
    }
    aw_self_field_archive(&f->self, a);
    AW_ARCHIVE_ITEM(a, f->self.charge);
    if (a->way == AW_ARCHIVE_LOAD)
        f->self.view = aw_history_look(f->self.history, &f->lattice->orbit);
    pass_solution(f, a);
    aw_kick_archive(f, a);
}

/* Save everything into `length` bytes, or count them. */
static aw_status save_into(aw_field *f, void *bytes, size_t *length)
{
    aw_archive a;
    aw_archive_save_memory(&a, bytes, *length);
    aw_status status = pass_mark(&a);
    if (status == AW_OK) {
        pass_options(f, &a);
        pass_memory(f, &a);
        status = aw_archive_end(&a);
    }
    aw_archive_abandon(&a);
    *length = aw_archive_length(&a);
    return status;
}

static aw_status save(aw_field *f, void **bytes, size_t *size)
{
    size_t length = 0;
    aw_status status = AW_OK;
    if (!bytes || !size) return aw_error(AW_ERR_ARG, "bytes or size: NULL (expected a place)");
    *bytes = NULL;
    *size = 0;
    if (!f->ready) return aw_error(AW_ERR_ARG, "the field could not be made: there is no state");
    AW_TRY(save_into(f, NULL, &length));
    void *block = aw_alloc(length, 1);
    AW_TRY(block ? AW_OK : AW_ERR_NOMEM);
    status = save_into(f, block, &length);
    if (status == AW_OK) {
        *bytes = block;
        *size = length;
    } else {
        aw_free(block);
    }
done:
    return status;
}

int aw_field_save(aw_field *field, void **bytes, size_t *size)
{
    aw_call c;
    if (!field) return AW_WRONG_ARGUMENT;
    aw_call_begin(&c, field);
    return aw_call_end(&c, save(field, bytes, size));
}

void aw_bytes_free(void *bytes) { aw_free(bytes); }

/* Device and threads may be others than they were. */
static aw_status change_machine(aw_field *f, const aw_options *machine)
{
    aw_options o = f->options;
    if (!machine) return AW_OK;
    const aw_status status = aw_options_copy(machine, &o);
    if (status != AW_OK) return status;
    f->options.threads = o.threads;
    return aw_options_text("device", o.device, f->device_name, sizeof f->device_name);
}

static aw_status load(aw_field *f, const aw_options *machine, aw_archive *a)
{
    aw_status status = pass_mark(a);
    if (status != AW_OK) return status;
    pass_options(f, a);
    f->solver[AW_SOLVER_SIZE - 1] = f->device_name[AW_DEVICE_SIZE - 1] = '\0';
    if (a->status == AW_OK) status = change_machine(f, machine);
    if (a->status == AW_OK && status == AW_OK) status = aw_field_make(f);
    if (status != AW_OK) return status;
    f->ready = 0; /* until it has its memory */
    if (a->status == AW_OK) pass_memory(f, a);
    status = aw_archive_end(a);
    f->ready = status == AW_OK;
    if (status == AW_ERR_INPUT)
        return aw_error(AW_ERR_ARG, "the saved field is of another build of arcwake " AW_VERSION
                                    " (expected the library that saved it)");
    return status;
}

int aw_field_load(const void *bytes, size_t size, const aw_options *machine, aw_field **out)
{
    aw_call c;
    aw_archive a;
    aw_status status = AW_OK;
    if (!out) return AW_WRONG_ARGUMENT;
    aw_field *f = *out = aw_field_blank();
    if (!f) return AW_NO_MEMORY;
    aw_call_begin(&c, f);
    const char *wrong = bytes ? aw_archive_load_memory(&a, bytes, size) : "is NULL";
    if (wrong)
        status =
            aw_error(AW_ERR_ARG, "the saved field %s (expected what aw_field_save gave)", wrong);
    else
        status = load(f, machine, &a);
    if (bytes) aw_archive_abandon(&a);
    return aw_call_end(&c, status);
}
