/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles resident on a device move as those of the host do, through all kinds of field regions,
 * and have the same grids, deposits, forces and statistics. */
#include <math.h>
#include <string.h>

#include "pic/deposit.h"
#include "pic/gather.h"
#include "pic/push.h"
#include "pic/stats.h"
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/device_fixture.h"
#include "tests/pic_beam/machine.h"

enum { NS = 40, NX = 24, NODES = NS * NX, CELLS = (NS + 2 * AW_PAD) * (NX + 2 * AW_PAD) };
enum { PARTICLES = 20011, STEPS = 30 };
#define GAMMA 1000.0
#define STEP 0.05 /* [m] */

static const aw_beam_params bunch = {.charge = 1e-9,
                                     .gamma = GAMMA,
                                     .particles = PARTICLES,
                                     .seed = 3,
                                     .cutoff_sigma = 5.0,
                                     .sigma_s = 2e-4,
                                     .sigma_x = 1e-4,
                                     .emittance = 1e-9,
                                     .beta_x = 10.0,
                                     .alpha_x = 0.5,
                                     .energy_spread = 1e-3,
                                     .chirp = 3.0};

/* A cavity that doubles the chirp, a bend with edges, a quadrupole of each sign, a kick, a bend the
 * other way with a gradient, and a sextupole. */
static aw_lattice *machine(void)
{
    const aw_element kick = {.kind = AW_MULTIPOLE, .name = "kick", .strength = {0.0, 0.1, 50.0}};
    const aw_element sextupole = {
        .kind = AW_SEXTUPOLE, .name = "sextupole", .length = 0.2, .strength = {[2] = 200.0}};
    const aw_element cavity = {
        .kind = AW_CAVITY,
        .name = "cavity",
        .length = 0.1,
        .rf = {3.0 * GAMMA * AW_ME_EV / 60.0, 60.0 * AW_C / (2.0 * AW_PI), 0.25}};
    aw_element e[] = {drift_of(0.03),
                      cavity,
                      drift_of(0.1),
                      bend_of(0.4, 0.1, 0.05, 0.05),
                      quadrupole_of(0.15, 4.0),
                      quadrupole_of(0.2, -3.0),
                      kick,
                      bend_of(0.3, -0.05, 0, 0),
                      sextupole,
                      drift_of(1.0)};
    e[7].strength[1] = -2.0;
    return machine_of(e, sizeof e / sizeof e[0], GAMMA, AW_UPSTREAM_DRIFT);
}

/* A beam, its machine and its grid. */
typedef struct stage {
    aw_lattice *lattice;
    aw_particles *particles;
    aw_frame frame;
    aw_deposit *deposit;
    aw_gather *gather;
    double *Fz, *Fx, *field[4], *vector;
    aw_forces forces;
    _Alignas(32) double cells[CELLS][AW_COMPONENTS];
    double charge;
    aw_gather_stats force_stats;
    aw_beam_stats stats;
} stage;

static stage *stage_of(size_t particles)
{
    aw_beam_params beam = bunch;
    beam.particles = particles;
    stage *s = aw_alloc(1, sizeof *s);
    assert_non_null(s);
    s->lattice = machine();
    assert_ok(aw_particles_draw(&beam, &s->particles));
    assert_ok(aw_push_place(s->lattice, s->particles));
    assert_ok(aw_deposit_new(NS, NX, &s->deposit));
    assert_ok(aw_gather_new(NS, NX, &s->gather));
    aw_frame_init(&s->frame, NS, NX);
    for (int k = 0; k < 4; ++k) assert_non_null(s->field[k] = aw_alloc(NODES, sizeof(double)));
    assert_non_null(s->vector = aw_alloc(NODES, 8 * sizeof(double)));
    s->forces = (aw_forces){.Fz_lab = s->field[0],
                            .Fx_lab = s->field[1],
                            .cBy = s->field[2],
                            .theta = s->field[3],
                            .vector = s->vector};
    assert_non_null(s->Fz = aw_alloc(particles, sizeof(double)));
    assert_non_null(s->Fx = aw_alloc(particles, sizeof(double)));
    return s;
}

