/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/optics.h"

#include <math.h>

#include "src/base/memory.h"

/* Steps of the central differences: x [m], x', delta. Truncation is of second order in them (for
 * delta 1e-7 relative to the third derivative), rounding 1e-16 over their first power, and for T566
 * over the square of the last. */
#define STEP_X 1e-6
#define STEP_SLOPE 1e-6
#define STEP_DELTA 3e-4
/* Step in s over sigma_s: truncation is a hundredth of the square of the bunch's phase in a cavity
 * over 6, rounding 1e-16 of the lattice's extent over the step. */
#define STEP_BY_SIGMA_S 0.1
/* Planes of a bend in which the bunch is looked at. */
#define PARTS 8
/* Arc lengths of elements and of regions, which are summed differently, agree to this [m]. */
#define SAME_S 1e-9

/* Those from S_PLUS on are for lattices with cavities; BOTH differ in s and delta. */
enum {
    CENTRE,
    X_PLUS,
    X_MINUS,
    SLOPE_PLUS,
    SLOPE_MINUS,
    DELTA_PLUS,
    DELTA_MINUS,
    S_PLUS,
    S_MINUS,
    BOTH_PLUS,
    BOTH_MINUS,
    PROBES
};
enum { C_X, C_SLOPE, C_BEHIND, C_DELTA, COORDINATES };

/* A particle, and its path less that of the design orbit, up to where it is [m]. */
typedef struct probe {
    aw_track at;
    double excess;
    double delta;
    double faster; /* its speed over the reference's, less 1 */
} probe;

/* The probes on their way through the lattice. */
typedef struct walk {
    const aw_lattice *lattice;
    const aw_beam_params *beam;
    int rigid;
    int region, piece; /* in which the probes are; of the orbit */
    int probes;        /* those in use */
    double step_s;     /* [m] */
    probe probe[PROBES];
    aw_optics *out;
} walk;

aw_optics_axes aw_optics_axes_of(double ss, double sx, double xx)
{
    const double mean = 0.5 * (ss + xx), half = hypot(0.5 * (ss - xx), sx);
    return (aw_optics_axes){.longer = sqrt(mean + half),
                            .shorter = sqrt(fmax(mean - half, 1e-12 * mean)),
                            .tilt = 0.5 * atan2(2.0 * sx, ss - xx)};
}

double aw_overtaking_length(double sigma_s, double kappa)
{
    return cbrt(24.0 * sigma_s / (kappa * kappa));
}

int aw_optics_fully_compressed(const aw_optics_point *p, const aw_beam_params *beam)
{
    return p->compression != 1.0 && fabs(p->compression) * beam->sigma_s <= p->sigma_s_energy;
}

static double beta_of(double gamma) { return sqrt((1.0 - 1.0 / gamma) * (1.0 + 1.0 / gamma)); }

static double faster_of(double gamma_mean, double delta)
{
    const double gamma = gamma_mean * (1.0 + delta);
    const double beta_mean = beta_of(gamma_mean), beta = beta_of(gamma);
    const double squares = delta * (2.0 + delta) / (gamma * gamma); /* beta^2 - beta_mean^2 */
    return squares / (beta_mean * (beta + beta_mean));
}

static probe probe_of(double gamma_mean, double x, double slope, double delta)
{
    const double gamma = gamma_mean * (1.0 + delta), norm = sqrt(1.0 + slope * slope);
    return (probe){.at = {.x = x,
                          .uz = 1.0 / norm,
                          .ux = slope / norm,
                          .p = sqrt((gamma - 1.0) * (gamma + 1.0))},
                   .delta = delta,
                   .faster = faster_of(gamma_mean, delta)};
}

/* The same probe, which starts `s` ahead: up to the first cavity its motion is the same. */
static probe ahead_by(probe p, double s)
{
    p.excess -= s;
    return p;
}

static int has_cavity(const aw_lattice *lattice)
{
    for (int i = 0; i < lattice->regions; ++i)
        if (lattice->region[i].kind == AW_REGION_RF) return 1;
    return 0;
}

