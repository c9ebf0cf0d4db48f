/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake form-factor`: the form factor of the particles of a file or of a run, or of a mesh of
 * their charge, as a table. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/comm.h"
#include "src/base/command.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/form_factor/bunch.h"
#include "src/form_factor/debye.h"
#include "src/form_factor/fast.h"
#include "src/io/text.h"
#include "src/tuning/file.h"

/* Ways to average over directions. */
enum { NO_AVERAGE, PAIRS, DIRECTIONS };

/* Up to which k sigma_s the default goes, and in how many steps: exp(-8) of a Gaussian is below the
 * noise of 10 million particles. */
#define REACH 4.0
enum { STEPS = 200 };
/* Tolerance of --fast, relative to the largest |F|. */
#define FAST 1e-9

/* FROM:TO:N */
typedef struct range {
    double from, to;
    long n; /* 0: not given */
} range;

typedef struct options {
    const char *path, *output, *device;
    range k[3]; /* along s, x, y [1/m] */
    int single, average, fast, threads, meshes;
    long memory; /* [MiB] */
} options;

static aw_status read_range(const char *option, const char *text, range *out)
{
    char rest;
    if (sscanf(text, "%lf:%lf:%ld%c", &out->from, &out->to, &out->n, &rest) == 3 &&
        isfinite(out->from) && isfinite(out->to) && out->n >= 1 && out->n <= 1000000000)
        return AW_OK;
    return aw_error(AW_ERR_ARG,
                    "%s: '%s' is not FROM:TO:N, two wave numbers in 1/m and how many (0:1e5:200)",
                    option, text);
}

static aw_status choose(const char *option, const char *value, const char *first,
                        const char *second, int *out)
{
    *out = strcmp(value, second) == 0;
    if (*out || strcmp(value, first) == 0) return AW_OK;
    return aw_error(AW_ERR_ARG, "%s: '%s' is not %s or %s", option, value, first, second);
}

static aw_status apply(options *o, int option, const char *value)
{
    aw_status status = AW_OK;
    switch (option) {
    case 'k': return read_range("--k", value, &o->k[0]);
    case 'x': return read_range("--k-x", value, &o->k[1]);
    case 'y': return read_range("--k-y", value, &o->k[2]);
    case 'p': return choose("--precision", value, "double", "single", &o->single);
    case 'a':
        status = choose("--average", value, "pairs", "directions", &o->average);
        o->average += PAIRS;
        return status;
    case 'r': return choose("--from", value, "particles", "meshes", &o->meshes);
    case 'm': return aw_option_number("--memory", value, 8, 1048576, &o->memory);
    case 'f': o->fast = 1; return AW_OK;
    case 'd': o->device = value; return AW_OK;
    case 'T': return aw_option_threads(value, &o->threads);
    default: o->output = value; return AW_OK;
    }
}

static aw_status read_options(int argc, char **argv, options *o)
{
    static const struct option known[] = {
        {"k", 1, NULL, 'k'},         {"k-x", 1, NULL, 'x'},     {"k-y", 1, NULL, 'y'},
        {"precision", 1, NULL, 'p'}, {"average", 1, NULL, 'a'}, {"memory", 1, NULL, 'm'},
        {"device", 1, NULL, 'd'},    {"threads", 1, NULL, 'T'}, {"output", 1, NULL, 'o'},
        {"fast", 0, NULL, 'f'},      {"from", 1, NULL, 'r'},    {NULL, 0, NULL, 0}};
    int option;
    aw_status status = AW_OK;
    *o = (options){.device = "auto"};
    optind = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:", known, NULL)) != -1) {
        if (option == ':' || option == '?')
            return aw_error(AW_ERR_ARG,
                            "form-factor: option %s is not known or lacks its value (see: arcwake "
                            "help form-factor)",
                            argv[optind - 1]);
        AW_TRY(apply(o, option, optarg));
    }
    if (optind + 1 != argc)
        return aw_error(AW_ERR_ARG, "form-factor: give one beam file, or the directory of a run "
                                    "(see: arcwake help form-factor)");
    if (o->average && o->fast)
        return aw_error(AW_ERR_ARG, "form-factor: --fast is for F itself (leave --average out)");
    if (o->average && (o->k[1].n || o->k[2].n))
        return aw_error(AW_ERR_ARG, "form-factor: --average is a function of --k alone (leave "
                                    "--k-x and --k-y out)");
    if (o->average && o->meshes)
        return aw_error(AW_ERR_ARG, "form-factor: --average is of particles (leave it out, or "
                                    "--from meshes)");
    o->path = argv[optind];
done:
    return status;
}

static double step_of(const range *r)
{
    return r->n > 1 ? (r->to - r->from) / (double)(r->n - 1) : 0.0;
}

/* The lattice of the three ranges, k along s fastest; an axis that is not given stays at zero. */
static aw_waves lattice(const options *o)
{
    aw_waves w = {.n = {1, 1, 1}};
    for (int c = 0; c < 3; ++c) {
        const range *r = &o->k[c];
        if (r->n == 0) continue;
        w.n[2 - c] = (size_t)r->n;
        w.origin[c] = r->from;
        w.step[2 - c][c] = step_of(r);
    }
    return w;
}

/* How many values of a table say nothing. */
typedef struct marks {
    size_t noise, beyond; /* at the noise; waves that the grid does not resolve */
} marks;

static void add_head(aw_text *text, const options *o, const aw_bunch *b, double floor)
{
    aw_text_add(text, "# arcwake form-factor of %s\n", o->path);
    if (o->meshes) aw_text_add(text, "# mesh rho of step %ld\n", b->grid.step);
    aw_text_add(text, "# particles %zu\n", o->meshes ? b->grid.particles : b->n);
    aw_text_add(text, "# noise %.6g: mean of |F|^2 of as many particles drawn by chance\n", floor);
    aw_text_add(text, o->average ? "k[1/m],F2,noise\n"
                                 : "k_s[1/m],k_x[1/m],k_y[1/m],F_re,F_im,F2,noise\n");
}

/* A row; without numbers where the grid does not resolve the wave, without a mark where the noise
 * is not known. */
static void add_row(aw_text *text, const double k[3], const double F[2], double floor, marks *found)
{
    const double square = F[0] * F[0] + F[1] * F[1];
    aw_text_add(text, "%.9g,%.9g,%.9g,", k[0], k[1], k[2]);
    if (isnan(square)) {
        aw_text_add(text, ",,,\n");
        ++found->beyond;
        return;
    }
    aw_text_add(text, "%.9g,%.9g,%.9g,", F[0], F[1], square);
    aw_text_add(text, isnan(floor) ? "\n" : "%d\n", square <= floor);
    found->noise += square <= floor;
}

/* F at all waves. */
static aw_status table(const options *o, const aw_device *device, const aw_bunch *b, aw_text *text,
                       marks *found)
{
    const aw_waves waves = lattice(o);
    const size_t n = aw_waves_count(&waves);
    const aw_form_arrays arrays = {{b->at[0], b->at[1], b->at[2]}, b->charge};
    const aw_form_source source = aw_form_source_of(&arrays, b->n);
    const aw_form_options how = {.single = o->single, .memory = (size_t)o->memory << 20};
    double(*F)[2] = aw_alloc(n, sizeof *F);
    const aw_form_sink sink = aw_form_sink_of(F);
    aw_form_bunch bunch;
    aw_status status = AW_OK;
    AW_TRY(F ? AW_OK : aw_error(AW_ERR_NOMEM, "form-factor: no memory for %zu results", n));
    AW_TRY(o->fast ? aw_form_factor_fast(&source, &waves, FAST, F, &bunch)
                   : aw_form_factor(device, &source, &waves, &how, &sink, &bunch));
    if (o->meshes) bunch.floor = b->grid.particles ? 1.0 / (double)b->grid.particles : (double)NAN;
    add_head(text, o, b, bunch.floor);
    for (size_t i = 0; i < n; ++i) {
        double k[3];
        aw_waves_at(&waves, i, k);
        const double factor = aw_bunch_factor(b, k);
        add_row(text, k, (double[2]){factor * F[i][0], factor * F[i][1]}, bunch.floor, found);
    }
done:
    aw_free(F);
    return status;
}

/* The mean over directions. */
static aw_status average(const options *o, const aw_device *device, const aw_bunch *b,
                         aw_text *text, marks *found)
{
    const range *k = &o->k[0];
    const aw_debye_task task = {.device = device,
                                .particles = {{b->at[0], b->at[1], b->at[2]}, b->charge},
                                .n = b->n,
                                .radii = {k->from, step_of(k), (size_t)k->n},
                                .options = {o->single, (size_t)o->memory << 20}};
    double *mean = aw_alloc(task.radii.n, sizeof *mean);
    aw_form_bunch bunch = {0.0, 0.0};
    aw_status status = AW_OK;
    AW_TRY(mean ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(o->average == PAIRS ? aw_debye(&task, mean)
                               : aw_debye_directions(&task, aw_debye_order(&task), mean));
    for (size_t j = 0; j < b->n; ++j) {
        bunch.charge += b->charge[j];
        bunch.floor += b->charge[j] * b->charge[j];
    }
    bunch.floor /= bunch.charge * bunch.charge;
    add_head(text, o, b, bunch.floor);
    for (size_t i = 0; i < task.radii.n; ++i) {
        aw_text_add(text, "%.9g,%.9g,%d\n", k->from + (double)i * task.radii.step, mean[i],
                    mean[i] <= bunch.floor);
        found->noise += mean[i] <= bunch.floor;
    }
done:
    aw_free(mean);
    return status;
}

static aw_status read_bunch(const options *o, aw_bunch *bunch)
{
    aw_status status = AW_OK;
    AW_TRY(o->meshes ? aw_bunch_read_mesh(o->path, bunch) : aw_bunch_read(o->path, bunch));
    if (o->meshes && o->k[2].n && isnan(bunch->grid.height))
        status = aw_error(AW_ERR_INPUT,
                          "form-factor: --k-y needs the height of the bunch, and the run's "
                          "monitor.csv has no sigma_y_m of step %ld (leave --k-y out)",
                          bunch->grid.step);
done:
    return status;
}

static void warn(const aw_bunch *b, const marks *found)
{
    if (found->beyond > 0)
        aw_warn("%zu waves are shorter than four cells of the grid, which does not resolve them; "
                "their rows are empty (a finer numerics.grid, or smaller k)",
                found->beyond);
    if (found->noise > 0)
        aw_warn("%zu values are at the noise of %zu particles drawn by chance (column "
                "noise): they need not say anything of the bunch",
                found->noise, b->grid.particles ? b->grid.particles : b->n);
}

static aw_status run_command(int argc, char **argv)
{
    options o;
    aw_bunch bunch = {.n = 0};
    aw_device device = {NULL, NULL};
    aw_text text = {.bytes = NULL};
    marks found = {0, 0};
    aw_status status = AW_OK;
    AW_TRY(read_options(argc, argv, &o));
    AW_TRY(aw_comm_agree(read_bunch(&o, &bunch)));
    if (o.k[0].n == 0)
        o.k[0] = (range){0.0, bunch.rms[0] > 0.0 ? REACH / bunch.rms[0] : 1.0, STEPS};
    aw_device_params params = {.threads = o.threads, .inner_density = 1.0};
    aw_tuning_load(&params.tuning);
    AW_TRY(aw_device_open(o.device, &params, &device));
    AW_TRY((o.average ? average : table)(&o, &device, &bunch, &text, &found));
    if (aw_comm_rank() > 0) goto done;
    AW_TRY(aw_text_save(&text, o.output ? o.output : "/dev/stdout"));
    warn(&bunch, &found);
done:
    aw_text_free(&text);
    aw_device_close(&device);
    aw_bunch_free(&bunch);
    return status;
}

static const char help[] =
    "arcwake form-factor BEAM|DIR [--k FROM:TO:N] [--k-x FROM:TO:N] [--k-y FROM:TO:N]\n"
    "                    [--average pairs|directions] [--precision double|single]\n"
    "                    [--fast] [--memory MIB] [--device D] [--threads N]\n"
    "                    [--from particles|meshes] [-o FILE | --output FILE]\n"
    "Writes the form factor F(k) = 1/Q sum_j q_j exp(i k.r_j) of the particles of a beam file, or\n"
    "of the last output of a run with particles, as a table (CSV), to FILE or the terminal. The\n"
    "axes are s, along the mean momentum, x across it in the plane, and y; r counts from the\n"
    "centre of charge. Values at the noise of so many particles are marked.\n"
    "  --k, --k-x, --k-y  N wave numbers along an axis [1/m], of a line, a plane or a volume; by\n"
    "                     default 200 along s up to 4 over the rms length\n"
    "  --average          mean of |F|^2 over all directions, for magnitudes --k: by the sum over\n"
    "                     all pairs of particles, or over directions\n"
    "  --precision        single: errors below 1e-6 of 1; double (default): 1e-13\n"
    "  --fast             by FINUFFT, to 1e-9 of the largest |F|, if the program has it\n"
    "  --from meshes      of the charge density in a mesh file, or in the last one of a run; the\n"
    "                     smoothing by the grid is divided out, and waves of less than four cells\n"
    "                     have empty rows. --k-y takes sigma_y_m of monitor.csv\n"
    "  --memory           budget [MiB] for the sums, beside the particles and the table (256)\n";

const aw_command aw_form_factor_command = {
    .name = "form-factor",
    .usage = "form-factor BEAM|DIR",
    .summary = "form factor of particles or a mesh: the coherence of their radiation",
    .help = help,
    .run = run_command,
    .on_all_ranks = 1,
};
