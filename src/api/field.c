/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libarcwake: the functions of arcwake.h, around a self-field and copies of the caller's
 * particles. */
#include "src/api/arcwake.h"

#include <math.h>
#include <omp.h>
#include <string.h>
#include <unistd.h>

#include <aw_version.h>

#include "pic/gather.h"
#include "pic/particle/grid.h"
#include "pic/push.h"
#include "src/api/orbit.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/field/self_field.h"

/* The statuses of arcwake.h are those of status.h, under names of their own. */
_Static_assert((int)AW_DONE == (int)AW_OK && (int)AW_WRONG_ARGUMENT == (int)AW_ERR_ARG &&
                   (int)AW_NO_MEMORY == (int)AW_ERR_NOMEM &&
                   (int)AW_NOT_FINITE == (int)AW_ERR_NONFINITE &&
                   (int)AW_NOT_REACHED == (int)AW_ERR_MAXEVAL &&
                   (int)AW_OUT_OF_RANGE == (int)AW_ERR_RANGE &&
                   (int)AW_DEVICE_FAILED == (int)AW_ERR_BACKEND,
               "statuses differ");

/* Spacing of the slices before the first observation, in overtaking lengths. */
#define AW_UPSTREAM_STEPS 22.0

struct aw_field {
    aw_options options; /* its texts are not kept */
    char solver[64];
    pid_t process; /* that made it */
    char message[512];
    aw_lattice *lattice;
    aw_device device;
    aw_gather *gather;
    int begun;                   /* 1: `self` is initialised */
    aw_self_field self;          /* from the first observation on */
    double ct;                   /* c times the time of the newest observation [m] */
    int solved;                  /* 1: potentials and forces are of that */
    aw_particles *bunch, *point; /* copies of the caller's; point->n: how many there is room for */
    struct {
        aw_gather *gather; /* with the vector potentials of the last kick, or NULL */
        size_t n;          /* particles of that */
        double *momentum;  /* [2][n]: before the kick */
        double ahead, end; /* c times the time ahead of the last kick, and when it ended [m] */
    } kick;
};

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

/* A call from outside: its messages go to the field, its threads are those of the options. */
typedef struct call {
    aw_field *field;
    int threads; /* of the caller, to be restored */
} call;

static call begin_call(aw_field *field)
{
    const call c = {field, omp_get_max_threads()};
    field->message[0] = '\0';
    aw_log_capture(field->message, sizeof field->message);
    if (field->options.threads > 0) omp_set_num_threads(field->options.threads);
    return c;
}

static int end_call(const call *c, aw_status status)
{
    if (status != AW_OK && !c->field->message[0]) aw_error_print("%s", aw_status_text(status));
    aw_log_capture(NULL, 0);
    omp_set_num_threads(c->threads);
    return (int)status;
}

/* Threads of OpenMP do not survive fork(): a call in the child would wait for them for ever. */
static aw_status check_process(const aw_field *field)
{
    if (field->process == getpid()) return AW_OK;
    return aw_error(AW_ERR_ARG, "the field was made in another process, before fork() (expected a "
                                "process that is started anew: spawn)");
}

/* ------------------------------------------------------------------------------- a new field */

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
    if (o->threads < 0 || o->threads > 4096)
        return aw_error(AW_ERR_ARG, "threads: %d (expected 0 to 4096)", o->threads);
    return AW_OK;
}

static aw_status make(aw_field *f, const aw_section *orbit, size_t n)
{
    const aw_options *o = &f->options;
    const aw_device_params device = {.threads = o->threads, .inner_density = 1.0};
    aw_solver *solver = NULL;
    aw_status status = AW_OK;
    AW_TRY(check_options(o));
    /* its energy sets fields, which nobody feels: the caller moves the particles */
    AW_TRY(aw_orbit_lattice(orbit, n, 1e4, o->steady ? AW_UPSTREAM_STEADY : AW_UPSTREAM_DRIFT,
                            &f->lattice));
    AW_TRY(aw_gather_new(o->grid[0], o->grid[1], &f->gather));
    AW_TRY(aw_device_open(o->device ? o->device : "cpu", &device, &f->device));
    if (strlen(f->solver) + 1 == sizeof f->solver) f->solver[0] = '\0';
    AW_TRY(aw_solver_new(f->solver, &f->device, &solver)); /* whether there is such a one */
done:
    aw_solver_free(solver);
    return status;
}

