/* Effects by round, and what they may be off by. */
#include "judge/contrast.h"

#include <math.h>
#include <string.h>

/* The two sides of a contrast. */
struct sides {
    const struct lp_crew_times *times;
    const struct lp_spot *spot;
    size_t setting, reference;
};

/* Whether a crew of this setting is one of the reference's: default's path by another name is default. */
static bool is_reference(const struct sides *sides, size_t setting)
{
    const struct lp_setting *list = sides->times->setting;

    return setting == sides->reference || (setting != sides->setting && list[setting].same && list[sides->reference].same);
}

/* Mean over one side's crews in a round, and how many there are. */
static double round_mean(const struct sides *sides, bool reference, int round, int *n)
{
    double sum = 0.0;

    *n = 0;
    for (size_t i = 0; i < sides->spot->n; i++) {
        const struct lp_crew_time *time = &sides->spot->time[i];

        if (time->round == round &&
            (reference ? is_reference(sides, (size_t)time->setting) : time->setting == (int)sides->setting)) {
            sum += time->log_us;
            ++*n;
        }
    }
    return sum / *n;
}

static int last_round(const struct lp_spot *spot)
{
    int last = 0;

    for (size_t i = 0; i < spot->n; i++)
        last = spot->time[i].round > last ? spot->time[i].round : last;
    return last;
}

/* That of default and its group is the pooled one. */
static double variance_of(const struct lp_noise *noise, size_t setting, bool pooled)
{
    const struct lp_spread *spread = &noise->setting[setting];

    if (pooled || spread->n < 2)
        return noise->variance;
    return fmax(noise->variance, (LP_PRIOR_DF * noise->variance + spread->ss) / (LP_PRIOR_DF + spread->n - 1));
}

/* Of fewer rounds nothing is claimed, so that nothing need be added. */
static double clear_in(double clear, int rounds)
{
    return clear * fmin(1.0, LP_CLEAR_ROUNDS / rounds);
}

/* By the noise of the spot, and by the two settings' own. */
static double clear_both(const struct lp_noise *noise, size_t setting, size_t reference, bool pooled)
{
    double own = noise->setting[setting].widest;

    if (!pooled)
        own = fmax(own, noise->setting[reference].widest);
    return fmax(noise->clear, LP_CLEAR_OWN * own);
}

void lp_contrast_make(const struct lp_crew_times *times, const struct lp_spot *spot, const struct lp_noise *noise, size_t setting,
                      size_t reference, struct lp_contrast *out)
{
    const struct sides sides = {times, spot, setting, reference};
    double mine = variance_of(noise, setting, false), other = variance_of(noise, reference, times->setting[reference].same);
    double variance = 0.0;
    int last = last_round(spot), faster = 0, slower = 0;

    memset(out, 0, sizeof(*out));
    for (int round = 0; round <= last; round++) {
        int n, against;
        double difference = round_mean(&sides, true, round, &against) - round_mean(&sides, false, round, &n);

        if (n == 0 || against == 0)
            continue;
        out->effect += difference;
        variance += mine / n + other / against;
        faster += difference > 0.0;
        slower += difference < 0.0;
        out->rounds++;
    }
    if (out->rounds == 0)
        return;
    out->effect /= out->rounds;
    out->error = sqrt(variance) / out->rounds;
    out->df = noise->df;
    out->clear = clear_in(clear_both(noise, setting, reference, times->setting[reference].same), out->rounds);
    out->agree = faster == out->rounds || slower == out->rounds;
}

void lp_contrast_blank(const struct lp_crew_times *times, const struct lp_spot *spot, const struct lp_noise *noise,
                       struct lp_contrast *out)
{
    const struct sides sides = {times, spot, times->nsettings, LP_DEFAULT_SETTING};
    double variance = 0.0;
    int last = last_round(spot);

    memset(out, 0, sizeof(*out));
    for (int round = 0; round <= last; round++) {
        int n;

        round_mean(&sides, true, round, &n);
        if (n == 0)
            continue;
        variance += noise->variance + noise->variance / n;
        out->rounds++;
    }
    if (out->rounds == 0)
        return;
    out->error = sqrt(variance) / out->rounds;
    out->df = noise->df;
    out->clear = clear_in(noise->clear, out->rounds);
    out->agree = true;
}
