/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libarcwake: the functions of arcwake.h, around a self-field and copies of the caller's
 * particles. */
#include "src/api/field.h"

#include <math.h>
#include <omp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <aw_version.h>

#include "pic/particle/grid.h"
#include "src/base/memory.h"
#include "src/base/threads.h"
#include "src/base/units.h"

/* The statuses of arcwake.h are those of status.h, under names of their own. */
_Static_assert((int)AW_DONE == (int)AW_OK && (int)AW_WRONG_ARGUMENT == (int)AW_ERR_ARG &&
                   (int)AW_NO_MEMORY == (int)AW_ERR_NOMEM &&
                   (int)AW_NOT_FINITE == (int)AW_ERR_NONFINITE &&
                   (int)AW_NOT_REACHED == (int)AW_ERR_MAXEVAL &&
                   (int)AW_OUT_OF_RANGE == (int)AW_ERR_RANGE &&
                   (int)AW_DEVICE_FAILED == (int)AW_ERR_BACKEND,
               "statuses differ");

/* A struct of options that is larger than this is none. */
#define AW_OPTIONS_MOST 4096

/* Spacing of the slices before the first observation, in overtaking lengths. */
#define AW_UPSTREAM_STEPS 22.0

/* Memory beside a field's own that libraries want at once, which end the program without. */
#define AW_LIBRARIES_BYTES ((size_t)8 << 20)

aw_options aw_default_options(void)
{
    return (aw_options){.size = sizeof(aw_options),
                        .grid = {48, 48},
                        .tolerance = 3e-3,
                        .upstream_m = 1e4,
                        .history_MiB = 1024.0,
                        .device = "cpu",
                        .solver = "projection"};
}

const char *aw_library_version(void) { return AW_VERSION; }

const char *aw_message(const aw_field *field) { return field ? field->message : "out of memory"; }

void aw_message_take(void *to, aw_log_kind kind, const char *where, const char *text)
{
    char *message = to;
    (void)where;
    if (kind == AW_LOG_ERROR && !message[0]) snprintf(message, AW_MESSAGE_SIZE, "%s", text);
}

void aw_call_begin(aw_call *c, aw_field *field)
{
    *c = (aw_call){.field = field, .sink = {aw_message_take, field->message}};
    field->message[0] = '\0';
    aw_log_silence(); /* threads of devices, whose messages nobody takes */
    c->before = aw_log_capture(&c->sink);
    c->threads = omp_get_max_threads();
    if (field->threads > 0) omp_set_num_threads(field->threads);
}

int aw_call_end(const aw_call *c, aw_status status)
{
    if (status != AW_OK && !c->field->message[0]) aw_error_print("%s", aw_status_text(status));
    aw_log_capture(c->before);
    omp_set_num_threads(c->threads);
    return (int)status;
}

/* Threads of OpenMP do not survive fork(): a call in the child would wait for them for ever. */
static aw_status check_usable(const aw_field *field)
{
    if (!field->ready)
        return aw_error(AW_ERR_ARG, "the field could not be made, and has no use but its message");
    if (field->process == getpid()) return AW_OK;
    return aw_error(AW_ERR_ARG, "the field was made in another process, before fork() (expected a "
                                "process that is started anew: spawn)");
}

/* ------------------------------------------------------------------------------- a new field */

aw_status aw_options_copy(const aw_options *from, aw_options *to)
{
#define MEMBER(name)                                \
    {                                               \
        offsetof(aw_options, name), sizeof to->name \
    }
    static const struct {
        size_t at, size;
    } member[] = {MEMBER(grid),   MEMBER(tolerance),  MEMBER(gamma),       MEMBER(step_m),
                  MEMBER(steady), MEMBER(upstream_m), MEMBER(history_MiB), MEMBER(threads),
                  MEMBER(device), MEMBER(solver)};
#undef MEMBER
    const size_t size = from->size;
    if (size < member[0].at + member[0].size || size > AW_OPTIONS_MOST)
        return aw_error(AW_ERR_ARG,
                        "options: their size is %zu (expected that which "
                        "aw_default_options sets)",
                        size);
    for (size_t i = sizeof *from; i < size; ++i)
        if (((const char *)from)[i] != 0)
            return aw_error(AW_ERR_ARG, "options: they have members that arcwake " AW_VERSION
                                        " does not know (expected a newer library)");
    for (size_t i = 0; i < sizeof member / sizeof member[0]; ++i)
        if (member[i].at + member[i].size <= size)
            memcpy((char *)to + member[i].at, (const char *)from + member[i].at, member[i].size);
    return AW_OK;
}