static void start_probes(walk *w)
{
    const double gamma = w->beam->gamma;
    w->probe[CENTRE] = probe_of(gamma, 0.0, 0.0, 0.0);
    w->probe[X_PLUS] = probe_of(gamma, STEP_X, 0.0, 0.0);
    w->probe[X_MINUS] = probe_of(gamma, -STEP_X, 0.0, 0.0);
    w->probe[SLOPE_PLUS] = probe_of(gamma, 0.0, STEP_SLOPE, 0.0);
    w->probe[SLOPE_MINUS] = probe_of(gamma, 0.0, -STEP_SLOPE, 0.0);
    w->probe[DELTA_PLUS] = probe_of(gamma, 0.0, 0.0, STEP_DELTA);
    w->probe[DELTA_MINUS] = probe_of(gamma, 0.0, 0.0, -STEP_DELTA);
    w->step_s = STEP_BY_SIGMA_S * w->beam->sigma_s;
    w->probe[S_PLUS] = ahead_by(w->probe[CENTRE], w->step_s);
    w->probe[S_MINUS] = ahead_by(w->probe[CENTRE], -w->step_s);
    w->probe[BOTH_PLUS] = ahead_by(w->probe[DELTA_PLUS], w->step_s);
    w->probe[BOTH_MINUS] = ahead_by(w->probe[DELTA_MINUS], -w->step_s);
    w->probes = has_cavity(w->lattice) ? PROBES : S_PLUS;
}

/* to_exit in a multipole. */
static double multipole_to_exit(const aw_field_region *r, double p_ref, aw_track *f, double gap)
{
    const double scale = p_ref / f->p, reach = 2.0 * gap + 1e-3;
    int crossed = 0;
    if (gap > 0.0) {
        const double unused = aw_track_multipole(r, p_ref, f, reach, &crossed);
        return crossed ? reach - unused : NAN;
    }
    const double back = aw_track_landing(r, f, scale, gap);
    aw_track_multipole_step(r, f, scale, back);
    return back;
}

/* Move to the exit plane of a region in its field: forwards, or back by the little by which a
 * slanted entrance reaches beyond the plane. @return the path [m]; NaN: the plane is not met */
static double to_exit(const aw_field_region *r, double p_ref, aw_track *f)
{
    const double gap = -aw_track_beyond(r, f->z, f->x), k = r->kappa * p_ref / f->p;
    if (r->kind == AW_REGION_KICK) return aw_track_kick(r, p_ref, f) ? 0.0 : NAN;
    if (r->kind == AW_REGION_MULTIPOLE) return multipole_to_exit(r, p_ref, f, gap);
    const int dipole = r->kind == AW_REGION_DIPOLE;
    const double path = aw_track_to_plane(r, f, dipole ? k : 0.0, gap);
    if (!isfinite(path)) return NAN;
    if (dipole)
        aw_track_arc(f, k, path);
    else
        aw_track_straight(f, path);
    return path;
}

/* Where the straight line of a particle meets the plane perpendicular to the orbit at `plane`.
 * @param[in] way  from the start [m] */
static void observe(const probe *p, const aw_orbit_point *plane, double way, double c[COORDINATES])
{
    const double along = p->at.uz * plane->ct + p->at.ux * plane->st;
    const double across = p->at.ux * plane->ct - p->at.uz * plane->st;
    const double dz = p->at.z - plane->z, dx = p->at.x - plane->x;
    const double path = -(dz * plane->ct + dx * plane->st) / along;
    c[C_X] = dx * plane->ct - dz * plane->st + path * across;
    c[C_SLOPE] = across / along;
    c[C_BEHIND] = p->excess + path - way * p->faster;
    c[C_DELTA] = p->delta;
}

/* The kick of a cavity, for a probe that stays where it is.
 * @param[in] way  from the start to the cavity [m] */
static int cross_cavity(const walk *w, const aw_field_region *r, double way, probe *p)
{
    const aw_orbit_point plane = {.z = r->axis_z, .x = r->axis_x, .ct = r->ct, .st = r->st};
    const double gamma = w->beam->gamma, slower = 1.0 / beta_of(gamma);
    double c[COORDINATES];
    observe(p, &plane, way, c);
    if (!aw_track_cavity(r, c[C_BEHIND] * slower + (way * slower - r->passed), &p->at)) return 0;
    const double delta = sqrt(1.0 + p->at.p * p->at.p) / gamma - 1.0;
    const double faster = faster_of(gamma, delta);
    p->excess += way * (faster - p->faster); /* it has its new speed from here on */
    p->delta = delta;
    p->faster = faster;
    return 1;
}

/* Move all probes through the rest of their region. @return 0: one does not reach its end */
static int cross_region(walk *w)
{
    const aw_field_region *r = &w->lattice->region[w->region++];
    int reached = 1;
    for (int i = 0; i < w->probes; ++i) {
        probe *p = &w->probe[i];
        if (r->kind == AW_REGION_RF) {
            reached = reached && cross_cavity(w, r, r->S - w->lattice->begin, p);
            continue;
        }
        const double path = to_exit(r, w->lattice->p_ref, &p->at);
        p->excess += path - r->length;
        reached = reached && isfinite(path);
    }
    return reached;
}

