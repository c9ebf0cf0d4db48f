/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cases of the radiation in the far field: one electron in a bend, a rigid Gaussian, an edge. */
#include <math.h>
#include <stdio.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/spectrum/spectrum.h"
#include "src/validate/radiation/radiate.h"
#include "validation/radiation.h"

/* A bend from S = 0 on, between straights. */
static void bend_orbit(double R, double angle, aw_orbit_piece piece[3])
{
    piece[0] = (aw_orbit_piece){0.0, 0.0, 0.0, 0.0, 0.0};
    piece[1] = (aw_orbit_piece){0.0, 0.0, 0.0, 0.0, 1.0 / R};
    piece[2] = (aw_orbit_piece){R * angle, R * sin(angle), R * (cos(angle) - 1.0), -angle, 0.0};
}

/* One angle in the plane, and all heights, finer towards the plane. */
static aw_status one_angle(double theta, double finest, double margin, aw_directions *out)
{
    const aw_orbit_piece piece = {.kappa = 0.0};
    const aw_orbit_view line = {&piece, 1};
    const aw_grading grading = {.finest = finest, .margin = margin, .widest = margin, .nodes = 8};
    const aw_status status = aw_directions_graded(&line, &grading, out);
    if (status != AW_OK) return status;
    out->theta.n = 1;
    out->theta.at[0] = theta;
    out->theta.weight[0] = 1.0;
    return AW_OK;
}

/* ----------------------------------------------------------------------------- one electron */

#define ELECTRON_R 1.0
#define ELECTRON_ANGLE 1.2

/* Energy per frequency and radian of path of 1 C, in the middle of the bend. */
static aw_status electron_energy(double gamma, double k, double *out)
{
    aw_status status = AW_OK;
    aw_orbit_piece piece[3];
    const aw_orbit_view orbit = {piece, 3};
    aw_directions directions = {0};
    aw_spectrum *spectrum = NULL;
    const double cone = fmax(1.0 / gamma, cbrt(1.0 / (k * ELECTRON_R)));
    bend_orbit(ELECTRON_R, ELECTRON_ANGLE, piece);
    AW_TRY(one_angle(-0.5 * ELECTRON_ANGLE, 0.3 * cone, fmin(10.0 * cone, 1.0), &directions));
    const aw_spectrum_params params = {
        .orbit = &orbit, .gamma = gamma, .k = &k, .waves = 1, .directions = &directions};
    AW_TRY(aw_spectrum_new(&params, &spectrum));
    for (int i = 0; i <= 50; ++i)
        AW_TRY(aw_spectrum_add(spectrum, NULL, ELECTRON_R * ELECTRON_ANGLE * i / 50));
    AW_TRY(aw_spectrum_end(spectrum));
    *out = aw_spectrum_total(spectrum, aw_spectrum_single, 0);
done:
    aw_spectrum_free(spectrum);
    aw_directions_free(&directions);
    return status;
}

static aw_status electron(aw_validation *v)
{
    enum { POINTS = 11 };
    const double gamma = 2000.0, critical = 1.5 * pow(gamma, 3) / ELECTRON_R;
    aw_status status = AW_OK;
    double ratio[POINTS], one[POINTS];
    for (int i = 0; i < POINTS; ++i) {
        const double y = 1e-4 * pow(10.0, 0.5 * i);
        double energy;
        AW_TRY(electron_energy(gamma, y * critical, &energy));
        ratio[i] = energy / aw_schwinger(gamma, ELECTRON_R, y * critical);
        one[i] = 1.0;
    }
    AW_TRY(aw_check_worst(v, "over Schwinger's, worst of 11 omega/omega_c, 1e-4 to 10",
                          (aw_pairs){ratio, one, POINTS}, 1.0, 0.01));
done:
    return status;
}

const aw_case aw_case_spectrum_electron = {
    .name = "spectrum-electron",
    .claim = "one electron in a bend radiates Schwinger's spectrum, over five decades",
    .seconds = 1,
    .run = electron,
};

/* ---------------------------------------------------------------------------- rigid Gaussian */

#define GAUSSIAN_R 2.0
#define GAUSSIAN_ANGLE 1.2
#define GAUSSIAN_SIGMA 50e-6

enum { GAUSSIAN_WAVES = 61 };

static aw_status gaussian_config(const aw_validation *v, aw_config **out)
{
    const aw_element line[] = {{.kind = AW_BEND,
                                .name = "bend",
                                .length = GAUSSIAN_R * GAUSSIAN_ANGLE,
                                .angle = GAUSSIAN_ANGLE},
                               {.kind = AW_DRIFT, .name = "after", .length = 0.1}};
    const aw_status status = aw_case_config(v, line, 2, 1e4, AW_UPSTREAM_DRIFT, out);
    if (status != AW_OK) return status;
    (*out)->beam.sigma_s = GAUSSIAN_SIGMA;
    (*out)->beam.sigma_x = 0.2 * GAUSSIAN_SIGMA;
    (*out)->beam.particles = 300000;
    return AW_OK;
}