aw_status aw_options_text(const char *what, const char *text, char *to, size_t size)
{
    if (!text) return AW_OK;
    if (strlen(text) >= size)
        return aw_error(AW_ERR_ARG, "%s: %zu bytes (expected fewer than %zu)", what, strlen(text),
                        size);
    strcpy(to, text);
    return AW_OK;
}

static aw_status check_options(const aw_options *o)
{
    if (o->grid[0] < 8 || o->grid[1] < 8 || o->grid[0] > 4096 || o->grid[1] > 4096)
        return aw_error(AW_ERR_ARG, "grid: %d x %d nodes (expected 8 to 4096 each)", o->grid[0],
                        o->grid[1]);
    if (!(o->tolerance >= 1e-12 && o->tolerance <= 1.0))
        return aw_error(AW_ERR_ARG, "tolerance: %g (expected 1e-12 to 1)", o->tolerance);
    if (!(o->gamma == 0.0 || (o->gamma > 1.0 && isfinite(o->gamma))))
        return aw_error(AW_ERR_ARG, "gamma: %g (expected a number above 1, or 0)", o->gamma);
    if (!(o->step_m >= 0.0 && isfinite(o->step_m)))
        return aw_error(AW_ERR_ARG, "step_m: %g (expected a length in m, or 0)", o->step_m);
    if (!(o->upstream_m > 0.0 && o->history_MiB > 0.0))
        return aw_error(AW_ERR_ARG, "upstream_m: %g, history_MiB: %g (expected more than 0)",
                        o->upstream_m, o->history_MiB);
    if (o->steady != 0 && o->steady != 1)
        return aw_error(AW_ERR_ARG, "steady: %d (expected 0 or 1)", o->steady);
    if (o->threads < 0 || o->threads > 4096)
        return aw_error(AW_ERR_ARG, "threads: %d (expected 0 to 4096)", o->threads);
    return AW_OK;
}

/* Of the orbit as a lattice: it sets fields, which nobody feels, for the caller moves the
 * particles. */
#define AW_ANY_GAMMA 1e4

aw_status aw_field_make(aw_field *f)
{
    const aw_options *o = &f->options;
    aw_solver *solver = NULL;
    aw_status status = AW_OK;
    AW_TRY(check_options(o));
    f->threads = aw_threads_limit("threads", o->threads > 0 ? o->threads : omp_get_max_threads());
    AW_TRY(aw_threads_claim(f->threads));
    AW_TRY(aw_threads_check_stack());
    AW_TRY(aw_memory_require("a field", AW_LIBRARIES_BYTES));
    AW_TRY(aw_threads_try(f->threads));
    omp_set_num_threads(f->threads);
    const aw_device_params device = {.threads = f->threads, .inner_density = 1.0};
    AW_TRY(aw_orbit_lattice(f->section, f->sections, AW_ANY_GAMMA,
                            o->steady ? AW_UPSTREAM_STEADY : AW_UPSTREAM_DRIFT, &f->lattice));
    AW_TRY(aw_gather_new(o->grid[0], o->grid[1], &f->gather));
    AW_TRY(aw_device_open(f->device_name, &device, &f->device));
    AW_TRY(aw_solver_new(f->solver, &f->device, &solver)); /* whether there is such a one */
    f->ready = 1;
done:
    aw_solver_free(solver);
    return status;
}