/* Point of the design orbit; S never falls from call to call. */
static aw_orbit_point orbit_at(walk *w, double S)
{
    const aw_orbit_view *orbit = &w->lattice->orbit;
    while (w->piece + 1 < orbit->n && S >= orbit->piece[w->piece + 1].S) w->piece++;
    const aw_orbit_view one = {&orbit->piece[w->piece], 1};
    return aw_orbit_at(&one, S);
}

/* Coordinates of all probes at S. @return 0: one does not get there */
static int observe_all(walk *w, double S, double c[PROBES][COORDINATES])
{
    const aw_lattice *lat = w->lattice;
    const aw_orbit_point plane = orbit_at(w, S);
    for (; w->region + 1 < lat->regions;) {
        const aw_field_region *r = &lat->region[w->region];
        if (r->S + r->length > S + SAME_S) break;
        if (!cross_region(w)) return 0;
    }
    aw_field_region cut = lat->region[w->region];
    const int inside = S > cut.S + SAME_S;
    cut.exit_z = plane.z;
    cut.exit_x = plane.x;
    cut.exit_nz = plane.ct;
    cut.exit_nx = plane.st;
    for (int i = 0; i < w->probes; ++i) {
        probe p = w->probe[i];
        if (inside) p.excess += to_exit(&cut, lat->p_ref, &p.at) - (S - cut.S);
        observe(&p, &plane, S - lat->begin, c[i]);
        if (!isfinite(c[i][C_BEHIND]) || !isfinite(c[i][C_X])) return 0;
    }
    return 1;
}

static double slope_of(double c[PROBES][COORDINATES], int plus, int coordinate, double step)
{
    return (c[plus][coordinate] - c[plus + 1][coordinate]) / (2.0 * step);
}

/* Coefficient of the square of what probes differ by. */
static double curve_of(double c[PROBES][COORDINATES], int plus, int coordinate, double step)
{
    const double *up = c[plus], *down = c[plus + 1], *mid = c[CENTRE];
    return 0.5 * ((up[coordinate] - mid[coordinate]) + (down[coordinate] - mid[coordinate])) /
           (step * step);
}

/* Coefficient of s delta. */
static double mixed_of(double c[PROBES][COORDINATES], int coordinate, double step_s)
{
    const double both = curve_of(c, BOTH_PLUS, coordinate, 1.0);
    return (both - curve_of(c, S_PLUS, coordinate, 1.0) -
            curve_of(c, DELTA_PLUS, coordinate, 1.0)) /
           (step_s * STEP_DELTA);
}

/* What depends on the place of a particle in the bunch; without cavities only that place does. */
static void fill_cavity_map(const walk *w, double c[PROBES][COORDINATES], aw_optics_point *p)
{
    const double step = w->step_s;
    p->R55 = p->R66 = 1.0;
    if (w->probes < PROBES) return;
    p->R15 = slope_of(c, S_PLUS, C_X, step);
    p->R55 = -slope_of(c, S_PLUS, C_BEHIND, step);
    p->R65 = slope_of(c, S_PLUS, C_DELTA, step);
    p->R66 = slope_of(c, DELTA_PLUS, C_DELTA, STEP_DELTA);
    p->T155 = curve_of(c, S_PLUS, C_X, step);
    p->T156 = mixed_of(c, C_X, step);
    p->T555 = curve_of(c, S_PLUS, C_BEHIND, step);
    p->T556 = mixed_of(c, C_BEHIND, step);
}

static void fill_map(const walk *w, double c[PROBES][COORDINATES], aw_optics_point *p)
{
    p->R11 = slope_of(c, X_PLUS, C_X, STEP_X);
    p->R21 = slope_of(c, X_PLUS, C_SLOPE, STEP_X);
    p->R51 = slope_of(c, X_PLUS, C_BEHIND, STEP_X);
    p->R12 = slope_of(c, SLOPE_PLUS, C_X, STEP_SLOPE);
    p->R22 = slope_of(c, SLOPE_PLUS, C_SLOPE, STEP_SLOPE);
    p->R52 = slope_of(c, SLOPE_PLUS, C_BEHIND, STEP_SLOPE);
    p->R16 = slope_of(c, DELTA_PLUS, C_X, STEP_DELTA);
    p->R26 = slope_of(c, DELTA_PLUS, C_SLOPE, STEP_DELTA);
    p->R56 = slope_of(c, DELTA_PLUS, C_BEHIND, STEP_DELTA);
    p->T166 = curve_of(c, DELTA_PLUS, C_X, STEP_DELTA);
    p->T566 = curve_of(c, DELTA_PLUS, C_BEHIND, STEP_DELTA);
    fill_cavity_map(w, c, p);
}

