/* Effects by round: drift, groups, missing crews, and what an effect may be off by. */
#include "judge/contrast.h"

#include "unit.h"

#include "spot_of.h"

static const bool near_all[4] = {false, false, false, false};

static struct lp_contrast contrast_of(struct spot_of *of, size_t setting, size_t reference)
{
    struct lp_contrast contrast;
    struct lp_noise noise;

    assert_int_equal(lp_noise_fit(&of->times, &of->spot, near_all, &noise), LP_OK);
    lp_contrast_make(&of->times, &of->spot, &noise, setting, reference, &contrast);
    lp_noise_release(&noise);
    return contrast;
}

/* Steady drift of 0.06 a round and 0.01 a crew: default is first and last, the variant in the middle, 0.1 faster. */
static void test_drift(void **state)
{
    static const struct crew_x crews[] = {{0, 1, 0.00}, {1, 1, -0.09}, {0, 1, 0.02}, {0, 2, 0.06}, {1, 2, -0.03},
                                          {0, 2, 0.08}, {0, 3, 0.12},  {1, 3, 0.03}, {0, 3, 0.14}};
    struct spot_of of;
    struct lp_contrast contrast;

    (void)state;
    spot_init(&of, crews, COUNT_OF(crews), 3);
    contrast = contrast_of(&of, 1, 0);
    assert_true(near(contrast.effect, 0.1));
    assert_int_equal(contrast.rounds, 3);
    assert_true(contrast.agree);
    /* variance 6 * 0.01^2 / 5; the variant's own is less and does not count */
    assert_true(near(contrast.error, sqrt(0.0006 / 5.0 * (1.0 / 3.0 + 1.0 / 6.0))));
    assert_true(near(contrast.clear, (1.0 + LP_CLEAR_CREWS / 6.0) * 0.01));
}

/* One round says the opposite. */
static void test_agreement(void **state)
{
    static const struct crew_x crews[] = {{0, 1, 0.0}, {1, 1, -0.3}, {0, 2, 0.0}, {1, 2, -0.3}, {0, 3, 0.0}, {1, 3, 0.1}};
    struct spot_of of;

    (void)state;
    spot_init(&of, crews, COUNT_OF(crews), 3);
    assert_false(contrast_of(&of, 1, 0).agree);
    assert_true(near(contrast_of(&of, 1, 0).effect, 0.5 / 3.0));
}

/* A setting that is noisier than default has its own noise, shrunk. */
static void test_own_noise(void **state)
{
    static const struct crew_x crews[] = {{0, 1, 0.01}, {0, 1, -0.01}, {1, 1, 0.5},   {0, 2, 0.01}, {0, 2, -0.01},
                                          {1, 2, 0.8},  {0, 3, 0.01},  {0, 3, -0.01}, {1, 3, 1.1}};
    struct spot_of of;
    struct lp_noise noise;
    struct lp_contrast contrast;
    double own;

    (void)state;
    spot_init(&of, crews, COUNT_OF(crews), 3);
    assert_int_equal(lp_noise_fit(&of.times, &of.spot, near_all, &noise), LP_OK);
    lp_contrast_make(&of.times, &of.spot, &noise, 1, 0, &contrast);
    own = (LP_PRIOR_DF * noise.variance + noise.setting[1].ss) / (LP_PRIOR_DF + 2.0);
    assert_true(own > noise.variance);
    assert_true(near(contrast.error, sqrt(own / 3.0 + noise.variance / 6.0)));
    assert_true(contrast.clear >= LP_CLEAR_OWN * noise.setting[1].widest);
    lp_noise_release(&noise);
}

/* A round counts if both sides have a crew in it; with more rounds less need be cleared. */
static void test_rounds(void **state)
{
    static const struct crew_x crews[] = {{0, 1, 0.0},  {1, 1, -0.1}, {0, 2, 0.01}, {1, 3, -0.3}, {0, 4, 0.0},
                                          {1, 4, -0.1}, {0, 5, 0.0},  {1, 5, -0.1}, {0, 6, 0.01}, {1, 6, -0.1}};
    struct spot_of of;
    struct lp_noise noise;
    struct lp_contrast contrast;

    (void)state;
    spot_init(&of, crews, COUNT_OF(crews), 6);
    assert_int_equal(lp_noise_fit(&of.times, &of.spot, near_all, &noise), LP_OK);
    lp_contrast_make(&of.times, &of.spot, &noise, 1, 0, &contrast);
    assert_int_equal(contrast.rounds, 4);
    assert_true(near(contrast.effect, (0.1 + 0.1 + 0.1 + 0.11) / 4.0));
    assert_true(near(contrast.clear, fmax(noise.clear, LP_CLEAR_OWN * noise.setting[1].widest) * 0.75));
    lp_noise_release(&noise);
    spot_init(&of, crews, 2, 1);
    assert_int_equal(contrast_of(&of, 2, 0).rounds, 0);
}

/* Default's path by another name is default, but not against itself. */
static void test_group(void **state)
{
    static const struct crew_x crews[] = {{0, 1, 0.0}, {0, 1, 0.2}, {1, 1, 0.4}, {2, 1, -1.0}, {3, 1, 1.0}};
    struct spot_of of;

    (void)state;
    spot_init(&of, crews, COUNT_OF(crews), 1);
    of.setting[1].same = true;
    assert_true(near(contrast_of(&of, 2, 0).effect, 1.2));
    assert_true(near(contrast_of(&of, 2, 1).effect, 1.2));
    assert_true(near(contrast_of(&of, 1, 0).effect, -0.3));
    assert_true(near(contrast_of(&of, 2, 3).effect, 2.0));
}

static void test_blank(void **state)
{
    static const struct crew_x crews[] = {{0, 1, 0.01}, {0, 1, -0.01}, {0, 2, 0.01}, {0, 2, -0.01}};
    struct spot_of of;
    struct lp_noise noise;
    struct lp_contrast blank;

    (void)state;
    spot_init(&of, crews, COUNT_OF(crews), 2);
    assert_int_equal(lp_noise_fit(&of.times, &of.spot, near_all, &noise), LP_OK);
    lp_contrast_blank(&of.times, &of.spot, &noise, &blank);
    assert_int_equal(blank.rounds, 2);
    assert_true(near(blank.effect, 0.0));
    assert_true(near(blank.error, sqrt(noise.variance * (1.0 / 2.0 + 1.0 / 4.0))));
    lp_noise_release(&noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drift),  cmocka_unit_test(test_agreement), cmocka_unit_test(test_own_noise),
        cmocka_unit_test(test_rounds), cmocka_unit_test(test_group),     cmocka_unit_test(test_blank),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