aw_field *aw_field_blank(void)
{
    aw_field *f = aw_alloc(1, sizeof *f);
    if (!f) return NULL;
    f->options = aw_default_options();
    strcpy(f->solver, f->options.solver);
    strcpy(f->device_name, f->options.device);
    f->process = getpid();
    return f;
}

static aw_status make_new(aw_field *f, const aw_options *options, const aw_section *orbit, size_t n)
{
    aw_status status = AW_OK;
    if (options) AW_TRY(aw_options_copy(options, &f->options));
    AW_TRY(aw_options_text("solver", f->options.solver, f->solver, sizeof f->solver));
    AW_TRY(aw_options_text("device", f->options.device, f->device_name, sizeof f->device_name));
    f->options.solver = f->options.device = NULL;
    f->sections = orbit ? n : 0;
    f->section = aw_alloc(f->sections, sizeof *f->section);
    AW_TRY(f->section ? AW_OK : AW_ERR_NOMEM);
    if (orbit) memcpy(f->section, orbit, n * sizeof *orbit);
    AW_TRY(aw_field_make(f));
done:
    return status;
}

int aw_field_new(const aw_options *options, const aw_section *orbit, size_t n, aw_field **out)
{
    aw_call c;
    if (!out) return AW_WRONG_ARGUMENT;
    aw_field *f = *out = aw_field_blank();
    if (!f) return AW_NO_MEMORY;
    aw_call_begin(&c, f);
    return aw_call_end(&c, make_new(f, options, orbit, n));
}

void aw_field_free(aw_field *f)
{
    if (!f) return;
    if (f->begun) aw_self_field_free(&f->self);
    aw_gather_free(f->gather);
    aw_kick_free(&f->kick);
    aw_device_close(&f->device);
    aw_particles_free(f->bunch);
    aw_particles_free(f->point);
    aw_lattice_free(f->lattice);
    aw_free(f->section);
    aw_free(f);
}

/* ------------------------------------------------------------------------------ observation */

/* Room for n particles; what was there is lost. */
static aw_status reserve(aw_particles **p, size_t n)
{
    aw_status status = AW_OK;
    if (*p && (*p)->n == n) return AW_OK;
    aw_particles_free(*p);
    *p = NULL;
    AW_TRY(aw_particles_new(n, 1.0, p));
    AW_TRY(aw_particles_extend(*p, AW_WITH_WEIGHT));
    return AW_OK;
done:
    aw_particles_free(*p);
    *p = NULL;
    return status;
}

/* Particle i of the lab at a place of the orbit, with a momentum along its tangent and normal. */
static void put(const aw_orbit_view *orbit, const double place[2], const double momentum[2],
                aw_particles *p, size_t i)
{
    const aw_orbit_point at = aw_orbit_at(orbit, place[0]);
    p->z[i] = at.z - place[1] * at.st;
    p->x[i] = at.x + place[1] * at.ct;
    p->pz[i] = momentum[0] * at.ct - momentum[1] * at.st;
    p->px[i] = momentum[0] * at.st + momentum[1] * at.ct;
}

/* A grid of many metres would take for ever, and beyond the centre of a bend a place of the lab has
 * two names. */
#define AW_FAR 10.0      /* of a particle from the mean of the others, and from the orbit [m] */
#define AW_FAST 1e12     /* momentum [m c] */
#define AW_MOST_CHARGE 1 /* [C] */

/* Refuse numbers that are not finite, and those that are no particle of a bunch. */
static aw_status check_observed(const aw_bunch *o)
{
    for (size_t i = 0; i < o->n; ++i) {
        const double all[] = {o->s[i], o->x[i], o->ps[i], o->px[i], o->charge[i]};
        for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
            if (!isfinite(all[k]))
                return aw_error(AW_ERR_NONFINITE,
                                "particle %zu is not finite: s %g, x %g, ps %g, px %g, charge %g",
                                i, all[0], all[1], all[2], all[3], all[4]);
        if (!(o->charge[i] >= 0.0 && o->charge[i] <= AW_MOST_CHARGE) || !(o->ps[i] > 0.0) ||
            !(hypot(o->ps[i], o->px[i]) <= AW_FAST))
            return aw_error(AW_ERR_ARG,
                            "particle %zu: charge %g C, ps %g, px %g (expected a charge from 0 to "
                            "%d C, and a motion ahead of at most %g m c)",
                            i, o->charge[i], o->ps[i], o->px[i], AW_MOST_CHARGE, AW_FAST);
    }
    return AW_OK;
}

