/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The progress bar. */
#include "src/output/progress.h"

#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/base/timer.h"

#define BAR 20
#define REDRAW_SECONDS 0.1
#define DEFAULT_WIDTH 80

/* 75 -> "1:15", 3675 -> "1:01:15". */
static void format_time(double seconds, char *text, size_t size)
{
    if (!(seconds < 3.6e6)) {
        snprintf(text, size, "-");
        return;
    }
    long s = lround(seconds);
    if (s >= 3600)
        snprintf(text, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(text, size, "%ld:%02ld", s / 60, s % 60);
}

static void format_bar(double fraction, char bar[BAR + 3])
{
    int full = (int)(fraction * BAR);
    bar[0] = '[';
    for (int i = 0; i < BAR; ++i) bar[i + 1] = i < full ? '=' : i == full ? '>' : ' ';
    bar[BAR + 1] = ']';
    bar[BAR + 2] = '\0';
}

/* "potentials 91 %, push 5 %": the parts that took at least 1 % of the time, largest first. */
static void format_shares(const double *seconds, char *text, size_t size)
{
    double left[AW_PARTS], sum = 0.0;
    for (int i = 0; i < AW_PARTS; ++i) {
        left[i] = seconds[i] > 0.0 ? seconds[i] : 0.0;
        sum += left[i];
    }
    text[0] = '\0';
    for (size_t n = 0; sum > 0.0;) {
        int largest = 0;
        for (int i = 1; i < AW_PARTS; ++i)
            if (left[i] > left[largest]) largest = i;
        if (!(left[largest] >= 0.01 * sum)) return;
        int added = snprintf(text + n, size - n, "%s%s %.0f %%", n ? ", " : "",
                             aw_part_name((aw_part)largest), 100.0 * left[largest] / sum);
        if (added < 0 || (size_t)added >= size - n) {
            text[n] = '\0';
            return;
        }
        n += (size_t)added;
        left[largest] = 0.0;
    }
}

void aw_progress_format(const aw_progress_state *state, int width, char *text, size_t size)
{
    double total = state->total > 0 ? (double)state->total : 1.0;
    double fraction = fmin(1.0, (double)state->done / total);
    double rate = state->elapsed > 0.0 ? (double)state->done / state->elapsed : 0.0;
    double left = (double)(state->total - state->done);
    char bar[BAR + 3], core[128], clock[32], shares[128], line[400];
    format_bar(fraction, bar);
    if (state->done < state->total)
        format_time(rate > 0.0 ? left / rate : HUGE_VAL, clock, sizeof clock);
    else
        format_time(state->elapsed, clock, sizeof clock);
    snprintf(core, sizeof core, "%3.0f %% %ld/%ld  %.3g steps/s  %s %s", floor(100.0 * fraction),
             state->done, state->total, rate, state->done < state->total ? "ETA" : "took", clock);
    format_shares(state->seconds, shares, sizeof shares);

    size_t columns = width > 0 ? (size_t)width : 0;
    if (size > 0 && columns > size - 1) columns = size - 1;
    size_t n_core = strlen(core), n_bar = strlen(bar) + 1, n_shares = strlen(shares);
    int with_bar = n_core + n_bar <= columns;
    size_t used = n_core + (with_bar ? n_bar : 0);
    int with_shares = n_shares > 0 && used + 2 + n_shares <= columns;
    int n = snprintf(line, sizeof line, "%s%s%s%s%s", with_bar ? bar : "", with_bar ? " " : "",
                     core, with_shares ? "  " : "", with_shares ? shares : "");
    if (size == 0) return;
    size_t length = n > 0 ? (size_t)n : 0;
    if (length > columns) length = columns;
    memcpy(text, line, length);
    text[length] = '\0';
}

static int terminal_width(FILE *stream)
{
    struct winsize window;
    if (ioctl(fileno(stream), TIOCGWINSZ, &window) == 0 && window.ws_col > 0) return window.ws_col;
    return DEFAULT_WIDTH;
}

static void draw(aw_progress *progress)
{
    char text[400];
    int bar = progress->terminal;
    /* a character in the terminal's last column would wrap the line */
    int width = bar ? terminal_width(progress->stream) - 1 : (int)sizeof text - 1;
    aw_progress_format(&progress->state, width, text, sizeof text);
    fprintf(progress->stream, bar ? "\r%s\033[K" : "%s\n", text);
    fflush(progress->stream);
    progress->drawn = bar;
}

void aw_progress_begin(aw_progress *progress, FILE *stream, long total, int quiet)
{
    memset(progress, 0, sizeof *progress);
    progress->stream = quiet ? NULL : stream;
    progress->state.total = total;
    progress->start = aw_now();
    progress->last = progress->start - REDRAW_SECONDS;
    progress->terminal = progress->stream && isatty(fileno(progress->stream));
}

void aw_progress_expect(aw_progress *progress, long total) { progress->state.total = total; }

void aw_progress_step(aw_progress *progress, const double seconds[AW_PARTS])
{
    aw_progress_state *state = &progress->state;
    double now = aw_now();
    ++state->done;
    state->elapsed = now - progress->start;
    for (int i = 0; seconds && i < AW_PARTS; ++i)
        if (seconds[i] > 0.0) state->seconds[i] += seconds[i];
    if (!progress->stream) return;
    long tenth = state->total > 0 ? 10 * state->done / state->total : 10;
    int due = progress->terminal ? now - progress->last >= REDRAW_SECONDS : tenth > progress->tenth;
    if (!due) return;
    progress->last = now;
    progress->tenth = tenth;
    draw(progress);
}

void aw_progress_clear(aw_progress *progress)
{
    if (!progress->drawn) return;
    fputs("\r\033[K", progress->stream);
    fflush(progress->stream);
    progress->drawn = 0;
}

void aw_progress_end(aw_progress *progress)
{
    if (!progress->stream || !progress->terminal || progress->state.done == 0) return;
    draw(progress);
    fputc('\n', progress->stream);
    fflush(progress->stream);
    progress->drawn = 0;
}
