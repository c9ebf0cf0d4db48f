/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The design orbit and the planes between regions. */
#include <math.h>

#include "pic/lattice.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/pic_beam/machine.h"

static void chicane_closes(void **state)
{
    aw_element e[ZEUTHEN_N];
    aw_lattice *lat;
    aw_orbit_point end, middle;
    (void)state;
    zeuthen(e);
    lat = machine_of(e, ZEUTHEN_N, 9784.7, AW_UPSTREAM_DRIFT);
    end = aw_orbit_at(&lat->orbit, lat->length);
    middle = aw_orbit_at(&lat->orbit, 0.5 * (lat->length - 2.0));
    assert_close(end.theta, 0.0, 0.0, 1e-15);
    assert_close(end.x, 0.0, 0.0, 1e-9);
    /* projected lengths 4 x 0.5, 5, 1, 5, 2 m; the drifts are given to 1e-10 m */
    assert_close(end.z, 15.0, 0.0, 1e-9);
    /* a positive angle bends towards -x: 2 rho (1 - cos a) + 5 tan a */
    assert_close(middle.x, -2.0 * ZEUTHEN_RHO * (1.0 - cos(ZEUTHEN_EDGE)) - 5.0 * tan(ZEUTHEN_EDGE),
                 0.0, 1e-9);
    aw_lattice_free(lat);
}

static void chicane_planes_are_parallel(void **state)
{
    aw_element e[ZEUTHEN_N];
    aw_lattice *lat;
    (void)state;
    zeuthen(e);
    lat = machine_of(e, ZEUTHEN_N, 9784.7, AW_UPSTREAM_DRIFT);
    assert_int_equal(lat->regions, 9); /* the drift before, then the eight elements */
    for (int r = 0; r + 1 < lat->regions; ++r) {
        assert_close(lat->region[r].exit_nz, 1.0, 0.0, 1e-15);
        assert_close(lat->region[r].exit_nx, 0.0, 0.0, 1e-15);
    }
    aw_lattice_free(lat);
}

static void rectangular_magnets_have_faces_across_the_chord(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        double a = 0.2 * sign;
        aw_element e[3] = {drift_of(1.0), bend_of(1.0, a, 0.5 * a, 0.5 * a), drift_of(1.0)};
        aw_lattice *lat = machine_of(e, 3, 100.0, AW_UPSTREAM_DRIFT);
        const aw_field_region *in = &lat->region[0], *out = &lat->region[1];
        double dz = out->exit_z - in->exit_z, dx = out->exit_x - in->exit_x, chord = hypot(dz, dx);
        assert_int_equal(lat->regions, 3);
        assert_close(in->exit_nz, dz / chord, 1e-14, 1e-15);
        assert_close(in->exit_nx, dx / chord, 1e-14, 1e-15);
        assert_close(out->exit_nz, dz / chord, 1e-14, 1e-15);
        assert_close(out->exit_nx, dx / chord, 1e-14, 1e-15);
        assert_close(out->kappa, a, 1e-15, 0.0);
        aw_lattice_free(lat);
    }
}

static void orbit_is_continuous_and_of_unit_speed(void **state)
{
    aw_element e[ZEUTHEN_N];
    aw_lattice *lat;
    const double h = 1e-6;
    (void)state;
    zeuthen(e);
    lat = machine_of(e, ZEUTHEN_N, 9784.7, AW_UPSTREAM_DRIFT);
    for (int i = 1; i < lat->orbit.n; ++i) {
        double S = lat->orbit.piece[i].S;
        aw_orbit_point a = aw_orbit_at(&lat->orbit, nextafter(S, -1.0)),
                       b = aw_orbit_at(&lat->orbit, S);
        assert_close(a.z, b.z, 0.0, 1e-14); /* some devices in the last place of 15 m */
        assert_close(a.x, b.x, 0.0, 1e-15);
        assert_close(a.theta, b.theta, 0.0, 1e-15);
    }
    for (double S = -1.0; S < 17.0; S += 0.0173) {
        aw_orbit_point a = aw_orbit_at(&lat->orbit, S - h), b = aw_orbit_at(&lat->orbit, S);
        aw_orbit_point c = aw_orbit_at(&lat->orbit, S + h);
        if (a.kappa != c.kappa) continue; /* astride an edge */
        /* central differences: rounding 2e-15/h of positions near 15 m, and kappa^2 h^2 */
        assert_close((c.z - a.z) / (2.0 * h), b.ct, 0.0, 5e-9);
        assert_close((c.x - a.x) / (2.0 * h), b.st, 0.0, 5e-9);
        assert_close((c.theta - a.theta) / (2.0 * h), -b.kappa, 0.0, 1e-9);
    }
    aw_lattice_free(lat);
}

