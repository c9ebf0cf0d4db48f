/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles that a device keeps go the same way as those of the host, through every kind of field
 * and from one into the other, and give the same grids, forces and statistics. */
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

/* A drift, a bend with edges, a quadrupole of each sign, and a bend the other way. */
static aw_lattice *machine(void)
{
    const aw_element e[] = {
        drift_of(0.23),           bend_of(0.4, 0.1, 0.05, 0.05), quadrupole_of(0.15, 4.0),
        quadrupole_of(0.2, -3.0), bend_of(0.3, -0.05, 0, 0),     drift_of(1.0)};
    return machine_of(e, sizeof e / sizeof e[0], GAMMA, AW_UPSTREAM_DRIFT);
}

/* A beam and its grid. */
typedef struct side {
    aw_lattice *lattice;
    aw_particles *particles;
    aw_frame frame;
    aw_deposit *deposit;
    aw_gather *gather;
    double *Fz, *Fx, *field[4];
    aw_forces forces;
    _Alignas(32) double cells[CELLS][AW_COMPONENTS];
    double charge;
    aw_gather_stats force_stats;
    aw_beam_stats stats;
} side;

static side *side_of(size_t particles)
{
    aw_beam_params beam = bunch;
    beam.particles = particles;
    side *s = aw_alloc(1, sizeof *s);
    assert_non_null(s);
    s->lattice = machine();
    assert_ok(aw_particles_draw(&beam, &s->particles));
    assert_ok(aw_push_place(s->lattice, s->particles));
    assert_ok(aw_deposit_new(NS, NX, &s->deposit));
    assert_ok(aw_gather_new(NS, NX, &s->gather));
    aw_frame_init(&s->frame, NS, NX);
    for (int k = 0; k < 4; ++k) assert_non_null(s->field[k] = aw_alloc(NODES, sizeof(double)));
    s->forces = (aw_forces){
        .Fz_lab = s->field[0], .Fx_lab = s->field[1], .cBy = s->field[2], .theta = s->field[3]};
    assert_non_null(s->Fz = aw_alloc(particles, sizeof(double)));
    assert_non_null(s->Fx = aw_alloc(particles, sizeof(double)));
    return s;
}

static side *side_new(void) { return side_of(PARTICLES); }

static aw_status lend(side *s, const aw_device *device)
{
    const aw_fields_view fields = aw_lattice_fields(s->lattice);
    return aw_particles_offload(s->particles, &fields, &s->lattice->orbit, device);
}

static void side_free(side *s)
{
    for (int k = 0; k < 4; ++k) aw_free(s->field[k]);
    aw_free(s->Fz);
    aw_free(s->Fx);
    aw_deposit_free(s->deposit);
    aw_gather_free(s->gather);
    aw_particles_free(s->particles);
    aw_lattice_free(s->lattice);
    aw_free(s);
}

/* Forces that a bunch might have, some MeV/m. */
static void fill_forces(side *s)
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

/* A step as src/simulation/simulation.c takes it. */
static aw_status step(side *s, int number)
{
    const double S = number * STEP, half = 0.5 * STEP;
    aw_status status = AW_OK;
    const aw_gather_params params = {.grid = &s->frame.grid,
                                     .forces = &s->forces,
                                     .gamma = GAMMA,
                                     .kick = number % 3 && number > 0 ? half : 0.0};
    AW_TRY(aw_frame_fit(&s->frame, &s->lattice->orbit, s->particles, S));
    AW_TRY(aw_deposit_run(s->deposit, s->particles, &s->frame, 0, s->cells, &s->charge));
    fill_forces(s);
    AW_TRY(aw_gather_step(s->gather, &params, s->particles, s->Fz, s->Fx, &s->force_stats));
    if (params.kick == 0.0) AW_TRY(aw_push_kick(s->particles, s->Fz, s->Fx, half));
    AW_TRY(aw_beam_stats_of(s->particles, &s->lattice->orbit, S, GAMMA, &s->stats));
    AW_TRY(aw_push_kick_transport(s->lattice, s->particles, s->Fz, s->Fx, half, STEP));
done:
    return status;
}

/* Rounding differs, and quadrupoles and a chirp make more of it: some 1e-12 after 30 steps. */
static void compare_step(const side *got, const side *want)
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
    assert_close(got->stats.energy_mean, want->stats.energy_mean, 0.0, 1e-3);
    assert_close(got->stats.energy_rms, want->stats.energy_rms, 0.0, 1e-3);
}