/* Charges of every particle from a half to three halves of the mean; some are zero. */
static void make_unequal(stage *s)
{
    const size_t n = s->particles->n;
    double sum = 0.0;
    assert_ok(aw_particles_extend(s->particles, AW_WITH_WEIGHT));
    for (size_t i = 0; i < n; ++i) {
        s->particles->weight[i] = i % 7 ? 0.5 + (double)(i * 37 % 101) / 101.0 : 0.0;
        sum += s->particles->weight[i];
    }
    for (size_t i = 0; i < n; ++i) s->particles->weight[i] *= (double)n / sum;
}

/* Incoherent radiation with its fluctuations. */
static void make_radiant(stage *s)
{
    assert_ok(aw_particles_extend(s->particles, AW_WITH_RADIATED));
    s->particles->radiation = (aw_radiation){.isr = AW_ISR_FULL, .seed = 7, .first = 5};
}

static stage *stage_new(void) { return stage_of(PARTICLES); }

static aw_status offload(stage *s, const aw_device *device)
{
    const aw_fields_view fields = aw_lattice_fields(s->lattice, 0.0);
    return aw_particles_offload(s->particles, &fields, &s->lattice->orbit, device);
}

static void stage_free(stage *s)
{
    for (int k = 0; k < 4; ++k) aw_free(s->field[k]);
    aw_free(s->vector);
    aw_free(s->Fz);
    aw_free(s->Fx);
    aw_deposit_free(s->deposit);
    aw_gather_free(s->gather);
    aw_particles_free(s->particles);
    aw_lattice_free(s->lattice);
    aw_free(s);
}

/* Forces like those of a bunch, some MeV/m. */
static void fill_forces(stage *s)
{
    const aw_grid_view *g = &s->frame.grid;
    for (int j = 0; j < NX; ++j)
        for (int i = 0; i < NS; ++i) {
            const aw_field_point p = aw_frame_point(g, &s->lattice->orbit, GAMMA, i, j);
            const double u = (i - 0.5 * (NS - 1)) / NS, w = (j - 0.5 * (NX - 1)) / NX;
            const double along = 2e6 * sin(6.0 * u) * exp(-w * w), across = 1e6 * cos(3.0 * w + u);
            const int k = j * NS + i;
            s->field[0][k] = along * p.ct - across * p.st;
            s->field[1][k] = along * p.st + across * p.ct;
            s->field[2][k] = 5e6 * (1.0 + u);
            s->field[3][k] = p.theta;
        }
}

/* Vector potentials of some MeV that change from step to step, and rates that are not theirs. */
static void fill_vectors(stage *s, int number)
{
    for (int k = 0; k < NODES; ++k) {
        const int column = k % NS, row = k / NS;
        const double u = (column - 0.5 * (NS - 1)) / NS, w = (row - 0.5 * (NX - 1)) / NX;
        for (int c = 0; c < 4; ++c) {
            s->vector[4 * k + c] = 1e6 * sin(3.0 * u + 2.0 * w + 0.3 * number + c);
            s->vector[4 * (NODES + k) + c] = 1e9 * cos(2.0 * u - w + c);
        }
    }
}

/* A step as in src/simulation/simulation.c. */
static aw_status step(stage *s, int number)
{
    const double S = number * STEP, half = 0.5 * STEP;
    s->particles->radiation.step = (uint32_t)number;
    aw_status status = AW_OK;
    const aw_gather_params params = {.grid = &s->frame.grid,
                                     .forces = &s->forces,
                                     .gamma = GAMMA,
                                     .kick = number % 3 && number > 0 ? half : 0.0,
                                     .vectors = 1,
                                     .since = number % 3 && number > 0 ? half : STEP};
    AW_TRY(aw_frame_fit(&s->frame, &s->lattice->orbit, s->particles, S));
    AW_TRY(aw_deposit_run(s->deposit, s->particles, &s->frame, 0, s->cells, &s->charge));
    fill_forces(s);
    fill_vectors(s, number);
    AW_TRY(aw_gather_step(s->gather, &params, s->particles, s->Fz, s->Fx, &s->force_stats));
    if (params.kick == 0.0) AW_TRY(aw_push_kick(s->particles, s->Fz, s->Fx, half));
    AW_TRY(aw_beam_stats_of(s->particles, &s->lattice->orbit, S, GAMMA, &s->stats));
    AW_TRY(aw_push_kick_transport(s->lattice, s->particles, s->Fz, s->Fx, half, STEP));
done:
    return status;
}

