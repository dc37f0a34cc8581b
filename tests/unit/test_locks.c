/* Site locks, and variants held against them. */
#include "plan/locks.h"

#include "base/json.h"

#include <stdio.h>

#include "plan/matrix.h"
#include "unit.h"

/* How a list of locks and an inherited NCCL_NVLS_ENABLE meet a variant; skip NULL: it runs. */
static void test_variants_against_locks(void **state)
{
    static const struct {
        const char *list, *nvls, *variant, *skip;
    } cases[] = {
        {NULL, NULL, "v: NCCL_ALGO=NVLS NCCL_NVLS_ENABLE=1", NULL},
        {"", "1", "v: NCCL_NVLS_ENABLE=2", NULL},
        {"NCCL_ALGO", NULL, "v: NCCL_ALGO=Ring", "site lock NCCL_ALGO"},
        {"NCCL_ALGO", NULL, "v: NCCL_ALGO", "site lock NCCL_ALGO"},
        {"NCCL_ALGO", NULL, "v: NCCL_ALGO=", "site lock NCCL_ALGO"},
        {"NCCL_ALGO", NULL, "v: NCCL_PROTO=LL", NULL},
        {"NCCL_ALGO", NULL, "v: NCCL_ALGOS=Ring", NULL},
        {"NCCL_ALGO", NULL, "v:", NULL},
        {"NCCL_ALGO=Ring", NULL, "v: NCCL_ALGO=Ring", NULL},
        {"NCCL_ALGO=Ring", NULL, "v: NCCL_ALGO=ring", "site lock NCCL_ALGO=Ring"},
        {"NCCL_ALGO=Ring", NULL, "v: NCCL_ALGO", "site lock NCCL_ALGO=Ring"},
        {"NCCL_ALGO=Ring", NULL, "v: NCCL_ALGO=", "site lock NCCL_ALGO=Ring"},
        {"NCCL_X=", NULL, "v: NCCL_X=", NULL},
        {"NCCL_X=", NULL, "v: NCCL_X", "site lock NCCL_X="},
        {"NCCL_X=", NULL, "v: NCCL_X=1", "site lock NCCL_X="},
        {"NCCL_X=a=b", NULL, "v: NCCL_X=a=b", NULL},
        {"A,B C\tD", NULL, "v: D=1", "site lock D"},
        {" , A ,, ", NULL, "v: A=1", "site lock A"},
        {"A B=2", NULL, "v: B=2 A=1", "site lock A"},
        /* an inherited 0 is a lock of its own */
        {NULL, "0", "v: NCCL_NVLS_ENABLE=1", "site lock NCCL_NVLS_ENABLE=0"},
        {NULL, "0", "v: NCCL_NVLS_ENABLE", "site lock NCCL_NVLS_ENABLE=0"},
        {NULL, "0", "p2p-off: NCCL_P2P_DISABLE=1 NCCL_NVLS_ENABLE=0", NULL},
        {NULL, "2", "v: NCCL_NVLS_ENABLE=0", NULL},
        /* and then NCCL_ALGO must not ask for NVLS, in any of its spellings */
        {NULL, "0", "v: NCCL_ALGO=NVLS", "NVLS"},
        {NULL, "0", "v: NCCL_ALGO=nvls", "NCCL_ALGO=nvls"},
        {NULL, "0", "v: NCCL_ALGO=Ring,NVLSTree", "NVLSTree"},
        {NULL, "0", "v: NCCL_ALGO=^nvls", NULL},
        {NULL, "0", "v: NCCL_ALGO=^NVLS,NVLSTree", NULL},
        {NULL, "0", "v: NCCL_ALGO=Ring,Tree", NULL},
        {NULL, "0", "v: NCCL_ALGO=allreduce:nvls;allgather:ring", "NVLS"},
        {NULL, "0", "v: NCCL_ALGO=allgather:ring;allreduce:tree,nvls", "NVLS"},
        {NULL, "0", "v: NCCL_ALGO=allreduce:^nvls;allgather:ring", NULL},
        {NULL, "0", "v: NCCL_ALGO=^nvls;allreduce:nvls", "NVLS"},
        {NULL, "0", "v: NCCL_ALGO", NULL},
        {NULL, "1", "v: NCCL_ALGO=NVLS", NULL},
        {NULL, NULL, "v: NCCL_ALGO=NVLS", NULL},
        {"NCCL_NVLS_ENABLE=0", NULL, "v: NCCL_ALGO=NVLS", "NVLS"},
        {"NCCL_NVLS_ENABLE=1", NULL, "v: NCCL_ALGO=NVLS", NULL},
        {"NCCL_NVLS_ENABLE", NULL, "v: NCCL_ALGO=NVLS", NULL}, /* stays as inherited, which is not 0 */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_variants list = {0};
        struct lp_locks locks;
        char name[160];

        snprintf(name, sizeof(name), "%s / %s / %s", cases[i].list ? cases[i].list : "-", cases[i].nvls ? cases[i].nvls : "-",
                 cases[i].variant);
        assert_case(name, lp_locks_make(cases[i].list, cases[i].nvls, &locks, NULL) == LP_OK);
        assert_case(name, lp_matrix_add_text(cases[i].variant, &list, NULL) == LP_OK);
        lp_locks_apply(&locks, &list.item[0]);
        assert_case(name, (list.item[0].skip[0] == '\0') == (cases[i].skip == NULL));
        if (cases[i].skip) {
            assert_says(list.item[0].skip, cases[i].skip);
            assert_case(name, strncmp(list.item[0].skip, "site lock", 9) == 0);
        }
        lp_variants_release(&list);
    }
}

