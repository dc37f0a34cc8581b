/* Least squares over settings and rounds, and the variance that is left. */
#include "judge/noise.h"

#include "model/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PASSES 100
#define CONVERGED   1e-12

/* Means of settings (default's group as one) and shifts of rounds, with how many crews each has. */
struct fit {
    double *mean, *shift;
    int *of_setting, *of_round; /* crews that are pooled */
    size_t nsettings, nrounds;  /* shift and of_round begin at round 0, which no crew has */
};

static size_t pool_of(const struct lp_crew_times *times, int setting)
{
    return times->setting[setting].same ? LP_DEFAULT_SETTING : (size_t)setting;
}

static enum lp_status fit_init(const struct lp_crew_times *times, struct fit *fit)
{
    fit->nsettings = times->nsettings;
    fit->nrounds = (size_t)times->rounds + 1;
    fit->mean = calloc(fit->nsettings, sizeof(*fit->mean));
    fit->of_setting = calloc(fit->nsettings, sizeof(*fit->of_setting));
    fit->shift = calloc(fit->nrounds, sizeof(*fit->shift));
    fit->of_round = calloc(fit->nrounds, sizeof(*fit->of_round));
    return fit->mean && fit->of_setting && fit->shift && fit->of_round ? LP_OK : LP_ERR_MEMORY;
}

static void fit_release(struct fit *fit)
{
    free(fit->mean);
    free(fit->of_setting);
    free(fit->shift);
    free(fit->of_round);
}

/* One pass of alternating means; exact at once where every setting has a crew in every round. Returns the largest change. */
static double fit_pass(const struct lp_crew_times *times, const struct lp_spot *spot, const bool *far, struct fit *fit)
{
    double largest = 0.0;

    memset(fit->mean, 0, fit->nsettings * sizeof(*fit->mean));
    for (size_t i = 0; i < spot->n; i++)
        if (!far[spot->time[i].setting]) {
            size_t pool = pool_of(times, spot->time[i].setting);

            fit->mean[pool] += (spot->time[i].log_us - fit->shift[spot->time[i].round]) / fit->of_setting[pool];
        }
    for (size_t round = 0; round < fit->nrounds; round++) {
        double shift = 0.0;

        for (size_t i = 0; i < spot->n; i++)
            if (spot->time[i].round == (int)round && !far[spot->time[i].setting])
                shift += (spot->time[i].log_us - fit->mean[pool_of(times, spot->time[i].setting)]) / fit->of_round[round];
        largest = fmax(largest, fabs(shift - fit->shift[round]));
        fit->shift[round] = shift;
    }
    return largest;
}

static void fit_count(const struct lp_crew_times *times, const struct lp_spot *spot, const bool *far, struct fit *fit)
{
    for (size_t i = 0; i < spot->n; i++)
        if (!far[spot->time[i].setting]) {
            fit->of_setting[pool_of(times, spot->time[i].setting)]++;
            fit->of_round[spot->time[i].round]++;
        }
}

/* n - settings - rounds + 1, of what is there. */
static double freedom(const struct fit *fit)
{
    double df = 1.0;

    for (size_t s = 0; s < fit->nsettings; s++)
        df += fit->of_setting[s] - (fit->of_setting[s] > 0);
    for (size_t round = 0; round < fit->nrounds; round++)
        df -= fit->of_round[round] > 0;
    return df;
}

/* Each setting about its own mean, also the far ones. */
static void fill_spreads(const struct lp_crew_times *times, const struct lp_spot *spot, const struct fit *fit, struct lp_noise *out)
{
    for (size_t s = 0; s < times->nsettings; s++) {
        struct lp_spread *spread = &out->setting[s];
        double mean = 0.0;

        for (size_t i = 0; i < spot->n; i++)
            if (spot->time[i].setting == (int)s) {
                mean += spot->time[i].log_us - fit->shift[spot->time[i].round];
                spread->n++;
            }
        mean /= spread->n;
        for (size_t i = 0; i < spot->n; i++)
            if (spot->time[i].setting == (int)s) {
                double rest = spot->time[i].log_us - fit->shift[spot->time[i].round] - mean;

                spread->ss += rest * rest;
                spread->widest = fmax(spread->widest, fabs(rest));
            }
    }
}

/* Mean of default's squared standard errors by samples. */
static double error_of_samples(const struct lp_spot *spot)
{
    double sum = 0.0;
    int n = 0;

    for (size_t i = 0; i < spot->n; i++)
        if (spot->time[i].setting == LP_DEFAULT_SETTING) {
            sum += spot->time[i].error * spot->time[i].error;
            n++;
        }
    return n ? sum / n : 0.0;
}

/* Distance of the farthest crew of default and its group from their common mean, and how many they are. */
static double widest_of_default(const struct lp_crew_times *times, const struct lp_spot *spot, const struct fit *fit)
{
    double widest = 0.0;

    for (size_t i = 0; i < spot->n; i++)
        if (times->setting[spot->time[i].setting].same)
            widest = fmax(widest, fabs(spot->time[i].log_us - fit->shift[spot->time[i].round] - fit->mean[LP_DEFAULT_SETTING]));
    return widest;
}