/* Per radian of the path, against Q^2 times Schwinger's with exp(-(k sigma)^2). */
static aw_status gaussian_checks(aw_validation *v, const aw_spectrum *spectrum, const double *k,
                                 double charge)
{
    aw_status status = AW_OK;
    double ours[GAUSSIAN_WAVES], ratio[GAUSSIAN_WAVES], one[GAUSSIAN_WAVES], peak = 0.0;
    double known[GAUSSIAN_WAVES], power = 0.0, known_power = 0.0;
    size_t n = 0;
    for (int i = 0; i < GAUSSIAN_WAVES; ++i) {
        const double ks = k[i] * GAUSSIAN_SIGMA;
        ours[i] = aw_spectrum_total(spectrum, aw_spectrum_coherent, (size_t)i);
        known[i] = charge * charge * aw_schwinger(1e4, GAUSSIAN_R, k[i]) * exp(-ks * ks);
        peak = fmax(peak, known[i]);
    }
    for (int i = 0; i < GAUSSIAN_WAVES; ++i) {
        if (!(known[i] > 1e-6 * peak)) continue;
        ratio[n] = ours[i] / known[i];
        one[n++] = 1.0;
    }
    AW_TRY(aw_check_worst(v, "over N^2 Schwinger exp(-(k sigma)^2), where over 1e-6 of the peak",
                          (aw_pairs){ratio, one, n}, 1.0, 0.02));
    for (int i = 0; i < GAUSSIAN_WAVES; ++i) { /* d omega = c k d ln k; W per radian is P R/c */
        const double step = AW_C * k[i] * log(k[1] / k[0]) * (i == 0 ? 0.5 : 1.0);
        power += ours[i] * step;
        known_power += known[i] * step;
    }
    /* below the lowest wave W ~ k^(1/3) */
    const double below = 0.75 * AW_C * k[0];
    power = (power + below * ours[0]) * AW_C / GAUSSIAN_R;
    AW_TRY(aw_check_add(v, "coherent power [W]", power,
                        aw_coherent_power(charge, GAUSSIAN_R, GAUSSIAN_SIGMA),
                        aw_coherent_power(charge, GAUSSIAN_R, GAUSSIAN_SIGMA), 0.01));
done:
    return status;
}

static aw_status gaussian(aw_validation *v)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    aw_spectrum *spectrum = NULL;
    aw_directions directions = {0};
    double k[GAUSSIAN_WAVES];
    for (int i = 0; i < GAUSSIAN_WAVES; ++i)
        k[i] = 0.02 / GAUSSIAN_SIGMA * pow(200.0, (double)i / (GAUSSIAN_WAVES - 1));
    AW_TRY(gaussian_config(v, &config));
    AW_TRY(one_angle(-0.5 * GAUSSIAN_ANGLE, 0.005, 1.0, &directions));
    AW_TRY(aw_case_begin(config, &sim));
    const aw_spectrum_params params = {.orbit = &config->lattice->orbit,
                                       .gamma = config->beam.gamma,
                                       .k = k,
                                       .waves = GAUSSIAN_WAVES,
                                       .directions = &directions,
                                       .ns = config->grid[0],
                                       .nx = config->grid[1]};
    AW_TRY(aw_spectrum_new(&params, &spectrum));
    AW_TRY(aw_case_radiate(sim, spectrum));
    AW_TRY(gaussian_checks(v, spectrum, k, config->beam.charge));
done:
    aw_spectrum_free(spectrum);
    aw_directions_free(&directions);
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

const aw_case aw_case_spectrum_gaussian = {
    .name = "spectrum-gaussian",
    .claim = "a rigid Gaussian in a bend radiates N^2 times Schwinger's spectrum with |F|^2",
    .seconds = 10,
    .run = gaussian,
};

/* ---------------------------------------------------------------------------- edge radiation */

/* Two bends with a long straight between them, far below the critical frequency: what the edges of
 * the straight radiate into its cone. */
static aw_status edge(aw_validation *v)
{
    enum { POINTS = 40 };
    const double gamma = 1000.0, R = 1.0, angle = 0.5, k = 1e-7 * 1.5 * pow(gamma, 3) / R;
    const double length = 4.0 * AW_PI * gamma * gamma / k, end = 2.0 * R * angle + length;
    aw_status status = AW_OK;
    double ours[POINTS], known[POINTS], theta[POINTS], psi = 0.0, largest = 0.0, weight = 1.0;
    aw_directions directions = {.theta = {POINTS, theta, NULL}, .psi = {1, &psi, &weight}};
    aw_spectrum *spectrum = NULL;
    const double z = R * sin(angle), x = R * (cos(angle) - 1.0);
    const aw_orbit_piece piece[5] = {
        {0.0, 0.0, 0.0, 0.0, 0.0},
        {0.0, 0.0, 0.0, 0.0, 1.0 / R},
        {R * angle, z, x, -angle, 0.0},
        {R * angle + length, z + length * cos(angle), x - length * sin(angle), -angle, -1.0 / R},
        {end, 2.0 * z + length * cos(angle), 2.0 * x - length * sin(angle), 0.0, 0.0}};
    const aw_orbit_view orbit = {piece, 5};
    for (int i = 0; i < POINTS; ++i) theta[i] = -angle + (i - 0.5 * (POINTS - 1)) * 0.2 / gamma;
    const aw_spectrum_params params = {
        .orbit = &orbit, .gamma = gamma, .k = &k, .waves = 1, .directions = &directions};
    AW_TRY(aw_spectrum_new(&params, &spectrum));
    for (int i = 0; i <= 4; ++i) AW_TRY(aw_spectrum_add(spectrum, NULL, 0.25 * end * i));
    AW_TRY(aw_spectrum_end(spectrum));
    for (int i = 0; i < POINTS; ++i) {
        ours[i] = aw_spectrum_single(spectrum, (size_t)i, 0, 0);
        known[i] = aw_two_kicks(gamma, length, k, theta[i] + angle);
        largest = fmax(largest, known[i]);
    }
    AW_TRY(aw_check_worst(v,
                          "edge radiation of a straight, worst of 40 angles to 4/gamma [J s/C^2]",
                          (aw_pairs){ours, known, POINTS}, largest, 0.02));
done:
    aw_spectrum_free(spectrum);
    return status;
}

const aw_case aw_case_spectrum_edge = {
    .name = "spectrum-edge",
    .claim = "a straight between two bends radiates as one between two kicks",
    .seconds = 1,
    .run = edge,
};
