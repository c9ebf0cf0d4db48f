/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Assertions of every test: floating-point closeness that a NaN never passes, and status codes. */
#ifndef AW_TESTS_ASSERT_CLOSE_H
#define AW_TESTS_ASSERT_CLOSE_H
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "src/base/status.h"

static inline void aw_assert_close(double got, double want, double rel, double abs,
                                   const char *text, const char *file, int line)
{
    double error = fabs(got - want), bound = abs + rel * fabs(want);
    if (error <= bound) return;
    print_error("%s: got %.17g, want %.17g (error %.3g, allowed %.3g)\n", text, got, want, error,
                bound);
    _fail(file, line);
}

/* |got - want| <= abs + rel |want|; a NaN in any of them fails. */
#define assert_close(got, want, rel, abs) \
    aw_assert_close((got), (want), (rel), (abs), #got, __FILE__, __LINE__)

static inline void aw_assert_status(aw_status got, aw_status want, const char *text,
                                    const char *file, int line)
{
    if (got == want) return;
    print_error("%s: got \"%s\", want \"%s\"\n", text, aw_status_text(got), aw_status_text(want));
    _fail(file, line);
}

#define assert_status(call, want) aw_assert_status((call), (want), #call, __FILE__, __LINE__)
#define assert_ok(call) assert_status(call, AW_OK)

#endif
