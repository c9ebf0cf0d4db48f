/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The electron species: records that ED-PIC and openPMD-beamphysics each ask for. */
#include "src/output/species.h"

#include <math.h>
#include <stdlib.h>

#include "src/base/log.h"
#include "src/base/units.h"

/* Name, unitDimension, timeOffset and the two ED-PIC attributes of a particle record. */
typedef struct record {
    const char *name;
    double length, mass, time, current;
    double weighting_power;
    uint32_t macro_weighted;
} record;

static const record POSITION = {"position", 1, 0, 0, 0, 0, 0};
static const record POSITION_OFFSET = {"positionOffset", 1, 0, 0, 0, 0, 0};
static const record MOMENTUM = {"momentum", 1, 1, -1, 0, 1, 0};
static const record CHARGE = {"charge", 0, 0, 1, 1, 1, 0};
static const record MASS = {"mass", 0, 1, 0, 0, 1, 0};
static const record WEIGHTING = {"weighting", 0, 0, 0, 0, 1, 1}; /* electrons per macro-particle */
static const record WEIGHT = {"weight", 0, 0, 1,
                              1,        1, 1}; /* beamphysics: charge per macro-particle */
static const record TIME = {"time", 0, 0, 1, 0, 0, 0};
static const record STATUS = {"particleStatus", 0, 0, 0, 0, 0, 0};
static const record ID = {"id", 0, 0, 0, 0, 0, 0};

static void describe(aw_h5 *h5, hid_t object, record r)
{
    aw_attr_dimension(h5, object, r.length, r.mass, r.time, r.current);
    aw_h5_attr_double(h5, object, "timeOffset", 0.0);
    aw_h5_attr_double(h5, object, "weightingPower", r.weighting_power);
    aw_h5_attr_uint32(h5, object, "macroWeighted", r.macro_weighted);
}

/* One value for all n particles: an empty group, as openPMD has it. The caller closes it. */
static hid_t constant(aw_h5 *h5, hid_t parent, const char *name, size_t n, double value)
{
    uint64_t shape = n;
    hid_t group = aw_h5_group(h5, parent, name);
    aw_h5_attr_double(h5, group, "value", value);
    aw_h5_attr_integers(h5, group, "shape", 1, &shape);
    aw_h5_attr_double(h5, group, "unitSI", 1.0);
    return group;
}

static void scalar_constant(aw_h5 *h5, hid_t parent, size_t n, double value, record r)
{
    hid_t group = constant(h5, parent, r.name, n, value);
    describe(h5, group, r);
    aw_h5_close(h5, group);
}

/* Array of n numbers, or one value for all where data is NULL. */
static void component(aw_h5 *h5, hid_t parent, const char *name, size_t n, const double *data,
                      double value)
{
    hsize_t size = n;
    hid_t object = H5I_INVALID_HID;
    if (data) {
        object = aw_h5_doubles(h5, parent, name, 1, &size, data);
        aw_h5_attr_double(h5, object, "unitSI", 1.0);
    } else {
        object = constant(h5, parent, name, n, value);
    }
    aw_h5_close(h5, object);
}

/* Three components; those that are NULL are zero: without heights the bunch is a sheet. */
static void vector(aw_h5 *h5, hid_t parent, size_t n, const double *const xyz[3], record r)
{
    hid_t group = aw_h5_group(h5, parent, r.name);
    describe(h5, group, r);
    component(h5, group, "x", n, xyz[0], 0.0);
    component(h5, group, "y", n, xyz[1], 0.0);
    component(h5, group, "z", n, xyz[2], 0.0);
    aw_h5_close(h5, group);
}

/* Charge of each macro-particle in a unit [C]. Both records are in the file: ED-PIC asks for
 * numbers of electrons, whose unitSI must be 1, and beamphysics for coulombs. */
static void charges(aw_h5 *h5, hid_t parent, const aw_species *species, double unit, record r)
{
    const size_t n = species->n;
    const hsize_t size = n;
    if (!species->charges) {
        scalar_constant(h5, parent, n, species->charge / unit, r);
        return;
    }
    double *number = malloc(n * sizeof *number);
    if (!number) {
        h5->status = aw_error(AW_ERR_NOMEM, "%s: no memory for %zu charges", h5->path, n);
        return;
    }
    for (size_t i = 0; i < n; ++i) number[i] = species->charges[i] / unit;
    const hid_t set = aw_h5_doubles(h5, parent, r.name, 1, &size, number);
    describe(h5, set, r);
    aw_h5_attr_double(h5, set, "unitSI", 1.0);
    aw_h5_close(h5, set);
    free(number);
}

static void ids(aw_h5 *h5, hid_t parent, const aw_species *species)
{
    hsize_t size = species->n;
    hid_t set = aw_h5_integers(h5, parent, ID.name, 1, &size, species->id);
    describe(h5, set, ID);
    aw_h5_attr_double(h5, set, "unitSI", 1.0);
    aw_h5_close(h5, set);
}

