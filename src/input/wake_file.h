/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of wakes in text files. */
#ifndef AW_INPUT_WAKE_FILE_H
#define AW_INPUT_WAKE_FILE_H
#include "pic/wake/wake.h"

AW_BEGIN_DECLS

/** Kinds of tables; the order is that of the key `kind`. */
typedef enum aw_wake_kind { AW_WAKE_LONGITUDINAL, AW_WAKE_TAYLOR } aw_wake_kind;

#define AW_WAKE_WHY_MAX 300

/** Read a table and complete its functions; empty lines and what follows a # are passed over.
 *  - longitudinal: lines z W, z rising up to 0 [m], at or behind the source; W is what is lost.
 *  - taylor: numbers in pairs, one pair a line, as Ocelot reads them: the number of terms and 0; of
 *    each term the numbers of its points n and n1; R [Ohm], L [H]; 1/C [1/F] and its name ab; n
 *    lines y w, then n1 lines y w1, y rising from 0 [m] (pic/wake/function.h). Terms of y are
 *    passed over.
 *  @param[in,out] wake  its terms, which are zeros before
 *  @param[out] why      what is wrong, for AW_ERR_INPUT, which is not printed
 *  @return AW_OK, AW_ERR_INPUT, AW_ERR_NOMEM */
aw_status aw_wake_file_read(const char *path, aw_wake_kind kind, aw_wake *wake,
                            char why[AW_WAKE_WHY_MAX]);

AW_END_DECLS
#endif