/* Refuse a particle that is far from the others. @param[in] s  their mean */
static aw_status check_near(const aw_bunch *o, double s)
{
    for (size_t i = 0; i < o->n; ++i)
        if (!(fabs(o->s[i] - s) <= AW_FAR && fabs(o->x[i]) <= AW_FAR))
            return aw_error(AW_ERR_ARG,
                            "particle %zu: s %g m of the mean's, x %g m (expected at most %g m)", i,
                            o->s[i] - s, o->x[i], AW_FAR);
    return AW_OK;
}

/* Weighted with the charges. */
static aw_bunch_moments moments_of(const aw_bunch *o)
{
    aw_bunch_moments m = {.charge = 0.0};
    double square = 0.0;
    for (size_t i = 0; i < o->n; ++i) {
        m.charge += o->charge[i];
        m.s += o->charge[i] * o->s[i];
        m.gamma += o->charge[i] * sqrt(1.0 + o->ps[i] * o->ps[i] + o->px[i] * o->px[i]);
    }
    m.s /= m.charge;
    m.gamma /= m.charge;
    for (size_t i = 0; i < o->n; ++i) square += o->charge[i] * (o->s[i] - m.s) * (o->s[i] - m.s);
    m.sigma_s = sqrt(square / m.charge);
    return m;
}

static double sharpest(const aw_orbit_view *orbit)
{
    double kappa = 0.0;
    for (int i = 0; i < orbit->n; ++i) kappa = fmax(kappa, fabs(orbit->piece[i].kappa));
    return kappa;
}

aw_status aw_field_begin(aw_field *f)
{
    const aw_options *o = &f->options;
    const aw_orbit_view *orbit = &f->lattice->orbit;
    const aw_bunch_moments *first = &f->first;
    const double kappa = sharpest(orbit);
    const double length =
        kappa > 0.0 ? cbrt(24.0 * first->sigma_s / (kappa * kappa)) : f->lattice->length;
    const double slice = (double)aw_slice_bytes(o->grid[0], o->grid[1], 0) / (1024.0 * 1024.0);
    const aw_self_field_params params = {
        .orbit = orbit,
        .device = &f->device,
        .solver = f->solver,
        .forecast = aw_forecast_default(),
        .history = {.ns = o->grid[0],
                    .nx = o->grid[1],
                    .cdt = o->step_m > 0.0 ? o->step_m : length / AW_UPSTREAM_STEPS,
                    .gamma = o->gamma > 0.0 ? o->gamma : first->gamma,
                    .upstream_cut = o->upstream_m,
                    .slices = (size_t)fmax(4.0, fmin(1e6, o->history_MiB / slice))},
        .tolerance = o->tolerance,
        .vectors = 1};
    const aw_status status = aw_self_field_init(&f->self, &params);
    f->begun = status == AW_OK;
    if (!f->begun) aw_self_field_free(&f->self);
    return status;
}

/* A mean gamma of less is that of particles which stand still, but for rounding. */
#define AW_SLOWEST (1.0 + 1e-6)