/* Longitudinal motion of a bunch whose s and uncorrelated delta are normal: what one rms of either
 * does to s and x, and the coefficients of their squares and their product [m]. */
typedef struct along {
    double s[2], x[2];
    double ss[3], xx[3];
} along;

static along along_of(const aw_beam_params *b, const aw_optics_point *p)
{
    const double h = b->chirp, a = b->sigma_s, u = b->energy_spread;
    return (along){
        .s = {(p->R55 - h * p->R56) * a, -p->R56 * u},
        .x = {(p->R15 + h * p->R16) * a, p->R16 * u},
        .ss = {-(p->T555 + h * p->T556 + h * h * p->T566) * a * a,
               -(p->T556 + 2.0 * h * p->T566) * a * u, -p->T566 * u * u},
        .xx = {(p->T155 + h * p->T156 + h * h * p->T166) * a * a,
               (p->T156 + 2.0 * h * p->T166) * a * u, p->T166 * u * u},
    };
}

/* Variance of a quadratic form of two normal variables. */
static double variance_of(const double q[3])
{
    return 2.0 * q[0] * q[0] + q[1] * q[1] + 2.0 * q[2] * q[2];
}

/* Twiss functions, and the rms sizes of a beam whose s, x, x' and uncorrelated delta are normal. */
static void fill_beam(const walk *w, aw_optics_point *p)
{
    const aw_beam_params *b = w->beam;
    const int has_angles = b->emittance > 0.0;
    const double beta = b->beta_x, alpha = b->alpha_x, gamma = (1.0 + alpha * alpha) / beta;
    const double xx = has_angles ? b->emittance * beta : b->sigma_x * b->sigma_x;
    const double xa = has_angles ? -b->emittance * alpha : 0.0;
    const double aa = has_angles ? b->emittance * gamma : 0.0;
    const along l = along_of(b, p);
    p->beta_x = has_angles ? p->R11 * p->R11 * beta - 2.0 * p->R11 * p->R12 * alpha +
                                 p->R12 * p->R12 * gamma
                           : NAN;
    p->alpha_x = has_angles
                     ? -p->R11 * p->R21 * beta + (p->R11 * p->R22 + p->R12 * p->R21) * alpha -
                           p->R12 * p->R22 * gamma
                     : NAN;
    p->sigma_s = b->sigma_s;
    p->sigma_x = sqrt(xx);
    p->compression = 1.0;
    p->sigma_s_rest = p->sigma_s_energy = 0.0;
    if (w->rigid) return;
    const double energy = l.s[1] * l.s[1] + variance_of(l.ss);
    const double across = p->R51 * p->R51 * xx + 2.0 * p->R51 * p->R52 * xa + p->R52 * p->R52 * aa;
    p->compression = p->R55 - b->chirp * p->R56;
    p->sigma_s_energy = sqrt(energy);
    p->sigma_s_rest = sqrt(energy + fmax(across, 0.0));
    p->sigma_s = hypot(p->compression * b->sigma_s, p->sigma_s_rest);
    p->sigma_x = sqrt(p->R11 * p->R11 * xx + 2.0 * p->R11 * p->R12 * xa + p->R12 * p->R12 * aa +
                      l.x[0] * l.x[0] + l.x[1] * l.x[1] + variance_of(l.xx));
}

static int add_point(walk *w, const aw_optics_point *where)
{
    aw_optics_point *p = &w->out->point[w->out->n];
    double c[PROBES][COORDINATES];
    *p = *where;
    if (!observe_all(w, p->S, c)) return 0;
    fill_map(w, c, p);
    fill_beam(w, p);
    w->out->n++;
    return 1;
}

/* Smallest sigma_s of points `first` to the last; between two points of which one is compressed and
 * the other over-compressed, it is what is left at full compression. */
static void find_shortest(aw_optics *o, size_t first)
{
    aw_optics_point *last = &o->point[o->n - 1];
    last->shortest = o->point[first].sigma_s;
    last->shortest_S = o->point[first].S;
    for (size_t i = first + 1; i < o->n; ++i) {
        const aw_optics_point *a = &o->point[i - 1], *b = &o->point[i];
        double sigma_s = b->sigma_s, S = b->S;
        if (a->compression * b->compression < 0.0) {
            const double t = a->compression / (a->compression - b->compression);
            sigma_s = a->sigma_s_rest + t * (b->sigma_s_rest - a->sigma_s_rest);
            S = a->S + t * (b->S - a->S);
        }
        if (!(sigma_s < last->shortest)) continue;
        last->shortest = sigma_s;
        last->shortest_S = S;
    }
}

