/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/base/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/threads.h"

aw_status aw_option_number(const char *option, const char *text, long min, long max, long *out)
{
    char *end = NULL;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < min || value > max)
        return aw_error(AW_ERR_ARG, "%s: '%s' is not a whole number from %ld to %ld", option, text,
                        min, max);
    *out = value;
    return AW_OK;
}

aw_status aw_option_duration(const char *option, const char *text, double *seconds)
{
    static const struct {
        const char *name;
        double seconds;
    } unit[] = {{"", 1.0}, {"s", 1.0}, {"min", 60.0}, {"h", 3600.0}};
    char *end = NULL;
    const int plain = text[0] >= '0' && text[0] <= '9' && !strpbrk(text, "xXpP");
    const double value = plain ? strtod(text, &end) : 0.0;
    for (size_t i = 0; plain && i < sizeof unit / sizeof unit[0]; ++i)
        if (strcmp(end, unit[i].name) == 0 && value > 0.0 && value * unit[i].seconds <= 1e9) {
            *seconds = value * unit[i].seconds;
            return AW_OK;
        }
    return aw_error(AW_ERR_ARG, "%s: '%s' is not a length of time (expected e.g. 90, 30min or 2h)",
                    option, text);
}

aw_status aw_option_threads(const char *text, int *out)
{
    long number = 0;
    const aw_status status = aw_option_number("--threads", text, 1, 4096, &number);
    if (status == AW_OK) *out = aw_threads_limit("--threads", (int)number);
    return status;
}
