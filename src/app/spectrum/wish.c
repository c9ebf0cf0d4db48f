/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/spectrum/wish.h"

#include <math.h>
#include <stdlib.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"

#define THZ (2.0 * AW_PI * 1e12 / AW_C) /* omega/c of 1 THz [1/m] */
#define MRAD 1e-3
/* Rows of the table, and directions along an axis, where the options do not say. */
enum { WAVES = 200, ANGLES = 64 };
/* Panels over the directions of an orbit with several bends, whose radiation interferes: four times
 * as many change 1e-5 of the energy in the Zeuthen chicane, ten times fewer 1 %. */
#define PANELS 48.0
/* Largest number that an option may ask for. */
#define MOST 4096.0

/* Read "A,B,..": `least` to `most` numbers. @return how many, 0: something else */
static size_t read_numbers(const char *text, size_t least, size_t most, double *value)
{
    for (size_t n = 0; n < most; ++n) {
        char *end;
        value[n] = strtod(text, &end);
        if (end == text || !isfinite(value[n])) return 0;
        if (*end == 0) return n + 1 >= least ? n + 1 : 0;
        if (*end != ',') return 0;
        text = end + 1;
    }
    return 0;
}

static int is_count(double value) { return value >= 1.0 && value <= MOST && value == floor(value); }

/* Frequencies at equal ratios: as asked, or from waves much longer than the bunch to those at which
 * exp(-(k sigma)^2) of the shortest it is expected to be has fallen to 1e-11. */
static aw_status make_waves(const aw_options *o, const aw_config *config, const aw_plan *plan,
                            aw_spectrum_wish *out)
{
    const double sigma = config->beam.sigma_s;
    const double least = plan->shortest.sigma_s > 0.0 ? fmin(plan->shortest.sigma_s, sigma) : sigma;
    double v[3] = {0.01 / sigma / THZ, 5.0 / least / THZ, WAVES};
    if (o->frequencies && (read_numbers(o->frequencies, 3, 3, v) == 0 || !(v[0] > 0.0) ||
                           !(v[1] > v[0]) || !is_count(v[2]) || v[2] < 2.0))
        return aw_error(
            AW_ERR_ARG,
            "--frequencies %s: expected FROM,TO,N in THz, 0 < FROM < TO, N from 2 to %g",
            o->frequencies, MOST);
    out->waves = (size_t)v[2];
    out->k = aw_alloc(out->waves, sizeof *out->k);
    if (!out->k) return AW_ERR_NOMEM;
    for (size_t i = 0; i < out->waves; ++i)
        out->k[i] = THZ * v[0] * pow(v[1] / v[0], (double)i / (v[2] - 1.0));
    return AW_OK;
}

static aw_status make_band(const aw_options *o, aw_spectrum_wish *out)
{
    if (!o->band) return AW_OK;
    if (read_numbers(o->band, 2, 2, out->band) == 0 || !(out->band[0] < out->band[1]))
        return aw_error(AW_ERR_ARG, "--band %s: expected FROM,TO in THz", o->band);
    for (int i = 0; i < 2; ++i) out->band[i] *= THZ;
    const double slack = 1e-9 * out->band[1]; /* of the units */
    if (!(out->band[0] >= out->k[0] - slack && out->band[1] <= out->k[out->waves - 1] + slack))
        return aw_error(
            AW_ERR_ARG,
            "--band %s: the spectrum goes from %.4g to %.4g THz (expected a band in it, "
            "or other --frequencies)",
            o->band, out->k[0] / THZ, out->k[out->waves - 1] / THZ);
    out->band[0] = fmax(out->band[0], out->k[0]);
    out->band[1] = fmin(out->band[1], out->k[out->waves - 1]);
    out->has_band = 1;
    return AW_OK;
}

/* A round screen behind the end of the lattice. What it sees is the far field only where it is
 * further away than the path that radiates is long. */