/* The same machine, bends and drifts in pieces with markers between, and in whole. */
static void splitting_an_element_changes_nothing(void **state)
{
    const double a = 0.3;
    const aw_element whole[] = {drift_of(1.0), bend_of(3.0, a, 0.1, 0.2), quadrupole_of(0.3, 2.0),
                                drift_of(0.7)};
    const aw_element marker = {.kind = AW_MARKER, .name = "marker"};
    const aw_element parts[] = {drift_of(0.4),
                                marker,
                                drift_of(0.6),
                                bend_of(0.9, 0.3 * a, 0.1, 0.0),
                                marker,
                                drift_of(0.0),
                                bend_of(1.4, 1.4 / 3.0 * a, 0.0, 0.0),
                                bend_of(0.7, 0.7 / 3.0 * a, 0.0, 0.2),
                                quadrupole_of(0.2, 2.0),
                                quadrupole_of(0.1, 2.0),
                                drift_of(0.7)};
    aw_lattice *one = machine_of(whole, 4, 1000.0, AW_UPSTREAM_DRIFT);
    aw_lattice *many = machine_of(parts, 11, 1000.0, AW_UPSTREAM_DRIFT);
    const double tol = 2e-15; /* the sums of the parts round differently */
    (void)state;
    assert_int_equal(one->orbit.n, 3);
    assert_int_equal(many->orbit.n, 3);
    assert_int_equal(many->regions, one->regions);
    assert_close(many->length, one->length, tol, 0.0);
    for (int i = 0; i < 3; ++i) {
        const aw_orbit_piece *p = &one->orbit.piece[i], *q = &many->orbit.piece[i];
        assert_close(q->S, p->S, tol, tol);
        assert_close(q->z, p->z, tol, tol);
        assert_close(q->x, p->x, tol, tol);
        assert_close(q->theta, p->theta, tol, tol);
        assert_close(q->kappa, p->kappa, tol, tol);
    }
    for (int r = 0; r < one->regions; ++r) {
        assert_int_equal(many->region[r].kind, one->region[r].kind);
        assert_close(many->region[r].exit_nx, one->region[r].exit_nx, tol, tol);
        assert_close(many->region[r].exit_x, one->region[r].exit_x, tol, 2.0 * tol);
    }
    aw_lattice_free(one);
    aw_lattice_free(many);
}

static void projection_finds_the_foot_point(void **state)
{
    aw_element e[ZEUTHEN_N];
    aw_lattice *lat;
    (void)state;
    zeuthen(e);
    lat = machine_of(e, ZEUTHEN_N, 9784.7, AW_UPSTREAM_DRIFT);
    for (double S = -0.5; S < 16.5; S += 0.0371) {
        const double offset = 3e-3;
        double found = 0.0, back;
        aw_orbit_point at = aw_orbit_at(&lat->orbit, S);
        back = aw_orbit_project(&lat->orbit, at.z - offset * at.st, at.x + offset * at.ct, S + 2e-3,
                                &found);
        assert_close(back, S, 0.0, 2e-14); /* rounding of 15 m */
        assert_close(found, offset, 0.0, 1e-14);
    }
    aw_lattice_free(lat);
}

