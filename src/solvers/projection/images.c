/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/projection/images.h"

#include <math.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/solvers/projection/constants.h"
#include "src/solvers/projection/sample.h"
#include "src/solvers/projection/velocities.h"

/* Parts of the tolerance. The error of the bunch alone, that of the images at their points and that
 * of the interpolation have nothing in common, and add in quadrature: the first may take this part,
 * the second this part of what the first has left, and the third what both have left. */
#define AW_OWN_SHARE 0.75
#define AW_IMAGES_SHARE 0.8
/* Lines of points at first, at least, and at most. The coefficients of a Gaussian with ten rms to
 * the axis are 1e-3 at 16 points, 1e-4 at 20 and 7e-6 at 24. */
enum { AW_FIRST_LINES = 12, AW_LEAST_LINES = 8, AW_MOST_LINES = 64 };
/* If the error is too large there are so many times more, and their number is lowered where the
 * coefficients have fallen to this part of the permitted error. */
#define AW_MORE 1.3
#define AW_AIM 0.3
/* Coefficients that have not fallen to this part over the last third of the orders are what is
 * wrong at single points, which more lines do not lower; up to so many times the permitted
 * error. */
#define AW_PLATEAU 0.5
#define AW_PLATEAU_MOST 3.0
/* If more than this part of the grid's lines would be needed, all of them are taken, and for so
 * many steps more. */
#define AW_MOST_PART 0.6
#define AW_ALL_STEPS 10

/* Where the images are computed: on some lines across the motion, at all points of the grid along
 * it, because neighbouring points a cell apart read neighbouring cells of the beam, all at once.
 * The lines lie at Chebyshev's extrema from one end of the grid to the other: the error of the
 * polynomial through them falls faster than any power of their number, and what is wrong with
 * single values is not amplified, as it is by polynomials through equidistant points. */
typedef struct lines {
    int across;    /* 1: the lines are rows of the grid, 0: columns */
    int grid;      /* number of the grid's */
    int taken;     /* of those at which the images are computed; all: the grid's */
    size_t points; /* of a line */
    size_t step;   /* from a point to the next on its line, in the grid */
    size_t stride; /* from a line to the next */
} lines;

struct aw_images {
    aw_solver *solver; /* with the device and the forecast of its caller */
    int lines;         /* for the next solve */
    int all_left;      /* steps for which all lines are still to be taken */
    aw_field_point *point;
    double (*taken)[AW_RESULTS], (*all)[AW_RESULTS], (*workspace)[AW_RESULTS];
    size_t point_capacity, taken_capacity, all_capacity, workspace_capacity;
    /* Of the last solve: */
    lines at;
    double error; /* of the interpolation, in scales */
    int enough;   /* lines that would have done */
    aw_report report;
};

aw_images *aw_images_new(void)
{
    aw_images *images = aw_alloc(1, sizeof *images);
    if (!images) return NULL;
    images->lines = AW_FIRST_LINES;
    if (aw_solver_new("projection", NULL, &images->solver) == AW_OK) return images;
    aw_images_free(images);
    return NULL;
}

void aw_images_free(aw_images *images)
{
    if (!images) return;
    aw_solver_free(images->solver);
    aw_free(images->point);
    aw_free(images->taken);
    aw_free(images->all);
    aw_free(images->workspace);
    aw_free(images);
}

void aw_images_archive(aw_images *images, aw_archive *archive)
{
    AW_ARCHIVE_ITEM(archive, images->lines);
    AW_ARCHIVE_ITEM(archive, images->all_left);
    aw_solver_archive(images->solver, archive);
}

void aw_images_own_problem(const aw_problem *problem, aw_history_view *view, aw_problem *out)
{
    *view = aw_view_of_bunch(problem->history);
    *out = *problem;
    out->history = view;
    out->tolerance *= AW_OWN_SHARE;
}

/* The lines of a grid, `taken` of them for the images. Tiles lie along the motion, too. */
static lines lines_of(const aw_problem *problem, int taken)
{
    const double tilt = problem->history->slice[0].tilt;
    const size_t columns = problem->columns, rows = problem->points / columns;
    if (fabs(sin(tilt)) > fabs(cos(tilt)))
        return (lines){
            .grid = (int)columns, .taken = taken, .points = rows, .step = columns, .stride = 1};
    return (lines){.across = 1,
                   .grid = (int)rows,
                   .taken = taken,
                   .points = columns,
                   .step = 1,
                   .stride = columns};
}

/* Place of line i that is taken, from -1 to 1. */
static double place_of(const lines *at, int i)
{
    return at->taken == at->grid ? 2.0 * i / (at->grid - 1) - 1.0
                                 : -cos(AW_PI * i / (at->taken - 1));
}

