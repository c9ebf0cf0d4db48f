/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a spectrum says: a row per frequency, energies in bands, and its files. */
#ifndef AW_SPECTRUM_RESULTS_H
#define AW_SPECTRUM_RESULTS_H
#include "src/spectrum/balance.h"
#include "src/spectrum/spectrum.h"

AW_BEGIN_DECLS

/** The bunch that radiates. */
typedef struct aw_spectrum_beam {
    double charge;    /* magnitude [C] */
    size_t particles; /* macro-particles */
} aw_spectrum_beam;

/** Energies per frequency [J s], over the directions or the aperture. */
typedef struct aw_spectrum_row {
    double k;          /* [1/m] */
    double coherent;   /* NaN: the grid does not resolve such waves */
    double incoherent; /* N (1 - |F|^2) times an electron's, |F|^2 from the coherent part; or NaN */
    double noise;      /* what as many macro-particles at random would add to the coherent part */
    double slices;     /* estimated error of the waves between slices (aw_spectrum_slice_error) */
    int resolved;      /* 1: by the grid and by the slices, and above the noise */
} aw_spectrum_row;

/** Fill the rows. @param[in] slices  largest error between slices of a row that is resolved
 *  @param[out] row  [waves] */
void aw_spectrum_rows(const aw_spectrum *spectrum, const aw_spectrum_beam *beam, double slices,
                      aw_spectrum_row *row);

/** Coherent energy between two wave numbers [J]: piecewise linear between the rows, and the rows
 *  must reach that far. NaN where one of the rows is, or the rows do not. */
double aw_spectrum_band(const aw_spectrum_row *row, size_t n, double from, double to);

/** A file's contents; borrowed. */
typedef struct aw_spectrum_file {
    const aw_spectrum *spectrum;
    const aw_spectrum_beam *beam;
    const aw_spectrum_row *row; /* [waves] */
    const double *band;         /* NULL; else from and to [1/m] */
    const aw_balance *balance;
    const char *software, *version, *input;
} aw_spectrum_file;

/** Write DIR/spectrum.csv, spectrum.json and spectrum.h5 (docs/spectrum.md), all or nothing each.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO (messages) */
aw_status aw_spectrum_save(const char *directory, const aw_spectrum_file *file);

AW_END_DECLS
#endif
