/* `sweep`: lists of values times one variant, by themselves and as a run matrix gives them. */
#include "plan/multiply.h"

#include "plan/matrix.h"

#include <stdio.h>

#include "fixture.h"
#include "unit.h"

#define NAME_59 "a23456789012345678901234567890123456789012345678901234567-9"

static struct scratch scratch;

static int set_up(void **state)
{
    (void)state;
    scratch_make(&scratch);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_remove(&scratch);
    return 0;
}

/* Every variant as "name: changes", one after the other with "; " between. Returns buf. */
static const char *words(const struct lp_variants *list, char *buf, size_t cap)
{
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < list->n; i++) {
        char changes[256];

        used += (size_t)snprintf(buf + used, cap - used, "%s%s: %s", i ? "; " : "", list->item[i].name,
                                 lp_variant_words(&list->item[i], changes, sizeof(changes)));
        assert_true(used < cap);
    }
    return buf;
}

static enum lp_status read_text(const char *yaml, struct lp_variants *list, struct lp_reason *why)
{
    return lp_matrix_read(scratch_write(&scratch, "m.yaml", yaml, strlen(yaml)), list, why);
}

static void test_products(void **state)
{
    static const struct {
        const char *yaml, *words;
    } cases[] = {
        {"- {name: v, sweep: {X: [1, 2]}}", "v-1: X=1; v-2: X=2"},
        {"- {name: v, sweep: {X: [1, 2], Y: [a, b, c]}}",
         "v-1-a: X=1 Y=a; v-1-b: X=1 Y=b; v-1-c: X=1 Y=c; v-2-a: X=2 Y=a; v-2-b: X=2 Y=b; v-2-c: X=2 Y=c"},
        {"- {name: v, sweep: {Y: [b, a], X: [2, 1]}}", "v-b-2: Y=b X=2; v-b-1: Y=b X=1; v-a-2: Y=a X=2; v-a-1: Y=a X=1"},
        {"- {name: v, sweep: {A: [1], B: [2, 3], C: [4]}}", "v-1-2-4: A=1 B=2 C=4; v-1-3-4: A=1 B=3 C=4"},
        {"- {name: v, sweep: {X: [~, null, '', \"~\", 'null']}}",
         "v-unset: X unset; v-unset: X unset; v-empty: X=; v-~: X=~; v-null: X=null"},
        {"- {name: v, sweep: {X: [1]}}", "v-1: X=1"},
        {"- {name: v, env: {E: 0, F: ~}, sweep: {X: [1, 2]}}", "v-1: E=0 F unset X=1; v-2: E=0 F unset X=2"},
        {"- {sweep: {X: [1, 2]}, env: {E: 0}, name: v}", "v-1: E=0 X=1; v-2: E=0 X=2"},
        {"- name: v\n  sweep:\n    X:\n    - 010\n    - 4M # four\n", "v-010: X=010; v-4M: X=4M"},
        {"- {name: v, sweep: }", "v: no change"},
        {"- {name: v, sweep: ~}", "v: no change"},
        {"- {name: v, sweep: {}, env: {E: 0}}", "v: E=0"},
        {"- {name: u, env: {E: 0}}\n- {name: v, sweep: {X: [1, 2]}}\n- {name: w, sweep: {E: [3]}}\n- {name: z}",
         "u: E=0; v-1: X=1; v-2: X=2; w-3: E=3; z: no change"},
        {"- {name: " NAME_59 ", sweep: {X: [abc]}}", NAME_59 "-abc: X=abc"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_variants list = {0};
        struct lp_reason why = {""};
        char yaml[512], buf[1024];

        snprintf(yaml, sizeof(yaml), "variants:\n%s\n", cases[i].yaml);
        if (read_text(yaml, &list, &why) != LP_OK)
            fail_msg("%s: %s", cases[i].yaml, why.text);
        assert_string_equal(words(&list, buf, sizeof(buf)), cases[i].words);
        lp_variants_release(&list);
    }
}

/* What is wrong, with the line: the variant's, or that of the key or value. */
static void test_refusals(void **state)
{
    static const struct {
        const char *yaml, *says, *also;
    } cases[] = {
        {"- name: v\n  env: {X: 1}\n  sweep: {X: [1, 2]}", "line 2: ", "'v': X is in env and in sweep"},
        {"- name: v\n  sweep: {X: [1, 2]}\n  env: {X: ~}", "line 2: ", "X is in env and in sweep"},
        {"- name: v\n  sweep:\n    X: []", "line 2: ", "'v': sweep of X has no values"},
        {"- name: v\n  sweep:\n    X: [1]\n    Y: []", "line 2: ", "sweep of Y has no values"},
        {"- name: v\n  sweep:\n    X: 1", "line 4: ", "a list"},
        {"- name: v\n  sweep:\n    X:", "line 4: ", "a list"},
        {"- name: v\n  sweep:\n    X: {a: b}", "line 4: ", "a list"},
        {"- name: v\n  sweep: [X, Y]", "line 3: ", "mapping"},
        {"- name: v\n  sweep: X", "line 3: ", "mapping"},
        {"- name: v\n  sweep:\n    X: [[1]]", "line 4: ", "must be text"},
        {"- name: v\n  sweep:\n    X: [1, {a: b}]", "line 4: ", "must be text"},
        {"- name: v\n  sweep:\n    X: [\"a\\0b\"]", "line 4: ", "NUL"},
        {"- name: v\n  sweep:\n    X: [&a 1, *a]", "line 4: ", "aliases"},
        {"- name: v\n  sweep:\n    X: [1]\n    X: [2]", "line 5: ", "twice"},
        {"- name: v\n  sweep: {X: [1]}\n  sweep: {Y: [1]}", "line 4: ", "twice"},
        {"- name: v\n  sweep: {a b: [1]}", "line 2: ", "not the name of a variable"},
        {"- name: v\n  sweep:\n    {A: [1], B: [1], C: [1], D: [1], E: [1], F: [1], G: [1], H: [1],\n     I: [1]}",
         "line 5: ", "more than 8 variables"},
        {"- name: u\n- name: " NAME_59 "\n  sweep: {X: [abc, abcd]}", "line 3: ", "over 63 bytes: shorten '" NAME_59 "'"},
        {"- sweep: {X: [1]}", "line 2: ", "without a name"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_variants list = {0};
        struct lp_reason why = {""};
        char yaml[512];

        snprintf(yaml, sizeof(yaml), "variants:\n%s\n", cases[i].yaml);
        assert_case(cases[i].yaml, read_text(yaml, &list, &why) == LP_ERR_ARG);
        assert_says(why.text, "m.yaml, ");
        assert_says(why.text, cases[i].says);
        assert_says(why.text, cases[i].also);
        lp_variants_release(&list);
    }
}

/* when, options and what else a variant has is each one's. */
static void test_keeps_the_rest(void **state)
{
    static const char yaml[] = "variants:\n- name: v\n  when: pcie\n  options: {timing: isolated, nccl: /opt/libnccl.so}\n"
                               "  sweep: {X: [1, 2]}\n";
    struct lp_variants list = {0};

    (void)state;
    assert_int_equal(read_text(yaml, &list, NULL), LP_OK);
    assert_int_equal(list.n, 2);
    for (size_t i = 0; i < list.n; i++) {
        assert_int_equal(list.item[i].when, LP_WHEN_PCIE);
        assert_int_equal(list.item[i].timings, 1u << LP_ISOLATED);
        assert_string_equal(list.item[i].nccl, "/opt/libnccl.so");
    }
    assert_ptr_not_equal(list.item[0].nccl, list.item[1].nccl);
    lp_variants_release(&list);
}

static void test_no_axes(void **state)
{
    struct lp_variants list = {0};
    struct lp_axes axes = {0};
    char buf[256];

    (void)state;
    assert_int_equal(lp_variants_multiply(&list, &axes, NULL), LP_OK);
    assert_int_equal(list.n, 0);
    lp_variant_set(lp_variants_add(&list, "u"), "X", "1", NULL);
    lp_variants_add(&list, "v");
    assert_int_equal(lp_variants_multiply(&list, &axes, NULL), LP_OK);
    assert_string_equal(words(&list, buf, sizeof(buf)), "u: X=1; v: no change");
    lp_axes_release(&axes);
    lp_variants_release(&list);
}

static void test_axes(void **state)
{
    struct lp_axes axes = {0};
    struct lp_reason why = {""};
    char name[8];

    (void)state;
    for (int i = 0; i < LP_MAX_AXES; i++) {
        snprintf(name, sizeof(name), "X%d", i);
        assert_int_equal(lp_axes_add(&axes, name, &why), LP_OK);
    }
    assert_int_equal(lp_axes_add(&axes, "X0", &why), LP_ERR_ARG);
    assert_says(why.text, "'X0' is there twice");
    assert_int_equal(lp_axes_add(&axes, "Y", &why), LP_ERR_ARG);
    assert_says(why.text, "more than 8");
    assert_int_equal(axes.n, LP_MAX_AXES);
    assert_int_equal(lp_axes_add_value(&axes, NULL, &why), LP_OK);
    assert_int_equal(lp_axes_add_value(&axes, "", &why), LP_OK);
    assert_int_equal(axes.item[LP_MAX_AXES - 1].n, 2);
    assert_null(axes.item[LP_MAX_AXES - 1].value[0]);
    assert_string_equal(axes.item[LP_MAX_AXES - 1].value[1], "");
    assert_int_equal(axes.item[0].n, 0);
    lp_axes_release(&axes);
    assert_int_equal(axes.n, 0);
    lp_axes_release(&axes);
}

static void add_axis(struct lp_axes *axes, const char *name, int values)
{
    assert_int_equal(lp_axes_add(axes, name, NULL), LP_OK);
    for (int i = 0; i < values; i++) {
        char text[16];

        snprintf(text, sizeof(text), "%d", i);
        assert_int_equal(lp_axes_add_value(axes, text, NULL), LP_OK);
    }
}

/* 0 of z: no third axis. A refusal leaves all variants as they were. */
static void test_how_many(void **state)
{
    static const struct {
        const char *name;
        int x, y, z;
        const char *last, *refusal;
    } cases[] = {
        {"just enough", 32, 32, 0, "v-31-31", NULL},
        {"one list", 1024, 1, 0, "v-1023-0", NULL},
        {"three", 2, 2, 256, "v-1-1-255", NULL},
        {"a list too long", 1025, 1, 0, NULL, "more than 1024 variants"},
        {"too many", 33, 32, 0, NULL, "more than 1024 variants"},
        {"too many of three", 32, 32, 2, NULL, "more than 1024 variants"},
        {"an empty one", 32, 0, 0, NULL, "sweep of Y has no values"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t product = (size_t)cases[i].x * (size_t)cases[i].y * (size_t)(cases[i].z ? cases[i].z : 1);
        struct lp_variants list = {0};
        struct lp_axes axes = {0};
        struct lp_reason why = {""};
        enum lp_status st;

        lp_variants_add(&list, "u");
        lp_variants_add(&list, "v");
        add_axis(&axes, "X", cases[i].x);
        add_axis(&axes, "Y", cases[i].y);
        if (cases[i].z)
            add_axis(&axes, "Z", cases[i].z);
        st = lp_variants_multiply(&list, &axes, &why);
        assert_case(cases[i].name, st == (cases[i].refusal ? LP_ERR_ARG : LP_OK));
        if (cases[i].refusal)
            assert_says(why.text, cases[i].refusal);
        assert_case(cases[i].name, list.n == (cases[i].refusal ? 2 : 1 + product));
        assert_string_equal(list.item[0].name, "u");
        assert_string_equal(list.item[list.n - 1].name, cases[i].last ? cases[i].last : "v");
        lp_axes_release(&axes);
        lp_variants_release(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products), cmocka_unit_test(test_refusals), cmocka_unit_test(test_keeps_the_rest),
        cmocka_unit_test(test_no_axes),  cmocka_unit_test(test_axes),     cmocka_unit_test(test_how_many),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