/* Weights of the lines that are taken in line i of the grid (the barycentric formula). */
static void weights_at(const lines *at, int i, double weight[AW_MOST_LINES])
{
    const double x = 2.0 * i / (at->grid - 1) - 1.0;
    double sum = 0.0;
    for (int k = 0; k < at->taken; ++k) {
        const double d = x - place_of(at, k), end = k == 0 || k == at->taken - 1 ? 0.5 : 1.0;
        if (fabs(d) < 1e-14) {
            for (int m = 0; m < at->taken; ++m) weight[m] = m == k;
            return;
        }
        weight[k] = (k % 2 ? -end : end) / d;
        sum += weight[k];
    }
    for (int k = 0; k < at->taken; ++k) weight[k] /= sum;
}

/* The most lines that are worth an interpolation. */
static int most_lines(const lines *at) { return (int)fmin(AW_MOST_PART * at->grid, AW_MOST_LINES); }

/* Point i of line k of those taken, in their own array: they are a grid, too, with rows and columns
 * as the problem's. */
static size_t taken_at(const lines *at, int k, size_t i)
{
    return at->across ? (size_t)k * at->points + i : i * (size_t)at->taken + (size_t)k;
}

/* Chebyshev coefficient of order m across the lines, at point i of each. */
static void coefficient(const aw_images *images, size_t i, int m, double c[AW_RESULTS])
{
    const lines *at = &images->at;
    const int last = at->taken - 1;
    for (unsigned k = 0; k < AW_RESULTS; ++k) c[k] = 0.0;
    for (int j = 0; j <= last; ++j) {
        const double ends = (j == 0 || j == last ? 0.5 : 1.0) * (m == last ? 0.5 : 1.0);
        const double weight = 2.0 / last * ends * cos(AW_PI * ((m * j) % (2 * last)) / last);
        const double *value = images->taken[taken_at(at, j, i)];
        for (unsigned k = 0; k < AW_RESULTS; ++k) c[k] += weight * value[k];
    }
}

/* Find the Chebyshev coefficients across the lines, the largest of each order along a line, in
 * scales; a NaN stays. */
static void coefficients(const aw_images *images, const aw_scales *scales,
                         double size[AW_MOST_LINES])
{
    for (size_t i = 0; i < images->at.points; ++i)
        for (int order = 0; order < images->at.taken; ++order) {
            double c[AW_RESULTS];
            coefficient(images, i, order, c);
            const double one = aw_sample_scaled_error(c, scales);
            if (!(one <= size[order]) && !isnan(size[order])) size[order] = one;
        }
}

/* Measure the error of the interpolation through n lines: the last two coefficients, of which one
 * may be small by symmetry; and the number of lines with which it would be small enough.
 * @return 1: it is */
static int measure(aw_images *images, const aw_scales *scales, double limit)
{
    double size[AW_MOST_LINES] = {0.0};
    const int n = images->at.taken, before = 2 * n / 3;
    images->error = 0.0;
    images->enough = most_lines(&images->at);
    if (n == images->at.grid) return 1;
    coefficients(images, scales, size);
    images->error = size[n - 1] + size[n - 2];
    images->enough = n;
    while (images->enough > AW_LEAST_LINES &&
           size[images->enough - 2] + size[images->enough - 3] <= AW_AIM * limit)
        --images->enough;
    const double earlier = size[before - 1] + size[before - 2];
    return images->error <= limit ||
           (images->error >= AW_PLATEAU * earlier && images->error <= AW_PLATEAU_MOST * limit);
}

/* The points of the lines all move as the grid's centre, so that results are smooth also at an edge
 * of a magnet. */
static void place_points(const aw_images *images, const aw_problem *problem)
{
    const lines *at = &images->at;
    const aw_field_point *first = problem->point;
    const aw_field_point *last = &first[(size_t)(at->grid - 1) * at->stride];
    for (int k = 0; k < at->taken; ++k) {
        const double w = 0.5 + 0.5 * place_of(at, k);
        for (size_t i = 0; i < at->points; ++i) {
            aw_field_point *point = &images->point[taken_at(at, k, i)];
            *point = problem->centre;
            point->z = first[i * at->step].z + w * (last->z - first->z);
            point->x = first[i * at->step].x + w * (last->x - first->x);
        }
    }
}