/* Smallest [from, from + extent) that holds all values. */
static void bounds(const double *value, size_t n, double *from, double *extent)
{
    double lo = value[0], hi = value[0];
    for (size_t i = 1; i < n; ++i) {
        if (value[i] < lo) lo = value[i];
        if (value[i] > hi) hi = value[i];
    }
    *from = lo;
    *extent = nextafter(hi, INFINITY) - lo;
    while (!(lo + *extent > hi) && isfinite(*extent)) *extent = nextafter(*extent, INFINITY);
}

static void one_integer(aw_h5 *h5, hid_t parent, const char *name, uint64_t value)
{
    hsize_t one = 1;
    hid_t set = aw_h5_integers(h5, parent, name, 1, &one, &value);
    aw_h5_attr_double(h5, set, "unitSI", 1.0);
    aw_h5_close(h5, set);
}

static void patch_vector(aw_h5 *h5, hid_t parent, const char *name, const double value[3])
{
    static const char *const axis[3] = {"x", "y", "z"};
    hsize_t one = 1;
    hid_t group = aw_h5_group(h5, parent, name);
    aw_attr_dimension(h5, group, 1, 0, 0, 0);
    for (int i = 0; i < 3; ++i) {
        hid_t set = aw_h5_doubles(h5, group, axis[i], 1, &one, &value[i]);
        aw_h5_attr_double(h5, set, "unitSI", 1.0);
        aw_h5_close(h5, set);
    }
    aw_h5_close(h5, group);
}

/* All particles are one patch; across the sheet it is one cell thick, so that it holds y = 0,
 * unless the particles have heights. */
static void patches(aw_h5 *h5, hid_t parent, const aw_snapshot *snapshot)
{
    const aw_species *species = snapshot->species;
    double from[3] = {0.0}, extent[3] = {0.0, snapshot->frame.hx, 0.0};
    bounds(species->x, species->n, &from[0], &extent[0]);
    if (species->y) bounds(species->y, species->n, &from[1], &extent[1]);
    bounds(species->z, species->n, &from[2], &extent[2]);
    hid_t group = aw_h5_group(h5, parent, "particlePatches");
    one_integer(h5, group, "numParticles", species->n);
    one_integer(h5, group, "numParticlesOffset", 0);
    patch_vector(h5, group, "offset", from);
    patch_vector(h5, group, "extent", extent);
    aw_h5_close(h5, group);
}

static void species_attributes(aw_h5 *h5, hid_t group, const aw_snapshot *snapshot)
{
    const aw_species *species = snapshot->species;
    aw_h5_attr_double(h5, group, "particleShape", 2.0); /* quadratic B-spline */
    aw_h5_attr_text(h5, group, "currentDeposition", "other");
    aw_h5_attr_text(h5, group, "currentDepositionParameters", "charge times velocity on the nodes");
    aw_h5_attr_text(h5, group, "particlePush", "other");
    aw_h5_attr_text(h5, group, "particlePushParameters", "leap-frog, exact rotation in a dipole");
    aw_h5_attr_text(h5, group, "particleInterpolation", "other");
    aw_h5_attr_text(h5, group, "particleInterpolationParameters", "force, quadratic B-spline");
    aw_h5_attr_text(h5, group, "particleSmoothing", "none");
    aw_h5_attr_text(h5, group, "speciesType", "electron");
    aw_h5_attr_int64(h5, group, "numParticles", (int64_t)species->n);
    aw_h5_attr_double(h5, group, "totalCharge", species->charge * (double)species->n);
    aw_h5_attr_double(h5, group, "chargeUnitSI", 1.0);
    aw_attr_frame(h5, group, snapshot, &species->axes, species->axes.theta);
}

void aw_species_write(aw_h5 *h5, hid_t parent, const aw_snapshot *snapshot)
{
    const aw_species *species = snapshot->species;
    size_t n = species->n;
    hid_t group = aw_h5_group(h5, parent, "electron");
    species_attributes(h5, group, snapshot);
    vector(h5, group, n, (const double *const[3]){species->x, species->y, species->z}, POSITION);
    vector(h5, group, n, (const double *const[3]){NULL, NULL, NULL}, POSITION_OFFSET);
    vector(h5, group, n, (const double *const[3]){species->px, species->py, species->pz}, MOMENTUM);
    scalar_constant(h5, group, n, -AW_E, CHARGE);
    scalar_constant(h5, group, n, AW_ME, MASS);
    charges(h5, group, species, AW_E, WEIGHTING);
    charges(h5, group, species, 1.0, WEIGHT);
    scalar_constant(h5, group, n, species->time, TIME);
    scalar_constant(h5, group, n, 1.0, STATUS);
    ids(h5, group, species);
    patches(h5, group, snapshot);
    aw_h5_close(h5, group);
}
