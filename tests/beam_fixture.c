/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/beam_fixture.h"

#include <math.h>

#include "kernels/math/height.h"
#include "pic/distribution.h"
#include "pic/push.h"
#include "src/base/memory.h"
#include "tests/assert_close.h"

/* Limit of the normalised coordinates of the beam, for which the grid is just large enough. */
#define CUTOFF 5.0

bench_params bench_lcls(void)
{
    return (bench_params){.ns = 32,
                          .nx = 32,
                          .particles = 20000,
                          .quiet = 1,
                          .gamma = 1e4,
                          .sigma_s = 50e-6,
                          .sigma_x = 50e-6,
                          .radius = 25.13,
                          .cdt = 0.02,
                          .piece = {5.0}};
}

static aw_lattice *lattice_of(const bench_params *p)
{
    aw_element element[BENCH_PIECES_MAX + 1];
    aw_lattice *lattice = NULL;
    size_t n = 0;
    for (int i = 0; i < BENCH_PIECES_MAX && p->piece[i] > 0.0; ++i)
        element[n++] = (aw_element){.kind = AW_BEND,
                                    .name = "bend",
                                    .length = p->piece[i],
                                    .angle = p->piece[i] / p->radius};
    element[n++] = (aw_element){.kind = AW_DRIFT, .name = "drift", .length = 1.0};
    assert_ok(aw_lattice_new(element, n, p->gamma, AW_UPSTREAM_DRIFT, &lattice));
    return lattice;
}

void bench_open(bench *b, const bench_params *p)
{
    const aw_beam_params beam = {.charge = 1e-9,
                                 .gamma = p->gamma,
                                 .particles = p->particles,
                                 .seed = 1,
                                 .quiet = p->quiet,
                                 .cutoff_sigma = CUTOFF,
                                 .sigma_s = p->sigma_s,
                                 .modulation_wavelength = p->wavelength,
                                 .modulation_depth = p->wavelength > 0.0 ? 0.2 : 0.0,
                                 .sigma_x = p->sigma_x,
                                 .beta_x = 1.0};
    const aw_history_params ring = {p->ns,  p->nx,           p->single, p->cdt, p->gamma,
                                    p->gap, AW_IMAGES_LEAST, 1e4,       512};
    *b = (bench){.params = *p, .points = (size_t)p->ns * (size_t)p->nx};
    b->lattice = lattice_of(p);
    assert_ok(aw_particles_draw(&beam, &b->particles));
    aw_frame_init(&b->frame, p->ns, p->nx);
    assert_ok(aw_deposit_new(p->ns, p->nx, &b->deposit));
    assert_ok(aw_history_new(&ring, &b->history));
    b->point = aw_alloc(b->points, sizeof *b->point);
    assert_non_null(b->point);
}

void bench_close(bench *b)
{
    aw_lattice_free(b->lattice);
    aw_particles_free(b->particles);
    aw_deposit_free(b->deposit);
    aw_history_free(b->history);
    aw_free(b->point);
}

/* Place of a step [m]. */
static double place_of(const bench_params *p, int step)
{
    enum { TURN = 10 };
    static const double at[TURN] = {0.0, 1.0, 2.0, 4.0, 6.0, 7.0, 7.5, 8.0, 8.5, 9.0};
    return p->ladder ? (step / TURN * 10.0 + at[step % TURN]) * p->cdt : step * p->cdt;
}

void bench_run(bench *b, double S)
{
    const bench_params *p = &b->params;
    const double reach = aw_cut_normal_of(CUTOFF).reach;
    for (; place_of(p, b->step) <= S + 1e-9; ++b->step) {
        double at = place_of(p, b->step), charge;
        void *cells = aw_history_cells(b->history);
        assert_non_null(cells);
        assert_ok(aw_push_rigid(b->lattice, b->particles, p->gamma, at));
        aw_frame_rigid(&b->frame, &b->lattice->orbit, at, reach * p->sigma_s, reach * p->sigma_x);
        assert_ok(aw_deposit_run(b->deposit, b->particles, &b->frame, p->single, cells, &charge));
        aw_history_push(b->history, &b->frame, p->height2 * (1.0 + at), at);
    }
    aw_frame_points(&b->frame.grid, &b->lattice->orbit, p->gamma, b->point);
}