static int parts_of(const aw_element *e)
{
    return e->kind == AW_BEND && e->angle != 0.0 ? PARTS : 1;
}

static int walk_elements(walk *w)
{
    const aw_lattice *lat = w->lattice;
    double begin = 0.0;
    if (!add_point(w, &(aw_optics_point){.S = lat->begin})) return 0;
    for (size_t i = 0; i < lat->n; ++i) {
        const aw_element *e = &lat->element[i];
        const int parts = parts_of(e);
        const size_t entrance = w->out->n - 1;
        begin += e->length;
        if (!(e->length > 0.0) || begin <= lat->begin + SAME_S) continue;
        for (int k = 1; k <= parts; ++k) {
            const aw_optics_point where = {.element = i,
                                           .end = k == parts,
                                           .S = begin - e->length * (parts - k) / parts,
                                           .kappa = parts > 1 ? e->angle / e->length : 0.0};
            if (!add_point(w, &where)) return 0;
        }
        if (parts > 1) find_shortest(w->out, entrance);
    }
    return 1;
}

aw_status aw_optics_new(const aw_lattice *lattice, const aw_beam_params *beam, int rigid,
                        aw_optics **out)
{
    walk w = {.lattice = lattice, .beam = beam, .rigid = rigid};
    aw_status status = AW_OK;
    size_t n = 1;
    *out = NULL;
    for (size_t i = 0; i < lattice->n; ++i) n += (size_t)parts_of(&lattice->element[i]);
    w.out = aw_alloc(1, sizeof *w.out);
    if (!w.out) return AW_ERR_NOMEM;
    w.out->point = aw_alloc(n, sizeof *w.out->point);
    AW_TRY(w.out->point ? AW_OK : AW_ERR_NOMEM);
    start_probes(&w);
    AW_TRY(walk_elements(&w) ? AW_OK : AW_ERR_RANGE);
    *out = w.out;
    return AW_OK;
done:
    aw_optics_free(w.out);
    return status;
}

aw_status aw_optics_at(const aw_lattice *lattice, const aw_beam_params *beam, int rigid,
                       const double *S, size_t n, aw_optics_point *point)
{
    aw_optics at = {.point = point};
    walk w = {.lattice = lattice, .beam = beam, .rigid = rigid, .out = &at};
    start_probes(&w);
    for (size_t i = 0; i < n; ++i)
        if (!add_point(&w, &(aw_optics_point){.S = S[i]})) return AW_ERR_RANGE;
    return AW_OK;
}

aw_optics_shape aw_optics_shape_of(const aw_beam_params *b, const aw_optics_point *p)
{
    const int has_angles = b->emittance > 0.0;
    const double gamma = (1.0 + b->alpha_x * b->alpha_x) / b->beta_x;
    const double xx = has_angles ? b->emittance * b->beta_x : b->sigma_x * b->sigma_x;
    const double xa = has_angles ? -b->emittance * b->alpha_x : 0.0;
    const double aa = has_angles ? b->emittance * gamma : 0.0;
    const along l = along_of(b, p);
    const double across =
        p->R51 * p->R11 * xx + (p->R51 * p->R12 + p->R52 * p->R11) * xa + p->R52 * p->R12 * aa;
    return (aw_optics_shape){.ss = l.s[0] * l.s[0] + l.s[1] * l.s[1] + p->R51 * p->R51 * xx +
                                   2.0 * p->R51 * p->R52 * xa + p->R52 * p->R52 * aa,
                             .sx = l.s[0] * l.x[0] + l.s[1] * l.x[1] - across,
                             .xx = p->R11 * p->R11 * xx + 2.0 * p->R11 * p->R12 * xa +
                                   p->R12 * p->R12 * aa + l.x[0] * l.x[0] + l.x[1] * l.x[1],
                             .bend_s = l.ss[0] + l.ss[2],
                             .bend_x = l.xx[0] + l.xx[2]};
}

double aw_optics_chirp(const aw_optics_point *p, const aw_beam_params *beam)
{
    return (p->R65 + p->R66 * beam->chirp) / p->compression;
}

void aw_optics_free(aw_optics *optics)
{
    if (!optics) return;
    aw_free(optics->point);
    aw_free(optics);
}