/* Solve for the images alone at the points of the lines. */
static aw_status solve_lines(aw_images *images, const aw_problem *problem, double tolerance)
{
    const lines *at = &images->at;
    const size_t points = at->points * (size_t)at->taken;
    const aw_history_view view = aw_view_of_images(problem->history);
    aw_problem few = *problem;
    few.felt = NULL; /* its points are others */
    aw_status status = AW_OK;
    AW_TRY(
        aw_grow((void **)&images->point, &images->point_capacity, points, sizeof *images->point));
    AW_TRY(
        aw_grow((void **)&images->taken, &images->taken_capacity, points, sizeof *images->taken));
    place_points(images, problem);
    few.history = &view;
    few.point = images->point;
    few.points = points;
    few.columns = at->across ? at->points : (size_t)at->taken;
    few.tolerance = tolerance;
    status = aw_solver_solve(images->solver, &few, images->taken[0], NULL, &images->report);
done:
    return status;
}

/* Choose the lines of this solve. */
static void take_lines(aw_images *images, const aw_problem *problem)
{
    lines *at = &images->at;
    *at = lines_of(problem, images->lines);
    const int most = most_lines(at);
    if (at->taken > most) at->taken = most;
    if (images->all_left > 0 || most < AW_LEAST_LINES) at->taken = at->grid;
}

/* Choose those of the next one, if those of this one were `enough` or not. */
static void choose_lines(aw_images *images, int enough)
{
    const lines *at = &images->at;
    const int most = most_lines(at);
    if (images->all_left > 0) images->all_left--;
    if (enough) {
        images->lines = images->enough;
    } else {
        images->lines = (int)ceil(AW_MORE * at->taken);
        if (at->taken == most) images->all_left = AW_ALL_STEPS;
    }
    if (images->lines > most) images->lines = most;
}

/* What an estimate leaves of a tolerance, if it is at most a part of it. */
static double left_by(double estimate, double tolerance, double part)
{
    const double used = fmin(estimate / AW_ESTIMATE_SHARE, part * tolerance);
    return sqrt(tolerance * tolerance - used * used);
}

aw_status aw_images_solve(aw_images *images, const aw_solver *of, const aw_problem *problem,
                          double own_error)
{
    const double left = left_by(own_error, problem->tolerance, AW_OWN_SHARE);
    aw_status status = AW_OK;
    int enough;
    images->solver->device = of->device;
    aw_solver_forecast(images->solver, &of->forecast);
    do {
        take_lines(images, problem);
        AW_TRY(solve_lines(images, problem, AW_IMAGES_SHARE * left));
        enough = measure(images, &problem->scales,
                         left_by(images->report.sampled, left, AW_IMAGES_SHARE));
        choose_lines(images, enough);
    } while (!enough);
done:
    return status;
}

/* Interpolate to all points of the grid. */
static void interpolate(const aw_images *images)
{
    const lines *at = &images->at;
    double weight[AW_MOST_LINES];
    if (at->taken == at->grid) {
        memcpy(images->all, images->taken, at->points * (size_t)at->grid * sizeof *images->all);
        return;
    }
    for (int k = 0; k < at->grid; ++k) {
        weights_at(at, k, weight);
        for (size_t i = 0; i < at->points; ++i) {
            double *out = images->all[(size_t)k * at->stride + i * at->step];
            for (unsigned m = 0; m < AW_RESULTS; ++m) out[m] = 0.0;
            for (int j = 0; j < at->taken; ++j)
                for (unsigned m = 0; m < AW_RESULTS; ++m)
                    out[m] += weight[j] * images->taken[taken_at(at, j, i)][m];
        }
    }
}

/* Add what the images took to the report of the bunch alone. */
static void add_report(const aw_images *images, double error, aw_report *report)
{
    const aw_report *own = &images->report;
    const aw_work none = {0};
    aw_work_add(&report->work, &own->work, &none);
    aw_work_add(&report->evaluated, &own->evaluated, &none);
    report->samples += own->samples;
    report->sampled = hypot(report->sampled, hypot(own->sampled, images->error));
    report->error = hypot(report->error, error);
    report->fell_back |= own->fell_back;
    report->evaluate += own->evaluate;
    report->sample += own->sample;
    report->upload += own->upload;
}

aw_status aw_images_add(aw_images *images, const aw_problem *problem, const unsigned char *wanted,
                        double *result, double *error, aw_report *report)
{
    const size_t points = problem->points;
    const double added = hypot(images->report.error, images->error);
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&images->all, &images->all_capacity, points, sizeof *images->all));
    AW_TRY(aw_grow((void **)&images->workspace, &images->workspace_capacity, points,
                   sizeof *images->workspace));
    interpolate(images);
    aw_convert_velocities(problem, images->all, images->workspace);
    for (size_t i = 0; i < points; ++i) {
        if (wanted && !wanted[i]) continue;
        for (unsigned k = 0; k < AW_RESULTS; ++k) result[i * AW_RESULTS + k] += images->all[i][k];
    }
    for (size_t i = 0; error && i < points; ++i) error[i] = hypot(error[i], added);
    add_report(images, added, report);
done:
    return status;
}
