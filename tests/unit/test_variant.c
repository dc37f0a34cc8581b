/* Variants in memory: changes of the environment, copies, words. */
#include "model/variant.h"

#include "unit.h"

static void test_set_unset_empty(void **state)
{
    struct lp_variants list = {0};
    struct lp_variant *variant = lp_variants_add(&list, "v");
    bool found = true;

    (void)state;
    assert_null(lp_variant_get(variant, "NCCL_ALGO", &found));
    assert_false(found);
    assert_int_equal(lp_variant_set(variant, "NCCL_ALGO", "Ring", NULL), LP_OK);
    assert_int_equal(lp_variant_set(variant, "NCCL_PROTO", NULL, NULL), LP_OK);
    assert_int_equal(lp_variant_set(variant, "NCCL_IB_HCA", "", NULL), LP_OK);
    assert_string_equal(lp_variant_get(variant, "NCCL_ALGO", &found), "Ring");
    assert_true(found);
    assert_null(lp_variant_get(variant, "NCCL_PROTO", &found));
    assert_true(found);
    assert_string_equal(lp_variant_get(variant, "NCCL_IB_HCA", &found), "");
    assert_true(found);
    assert_null(lp_variant_get(variant, "NCCL_ALG", &found));
    assert_false(found);
    lp_variants_release(&list);
}

/* The last change of a variable counts, and there is one of it. */
static void test_replace(void **state)
{
    static const char *const values[] = {"Ring", NULL, "", "Tree"};
    struct lp_variants list = {0};
    struct lp_variant *variant = lp_variants_add(&list, "v");
    bool found;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        const char *got;

        assert_int_equal(lp_variant_set(variant, "NCCL_ALGO", values[i], NULL), LP_OK);
        got = lp_variant_get(variant, "NCCL_ALGO", &found);
        assert_true(found && (values[i] ? got && strcmp(got, values[i]) == 0 : !got));
        assert_int_equal(variant->nenv, 1);
    }
    lp_variants_release(&list);
}

static void test_names_of_variables(void **state)
{
    static const struct {
        const char *name;
        enum lp_status st;
    } cases[] = {
        {"A", LP_OK},       {"_x9", LP_OK},           {"nccl_algo", LP_OK}, {"", LP_ERR_ARG},
        {"9A", LP_ERR_ARG}, {"A-B", LP_ERR_ARG},      {"A B", LP_ERR_ARG},  {"A=B", LP_ERR_ARG},
        {" A", LP_ERR_ARG}, {"\xc3\x84", LP_ERR_ARG}, {"A.B", LP_ERR_ARG},  {"A\n", LP_ERR_ARG},
    };
    struct lp_variants list = {0};
    struct lp_variant *variant = lp_variants_add(&list, "mine");
    size_t good = 0;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_reason why = {""};

        assert_case(cases[i].name, lp_variant_set(variant, cases[i].name, "1", &why) == cases[i].st);
        good += cases[i].st == LP_OK;
        assert_case(cases[i].name, variant->nenv == good);
        if (cases[i].st != LP_OK) {
            assert_says(why.text, cases[i].name);
            assert_says(why.text, "mine");
        }
    }
    lp_variants_release(&list);
}

static void test_find(void **state)
{
    struct lp_variants list = {0};

    (void)state;
    assert_null(lp_variants_find(&list, "default", 0));
    lp_variants_add(&list, "default");
    lp_variants_add(&list, "ring");
    lp_variants_add(&list, "default")->repeat = 1;
    assert_ptr_equal(lp_variants_find(&list, "default", 0), &list.item[0]);
    assert_ptr_equal(lp_variants_find(&list, "ring", 0), &list.item[1]);
    assert_ptr_equal(lp_variants_find(&list, "default", 1), &list.item[2]);
    assert_null(lp_variants_find(&list, "ring", 1));
    assert_null(lp_variants_find(&list, "rin", 0));
    lp_variants_release(&list);
    assert_int_equal(list.n, 0);
}