/* Of particles that have been fetched: of the largest of each coordinate. */
static void compare_particles(const aw_particles *got, const aw_particles *want)
{
    for (size_t i = 0; i < want->n; ++i) {
        assert_close(got->z[i], want->z[i], 0.0, 1e-12);
        assert_close(got->x[i], want->x[i], 0.0, 1e-12);
        assert_close(got->pz[i], want->pz[i], 0.0, 1e-11 * GAMMA);
        assert_close(got->px[i], want->px[i], 0.0, 1e-11 * GAMMA);
        assert_int_equal(got->element[i], want->element[i]);
    }
}

static aw_device open_unit(const char *kind, int threads)
{
    const aw_device_params params = {.threads = threads, .inner_density = 1.0};
    aw_device device;
    assert_ok(aw_device_open(kind, &params, &device));
    return device;
}

/* Few particles would not be lent to every device. */
static void lend_all(side *s, const aw_device *device)
{
    const aw_particle_ops *ops = device->ops->particles;
    const aw_fields_view fields = aw_lattice_fields(s->lattice);
    const aw_particles *p = s->particles;
    const aw_particles_view view = {p->n, p->z, p->x, p->pz, p->px, p->gamma0, p->element};
    assert_ok(ops->offload(device->state, &view, &fields, &s->lattice->orbit));
    s->particles->resident_on = device;
}

static void go_both_ways(const char *kind, size_t particles, int steps)
{
    aw_device device = open_unit(kind, 2);
    side *lent = side_of(particles), *host = side_of(particles);
    lend_all(lent, &device);
    for (int k = 0; k < steps; ++k) {
        assert_ok(step(lent, k));
        assert_ok(step(host, k));
        compare_step(lent, host);
    }
    assert_close(lent->particles->z[0], 0.0, 0.0, 1e-2); /* these are the old ones */
    assert_ok(aw_particles_download(lent->particles));
    compare_particles(lent->particles, host->particles);
    side_free(lent);
    side_free(host);
    aw_device_close(&device);
}

static void they_go_the_way_of_the_hosts(void **state) { go_both_ways(*state, PARTICLES, STEPS); }

/* More than all threads of a device's blocks have at a time. */
static void so_do_many(void **state) { go_both_ways(*state, 300011, 3); }