/* Rounding differs; quadrupoles and the chirp amplify the difference to some 1e-12 after 30
 * steps. */
static void compare_step(const stage *got, const stage *want)
{
    const aw_grid_view *a = &got->frame.grid, *b = &want->frame.grid;
    double largest[3] = {0.0};
    assert_close(a->S, b->S, 0.0, 1e-13);
    assert_close(a->offset, b->offset, 0.0, 1e-13);
    assert_close(a->tilt, b->tilt, 0.0, 1e-9);
    assert_int_equal(got->frame.rung_s, want->frame.rung_s);
    assert_int_equal(got->frame.rung_x, want->frame.rung_x);
    assert_close(got->charge, want->charge, 1e-14, 0.0);
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < CELLS; ++i) largest[k] = fmax(largest[k], fabs(want->cells[i][k]));
        assert_true(largest[k] > 0.0);
        for (int i = 0; i < CELLS; ++i)
            assert_close(got->cells[i][k], want->cells[i][k], 0.0, 1e-8 * largest[k]);
    }
    assert_close(got->force_stats.mean_s, want->force_stats.mean_s, 0.0, 1e-2);
    assert_close(got->force_stats.mean_n, want->force_stats.mean_n, 0.0, 1e-2);
    assert_close(got->force_stats.peak_s, want->force_stats.peak_s, 1e-9, 0.0);
    assert_close(got->force_stats.peak_n, want->force_stats.peak_n, 1e-9, 0.0);
    assert_close(got->stats.sigma_s, want->stats.sigma_s, 1e-10, 0.0);
    assert_close(got->stats.sigma_x, want->stats.sigma_x, 1e-10, 0.0);
    assert_close(got->stats.emittance, want->stats.emittance, 1e-9, 0.0);
    assert_close(got->stats.emittance_free, want->stats.emittance_free, 1e-8, 0.0);
    assert_close(got->stats.energy, want->stats.energy, 0.0, 1e-3);
    assert_close(got->stats.energy_mean, want->stats.energy_mean, 0.0, 1e-3);
    assert_close(got->stats.energy_rms, want->stats.energy_rms, 0.0, 1e-3);
    if (!want->particles->radiated) return;
    assert_close(got->stats.isr_mean, want->stats.isr_mean, 1e-9, 0.0);
    assert_close(got->stats.isr_rms, want->stats.isr_rms, 1e-9, 0.0);
}

/* After a download. Errors are relative to the largest of each coordinate. */
static void compare_particles(const aw_particles *got, const aw_particles *want)
{
    for (size_t i = 0; i < want->n; ++i) {
        assert_close(got->z[i], want->z[i], 0.0, 1e-12);
        assert_close(got->x[i], want->x[i], 0.0, 1e-12);
        assert_close(got->pz[i], want->pz[i], 0.0, 1e-11 * GAMMA);
        assert_close(got->px[i], want->px[i], 0.0, 1e-11 * GAMMA);
        assert_close(got->gamma0[i], want->gamma0[i], 0.0, 1e-11 * GAMMA);
        assert_int_equal(got->element[i], want->element[i]);
        /* of some 1e-4; the path through the quadrupoles is that of above */
        if (want->radiated) assert_close(got->radiated[i], want->radiated[i], 1e-9, 1e-13);
    }
}

static aw_device open_device(const char *kind, int threads)
{
    const aw_device_params params = {.threads = threads, .inner_density = 1.0};
    aw_device device;
    assert_ok(aw_device_open(kind, &params, &device));
    return device;
}