int aw_field_new(const aw_options *options, const aw_section *orbit, size_t n, aw_field **out)
{
    aw_field *f = *out = aw_alloc(1, sizeof *f);
    if (!f) return AW_ERR_NOMEM;
    f->options = aw_default_options();
    if (options)
        memcpy(&f->options, options,
               options->size < sizeof *options ? options->size : sizeof *options);
    strncpy(f->solver, f->options.solver ? f->options.solver : "projection", sizeof f->solver - 1);
    f->process = getpid();
    const call c = begin_call(f);
    return end_call(&c, make(f, orbit, n));
}

void aw_field_free(aw_field *f)
{
    if (!f) return;
    if (f->begun) aw_self_field_free(&f->self);
    aw_gather_free(f->gather);
    aw_gather_free(f->kick.gather);
    aw_free(f->kick.momentum);
    aw_device_close(&f->device);
    aw_particles_free(f->bunch);
    aw_particles_free(f->point);
    aw_lattice_free(f->lattice);
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
done:
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

typedef struct moments {
    double charge, s, sigma_s, gamma;
} moments;

/* Refuse numbers that are not finite, and charges that are no charges. */
static aw_status check_observed(const aw_bunch *o)
{
    for (size_t i = 0; i < o->n; ++i) {
        const double all[] = {o->s[i], o->x[i], o->ps[i], o->px[i], o->charge[i]};
        for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
            if (!isfinite(all[k]))
                return aw_error(AW_ERR_NONFINITE,
                                "particle %zu is not finite: s %g, x %g, ps %g, px %g, charge %g",
                                i, all[0], all[1], all[2], all[3], all[4]);
        if (o->charge[i] < 0.0 || o->ps[i] <= 0.0)
            return aw_error(AW_ERR_ARG,
                            "particle %zu: charge %g C, ps %g (expected a charge of at least 0 and "
                            "a motion ahead)",
                            i, o->charge[i], o->ps[i]);
    }
    return AW_OK;
}

/* Weighted with the charges. */
static moments moments_of(const aw_bunch *o)
{
    moments m = {.charge = 0.0};
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

/* The field, for the energy of the first observation. */
static aw_status begin_field(aw_field *f, const moments *first)
{
    const aw_options *o = &f->options;
    const aw_orbit_view *orbit = &f->lattice->orbit;
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

static aw_status observe(aw_field *f, double ct, const aw_bunch *o)
{
    const aw_orbit_view *orbit = &f->lattice->orbit;
    aw_status status = AW_OK;
    AW_TRY(check_process(f));
    if (!o || o->n == 0 || !o->s || !o->x || !o->ps || !o->px || !o->charge)
        AW_TRY(aw_error(AW_ERR_ARG, "there are no particles to observe"));
    if (!isfinite(ct) || (f->begun && !(ct > f->ct)))
        AW_TRY(aw_error(AW_ERR_ARG, "time %.17g s is not later than the last one, %.17g s",
                        ct / AW_C, f->ct / AW_C));
    AW_TRY(check_observed(o));
    const moments m = moments_of(o);
    if (!(m.charge > 0.0)) AW_TRY(aw_error(AW_ERR_ARG, "the bunch has no charge"));
    AW_TRY(reserve(&f->bunch, o->n));
    if (!f->begun) AW_TRY(begin_field(f, &m));
    f->bunch->charge = m.charge / (double)o->n;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < o->n; ++i) {
        put(orbit, (const double[2]){o->s[i], o->x[i]}, (const double[2]){o->ps[i], o->px[i]},
            f->bunch, i);
        f->bunch->weight[i] = o->charge[i] / f->bunch->charge;
    }
    AW_TRY(aw_frame_fit(&f->self.frame, orbit, f->bunch, m.s));
    AW_TRY(aw_self_field_deposit(&f->self, f->bunch, ct));
    f->ct = ct;
    f->solved = 0;
done:
    return status;
}

int aw_field_observe(aw_field *field, double t, const aw_bunch *bunch)
{
    const call c = begin_call(field);
    return end_call(&c, observe(field, AW_C * t, bunch));
}

/* ------------------------------------------------------------------------------------ forces */

/* Compute the forces on the grid unless they are known. @return also AW_ERR_MAXEVAL, with them */
static aw_status solve(aw_field *f)
{
    aw_status status = check_process(f);
    if (status == AW_OK && (!f->begun || !f->self.view))
        status = aw_error(AW_ERR_ARG, "nothing has been observed yet");
    if (status != AW_OK || f->solved) return status;
    status = aw_self_field_solve(&f->self);
    if (status != AW_OK && status != AW_ERR_MAXEVAL) return status;
    aw_self_field_forces(&f->self);
    f->solved = 1;
    return status;
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
    const aw_status found = solve(f);
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
    const call c = begin_call(field);
    return end_call(&c, force(field, &(aw_bunch){.n = n, .s = s, .x = x}, Fs, Fx));
}

/* ------------------------------------------------------------------------------------- kicks */

/* Room for the kick of n particles; *first: nothing is known of an earlier kick. */
static aw_status reserve_kick(aw_field *f, size_t n, int *first)
{
    *first = !f->kick.gather;
    if (f->kick.gather && f->kick.n == n) return AW_OK;
    aw_gather_free(f->kick.gather);
    aw_free(f->kick.momentum);
    f->kick.gather = NULL;
    f->kick.momentum = aw_alloc(n, 2 * sizeof *f->kick.momentum);
    f->kick.n = n;
    if (!f->kick.momentum) return AW_ERR_NOMEM;
    return aw_gather_new(f->options.grid[0], f->options.grid[1], &f->kick.gather);
}

/* What the momenta have changed, along the design tangent and normal of each particle. */
static void momentum_change(const aw_field *f, double *dps, double *dpx)
{
    const aw_particles *p = f->bunch;
    const aw_orbit_view *orbit = &f->lattice->orbit;
    const aw_orbit_point centre = aw_orbit_at(orbit, f->self.frame.grid.S);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->n; ++i) {
        const double dz = p->pz[i] - f->kick.momentum[i];
        const double dx = p->px[i] - f->kick.momentum[p->n + i];
        const double along = (p->z[i] - centre.z) * centre.ct + (p->x[i] - centre.x) * centre.st;
        double offset;
        const double s = aw_orbit_project(orbit, p->z[i], p->x[i], centre.S + along, &offset);
        const aw_orbit_point at = aw_orbit_at(orbit, s);
        dps[i] = dz * at.ct + dx * at.st;
        dpx[i] = dx * at.ct - dz * at.st;
    }
}

static aw_status kick(aw_field *f, double ahead, size_t n, double *dps, double *dpx)
{
    aw_status status = AW_OK;
    const aw_status found = solve(f);
    int first;
    aw_gather_stats stats;
    if (found != AW_OK && found != AW_ERR_MAXEVAL) return found;
    if (n != f->bunch->n || !dps || !dpx)
        return aw_error(AW_ERR_ARG, "%zu kicks (expected %zu, one of each observed particle)", n,
                        f->bunch->n);
    if (!(ahead >= 0.0 && isfinite(ahead)))
        return aw_error(AW_ERR_ARG, "ahead: %g s (expected at least 0)", ahead / AW_C);
    AW_TRY(reserve_kick(f, n, &first));
    const double behind = first ? 0.0 : f->ct - f->kick.end;
    if (behind < 0.0)
        AW_TRY(aw_error(AW_ERR_ARG,
                        "the last kick ended %g s behind this observation (expected one kick at "
                        "each, with at most the time to the next one ahead)",
                        -behind / AW_C));
    memcpy(f->kick.momentum, f->bunch->pz, n * sizeof(double));
    memcpy(f->kick.momentum + n, f->bunch->px, n * sizeof(double));
    const aw_gather_params gather = {.grid = &f->self.frame.grid,
                                     .forces = &f->self.forces,
                                     .gamma = f->self.params.history.gamma,
                                     .kick = behind,
                                     .vectors = 1,
                                     .since = f->kick.ahead};
    AW_TRY(aw_gather_step(f->kick.gather, &gather, f->bunch, dps, dpx, &stats));
    AW_TRY(aw_push_kick(f->bunch, dps, dpx, ahead));
    momentum_change(f, dps, dpx);
    f->kick.ahead = ahead;
    f->kick.end = f->ct + ahead;
done:
    return status != AW_OK ? status : found;
}

int aw_field_kick(aw_field *field, double ahead, size_t n, double *dps, double *dpx)
{
    const call c = begin_call(field);
    return end_call(&c, kick(field, AW_C * ahead, n, dps, dpx));
}

static aw_status copy_grid(aw_field *f, aw_grid_info *info, double *Fs, double *Fx)
{
    const aw_grid_view *g = &f->self.frame.grid;
    const size_t bytes = f->self.nodes * sizeof *Fs;
    aw_status status = AW_OK;
    if (!f->begun || !f->self.view) return aw_error(AW_ERR_ARG, "nothing has been observed yet");
    if (Fs || Fx) status = solve(f);
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
    const call c = begin_call(field);
    return end_call(&c, copy_grid(field, info, Fs, Fx));
}
