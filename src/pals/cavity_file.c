/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/pals/cavity_file.h"

#include <math.h>
#include <string.h>

#include "src/base/units.h"

#define GROUP "RFP"
/* Relative difference up to which voltage and gradient are the same. */
#define AW_SAME_VOLTAGE 1e-6

const char *const *aw_cavity_words(size_t *n)
{
    static const char *const words[] = {"frequency", "harmon",          "voltage",     "gradient",
                                        "phase",     "multipass_phase", "cavity_type", "num_cells",
                                        "n_cell",    "zero_phase"};
    *n = sizeof words / sizeof words[0];
    return words;
}

/* A number of the group, 0 if it is not given; *node: where it is. @return 0: it is not a number */
static int number(const aw_element_reader *r, const aw_spec *spec, const char *key,
                  const char *expected, const aw_yaml_node **node, double *value)
{
    *value = 0.0;
    *node = aw_spec_get(spec, GROUP, key);
    return !*node || aw_yaml_number(r->errors, *node, expected, value);
}

/* A number of the group that must be 0. */
static int check_zero(const aw_element_reader *r, const aw_spec *spec, const char *key,
                      const char *why)
{
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *node;
    double value;
    if (!number(r, spec, key, "0", &node, &value)) return 0;
    if (value == 0.0) return 1;
    aw_yaml_error(r->errors, node, "%s %s", aw_yaml_show(node, shown), why);
    return 0;
}

int aw_cavity_check_off(const aw_element_reader *r, const aw_spec *spec)
{
    static const char why[] =
        "deflects, which is not supported (expected 0; or start behind the cavity, with beam.file)";
    const int voltage = check_zero(r, spec, "voltage", why);
    return check_zero(r, spec, "gradient", why) && voltage;
}

/* The voltage, from voltage or gradient; *node: which of them, NULL: there is none. */
static int read_voltage(const aw_element_reader *r, const aw_spec *spec, double length,
                        const aw_yaml_node **node, double *voltage)
{
    const aw_yaml_node *volts, *field;
    double gradient;
    if (!number(r, spec, "voltage", "a voltage in V, e.g. 20.0e6", &volts, voltage)) return 0;
    if (!number(r, spec, "gradient", "a gradient in V/m, e.g. 20.0e6", &field, &gradient)) return 0;
    *node = *voltage != 0.0 ? volts : gradient != 0.0 ? field : NULL;
    if (gradient == 0.0) return 1;
    if (!(length > 0.0) && *voltage == 0.0) {
        aw_yaml_error(r->errors, field,
                      "a gradient needs a length (expected one, or RFP.voltage instead)");
        return 0;
    }
    if (*voltage == 0.0) *voltage = gradient * length;
    if (fabs(gradient * length - *voltage) <= AW_SAME_VOLTAGE * fabs(*voltage)) return 1;
    aw_yaml_error(r->errors, field,
                  "times the length is %.9g V, but voltage, at line %d, is %.9g V (expected one of "
                  "the two)",
                  gradient * length, volts->line, *voltage);
    return 0;
}

static int read_frequency(const aw_element_reader *r, const aw_spec *spec, double *frequency)
{
    static const char expected[] = "a frequency in Hz, e.g. 1.3e9";
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *node;
    if (!number(r, spec, "frequency", expected, &node, frequency)) return 0;
    if (*frequency > 0.0) return 1;
    if (node)
        aw_yaml_error(r->errors, node, "%s is not positive (expected %s)",
                      aw_yaml_show(node, shown), expected);
    else
        aw_yaml_key_error(r->errors, spec->place, "RFP.frequency is missing (expected %s)",
                          expected);
    return 0;
}

/* The phase is counted from the crest; from which of its zeros PALS counts it otherwise depends on
 * a ring's transition energy, and which way is left open there. */
static int read_phase(const aw_element_reader *r, const aw_spec *spec, double *phase)
{
    static const char expected[] = "ACCELERATING, and a phase from the crest";
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *zero = aw_spec_get(spec, GROUP, "zero_phase"), *node;
    const char *text = zero ? aw_yaml_text(r->errors, zero, expected) : "ACCELERATING";
    if (!text) return 0;
    if (strcmp(text, "ACCELERATING") != 0) {
        aw_yaml_error(r->errors, zero, "%s is not supported (expected %s)",
                      aw_yaml_show(zero, shown), expected);
        return 0;
    }
    return number(r, spec, "phase", "a phase in rad/2pi, e.g. -0.25", &node, phase);
}

/* The reference momentum sets all fields, and the history of the self-field, from which forces
 * come, is that of a beam of one mean energy. */
static int check_gain(const aw_element_reader *r, const aw_yaml_node *node, const aw_rf *rf)
{
    char shown[AW_YAML_SHOW];
    const double gain = rf->voltage * cos(2.0 * AW_PI * rf->phase);
    if (!(r->pc > 0.0) || fabs(gain) <= AW_CAVITY_GAIN * hypot(r->pc, AW_ME_EV)) return 1;
    aw_yaml_error(r->errors, node,
                  "%s at phase %.6g changes the reference energy by %.6g eV, and a lattice has one "
                  "(expected a zero crossing, phase +-0.25; or start behind the cavity, with "
                  "beam.file)",
                  aw_yaml_show(node, shown), rf->phase, gain);
    return 0;
}

int aw_cavity_read(const aw_element_reader *r, const aw_spec *spec, aw_element *out)
{
    const aw_yaml_node *node;
    aw_rf rf = {.voltage = 0.0};
    if (!read_voltage(r, spec, out->length, &node, &rf.voltage)) return 0;
    if (rf.voltage == 0.0) return 1;
    int good = check_zero(r, spec, "harmon",
                          "is not supported: a line has no revolution frequency (expected "
                          "frequency)");
    good &= check_zero(r, spec, "multipass_phase",
                       "is not supported: a line is passed once (expected 0)");
    good &= read_frequency(r, spec, &rf.frequency);
    good &= read_phase(r, spec, &rf.phase);
    if (!good || !check_gain(r, node, &rf)) return 0;
    out->rf = rf;
    return 1;
}