/* Offload the particles although they may be too few for aw_particles_offload. */
static void offload_always(stage *s, const aw_device *device)
{
    const aw_particle_ops *ops = device->ops->particles;
    const aw_fields_view fields = aw_lattice_fields(s->lattice, 0.0);
    const aw_particles *p = s->particles;
    const aw_particles_view view = {p->n,      p->z,       p->x,      p->pz,      p->px,
                                    p->gamma0, p->element, p->weight, p->radiated};
    assert_ok(ops->offload(device->state, &view, &fields, &s->lattice->orbit));
    s->particles->resident_on = device;
}

static void compare_steps(const char *kind, size_t particles, int steps, void (*alter)(stage *s))
{
    aw_device device = open_device(kind, 2);
    stage *resident = stage_of(particles), *host = stage_of(particles);
    if (alter) {
        alter(resident);
        alter(host);
    }
    offload_always(resident, &device);
    for (int k = 0; k < steps; ++k) {
        assert_ok(step(resident, k));
        assert_ok(step(host, k));
        compare_step(resident, host);
    }
    assert_close(resident->particles->z[0], 0.0, 0.0,
                 1e-2); /* the host's copy is that of the start */
    assert_ok(aw_particles_download(resident->particles));
    compare_particles(resident->particles, host->particles);
    stage_free(resident);
    stage_free(host);
    aw_device_close(&device);
}

static void resident_particles_move_as_those_of_the_host(void **state)
{
    compare_steps(*state, PARTICLES, STEPS, NULL);
}

/* More particles than there are threads in all thread blocks of a kernel. */
static void many_resident_particles_move_as_those_of_the_host(void **state)
{
    compare_steps(*state, 300011, 3, NULL);
}

static void resident_particles_of_unequal_charge_act_as_those_of_the_host(void **state)
{
    compare_steps(*state, PARTICLES, 6, make_unequal);
}

/* The order of the threads does not matter. */
static void resident_particles_radiate_as_those_of_the_host(void **state)
{
    compare_steps(*state, PARTICLES, STEPS, make_radiant);
}

static void steps_of_resident_particles_have_the_same_bits_again(void **state)
{
    stage *s[3];
    for (int i = 0; i < 3; ++i) {
        aw_device device = open_device(*state, i + 1);
        s[i] = stage_new();
        offload_always(s[i], &device);
        for (int k = 0; k < 5; ++k) assert_ok(step(s[i], k));
        assert_ok(aw_particles_download(s[i]->particles));
        aw_device_close(&device);
    }
    for (int i = 1; i < 3; ++i) {
        assert_memory_equal(s[i]->cells, s[0]->cells, sizeof s[0]->cells);
        assert_memory_equal(&s[i]->force_stats, &s[0]->force_stats, sizeof s[0]->force_stats);
        assert_memory_equal(&s[i]->stats, &s[0]->stats, sizeof s[0]->stats);
        assert_memory_equal(s[i]->particles->z, s[0]->particles->z, PARTICLES * sizeof(double));
        assert_memory_equal(s[i]->particles->px, s[0]->particles->px, PARTICLES * sizeof(double));
    }
    for (int i = 0; i < 3; ++i) stage_free(s[i]);
}

/* `spoil` makes two particles fail; the device finds the first in the same step as the host. */
static void check_that_error_is_found(const char *kind, void (*spoil)(stage *s, size_t i),
                                      aw_status expected)
{
    aw_device device = open_device(kind, 2);
    stage *resident = stage_new(), *host = stage_new();
    stage *const both[] = {resident, host};
    aw_status found[2] = {AW_OK, AW_OK};
    int when[2];
    for (int i = 0; i < 2; ++i) {
        assert_ok(step(both[i], 0));
        spoil(both[i], 12345);
        spoil(both[i], 12347);
        if (both[i] == resident) offload_always(resident, &device);
        for (when[i] = 1; when[i] < 4 && found[i] == AW_OK; ++when[i])
            found[i] = step(both[i], when[i]);
        assert_status(found[i], expected);
    }
    assert_int_equal(when[0], when[1]);
    assert_close(resident->particles->z[12345], host->particles->z[12345], 1e-9, 0.0);
    stage_free(resident);
    stage_free(host);
    aw_device_close(&device);
}