aw_device bench_device(const char *variant, int threads, double density)
{
    const aw_device_params params = {
        .variant = variant, .threads = threads, .inner_density = density};
    aw_device device;
    assert_ok(aw_device_open("cpu", &params, &device));
    return device;
}

aw_problem bench_problem(bench *b, double tolerance, size_t every)
{
    aw_device device = bench_device(NULL, 0, 1.0);
    aw_solver *solver = NULL;
    const aw_grid_view *g = &b->frame.grid;
    double i = 0.5 * (g->ns - 1), j = 0.5 * (g->nx - 1);
    aw_problem problem = {
        .history = aw_history_look(b->history, &b->lattice->orbit),
        .point = b->point,
        .points = b->points,
        .centre = aw_frame_point(g, &b->lattice->orbit, b->params.gamma, i, j),
        .half = hypot(i * g->hs, j * g->hx),
        .tolerance = tolerance,
    };
    assert_ok(aw_solver_new("adaptive", &device, &solver));
    assert_ok(aw_solver_scales(solver, &problem, &problem.scales));
    aw_solver_free(solver);
    aw_device_close(&device);
    problem.points = 0;
    for (size_t k = 0; k < b->points; k += every) b->point[problem.points++] = b->point[k];
    return problem;
}

aw_problem bench_grid_problem(bench *b, double tolerance)
{
    aw_problem problem = bench_problem(b, tolerance, 1);
    problem.columns = (size_t)b->params.ns;
    return problem;
}

aw_status bench_solve(const char *strategy, aw_device *device, const aw_problem *problem,
                      double *result, aw_report *report)
{
    aw_status status = AW_OK;
    aw_solver *solver = NULL;
    AW_TRY(aw_solver_new(strategy, device, &solver));
    AW_TRY(aw_solver_solve(solver, problem, result, NULL, report));
done:
    aw_solver_free(solver);
    return status;
}

double bench_largest(const double *a, size_t points, unsigned k)
{
    double max = 0.0;
    for (size_t i = k; i < points * AW_RESULTS; i += AW_RESULTS) max = fmax(max, fabs(a[i]));
    return max;
}

double bench_distance(const double *a, const double *b, size_t points, unsigned k)
{
    double worst = 0.0;
    for (size_t i = k; i < points * AW_RESULTS; i += AW_RESULTS) {
        if (!isfinite(a[i]) || !isfinite(b[i])) return (double)NAN;
        worst = fmax(worst, fabs(a[i] - b[i]));
    }
    return worst / bench_largest(b, points, k);
}

double *bench_reference(const aw_problem *problem, size_t every)
{
    const size_t n = (problem->points + every - 1) / every;
    aw_problem finer = *problem;
    aw_report report;
    double *result = bench_array(n * AW_RESULTS);
    aw_field_point *point = aw_alloc(n, sizeof *point);
    aw_device device = bench_device(NULL, 0, 4.0);
    assert_non_null(point);
    for (size_t i = 0; i < n; ++i) point[i] = problem->point[i * every];
    finer.point = point;
    finer.points = n;
    finer.columns = 0;
    finer.record = NULL;
    finer.tolerance *= 1e-3;
    assert_ok(bench_solve("adaptive", &device, &finer, result, &report));
    aw_device_close(&device);
    aw_free(point);
    return result;
}

double bench_error(const aw_problem *problem, size_t every, const double *reference,
                   const double *result, unsigned k)
{
    double worst = 0.0;
    for (size_t i = 0; i * every < problem->points; ++i) {
        const double off = result[i * every * AW_RESULTS + k] - reference[i * AW_RESULTS + k];
        if (!isfinite(off)) return (double)NAN;
        worst = fmax(worst, fabs(off));
    }
    return worst / bench_largest(result, problem->points, k);
}

double *bench_array(size_t n)
{
    double *array = aw_alloc(n, sizeof *array);
    assert_non_null(array);
    return array;
}