static void steady_upstream_is_the_first_circle(void **state)
{
    const aw_element e[] = {bend_of(5.0, 0.2, 0.05, 0.0), drift_of(1.0)};
    aw_lattice *steady = machine_of(e, 2, 1e4, AW_UPSTREAM_STEADY);
    aw_lattice *drift = machine_of(e, 2, 1e4, AW_UPSTREAM_DRIFT);
    aw_orbit_point at = aw_orbit_at(&steady->orbit, -10.0);
    const double rho = 25.0;
    (void)state;
    assert_int_equal(steady->orbit.n, 2);
    assert_int_equal(steady->region[0].kind, AW_REGION_DIPOLE);
    assert_close(at.theta, 0.4, 1e-15, 0.0);
    assert_close(at.z, -rho * sin(0.4), 1e-14, 0.0);
    assert_close(at.x, -rho * (1.0 - cos(0.4)), 1e-14, 0.0);
    at = aw_orbit_at(&drift->orbit, -10.0);
    assert_close(at.z, -10.0, 0.0, 0.0);
    assert_close(at.x, 0.0, 0.0, 0.0);
    assert_int_equal(drift->region[0].kind, AW_REGION_DRIFT);
    aw_lattice_free(steady);
    aw_lattice_free(drift);
}

static void refuse(const aw_element *element, size_t n, double gamma, aw_upstream upstream)
{
    aw_lattice *lat = NULL;
    assert_status(aw_lattice_new(element, n, gamma, upstream, &lat), AW_ERR_ARG);
    assert_null(lat);
}

/* drift, bend, drift, bend: S = 0, 1, 2, 4, 5 m */
static aw_status start_at(double S, aw_lattice **out)
{
    const aw_element e[] = {drift_of(1.0), bend_of(1.0, 0.1, 0.0, 0.0), drift_of(2.0),
                            bend_of(1.0, -0.2, 0.0, 0.0)};
    const aw_lattice_start start = {S, AW_UPSTREAM_DRIFT};
    aw_lattice_problem problem = {0};
    const aw_status status = aw_lattice_try(e, 4, 100.0, &start, &problem, out);
    if (status != AW_OK) assert_true(problem.text[0] != '\0');
    return status;
}

/* Behind the start there is a straight line, ahead of it the elements at their places. */
static void a_bunch_may_start_in_a_drift(void **state)
{
    aw_lattice *lat = NULL;
    (void)state;
    assert_ok(start_at(2.5, &lat));
    assert_close(lat->length, 5.0, 1e-15, 0.0);
    assert_close(aw_lattice_way(lat), 2.5, 1e-15, 0.0);
    assert_int_equal(lat->n, 4);
    assert_int_equal(lat->orbit.n, 3);
    const aw_orbit_point behind = aw_orbit_at(&lat->orbit, 1.0), at = aw_orbit_at(&lat->orbit, 2.5);
    const aw_orbit_point bend = aw_orbit_at(&lat->orbit, 4.0), end = aw_orbit_at(&lat->orbit, 5.0);
    assert_close(at.z, 0.0, 0.0, 1e-15);
    assert_close(behind.z, -1.5, 1e-15, 0.0);
    assert_close(behind.x, 0.0, 0.0, 0.0);
    assert_close(bend.z, 1.5, 1e-15, 0.0);
    assert_close(end.theta, 0.2, 1e-14, 0.0);
    aw_lattice_free(lat);

    assert_ok(start_at(4.0 + 1e-12, &lat)); /* between elements, but for rounding */
    assert_close(aw_orbit_at(&lat->orbit, 5.0).theta, 0.2, 1e-11, 0.0);
    aw_lattice_free(lat);
    assert_ok(start_at(1.0 - 1e-12, &lat));
    aw_lattice_free(lat);
    assert_status(start_at(1.5, &lat), AW_ERR_ARG); /* within a bend */
    assert_status(start_at(5.0, &lat), AW_ERR_ARG);
    assert_status(start_at(7.0, &lat), AW_ERR_ARG);
}

static aw_element thin_of(double k1)
{
    return (aw_element){.kind = AW_MULTIPOLE, .name = "thin", .strength = {[1] = k1}};
}

/* Multipoles without length have a plane of their own, which is that of the edge beside them, and
 * leave the orbit alone; one without strength is nothing. */
