/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/input/beam_check.h"

#include <math.h>

#include "src/input/fields.h"

/* Largest slope dx/dz at the edge of the beam: coordinates along the design orbit suit beams whose
 * particles move along it. */
#define SLOPE_MAX 0.5

static const aw_yaml_node *node_of(const aw_yaml_node *root, const char *key)
{
    return aw_field_node(root, aw_field_find(key));
}

/* delta = chirp s + energy_spread g, s and g cut, must stay above -(1 - 1/gamma). */
static void check_energies(aw_input_errors *errors, const aw_yaml_node *root,
                           const aw_beam_params *beam)
{
    const double chirped = beam->cutoff_sigma * fabs(beam->chirp) * beam->sigma_s;
    const double spread = beam->cutoff_sigma * beam->energy_spread;
    const double most = beam->gamma > 1.0 ? 1.0 - 1.0 / beam->gamma : 1.0;
    const char *key = chirped > spread ? "beam.chirp_per_m" : "beam.energy_spread";
    const aw_yaml_node *node = node_of(root, key);
    if (!node || chirped + spread < most) return;
    if (chirped > spread)
        aw_yaml_error(errors, node,
                      "delta reaches %.3g at the cutoff, where a particle has no kinetic energy "
                      "(expected at most %.3g 1/m)",
                      -chirped - spread,
                      fmax(most - spread, 0.0) / (beam->cutoff_sigma * beam->sigma_s));
    else
        aw_yaml_error(errors, node,
                      "delta reaches %.3g at the cutoff, where a particle has no kinetic energy "
                      "(expected below %.3g)",
                      -chirped - spread, fmax(most - chirped, 0.0) / beam->cutoff_sigma);
}

static void check_emittance(aw_input_errors *errors, const aw_yaml_node *root,
                            const aw_beam_params *beam)
{
    const aw_yaml_node *node = node_of(root, "beam.emittance_x_m");
    if (!node || !(beam->emittance > 0.0) || !(beam->beta_x > 0.0)) return;
    const double slope =
        beam->cutoff_sigma * sqrt(beam->emittance / beam->beta_x) * hypot(1.0, beam->alpha_x);
    if (!(beam->sigma_x >= AW_SIZE_MIN && beam->sigma_x <= AW_SIZE_MAX))
        aw_yaml_error(errors, node,
                      "the rms width sqrt(emittance beta) is %.3g m (expected %g to %g m)",
                      beam->sigma_x, AW_SIZE_MIN, AW_SIZE_MAX);
    else if (!(slope <= SLOPE_MAX))
        aw_yaml_error(errors, node, "slopes dx/dz reach %.3g at the cutoff (expected at most %g)",
                      slope, SLOPE_MAX);
}

static void check_height(aw_input_errors *errors, const aw_yaml_node *root,
                         const aw_beam_params *beam)
{
    const aw_yaml_node *constant = node_of(root, "beam.sigma_y_m");
    const aw_yaml_node *emittance = node_of(root, "beam.emittance_y_m");
    const double rms = sqrt(beam->emittance_y * beam->beta_y);
    char shown[AW_YAML_SHOW];
    if (constant && beam->sigma_y > 0.0 && beam->sigma_y < AW_SIZE_MIN)
        aw_yaml_error(errors, constant, "%s is below %g (expected 0 for a thin sheet, or %g to %g)",
                      aw_yaml_show(constant, shown), AW_SIZE_MIN, AW_SIZE_MIN, AW_SIZE_MAX);
    if (emittance && rms > 0.0 && !(rms >= AW_SIZE_MIN && rms <= AW_SIZE_MAX))
        aw_yaml_error(errors, emittance,
                      "the rms height sqrt(emittance beta) is %.3g m (expected %g to %g m)", rms,
                      AW_SIZE_MIN, AW_SIZE_MAX);
}

static void check_number(aw_input_errors *errors, const aw_yaml_node *root,
                         const aw_beam_params *beam)
{
    const aw_yaml_node *node = node_of(root, "beam.particles");
    if (node && beam->quiet && beam->particles > AW_QUIET_MAX)
        aw_yaml_error(errors, node,
                      "the quiet sequence has no more than %zu points (expected at most as many, "
                      "or sampling: random)",
                      AW_QUIET_MAX);
}

void aw_beam_check(aw_input_errors *errors, const aw_yaml_node *root, const aw_beam_params *beam)
{
    check_energies(errors, root, beam);
    check_emittance(errors, root, beam);
    check_height(errors, root, beam);
    check_number(errors, root, beam);
}
