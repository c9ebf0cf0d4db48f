/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Incoherent synchrotron radiation of one particle: mean loss, and fluctuations about it. */
#ifndef AW_PIC_PARTICLE_RADIATION_H
#define AW_PIC_PARTICLE_RADIATION_H
#include "pic/particle/philox.h"
#include "pic/particle/track.h"
#include "src/base/units.h"

/** What of it acts; the order is that of the key beam.isr. */
typedef enum aw_isr { AW_ISR_OFF, AW_ISR_MEAN, AW_ISR_FULL } aw_isr;

/** How particles radiate in a step. */
typedef struct aw_radiation {
    aw_isr isr;
    uint32_t step;  /* of the run, and */
    uint64_t seed;  /* seed: they choose the random numbers, together with the particle's */
    uint64_t first; /* index in the whole beam, which is this for the first one here */
} aw_radiation;

/** Energy that a particle loses on a path [rest energies]; of fluctuations, it may be negative.
 *  Mean: dgamma/ds = -(2/3) r_e (gamma beta)^3 gamma/R^2; in a given field this goes with gamma^2,
 *  for which the step below is exact. Variance of gamma: 55/(24 sqrt 3) r_e lambda_C gamma^7/|R|^3
 *  per length. Source: M. Sands, SLAC-121 (1970), eqs. 4.2, 5.40; A. W. Chao et al., Handbook of
 *  Accelerator Physics and Engineering, 3.1.4.
 *  @param[in] path  with the integrals of the curvature
 *  @param[in] p     gamma beta;  @param[in] i  index of the particle here */
AW_FN double aw_radiation_loss(const aw_radiation *r, uint64_t i, const aw_track *path, double p)
{
    const double gamma = sqrt(1.0 + p * p), cube = gamma * gamma * gamma;
    const double start = 2.0 / 3.0 * AW_RE * p * p * p * gamma * path->square;
    const double variance = 55.0 / (24.0 * 1.7320508075688772) * AW_RE * AW_COMPTON * cube * cube *
                            gamma * fmax(path->cube, 0.0);
    double lost = start / (1.0 + start / gamma);
    if (r->isr == AW_ISR_FULL)
        lost += sqrt(variance) * aw_philox_normal(r->seed, r->first + i, r->step);
    return lost;
}

/* Lose energy; the direction stays. @return 0: that would stop the particle */
AW_FN int aw_track_lose(aw_track *f, double lost)
{
    const double gamma = sqrt(1.0 + f->p * f->p) - lost;
    if (!(gamma > 1.0)) return 0;
    f->p = sqrt((gamma - 1.0) * (gamma + 1.0));
    f->gained -= lost;
    return 1;
}

/** aw_particle_track with radiation: half of the time, the loss of the whole path, the other half,
 *  which is of second order in the step. The path is that without the loss, tracked first; where it
 *  is straight the particle takes it.
 *  @param[in] i      index of the particle here
 *  @param[out] lost  to radiation [rest energies]; b->gained has it, too */
AW_FN aw_track_status aw_particle_radiate(const aw_fields_view *fields, aw_particle *b, double cdt,
                                          const aw_radiation *radiation, uint64_t i, double *lost)
{
    aw_track f = aw_track_begin(b), whole = f;
    aw_fields_view half = *fields;
    int32_t element = b->element;
    *lost = 0.0;
    half.until -= 0.5 * cdt;
    whole.bends = 1;
    if (!aw_particle_finite(b)) return AW_TRACK_NONFINITE;
    if (!(f.p > 0.0)) return AW_TRACK_TURNED;
    aw_track_status status = aw_track_for(fields, &whole, &element, cdt);
    if (status == AW_TRACK_OK && whole.square > 0.0) {
        status = aw_track_for(&half, &f, &b->element, 0.5 * cdt);
        *lost = aw_radiation_loss(radiation, i, &whole, f.p);
        if (status == AW_TRACK_OK && !aw_track_lose(&f, *lost)) status = AW_TRACK_TURNED;
        if (status == AW_TRACK_OK) status = aw_track_for(fields, &f, &b->element, 0.5 * cdt);
    } else {
        f = whole;
        b->element = element;
    }
    aw_track_end(&f, b);
    return status == AW_TRACK_OK && !aw_particle_finite(b) ? AW_TRACK_NONFINITE : status;
}

#endif