/* A lock of the same variable by name takes nothing from the inherited 0, which is a lock with a value. */
static void test_inherited_nvls_0_beside_a_lock_by_name(void **state)
{
    struct lp_variants list = {0};
    struct lp_locks locks;

    (void)state;
    assert_int_equal(lp_locks_make("NCCL_NVLS_ENABLE", "0", &locks, NULL), LP_OK);
    lp_matrix_add_text("nvls: NCCL_ALGO=NVLS", &list, NULL);
    lp_matrix_add_text("p2p-off: NCCL_P2P_DISABLE=1 NCCL_NVLS_ENABLE=0", &list, NULL);
    lp_locks_apply(&locks, &list.item[0]);
    lp_locks_apply(&locks, &list.item[1]);
    assert_says(list.item[0].skip, "site lock");
    assert_string_equal(list.item[1].skip, "");
    lp_variants_release(&list);
}

static void test_a_skip_stays(void **state)
{
    struct lp_variants list = {0};
    struct lp_locks locks;

    (void)state;
    lp_locks_make("A", NULL, &locks, NULL);
    lp_matrix_add_text("v: A=1", &list, NULL);
    strcpy(list.item[0].skip, "for another reason");
    lp_locks_apply(&locks, &list.item[0]);
    assert_string_equal(list.item[0].skip, "for another reason");
    lp_variants_release(&list);
}

static void test_refused_lists(void **state)
{
    char many[1024] = "", long_name[200], long_value[400];
    const char *const lists[] = {"=0", "9X", "A,-B", "A B =1", long_name, long_value};
    struct lp_reason why = {""};
    struct lp_locks locks;

    (void)state;
    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    memset(long_value, 'x', sizeof(long_value) - 1);
    long_value[sizeof(long_value) - 1] = '\0';
    long_value[1] = '=';
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        assert_case(lists[i], lp_locks_make(lists[i], NULL, &locks, &why) == LP_ERR_ARG);
        assert_says(why.text, "LINKPERF_LOCK");
    }
    for (int i = 0; i < 65; i++)
        snprintf(many + strlen(many), sizeof(many) - strlen(many), "N%d ", i);
    assert_int_equal(lp_locks_make(many, NULL, &locks, &why), LP_ERR_ARG);
    assert_says(why.text, "64");
    *strstr(many, "N64") = '\0';
    assert_int_equal(lp_locks_make(many, NULL, &locks, &why), LP_OK);
    assert_int_equal(locks.n, 64);
}

static void test_json(void **state)
{
    struct lp_locks locks;
    json_t *env, *list;

    (void)state;
    assert_int_equal(lp_locks_make("NCCL_ALGO,NCCL_X=,NCCL_ALGO=Tree", "0", &locks, NULL), LP_OK); /* the first of a name counts */
    env = lp_locks_env(&locks);
    assert_int_equal(json_object_size(env), 2);
    assert_string_equal(lp_json_str(env, "NCCL_X", "-"), "");
    assert_string_equal(lp_json_str(env, "NCCL_NVLS_ENABLE", "-"), "0");
    list = lp_locks_json(&locks);
    assert_int_equal(json_array_size(list), 3);
    assert_string_equal(json_string_value(json_array_get(list, 0)), "NCCL_ALGO");
    assert_string_equal(json_string_value(json_array_get(list, 1)), "NCCL_X=");
    assert_string_equal(json_string_value(json_array_get(list, 2)), "NCCL_NVLS_ENABLE=0");
    json_decref(env);
    json_decref(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variants_against_locks),
        cmocka_unit_test(test_inherited_nvls_0_beside_a_lock_by_name),
        cmocka_unit_test(test_a_skip_stays),
        cmocka_unit_test(test_refused_lists),
        cmocka_unit_test(test_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