/* The list may move while it is copied from; the copy owns all it has. */
static void test_copy_within_the_list(void **state)
{
    struct lp_variants list = {0};
    struct lp_variant *first = lp_variants_add(&list, "first");
    bool found;

    (void)state;
    lp_variant_set(first, "NCCL_ALGO", "Ring", NULL);
    lp_variant_set(first, "NCCL_PROTO", NULL, NULL);
    first->when = LP_WHEN_PCIE;
    first->timings = 1u << LP_ISOLATED;
    first->repeat = 1;
    first->nccl = strdup("/opt/libnccl.so");
    strcpy(first->skip, "for a reason");
    for (int i = 0; i < 100; i++)
        assert_int_equal(lp_variants_copy(&list, &list.item[i / 2]), LP_OK);
    assert_int_equal(list.n, 101);
    lp_variant_set(&list.item[0], "NCCL_ALGO", "Tree", NULL);
    for (size_t i = 1; i < list.n; i++) {
        const struct lp_variant *copy = &list.item[i];

        assert_string_equal(copy->name, "first");
        assert_string_equal(lp_variant_get(copy, "NCCL_ALGO", &found), "Ring");
        assert_true(!lp_variant_get(copy, "NCCL_PROTO", &found) && found);
        assert_true(copy->when == LP_WHEN_PCIE && copy->timings == 1u << LP_ISOLATED && copy->repeat == 1);
        assert_string_equal(copy->nccl, "/opt/libnccl.so");
        assert_ptr_not_equal(copy->nccl, list.item[0].nccl);
        assert_string_equal(copy->skip, "for a reason");
    }
    lp_variants_release(&list);
}

static void test_words(void **state)
{
    struct lp_variants list = {0};
    struct lp_variant *variant = lp_variants_add(&list, "v");
    char buf[64], small[12];

    (void)state;
    assert_string_equal(lp_variant_words(variant, buf, sizeof(buf)), "no change");
    lp_variant_set(variant, "NCCL_ALGO", "Ring", NULL);
    lp_variant_set(variant, "NCCL_PROTO", NULL, NULL);
    lp_variant_set(variant, "NCCL_X", "", NULL);
    assert_string_equal(lp_variant_words(variant, buf, sizeof(buf)), "NCCL_ALGO=Ring NCCL_PROTO unset NCCL_X=");
    assert_string_equal(lp_variant_words(variant, small, sizeof(small)), "NCCL_ALGO=R");
    lp_variants_release(&list);
}

static void test_env_json(void **state)
{
    struct lp_variants list = {0};
    struct lp_variant *variant = lp_variants_add(&list, "v");
    json_t *env;

    (void)state;
    env = lp_variant_env_json(variant);
    assert_int_equal(json_object_size(env), 0);
    json_decref(env);
    lp_variant_set(variant, "A", "1", NULL);
    lp_variant_set(variant, "B", NULL, NULL);
    lp_variant_set(variant, "C", "", NULL);
    env = lp_variant_env_json(variant);
    assert_string_equal(json_string_value(json_object_get(env, "A")), "1");
    assert_true(json_is_null(json_object_get(env, "B")));
    assert_string_equal(json_string_value(json_object_get(env, "C")), "");
    json_decref(env);
    lp_variants_release(&list);
}

static void test_labels(void **state)
{
    char buf[LP_NAME_MAX + 16];

    (void)state;
    assert_string_equal(lp_variant_label("default", 0, buf, sizeof(buf)), "default");
    assert_string_equal(lp_variant_label("default", 1, buf, sizeof(buf)), "default again");
    assert_string_equal(lp_when_name(LP_WHEN_ALWAYS), "always");
    assert_string_equal(lp_when_name(LP_WHEN_NVLINK), "nvlink");
    assert_string_equal(lp_when_name(LP_WHEN_PCIE), "pcie");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_unset_empty),
        cmocka_unit_test(test_replace),
        cmocka_unit_test(test_names_of_variables),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_env_json),
        cmocka_unit_test(test_copy_within_the_list),
        cmocka_unit_test(test_labels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
