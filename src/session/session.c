/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/session/session.h"

#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <aw_version.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/threads.h"
#include "src/input/resolved.h"
#include "src/plan/choose.h"
#include "src/plan/plan.h"
#include "src/plan/plan_memory.h"
#include "src/session/beam.h"
#include "src/simulation/diag.h"
#include "src/simulation/force_error.h"
#include "src/tuning/file.h"

/* Memory that libraries want at once, which end the program without. */
#define AW_LIBRARIES_BYTES ((size_t)24 << 20)

struct aw_session {
    aw_config *config;
    aw_simulation *sim; /* NULL: the session could not be made */
    aw_diag *diag;      /* made at the first use */
    char *resolved;
    pid_t process;
    int threads;
    int deposited; /* 1: the slice of this step is in the history */
    int whole;     /* 1: the grid has been read, and is computed as a whole at every step */
    int filled;    /* 1: this step's grid is */
    int failed;    /* 1: a step failed half-way: there is no going on */
    char *lines;   /* of the last call, [capacity] */
    size_t length, capacity;
};

/* libhdf5 is for one thread at a time, in the whole process. */
static pthread_mutex_t files = PTHREAD_MUTEX_INITIALIZER;

/* A call from outside (src/api/field.h has the same for a field). */
typedef struct call {
    aw_session *session;
    aw_log_sink sink;
    const aw_log_sink *before;
    int threads;
} call;

/* Keep a line; without memory it is lost, and the status says enough. */
static void take(void *to, aw_log_kind kind, const char *where, const char *text)
{
    aw_session *s = to;
    const size_t more = strlen(where) + strlen(text) + 4;
    if (aw_grow((void **)&s->lines, &s->capacity, s->length + more, 1) != AW_OK) return;
    const int n = snprintf(s->lines + s->length, more, "%c %s%s\n", "EWI"[kind], where, text);
    if (n > 0) s->length += (size_t)n;
}

static void begin_call(call *c, aw_session *s)
{
    *c = (call){.session = s, .sink = {take, s}};
    s->length = 0;
    if (s->lines) s->lines[0] = '\0';
    aw_log_silence();
    c->before = aw_log_capture(&c->sink);
    c->threads = omp_get_max_threads();
    if (s->threads > 0) omp_set_num_threads(s->threads);
}

/* Whether a line begins with the letter of an error. */
static int says_error(const char *lines)
{
    return lines && (strncmp(lines, "E ", 2) == 0 || strstr(lines, "\nE "));
}

static int end_call(const call *c, aw_status status)
{
    const aw_session *s = c->session;
    if (status != AW_OK && !says_error(s->lines)) aw_error_print("%s", aw_status_text(status));
    aw_log_capture(c->before);
    omp_set_num_threads(c->threads);
    return (int)status;
}

const char *aw_session_messages(const aw_session *s)
{
    if (!s) return "E out of memory\n";
    return s->length > 0 ? s->lines : "";
}

const char *aw_session_resolved(const aw_session *s) { return s->resolved ? s->resolved : ""; }

/* --------------------------------------------------------------------------------- a new one */

static aw_status read_config(const aw_session_input *input, const aw_particles *beam,
                             aw_config **out)
{
    const aw_config_source source = {.path = input->path,
                                     .text = input->text,
                                     .set = input->set,
                                     .n_set = input->n_set,
                                     .beam = beam};
    pthread_mutex_lock(&files);
    const aw_status status = aw_config_read_from(&source, out);
    pthread_mutex_unlock(&files);
    return status;
}

/* Configuration and plan, checked as those of the program's run. */
static aw_status plan_run(aw_session *s)
{
    aw_plan plan;
    aw_status status = AW_OK;
    AW_TRY(aw_choose_apply(s->config));
    aw_tuning_load(&s->config->tuning);
    s->config->threads = s->threads;
    AW_TRY(aw_plan_make(s->config, &plan));
    AW_TRY(aw_plan_check(s->config, &plan));
    AW_TRY(aw_plan_memory(s->config, &plan));
    aw_plan_warn(s->config, &plan);
    aw_choose_warn(s->config);
done:
    return status;
}

static aw_status check_threads(aw_session *s, int wanted)
{
    aw_status status = AW_OK;
    if (wanted < 0 || wanted > 4096)
        AW_TRY(aw_error(AW_ERR_ARG, "threads: %d (expected 0 to 4096)", wanted));
    s->threads = aw_threads_limit("threads", wanted > 0 ? wanted : omp_get_max_threads());
    AW_TRY(aw_threads_claim(s->threads));
    AW_TRY(aw_threads_check_stack());
    AW_TRY(aw_memory_require("a simulation", AW_LIBRARIES_BYTES));
    omp_set_num_threads(s->threads);
done:
    return status;
}