static double clear_of(const struct lp_crew_times *times, const struct lp_spot *spot, const bool *far, const struct fit *fit,
                       const struct lp_noise *noise)
{
    int crews = fit->of_setting[LP_DEFAULT_SETTING];
    double others = 0.0;

    if (crews == 0)
        return 0.0;
    for (size_t s = 0; s < times->nsettings; s++)
        if (!far[s] && !times->setting[s].same)
            others = fmax(others, noise->setting[s].widest);
    return fmax((1.0 + LP_CLEAR_CREWS / crews) * widest_of_default(times, spot, fit),
                LP_CLEAR_OTHERS * sqrt(fmin(1.0, LP_CLEAR_FEW / crews)) * others);
}

static void fill_pooled(const struct lp_crew_times *times, const struct lp_spot *spot, const bool *far, const struct fit *fit,
                        struct lp_noise *out)
{
    for (size_t i = 0; i < spot->n; i++) {
        const struct lp_crew_time *time = &spot->time[i];
        double rest = time->log_us - fit->shift[time->round] - fit->mean[pool_of(times, time->setting)];

        if (!far[time->setting])
            out->own_ss += rest * rest;
    }
    out->own_df = out->df = freedom(fit);
    if (out->df >= 1.0)
        out->variance = fmax(out->own_ss / out->df, error_of_samples(spot));
    out->clear = clear_of(times, spot, far, fit, out);
}

enum lp_status lp_noise_fit(const struct lp_crew_times *times, const struct lp_spot *spot, const bool *far, struct lp_noise *out)
{
    struct fit fit = {0};
    enum lp_status st = fit_init(times, &fit);

    memset(out, 0, sizeof(*out));
    out->variance = (double)NAN;
    out->setting = calloc(times->nsettings, sizeof(*out->setting));
    if (!out->setting)
        st = LP_ERR_MEMORY;
    if (st == LP_OK) {
        fit_count(times, spot, far, &fit);
        for (int pass = 0; pass < MOST_PASSES && fit_pass(times, spot, far, &fit) > CONVERGED; pass++)
            ;
        fill_spreads(times, spot, &fit, out);
        fill_pooled(times, spot, far, &fit, out);
    }
    fit_release(&fit);
    return st;
}

void lp_noise_release(struct lp_noise *noise)
{
    free(noise->setting);
    memset(noise, 0, sizeof(*noise));
}

void lp_noise_smooth(struct lp_noise *noise, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double ss = 0.0, df = 0.0;

        if (noise[i].own_df < 1.0)
            continue;
        for (size_t k = i ? i - 1 : 0; k <= i + 1 && k < n; k++) {
            ss += noise[k].own_ss;
            df += fmax(noise[k].own_df, 0.0);
        }
        noise[i].variance = fmax(noise[i].variance, ss / df);
        noise[i].df = noise[i].own_df + LP_NEIGHBOUR_DF * (df - noise[i].own_df);
    }
}

void lp_noise_share(const struct lp_family *a, struct lp_noise *noise_a, const struct lp_family *b, struct lp_noise *noise_b)
{
    for (size_t i = 0; i < a->nspots; i++)
        for (size_t k = 0; k < b->nspots; k++)
            if (a->spot[i].bytes == b->spot[k].bytes)
                noise_a[i].clear = noise_b[k].clear = fmax(noise_a[i].clear, noise_b[k].clear);
}

/* Mean of the setting's crews at the spot; NaN: none. */
static double mean_of(const struct lp_spot *spot, size_t setting)
{
    double sum = 0.0;
    int n = 0;

    for (size_t i = 0; i < spot->n; i++)
        if (spot->time[i].setting == (int)setting) {
            sum += spot->time[i].log_us;
            n++;
        }
    return sum / n;
}

/* Median over sizes of how far the setting is from default; 0 where they have no size in common. */
static double distance(const struct lp_family *family, size_t setting, double *room)
{
    size_t n = 0;

    for (size_t i = 0; i < family->nspots; i++) {
        double away = fabs(mean_of(&family->spot[i], setting) - mean_of(&family->spot[i], LP_DEFAULT_SETTING));

        if (isfinite(away))
            room[n++] = away;
    }
    return n ? lp_median(room, n) : 0.0;
}

bool *lp_noise_far(const struct lp_crew_times *times, const struct lp_family *family)
{
    bool *far = calloc(times->nsettings, sizeof(*far));
    double *room = calloc(family->nspots + 1, sizeof(*room));

    for (size_t s = 0; far && room && s < times->nsettings; s++)
        far[s] = !times->setting[s].same && distance(family, s, room) > log(LP_FAR);
    if (!room) {
        free(far);
        far = NULL;
    }
    free(room);
    return far;
}