static void a_multipole_without_length_stands_in_the_plane_beside_it(void **state)
{
    const aw_element whole = bend_of(1.0, 0.3, 0.1, 0.2);
    const aw_element e[] = {thin_of(1.0), bend_of(0.5, 0.15, 0.1, 0.0), thin_of(2.0),
                            thin_of(0.0), bend_of(0.5, 0.15, 0.0, 0.2), thin_of(3.0),
                            thin_of(4.0)};
    aw_lattice *thin = machine_of(e, 7, 100.0, AW_UPSTREAM_DRIFT);
    aw_lattice *bend = machine_of(&whole, 1, 100.0, AW_UPSTREAM_DRIFT);
    const int plane[] = {0, 0, -1, -1, 1, 1, 1}; /* of `bend` */
    (void)state;
    assert_int_equal(thin->regions, 8);
    assert_int_equal(thin->orbit.n, 3);
    assert_close(thin->length, 1.0, 1e-15, 0.0);
    for (int r = 0; r < 7; ++r) {
        const aw_field_region *a = &thin->region[r], *b = &bend->region[plane[r] == 1];
        const int kick = r == 1 || r == 3 || r > 4;
        assert_int_equal(a->kind == AW_REGION_KICK, kick);
        if (kick) assert_true(a->length == 0.0 && a->order == 1);
        if (plane[r] < 0) continue;
        assert_close(a->exit_nx, b->exit_nx, 1e-15, 1e-15);
        assert_close(a->exit_x, b->exit_x, 1e-15, 1e-15);
    }
    assert_close(thin->region[3].exit_nx, sin(-0.15), 1e-15, 0.0);
    assert_close(thin->region[3].st, sin(-0.15), 1e-15, 0.0);
    aw_lattice_free(thin);
    aw_lattice_free(bend);
}

/* Those behind the start of the bunch have no part in the run; one where it starts has. */
static void multipoles_behind_the_start_do_not_act(void **state)
{
    const aw_element e[] = {drift_of(1.0), thin_of(1.0), drift_of(1.0), thin_of(2.0),
                            drift_of(1.0)};
    static const struct {
        double S;
        int regions;
    } starts[] = {{0.5, 5}, {1.0, 5}, {1.5, 3}, {2.0, 3}, {2.5, 1}};
    aw_lattice_problem problem = {0};
    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; ++i) {
        const aw_lattice_start start = {starts[i].S, AW_UPSTREAM_DRIFT};
        aw_lattice *lat = NULL;
        assert_ok(aw_lattice_try(e, 5, 100.0, &start, &problem, &lat));
        assert_int_equal(lat->regions, starts[i].regions);
        aw_lattice_free(lat);
    }
}

/* What a magnet cut in two must share to be one. */
static void parts_with_other_gradients_are_other_magnets(void **state)
{
    aw_element e[2] = {bend_of(0.5, 0.1, 0.0, 0.0), bend_of(0.5, 0.1, 0.0, 0.0)};
    (void)state;
    for (int k = 0; k < 4; ++k) {
        e[0].strength[2] = 5.0;
        e[1].strength[2] = k == 1 ? 6.0 : 5.0;
        e[1].strength[1] = k == 2 ? 0.1 : 0.0;
        e[1].geometry = k == 3 ? AW_HORIZONTALLY_PURE : AW_VERTICALLY_PURE;
        aw_lattice *lat = machine_of(e, 2, 100.0, AW_UPSTREAM_DRIFT);
        assert_int_equal(lat->regions, k == 0 ? 3 : 4);
        assert_int_equal(lat->orbit.n, 3);
        aw_lattice_free(lat);
    }
}