/* What the caller gave must make sense. @param[out] m  its moments */
static aw_status check_observation(const aw_field *f, double ct, const aw_bunch *o,
                                   aw_bunch_moments *m)
{
    aw_status status = check_usable(f);
    if (status != AW_OK) return status;
    if (!o || o->n == 0 || !o->s || !o->x || !o->ps || !o->px || !o->charge)
        return aw_error(AW_ERR_ARG, "there are no particles to observe");
    if (!isfinite(ct)) return aw_error(AW_ERR_NONFINITE, "time %g s is not finite", ct / AW_C);
    if (f->begun && !(ct > f->ct))
        return aw_error(AW_ERR_ARG, "time %.17g s is not later than the last one, %.17g s",
                        ct / AW_C, f->ct / AW_C);
    status = check_observed(o);
    if (status != AW_OK) return status;
    *m = moments_of(o);
    if (!(m->charge > 0.0)) return aw_error(AW_ERR_ARG, "the bunch has no charge");
    if (!(m->sigma_s > 0.0))
        return aw_error(AW_ERR_ARG, "the bunch has no length (expected particles at different s)");
    if (!(m->gamma > AW_SLOWEST))
        return aw_error(AW_ERR_ARG,
                        "the mean gamma is %.9g (expected momenta in units of m c, above 0)",
                        m->gamma);
    return check_near(o, m->s);
}

static void copy_bunch(aw_field *f, const aw_bunch *o, double charge)
{
    const aw_orbit_view *orbit = &f->lattice->orbit;
    f->bunch->charge = charge / (double)o->n;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < o->n; ++i) {
        put(orbit, (const double[2]){o->s[i], o->x[i]}, (const double[2]){o->ps[i], o->px[i]},
            f->bunch, i);
        f->bunch->weight[i] = o->charge[i] / f->bunch->charge;
    }
}

/* After an error the field is as before. */
static aw_status observe(aw_field *f, double ct, const aw_bunch *o)
{
    aw_bunch_moments m = {.charge = 0.0};
    aw_status status = check_observation(f, ct, o, &m);
    if (status != AW_OK) return status;
    const int is_first = !f->begun;
    const aw_frame before = f->self.frame;
    AW_TRY(reserve(&f->bunch, o->n));
    if (is_first) f->first = m;
    if (is_first) AW_TRY(aw_field_begin(f));
    copy_bunch(f, o, m.charge);
    AW_TRY(aw_frame_fit(&f->self.frame, &f->lattice->orbit, f->bunch, m.s));
    AW_TRY(aw_self_field_deposit(&f->self, f->bunch, ct));
    f->ct = ct;
    f->solved = 0;
    return AW_OK;
done:
    f->self.frame = before;
    if (is_first && f->begun) aw_self_field_free(&f->self);
    if (is_first) f->begun = 0;
    aw_particles_free(f->bunch); /* there is none to kick */
    f->bunch = NULL;
    return status;
}

int aw_field_observe(aw_field *field, double t, const aw_bunch *bunch)
{
    aw_call c;
    if (!field) return AW_WRONG_ARGUMENT;
    aw_call_begin(&c, field);
    return aw_call_end(&c, observe(field, AW_C * t, bunch));
}

/* ------------------------------------------------------------------------------------ forces */

static aw_status check_observed_once(const aw_field *f)
{
    const aw_status status = check_usable(f);
    if (status != AW_OK || f->begun) return status;
    return aw_error(AW_ERR_ARG, "nothing has been observed yet");
}

aw_status aw_field_solve(aw_field *f)
{
    aw_status status = check_observed_once(f);
    if (status != AW_OK) return status;
    if (!f->solved) {
        status = aw_self_field_solve(&f->self, 1);
        if (status != AW_OK && status != AW_ERR_MAXEVAL) return status;
        aw_self_field_forces(&f->self);
        f->solved = 1;
        f->found = status;
        memcpy(f->found_text, f->message, sizeof f->found_text);
    } else if (f->found != AW_OK) {
        aw_error_print("%s", f->found_text);
    }
    return f->found;
}

/* Copy the points, with the design velocity. @return the first one outside of the grid, or n */
static size_t place_points(aw_field *f, size_t n, const double *s, const double *x)
{
    const aw_orbit_view *orbit = &f->lattice->orbit;
    const aw_particle_grid grid = aw_particle_grid_of(&f->self.frame.grid);
    const double gamma = f->self.params.history.gamma, p = sqrt((gamma - 1.0) * (gamma + 1.0));
    size_t first = n;
#pragma omp parallel for schedule(static) reduction(min : first)
    for (size_t i = 0; i < n; ++i) {
        aw_particle_nodes at;
        put(orbit, (const double[2]){s[i], x[i]}, (const double[2]){p, 0.0}, f->point, i);
        if (aw_particle_nodes_find(&grid, f->point->z[i], f->point->x[i], &at) && i < first)
            first = i;
    }
    return first;
}