/* Whatever order threads come in. */
static void they_go_it_again_to_the_bit(void **state)
{
    side *s[3];
    for (int i = 0; i < 3; ++i) {
        aw_device device = open_unit(*state, i + 1);
        s[i] = side_new();
        lend_all(s[i], &device);
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
    for (int i = 0; i < 3; ++i) side_free(s[i]);
}

/* A particle in the trouble that `spoil` makes is found in the same step as the host finds it. */
static void find_trouble(const char *kind, void (*spoil)(side *s, size_t i), aw_status expected)
{
    aw_device device = open_unit(kind, 2);
    side *lent = side_new(), *host = side_new();
    side *const both[] = {lent, host};
    aw_status found[2] = {AW_OK, AW_OK};
    int when[2];
    for (int i = 0; i < 2; ++i) {
        assert_ok(step(both[i], 0));
        spoil(both[i], 12345);
        spoil(both[i], 12347);
        if (both[i] == lent) lend_all(lent, &device);
        for (when[i] = 1; when[i] < 4 && found[i] == AW_OK; ++when[i])
            found[i] = step(both[i], when[i]);
        assert_status(found[i], expected);
    }
    assert_int_equal(when[0], when[1]);
    assert_close(lent->particles->z[12345], host->particles->z[12345], 1e-9, 0.0);
    side_free(lent);
    side_free(host);
    aw_device_close(&device);
}

static void nowhere(side *s, size_t i) { s->particles->x[i] = (double)NAN; }

static void back(side *s, size_t i) { s->particles->pz[i] *= -1.0; }

static void too_fast(side *s, size_t i) { s->particles->px[i] = (double)INFINITY; }

static void trouble_is_found(void **state)
{
    find_trouble(*state, nowhere, AW_ERR_NONFINITE);
    find_trouble(*state, back, AW_ERR_RANGE);
    find_trouble(*state, too_fast, AW_ERR_NONFINITE);
}

/* The first particle that reads a node of the grid. */
static size_t first_at(const side *s, int i, int j)
{
    const aw_particle_grid grid = aw_particle_grid_of(&s->frame.grid);
    const aw_particles *p = s->particles;
    for (size_t k = 0; k < p->n; ++k) {
        aw_particle_nodes at;
        aw_particle_nodes_find(&grid, p->z[k], p->x[k], &at);
        if (i >= at.i && i < at.i + 3 && j >= at.j && j < at.j + 3) return k;
    }
    return SIZE_MAX;
}

enum { HOT_I = 9, HOT_J = 7 }; /* a node away from the bunch's centre */

/* A step on, with a force there that is not finite. */
static side *side_with_a_hot_node(void)
{
    side *s = side_new();
    assert_ok(step(s, 0));
    assert_ok(aw_frame_fit(&s->frame, &s->lattice->orbit, s->particles, STEP));
    fill_forces(s);
    s->field[1][HOT_J * NS + HOT_I] = (double)INFINITY;
    return s;
}

/* The first particle that meets it is named, whichever kick it meets it with. */
static void a_force_that_is_not_finite_is_found(void **state)
{
    aw_device device = open_unit(*state, 2);
    const aw_particle_ops *ops = device.ops->particles;
    side *s = side_with_a_hot_node();
    const size_t first = first_at(s, HOT_I, HOT_J);
    const aw_particle_grid grid = aw_particle_grid_of(&s->frame.grid);
    double field[NODES][4], sum[2][3];
    size_t hot = 0;
    aw_particles_lost lost;
    assert_true(first > 0 && first < PARTICLES);
    for (int k = 0; k < NODES; ++k)
        for (int c = 0; c < 4; ++c) field[k][c] = s->field[c][k];
    lend_all(s, &device);
    assert_ok(ops->gather(device.state, &grid, field[0], 1e-9, sum, &hot)); /* and kick */
    assert_int_equal(hot, first);
    lend_all(s, &device);
    assert_ok(ops->gather(device.state, &grid, field[0], 0.0, sum, &hot));
    assert_int_equal(hot, SIZE_MAX);
    assert_ok(ops->push(device.state, 1e-9, STEP, &lost));
    assert_int_equal(lost.kicked, first);
    assert_true(lost.turned == SIZE_MAX && lost.nonfinite == SIZE_MAX);
    side_free(s);
    aw_device_close(&device);
}

static void such_a_force_ends_the_step(void **state)
{
    const double half = 0.5 * STEP;
    aw_device device = open_unit(*state, 2);
    for (int k = 0; k < 3; ++k) {
        side *s = side_with_a_hot_node();
        aw_particles *p = s->particles;
        const aw_gather_params params = {.grid = &s->frame.grid,
                                         .forces = &s->forces,
                                         .gamma = GAMMA,
                                         .kick = k == 0 ? half : 0.0};
        lend_all(s, &device);
        aw_status status = aw_gather_step(s->gather, &params, p, NULL, NULL, &s->force_stats);
        if (k > 0) assert_ok(status);
        if (k == 1) status = aw_push_kick(p, NULL, NULL, half);
        if (k == 2) status = aw_push_kick_transport(s->lattice, p, NULL, NULL, half, STEP);
        assert_status(status, AW_ERR_NONFINITE);
        side_free(s);
    }
    aw_device_close(&device);
}

/* A grid that does not follow loses them. */
static void a_particle_off_the_grid_is_named(void **state)
{
    aw_device device = open_unit(*state, 2);
    side *s = side_new();
    size_t lost = 0;
    double cells[CELLS * AW_COMPONENTS];
    assert_ok(step(s, 0));
    lend_all(s, &device);
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
    side_free(s);
    aw_device_close(&device);
}

/* A set of one keeps them; of several, one may be lost; and the host's units need not. */
static void one_unit_alone_keeps_them(void **state)
{
    char list[64];
    side *s = side_new();
    snprintf(list, sizeof list, "%s:0", (const char *)*state);
    aw_device one = open_unit(list, 1), cpu = open_unit("cpu", 1);
    const size_t many = aw_device_for_particles(&one)->ops->particles->many;
    assert_ok(lend(s, &one));
    assert_true((s->particles->resident_on != NULL) == (many <= PARTICLES));
    s->particles->resident_on = NULL;
    assert_ok(lend(s, &cpu));
    assert_null(s->particles->resident_on);
    snprintf(list, sizeof list, "%s:0,cpu", (const char *)*state);
    aw_device two = open_unit(list, 2);
    assert_ok(lend(s, &two));
    assert_null(s->particles->resident_on);
    side_free(s);
    aw_device_close(&one);
    aw_device_close(&two);
    aw_device_close(&cpu);
}

int main(int argc, char **argv)
{
    char *kind = kind_of(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(they_go_the_way_of_the_hosts, kind),
        cmocka_unit_test_prestate(so_do_many, kind),
        cmocka_unit_test_prestate(they_go_it_again_to_the_bit, kind),
        cmocka_unit_test_prestate(trouble_is_found, kind),
        cmocka_unit_test_prestate(a_force_that_is_not_finite_is_found, kind),
        cmocka_unit_test_prestate(such_a_force_ends_the_step, kind),
        cmocka_unit_test_prestate(a_particle_off_the_grid_is_named, kind),
        cmocka_unit_test_prestate(one_unit_alone_keeps_them, kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