static aw_status make(aw_session *s, const aw_session_input *input)
{
    aw_status status = AW_OK;
    aw_particles *beam = NULL;
    AW_TRY(check_threads(s, input->threads));
    if (input->beam) AW_TRY(aw_session_beam_read(input->beam, &beam));
    AW_TRY(read_config(input, beam, &s->config));
    AW_TRY(plan_run(s));
    s->resolved = aw_resolved_text(s->config, "arcwake " AW_VERSION);
    AW_TRY(s->resolved ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(aw_simulation_new(s->config, NULL, 0, &s->sim));
    aw_simulation_expect_felt(s->sim, s->config->motion);
done:
    aw_particles_free(beam);
    return status;
}

int aw_session_new(const aw_session_input *input, aw_session **out)
{
    call c;
    aw_session *s = *out = aw_alloc(1, sizeof *s);
    if (!s) return AW_ERR_NOMEM;
    s->process = getpid();
    begin_call(&c, s);
    return end_call(&c, make(s, input));
}

void aw_session_free(aw_session *s)
{
    if (!s) return;
    aw_diag_free(s->diag);
    aw_simulation_free(s->sim);
    free(s->resolved);
    aw_config_free(s->config);
    aw_free(s->lines);
    aw_free(s);
}

/* ------------------------------------------------------------------------------------- steps */

static aw_status check_usable(const aw_session *s)
{
    if (!s->sim) return aw_error(AW_ERR_ARG, "the simulation could not be made");
    if (s->failed)
        return aw_error(AW_ERR_ARG, "the simulation has failed at step %ld (expected a new one)",
                        s->sim->step);
    if (s->process == getpid()) return AW_OK;
    return aw_error(AW_ERR_ARG, "the simulation was made in another process, before fork() "
                                "(expected a process that is started anew: spawn)");
}

static int needs_forces(const aw_session *s)
{
    const aw_config *config = s->config;
    return config->motion == AW_MOTION_SELF_CONSISTENT || config->line;
}

/* What a call needs: what every step has; forces on the particles; those of the whole grid. */
enum { NO_FORCES, FORCES, GRID };

/* As a step of the program's run (src/app/run/run.c), which also measures at steps with meshes.
 * Once the grid has been read, it is computed as a whole at every step: to fill it afterwards takes
 * longer. */
static aw_status complete(aw_session *s, int forces)
{
    aw_simulation *sim = s->sim;
    aw_status status = check_usable(s);
    if (status != AW_OK) return status;
    if (!s->deposited) AW_TRY(aw_simulation_deposit(sim));
    s->deposited = 1;
    s->whole |= forces == GRID;
    if (!sim->solved && (forces || needs_forces(s))) {
        AW_TRY(s->whole ? aw_simulation_solve(sim) : aw_simulation_solve_felt(sim));
        s->filled = s->whole;
        if (!sim->line && sim->step % AW_FORCE_ERROR_EVERY == 0)
            AW_TRY(aw_simulation_force_error(sim));
    }
    AW_TRY(aw_simulation_synchronise(sim));
    if (forces == GRID && !s->filled && !sim->line) AW_TRY(aw_self_field_fill(&sim->field));
    s->filled |= forces == GRID;
    return AW_OK;
done:
    s->failed = 1;
    return status;
}

int aw_session_complete(aw_session *s, int forces)
{
    call c;
    begin_call(&c, s);
    return end_call(&c, complete(s, forces));
}

static aw_status step(aw_session *s)
{
    aw_status status = check_usable(s);
    if (status != AW_OK) return status;
    if (aw_simulation_is_last(s->sim))
        return aw_error(AW_ERR_ARG, "the run is at its end: step %ld, S = %.6g m", s->sim->step,
                        s->sim->S_ref);
    status = complete(s, NO_FORCES);
    if (status != AW_OK) return status;
    status = aw_simulation_advance(s->sim);
    s->failed = status != AW_OK;
    s->deposited = 0;
    return status == AW_OK ? complete(s, NO_FORCES) : status;
}

int aw_session_step(aw_session *s)
{
    call c;
    begin_call(&c, s);
    return end_call(&c, step(s));
}

void aw_session_where(const aw_session *s, aw_session_state *out)
{
    const aw_simulation *sim = s->sim;
    *out = (aw_session_state){.n = 0};
    if (!sim) return;
    *out = (aw_session_state){.step = sim->step,
                              .planned = sim->plan.steps + lround(sim->extra),
                              .S = sim->S_ref,
                              .time = aw_simulation_ct(sim) / AW_C,
                              .last = aw_simulation_is_last(sim),
                              .solved = sim->solved,
                              .n = sim->particles->n};
}

/* ------------------------------------------------------------------------------------ results */

#define NAME(member, name) name,
static const char *const columns[] = {"step", AW_MONITOR_COLUMNS(NAME)};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

const char *aw_session_column(int i) { return i >= 0 && i < COLUMNS ? columns[i] : NULL; }

static aw_status monitor(aw_session *s, double *out)
{
    aw_monitor_row row;
    aw_status status = complete(s, NO_FORCES);
    if (status == AW_OK) status = aw_simulation_monitor(s->sim, &row);
    if (status != AW_OK) return status;
    *out++ = (double)row.step;
#define VALUE(member, name) *out++ = row.member;
    AW_MONITOR_COLUMNS(VALUE)
    return AW_OK;
}

int aw_session_monitor(aw_session *s, double *row)
{
    call c;
    begin_call(&c, s);
    return end_call(&c, monitor(s, row));
}

int aw_session_get_beam(aw_session *s, const aw_session_beam *out)
{
    call c;
    begin_call(&c, s);
    aw_status status = check_usable(s);
    if (status == AW_OK) status = aw_session_beam_copy(s->sim, out);
    return end_call(&c, status);
}

int aw_session_kick(aw_session *s, const aw_session_beam *beam)
{
    call c;
    begin_call(&c, s);
    aw_status status = check_usable(s);
    if (status == AW_OK && s->sim->step == 0)
        status = aw_error(AW_ERR_ARG, "a kick at the start (expected another beam there)");
    if (status == AW_OK && s->config->motion == AW_MOTION_RIGID)
        status = aw_error(AW_ERR_ARG, "beam: momenta have no effect in rigid motion (expected "
                                      "motion: self-consistent or external)");
    if (status == AW_OK) status = aw_session_beam_kick(s->sim, beam);
    return end_call(&c, status);
}

static aw_status forces(aw_session *s, double *Fz, double *Fx)
{
    const aw_simulation *sim = s->sim;
    const aw_status status = complete(s, FORCES);
    if (status != AW_OK) return status;
    const aw_orbit_point at = aw_orbit_at(&s->config->lattice->orbit, sim->S_ref);
    for (size_t i = 0; i < sim->particles->n; ++i) {
        Fz[i] = sim->Fz[i] * at.ct + sim->Fx[i] * at.st;
        Fx[i] = sim->Fx[i] * at.ct - sim->Fz[i] * at.st;
    }
    return AW_OK;
}

int aw_session_forces(aw_session *s, double *Fz, double *Fx)
{
    call c;
    begin_call(&c, s);
    return end_call(&c, forces(s, Fz, Fx));
}

static aw_status grid_of(aw_session *s, aw_session_grid *out, double *Fs, double *Fn)
{
    const aw_status status = complete(s, GRID);
    if (status != AW_OK) return status;
    const aw_self_field *f = &s->sim->field;
    const aw_grid_view *g = &f->frame.grid;
    *out = (aw_session_grid){.ns = g->ns,
                             .nx = g->nx,
                             .hs = g->hs,
                             .hx = g->hx,
                             .s = g->S,
                             .x = g->offset,
                             .tilt = g->tilt,
                             .charge = f->charge,
                             .error = s->sim->line ? (double)NAN : f->report.error};
    if (Fs) memcpy(Fs, f->forces.Fs, f->nodes * sizeof *Fs);
    if (Fn) memcpy(Fn, f->forces.Fx, f->nodes * sizeof *Fn);
    return AW_OK;
}

int aw_session_grid_of(aw_session *s, aw_session_grid *out, double *Fs, double *Fn)
{
    call c;
    begin_call(&c, s);
    return end_call(&c, grid_of(s, out, Fs, Fn));
}

static aw_status write_file(aw_session *s, const char *path, int particles)
{
    aw_status status = complete(s, GRID);
    if (status == AW_OK && !s->diag) status = aw_diag_new(s->sim, s->resolved, &s->diag);
    if (status == AW_OK && !s->sim->line && !s->sim->force_error_known)
        status = aw_simulation_force_error(s->sim);
    if (status != AW_OK) return status;
    pthread_mutex_lock(&files);
    status = aw_diag_write_file(s->diag, s->sim, path, particles);
    pthread_mutex_unlock(&files);
    return status;
}

int aw_session_write(aw_session *s, const char *path, int particles)
{
    call c;
    begin_call(&c, s);
    return end_call(&c, write_file(s, path, particles));
}