/* Turn forces along the axes of the lab to the design tangent and normal of each point, and set
 * those of points outside of the grid to NaN. */
static void turn_forces(const aw_field *f, const aw_bunch *at, double *Fs, double *Fx)
{
    const aw_orbit_view *orbit = &f->lattice->orbit;
    const aw_particle_grid grid = aw_particle_grid_of(&f->self.frame.grid);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < at->n; ++i) {
        aw_particle_nodes nodes;
        const aw_orbit_point here = aw_orbit_at(orbit, at->s[i]);
        const double z = Fs[i], x = Fx[i];
        const int outside = aw_particle_nodes_find(&grid, f->point->z[i], f->point->x[i], &nodes);
        Fs[i] = outside ? NAN : z * here.ct + x * here.st;
        Fx[i] = outside ? NAN : x * here.ct - z * here.st;
    }
}

static aw_status force(aw_field *f, const aw_bunch *at, double *Fs, double *Fx)
{
    aw_status status = AW_OK;
    const aw_status found = aw_field_solve(f);
    aw_gather_stats stats;
    if (found != AW_OK && found != AW_ERR_MAXEVAL) return found;
    if (at->n == 0) return found;
    if (!at->s || !at->x || !Fs || !Fx)
        AW_TRY(aw_error(AW_ERR_ARG, "an array of the points is missing"));
    AW_TRY(reserve(&f->point, at->n));
    const size_t outside = place_points(f, at->n, at->s, at->x);
    const aw_gather_params gather = {.grid = &f->self.frame.grid,
                                     .forces = &f->self.forces,
                                     .gamma = f->self.params.history.gamma};
    AW_TRY(aw_gather_step(f->gather, &gather, f->point, Fs, Fx, &stats));
    turn_forces(f, at, Fs, Fx);
    if (outside < at->n)
        AW_TRY(aw_error(AW_ERR_RANGE, "point %zu lies outside of the grid: s %g m, x %g m", outside,
                        at->s[outside], at->x[outside]));
done:
    return status != AW_OK ? status : found;
}

int aw_field_force(aw_field *field, size_t n, const double *s, const double *x, double *Fs,
                   double *Fx)
{
    aw_call c;
    if (!field) return AW_WRONG_ARGUMENT;
    aw_call_begin(&c, field);
    return aw_call_end(&c, force(field, &(aw_bunch){.n = n, .s = s, .x = x}, Fs, Fx));
}

static aw_status copy_grid(aw_field *f, aw_grid_info *info, double *Fs, double *Fx)
{
    const aw_grid_view *g = &f->self.frame.grid;
    const size_t bytes = f->self.nodes * sizeof *Fs;
    aw_status status = Fs || Fx ? aw_field_solve(f) : check_observed_once(f);
    if (status != AW_OK && status != AW_ERR_MAXEVAL) return status;
    if (Fs) memcpy(Fs, f->self.forces.Fs, bytes);
    if (Fx) memcpy(Fx, f->self.forces.Fx, bytes);
    if (info)
        *info = (aw_grid_info){.ns = g->ns,
                               .nx = g->nx,
                               .hs = g->hs,
                               .hx = g->hx,
                               .s = g->S,
                               .x = g->offset,
                               .tilt = g->tilt,
                               .charge = f->self.charge,
                               .error = f->self.report.error};
    return status;
}

int aw_field_grid(aw_field *field, aw_grid_info *info, double *Fs, double *Fx)
{
    aw_call c;
    if (!field) return AW_WRONG_ARGUMENT;
    aw_call_begin(&c, field);
    return aw_call_end(&c, copy_grid(field, info, Fs, Fx));
}