static aw_status make_aperture(const aw_options *o, const aw_config *config, aw_spectrum_wish *out)
{
    const double way = aw_lattice_way(config->lattice);
    const double bunch = 5.0 * fmax(config->beam.sigma_x, config->beam.sigma_y);
    double v[3] = {0.0, 0.0, 0.0};
    if (read_numbers(o->aperture, 2, 3, v) == 0 || !(v[0] > 0.0) || !(v[1] > 0.0))
        return aw_error(AW_ERR_ARG,
                        "--aperture %s: expected RADIUS,DISTANCE[,ANGLE] in m and mrad, above 0",
                        o->aperture);
    if (!(v[1] > way))
        return aw_error(AW_ERR_ARG,
                        "--aperture: a screen %g m behind the lattice is closer to it than the "
                        "path of %g m that radiates is long; there is no far field there (expected "
                        "a larger distance, or --theta and --psi)",
                        v[1], way);
    if (!(v[0] > bunch))
        return aw_error(AW_ERR_ARG,
                        "--aperture: a radius of %g m is within the bunch, whose five sigma are "
                        "%.3g m (expected more)",
                        v[0], bunch);
    if (!(v[0] < v[1]))
        return aw_error(AW_ERR_ARG,
                        "--aperture: a radius of %g m at %g m (expected a radius below the "
                        "distance)",
                        v[0], v[1]);
    const double end = aw_orbit_direction(&config->lattice->orbit, config->lattice->length);
    const double centre = end + MRAD * v[2], half = atan(v[0] / v[1]);
    const double theta[2] = {centre - half, centre + half};
    const aw_status status = aw_directions_even(theta, ANGLES, half, ANGLES / 2, &out->directions);
    out->directions.centre = centre;
    out->directions.radius = half;
    return status;
}

static aw_status make_even(const aw_options *o, aw_spectrum_wish *out)
{
    double theta[3], psi[2];
    if (!o->theta || !o->psi)
        return aw_error(AW_ERR_ARG, "--theta and --psi belong together (expected both, or "
                                    "neither for all directions)");
    if (read_numbers(o->theta, 3, 3, theta) == 0 || !(theta[0] < theta[1]) || !is_count(theta[2]))
        return aw_error(AW_ERR_ARG, "--theta %s: expected FROM,TO,N in mrad, FROM < TO, N to %g",
                        o->theta, MOST);
    if (read_numbers(o->psi, 2, 2, psi) == 0 || !(psi[0] > 0.0 && psi[0] < 1500.0) ||
        !is_count(psi[1]))
        return aw_error(AW_ERR_ARG, "--psi %s: expected MAX,N in mrad, MAX up to 1500, N to %g",
                        o->psi, MOST);
    const double range[2] = {MRAD * theta[0], MRAD * theta[1]};
    return aw_directions_even(range, (size_t)theta[2], MRAD * psi[0], (size_t)psi[1],
                              &out->directions);
}

/* Widest panel between straights; 0: any. */
static double widest_between(const aw_orbit_view *orbit)
{
    double least = (double)INFINITY, most = -(double)INFINITY;
    int bends = 0;
    for (int i = 0; i < orbit->n; ++i) {
        bends += orbit->piece[i].kappa != 0.0;
        least = fmin(least, orbit->piece[i].theta);
        most = fmax(most, orbit->piece[i].theta);
    }
    return bends > 1 ? (most - least) / PANELS : 0.0;
}

/* All directions: beyond those of the orbit, as far as the longest wave spreads. */
static aw_status make_all(const aw_config *config, const aw_plan *plan, aw_spectrum_wish *out)
{
    const double gamma = config->beam.gamma;
    const double spread = plan->radius > 0.0 ? 3.0 / cbrt(out->k[0] * plan->radius) : 0.0;
    const aw_grading grading = {.finest = 0.5 / gamma,
                                .margin = fmin(fmax(30.0 / gamma, spread), 1.5),
                                .widest = 0.1,
                                .between = widest_between(&config->lattice->orbit),
                                .nodes = 4};
    out->all = 1;
    return aw_directions_graded(&config->lattice->orbit, &grading, &out->directions);
}

aw_status aw_spectrum_wish_make(const aw_options *o, const aw_config *config, const aw_plan *plan,
                                aw_spectrum_wish *out)
{
    aw_status status = AW_OK;
    *out = (aw_spectrum_wish){.k = NULL};
    AW_TRY(make_waves(o, config, plan, out));
    AW_TRY(make_band(o, out));
    if (o->aperture && (o->theta || o->psi))
        AW_TRY(aw_error(AW_ERR_ARG, "--aperture has directions of its own (expected it, or --theta "
                                    "and --psi)"));
    if (o->aperture)
        AW_TRY(make_aperture(o, config, out));
    else
        AW_TRY(o->theta || o->psi ? make_even(o, out) : make_all(config, plan, out));
done:
    if (status != AW_OK) aw_spectrum_wish_free(out);
    return status;
}

void aw_spectrum_wish_free(aw_spectrum_wish *wish)
{
    aw_free(wish->k);
    wish->k = NULL;
    aw_directions_free(&wish->directions);
}