static void make_position_nan(stage *s, size_t i) { s->particles->x[i] = (double)NAN; }

static void turn_back(stage *s, size_t i) { s->particles->pz[i] *= -1.0; }

static void make_momentum_infinite(stage *s, size_t i) { s->particles->px[i] = (double)INFINITY; }

static void errors_of_resident_particles_are_found_in_the_step_of_the_host(void **state)
{
    check_that_error_is_found(*state, make_position_nan, AW_ERR_NONFINITE);
    check_that_error_is_found(*state, turn_back, AW_ERR_RANGE);
    check_that_error_is_found(*state, make_momentum_infinite, AW_ERR_NONFINITE);
}

/* The first particle whose force depends on node (i, j). */
static size_t first_at(const stage *s, int i, int j)
{
    const aw_particle_grid grid = aw_particle_grid_of(&s->frame.grid);
    const aw_particles *p = s->particles;
    for (size_t k = 0; k < p->n; ++k) {
        aw_particle_nodes at;
        aw_particle_nodes_find(&grid, p->z[k], p->x[k], &at);
        if (i >= at.i && i < at.i + AW_SHAPE_NODES && j >= at.j && j < at.j + AW_SHAPE_NODES)
            return k;
    }
    return SIZE_MAX;
}

enum { BAD_I = 9, BAD_J = 7 }; /* a node away from the centre of the bunch */

/* After a step, and with a force at that node that is not finite. */
static stage *stage_with_a_bad_node(void)
{
    stage *s = stage_new();
    assert_ok(step(s, 0));
    assert_ok(aw_frame_fit(&s->frame, &s->lattice->orbit, s->particles, STEP));
    fill_forces(s);
    s->field[1][BAD_J * NS + BAD_I] = (double)INFINITY;
    return s;
}

/* The device reports the first particle that the force acts on, for a kick with the gather and for
 * one with the transport. */
static void device_reports_the_first_particle_with_a_force_that_is_not_finite(void **state)
{
    aw_device device = open_device(*state, 2);
    const aw_particle_ops *ops = device.ops->particles;
    stage *s = stage_with_a_bad_node();
    const size_t first = first_at(s, BAD_I, BAD_J);
    const aw_particle_grid grid = aw_particle_grid_of(&s->frame.grid);
    double field[NODES][4], sum[2][3];
    size_t found = 0;
    aw_particles_lost lost;
    assert_true(first > 0 && first < PARTICLES);
    for (int k = 0; k < NODES; ++k)
        for (int c = 0; c < 4; ++c) field[k][c] = s->field[c][k];
    offload_always(s, &device);
    const aw_particle_gather kick = {.field = field[0], .factor = 1e-9};
    const aw_radiation still = {.isr = AW_ISR_OFF};
    const aw_particle_gather no_kick = {.field = field[0]};
    assert_ok(ops->gather(device.state, &grid, &kick, sum, &found));
    assert_int_equal(found, first);
    offload_always(s, &device);
    assert_ok(ops->gather(device.state, &grid, &no_kick, sum, &found));
    assert_int_equal(found, SIZE_MAX);
    assert_ok(ops->push(device.state, 1e-9, STEP, STEP, &still, &lost));
    assert_int_equal(lost.kicked, first);
    assert_true(lost.turned == SIZE_MAX && lost.nonfinite == SIZE_MAX);
    stage_free(s);
    aw_device_close(&device);
}