static void impossible_strengths_are_refused(void **state)
{
    aw_element e[] = {drift_of(1.0), bend_of(1.0, 0.1, 0.0, 0.0), quadrupole_of(1.0, 1.0)};
    (void)state;
    e[0].strength[1] = 1.0;
    refuse(e, 3, 100.0, AW_UPSTREAM_DRIFT); /* a drift with a field */
    e[0] = drift_of(1.0);
    e[1].strength[0] = 0.1;
    refuse(e, 3, 100.0, AW_UPSTREAM_DRIFT); /* the dipole is that of the angle */
    e[1].strength[0] = 0.0;
    e[1].strength[10] = 1.0;
    refuse(e, 3, 100.0, AW_UPSTREAM_DRIFT);
    e[1].strength[10] = 0.0;
    e[2].strength[3] = NAN;
    refuse(e, 3, 100.0, AW_UPSTREAM_DRIFT);
    e[2].strength[3] = 1e12;
    refuse(e, 3, 100.0, AW_UPSTREAM_DRIFT);
    e[2] = thin_of(200.0); /* 2 rad for 1 cm */
    refuse(e, 3, 100.0, AW_UPSTREAM_DRIFT);
    e[2] = thin_of(1.0);
    e[0] = thin_of(0.0);
    refuse(&e[2], 1, 100.0, AW_UPSTREAM_DRIFT); /* no length */
    refuse(e, 1, 100.0, AW_UPSTREAM_DRIFT);
    /* edges that cross, with a kick between them */
    const aw_element touching[] = {bend_of(1.0, 0.1, 0.05, 0.05), e[2],
                                   bend_of(1.0, 0.1, 0.05, 0.05)};
    refuse(touching, 3, 100.0, AW_UPSTREAM_DRIFT);
    const aw_element straight[] = {bend_of(1.0, 0.0, 0.0, 0.0), drift_of(1.0)};
    refuse(straight, 2, 100.0, AW_UPSTREAM_STEADY);
}

static void impossible_lattices_are_refused(void **state)
{
    const aw_element good[] = {drift_of(1.0), bend_of(1.0, 0.1, 0.0, 0.0)};
    const aw_element no_length[] = {drift_of(0.0)};
    const aw_element empty_bend[] = {drift_of(1.0), bend_of(0.0, 0.1, 0.0, 0.0)};
    const aw_element degrees[] = {bend_of(5.0, 11.4, 0.0, 0.0)};
    const aw_element touching[] = {bend_of(1.0, 0.1, 0.05, 0.05), bend_of(1.0, 0.1, 0.05, 0.05)};
    /* 0.1 mm of drift between edges inclined by 0.1 each: they cross 0.5 mm from the orbit */
    const aw_element crossing[] = {bend_of(1.0, 0.1, 0.0, -0.1), drift_of(1e-4),
                                   bend_of(1.0, 0.1, -0.1, 0.0)};
    const aw_element negative[] = {drift_of(-1.0), drift_of(3.0)};
    aw_element nan_drift[] = {drift_of(1.0)};
    (void)state;
    nan_drift[0].length = NAN;
    refuse(good, 2, 100.0, AW_UPSTREAM_STEADY); /* leads with a drift */
    refuse(good, 2, 1.0, AW_UPSTREAM_DRIFT);
    refuse(good, 0, 100.0, AW_UPSTREAM_DRIFT);
    refuse(no_length, 1, 100.0, AW_UPSTREAM_DRIFT);
    refuse(empty_bend, 2, 100.0, AW_UPSTREAM_DRIFT);
    refuse(degrees, 1, 100.0, AW_UPSTREAM_DRIFT);
    refuse(touching, 2, 100.0, AW_UPSTREAM_DRIFT);
    refuse(crossing, 3, 100.0, AW_UPSTREAM_DRIFT);
    refuse(negative, 2, 100.0, AW_UPSTREAM_DRIFT);
    refuse(nan_drift, 1, 100.0, AW_UPSTREAM_DRIFT);
    aw_lattice_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chicane_closes),
        cmocka_unit_test(chicane_planes_are_parallel),
        cmocka_unit_test(rectangular_magnets_have_faces_across_the_chord),
        cmocka_unit_test(orbit_is_continuous_and_of_unit_speed),
        cmocka_unit_test(splitting_an_element_changes_nothing),
        cmocka_unit_test(projection_finds_the_foot_point),
        cmocka_unit_test(steady_upstream_is_the_first_circle),
        cmocka_unit_test(a_bunch_may_start_in_a_drift),
        cmocka_unit_test(a_multipole_without_length_stands_in_the_plane_beside_it),
        cmocka_unit_test(multipoles_behind_the_start_do_not_act),
        cmocka_unit_test(parts_with_other_gradients_are_other_magnets),
        cmocka_unit_test(impossible_strengths_are_refused),
        cmocka_unit_test(impossible_lattices_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
