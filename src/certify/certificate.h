/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The certificate: each result of a run with its error bar, along the machine and at the end. */
#ifndef AW_CERTIFY_CERTIFICATE_H
#define AW_CERTIFY_CERTIFICATE_H
#include "src/certify/estimate.h"
#include "src/certify/neighbours.h"

AW_BEGIN_DECLS

/** A value with its error bar. */
typedef struct aw_bar {
    double S, value;
    double U;                     /* sum of the parts; NaN: one of them is not known */
    aw_estimate part[AW_SOURCES]; /* U is NaN where neighbours are missing */
} aw_bar;

/** A quantity: its name in monitor.csv, unit, and bars. */
typedef struct aw_certified {
    const char *name, *unit;
    int promised;  /* 1: `accuracy` is the error of this one: energy change, emittance */
    aw_bar result; /* at the last step that has it; of a peak, the largest of the run */
    size_t n;
    aw_bar *curve; /* owned, [n]: at the steps that have it */
} aw_certified;

enum { AW_CERTIFIED_MAX = 16 };

/** Free with aw_certificate_free. */
typedef struct aw_certificate {
    size_t n;
    aw_certified quantity[AW_CERTIFIED_MAX];
    char missing[AW_NEIGHBOURS_MAX * 18]; /* names of runs that are missing, with blanks */
} aw_certificate;

/** Compare the runs that are done. Quantities that the motion does not change are left out.
 *  @param[in] minus  NULL, or a directory that has the same runs of another case: certified is then
 *                    by how much the results differ from those, from differences of runs that
 *                    differ from their cases in the same way. Errors that both have cancel. Peaks
 *                    are left out; a quantity that the other case does not have is 0 there
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO, AW_ERR_INPUT: a run of the other case is missing or
 *          shorter (messages) */
aw_status aw_certificate_make(const aw_neighbours *list, const aw_config *config, const char *minus,
                              aw_certificate *out);

/** Share of the accuracy that the bar of one source may take without a finer run. */
#define AW_WIDE 0.5

/** Whether a source alone takes more than AW_WIDE of the accuracy (relative to the value) of a
 *  result that is promised to have it: a finer run narrows that. */
int aw_certificate_is_wide(const aw_certificate *certificate, aw_source source, double accuracy);
void aw_certificate_free(aw_certificate *certificate);

/** Print the table of results. */
void aw_certificate_print(const aw_certificate *certificate);

/** Write DIR/NAME.json (results) and DIR/NAME.csv (curves).
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO (messages) */
aw_status aw_certificate_save(const aw_certificate *certificate, const char *directory,
                              const char *name);

AW_END_DECLS
#endif