static void a_force_that_is_not_finite_is_an_error_of_the_step(void **state)
{
    const double half = 0.5 * STEP;
    aw_device device = open_device(*state, 2);
    for (int k = 0; k < 3; ++k) {
        stage *s = stage_with_a_bad_node();
        aw_particles *p = s->particles;
        const aw_gather_params params = {.grid = &s->frame.grid,
                                         .forces = &s->forces,
                                         .gamma = GAMMA,
                                         .kick = k == 0 ? half : 0.0};
        offload_always(s, &device);
        aw_status status = aw_gather_step(s->gather, &params, p, NULL, NULL, &s->force_stats);
        if (k > 0) assert_ok(status);
        if (k == 1) status = aw_push_kick(p, NULL, NULL, half);
        if (k == 2) status = aw_push_kick_transport(s->lattice, p, NULL, NULL, half, STEP);
        assert_status(status, AW_ERR_NONFINITE);
        stage_free(s);
    }
    aw_device_close(&device);
}

/* The grid is moved away from the beam. */
static void a_resident_particle_off_the_grid_is_an_error(void **state)
{
    aw_device device = open_device(*state, 2);
    stage *s = stage_new();
    size_t lost = 0;
    double cells[CELLS * AW_COMPONENTS];
    assert_ok(step(s, 0));
    offload_always(s, &device);
    aw_particle_grid grid = aw_particle_grid_of(&s->frame.grid);
    grid.x += 4.0 * s->frame.grid.hx;
    assert_ok(device.ops->particles->deposit(device.state, &grid, cells, &lost));
    aw_particle_nodes at;
    const aw_particles *p = s->particles;
    assert_true(lost < PARTICLES && aw_particle_nodes_find(&grid, p->z[lost], p->x[lost], &at));
    for (size_t i = 0; i < lost; ++i)
        assert_false(aw_particle_nodes_find(&grid, p->z[i], p->x[i], &at));
    s->frame.grid.x = grid.x;
    assert_status(aw_deposit_run(s->deposit, p, &s->frame, 0, s->cells, &s->charge), AW_ERR_RANGE);
    stage_free(s);
    aw_device_close(&device);
}

/* Not on one of several devices, which might fail, nor on a device that is the host itself. */
static void particles_are_offloaded_to_a_single_device_only(void **state)
{
    char list[64];
    stage *s = stage_new();
    snprintf(list, sizeof list, "%s:0", (const char *)*state);
    aw_device one = open_device(list, 1), cpu = open_device("cpu", 1);
    const size_t many = aw_device_for_particles(&one)->ops->particles->many;
    assert_ok(offload(s, &one));
    assert_true((s->particles->resident_on != NULL) == (many <= PARTICLES));
    s->particles->resident_on = NULL;
    assert_ok(offload(s, &cpu));
    assert_null(s->particles->resident_on);
    snprintf(list, sizeof list, "%s:0,cpu", (const char *)*state);
    aw_device two = open_device(list, 2);
    assert_ok(offload(s, &two));
    assert_null(s->particles->resident_on);
    stage_free(s);
    aw_device_close(&one);
    aw_device_close(&two);
    aw_device_close(&cpu);
}

int main(int argc, char **argv)
{
    char *kind = kind_of(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(resident_particles_move_as_those_of_the_host, kind),
        cmocka_unit_test_prestate(many_resident_particles_move_as_those_of_the_host, kind),
        cmocka_unit_test_prestate(resident_particles_of_unequal_charge_act_as_those_of_the_host,
                                  kind),
        cmocka_unit_test_prestate(resident_particles_radiate_as_those_of_the_host, kind),
        cmocka_unit_test_prestate(steps_of_resident_particles_have_the_same_bits_again, kind),
        cmocka_unit_test_prestate(errors_of_resident_particles_are_found_in_the_step_of_the_host,
                                  kind),
        cmocka_unit_test_prestate(device_reports_the_first_particle_with_a_force_that_is_not_finite,
                                  kind),
        cmocka_unit_test_prestate(a_force_that_is_not_finite_is_an_error_of_the_step, kind),
        cmocka_unit_test_prestate(a_resident_particle_off_the_grid_is_an_error, kind),
        cmocka_unit_test_prestate(particles_are_offloaded_to_a_single_device_only, kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
