/* Run matrices in YAML: values byte for byte, nothing guessed, every refusal with its line. */
#include "plan/matrix.h"

#include <stdio.h>

#include "fixture.h"
#include "unit.h"

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

static enum lp_status read_bytes(const char *yaml, size_t len, struct lp_variants *list, struct lp_reason *why)
{
    return lp_matrix_read(scratch_write(&scratch, "m.yaml", yaml, len), list, why);
}

static enum lp_status read_text(const char *yaml, struct lp_variants *list, struct lp_reason *why)
{
    return read_bytes(yaml, strlen(yaml), list, why);
}

/* The scalar as it stands in the file, and the value a worker gets. NULL: the variable is removed. */
static void test_values(void **state)
{
    static const struct {
        const char *scalar, *value;
    } cases[] = {
        {"", NULL},
        {"~", NULL},
        {"null", NULL},
        {"   ", NULL},
        {"~ # removed", NULL},
        {"''", ""},
        {"\"\"", ""},
        {"'~'", "~"},
        {"\"null\"", "null"},
        {"'null'", "null"},
        {"Null", "Null"},
        {"NULL", "NULL"},
        {"none", "none"},
        {"~x", "~x"},
        {"010", "010"},
        {"16M", "16M"},
        {"yes", "yes"},
        {"off", "off"},
        {"true", "true"},
        {"1e6", "1e6"},
        {"0x400000", "0x400000"},
        {"1_000", "1_000"},
        {"12:30:45", "12:30:45"},
        {"0.10", "0.10"},
        {"+1", "+1"},
        {".inf", ".inf"},
        {"2001-01-01", "2001-01-01"},
        {"\"a: b\"", "a: b"},
        {"'a: b'", "a: b"},
        {"a:b", "a:b"},
        {"^nvls", "^nvls"},
        {"allreduce:tree;allgather:ring", "allreduce:tree;allgather:ring"},
        {"=mlx5_0", "=mlx5_0"},
        {"'trailing  '", "trailing  "},
        {"\" both \"", " both "},
        {"plain trailing   ", "plain trailing"},
        {"a # comment", "a"},
        {"a#b", "a#b"},
        {"'it''s'", "it's"},
        {"\"tab\\tx\"", "tab\tx"},
        {"\"line\\nfeed\"", "line\nfeed"},
        {"\"\\u00fc\"", "\xc3\xbc"},
        {"Z\xc3\xbcrich", "Z\xc3\xbcrich"},
        {"!!int 7", "7"},
        {"&anchor 7", "7"}, /* named and not used again */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_variants list = {0};
        struct lp_reason why = {""};
        char yaml[256];
        const char *value;
        bool found;

        snprintf(yaml, sizeof(yaml), "variants:\n- name: v\n  env:\n    NCCL_X: %s\n    NCCL_Y: 1\n", cases[i].scalar);
        assert_case(cases[i].scalar, read_text(yaml, &list, &why) == LP_OK);
        assert_case(cases[i].scalar, list.n == 1 && list.item[0].nenv == 2);
        value = lp_variant_get(&list.item[0], "NCCL_X", &found);
        assert_case(cases[i].scalar, found);
        assert_case(cases[i].scalar, cases[i].value ? value && strcmp(value, cases[i].value) == 0 : !value);
        lp_variants_release(&list);
    }
}

static void test_whole_matrix(void **state)
{
    static const char yaml[] = "# settings of the machine room\n"
                               "variants:\n"
                               "- name: ring\n"
                               "  env: {NCCL_ALGO: Ring, NCCL_PROTO: ~}\n"
                               "- {name: \"a, b\", when: pcie}\n"
                               "- name: \"null\"\n"
                               "  env:\n"
                               "  options:\n"
                               "- name: timed\n"
                               "  when: nvlink\n"
                               "  options:\n"
                               "    timing: pipelined, isolated\n"
                               "    nccl: /opt/nccl/libnccl.so.2\n";
    struct lp_variants list = {0};
    char buf[128];

    (void)state;
    assert_int_equal(read_text(yaml, &list, NULL), LP_OK);
    assert_int_equal(list.n, 4);
    assert_string_equal(lp_variant_words(&list.item[0], buf, sizeof(buf)), "NCCL_ALGO=Ring NCCL_PROTO unset");
    assert_true(list.item[0].when == LP_WHEN_ALWAYS && list.item[0].timings == 0 && !list.item[0].nccl);
    assert_string_equal(list.item[1].name, "a, b");
    assert_true(list.item[1].when == LP_WHEN_PCIE && list.item[1].nenv == 0);
    assert_string_equal(list.item[2].name, "null");
    assert_true(list.item[3].when == LP_WHEN_NVLINK);
    assert_int_equal(list.item[3].timings, 1u << LP_PIPELINED | 1u << LP_ISOLATED);
    assert_string_equal(list.item[3].nccl, "/opt/nccl/libnccl.so.2");
    lp_variants_release(&list);
}

/* It appends: the built-in ones or another file's may be there. */
static void test_appends(void **state)
{
    struct lp_variants list = {0};

    (void)state;
    lp_matrix_add_text("first: A=1", &list, NULL);
    assert_int_equal(read_text("variants: [{name: second}]\n", &list, NULL), LP_OK);
    assert_int_equal(list.n, 2);
    assert_string_equal(list.item[1].name, "second");
    lp_variants_release(&list);
}

static void test_no_variants(void **state)
{
    struct lp_variants list = {0};

    (void)state;
    assert_int_equal(read_text("variants: []\n", &list, NULL), LP_OK);
    assert_int_equal(list.n, 0);
}

#define V "variants:\n- name: v\n" /* lines 1 and 2 of most mistakes */

static void test_refused(void **state)
{
    static const struct {
        const char *yaml;
        int line;
        const char *says;
    } cases[] = {
        {"", 1, "variants"},
        {"# nothing but a comment\n", 1, "variants"},
        {"- name: v\n", 1, "mapping"},
        {"text\n", 1, "mapping"},
        {"variants:\n", 1, "list"},
        {"variants: ~\n", 1, "list"},
        {"variants: ring\n", 1, "list"},
        {"variants: {name: v}\n", 1, "list"},
        {"variants:\n- ring\n", 2, "mapping"},
        {"variants:\n- [ring]\n", 2, "mapping"},
        {"variants:\n- ~\n", 2, "mapping"},
        {"varaints: []\n", 1, "variants"},
        {"variants: []\nother: 1\n", 2, "unknown key"},
        {"variants: []\nvariants: []\n", 2, "twice"},
        {"variants:\n- env: {A: 1}\n", 2, "without a name"},
        {"variants:\n- name: ''\n", 2, "1 to 63"},
        {"variants:\n- name: 0123456789012345678901234567890123456789012345678901234567890123\n", 2, "1 to 63"},
        {"variants:\n- name: [v]\n", 2, "text"},
        {"variants:\n- name: {v: 1}\n", 2, "text"},
        {V "  enviroment: {}\n", 3, "name, env, sweep, options or when"},
        {V "  name: w\n", 3, "twice"},
        {V "  env: [A, B]\n", 3, "mapping"},
        {V "  env: A=1\n", 3, "mapping"},
        {V "  env: ''\n", 3, "mapping"},
        {V "  env:\n    A: 1\n    B: 2\n    A: 3\n", 6, "twice"},
        {V "  env:\n    A: [1]\n", 4, "text"},
        {V "  env:\n    A: {b: 1}\n", 4, "text"},
        {V "  env:\n    9A: 1\n", 4, "9A"},
        {V "  env:\n    A-B: 1\n", 4, "A-B"},
        {V "  env:\n    '': 1\n", 4, "variable"},
        {V "  env:\n    A=1:\n", 4, "A=1"},
        {V "  env:\n    ? [A]\n    : 1\n", 4, "text"},
        {V "  env:\n    A: \"a\\0b\"\n", 4, "NUL"},
        {V "  env:\n    \"A\\0B\": 1\n", 4, "NUL"},
        {"variants:\n- name: \"v\\0w\"\n", 2, "NUL"},
        {V "  env: &e {A: 1}\n- name: w\n  env: *e\n", 3, "alias"},
        {V "  env:\n    A: &x 1\n    B: *x\n", 4, "alias"},
        {V "  env:\n    <<: {A: 1}\n", 4, "text"},
        {V "  env:\n    <<: 1\n", 4, "<<"},
        {"variants: &v\n- *v\n", 1, "alias"},
        {V "  options: {iters: 5}\n", 3, "timing or nccl"},
        {V "  options: graph\n", 3, "mapping"},
        {V "  options: {timing: fast}\n", 3, "fast"},
        {V "  options: {timing: [graph]}\n", 3, "text"},
        {V "  options: {timing: queued}\n", 3, "queued"},
        {V "  options: {nccl: [a]}\n", 3, "text"},
        {V "  options: {timing: graph, timing: graph}\n", 3, "twice"},
        {V "  when: sometimes\n", 3, "always, nvlink or pcie"},
        {V "  when: [nvlink]\n", 3, "text"},
        {V "  when: NVLink\n", 3, "always, nvlink or pcie"},
        {"variants:\n\t- name: v\n", 2, "cannot start any token"},
        {V "  env: {A: 1\n", 4, ""},
        {V "  env:\n    A: *nowhere\n", 4, "undefined alias"},
        {"variants: [\n", 2, ""},
        {"variants: \"open\n", 2, ""},
        {"variants: \xff\n", 1, ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_variants list = {0};
        struct lp_reason why = {""};
        char line[32];

        assert_case(cases[i].yaml, read_text(cases[i].yaml, &list, &why) == LP_ERR_ARG);
        snprintf(line, sizeof(line), ", line %d:", cases[i].line);
        if (cases[i].says[0]) {
            assert_says(why.text, cases[i].says);
            assert_says(why.text, line);
        }
        assert_says(why.text, "m.yaml");
        lp_variants_release(&list);
    }
}

/* A NUL byte in the file itself, as a wrong encoding has. */
static void test_bytes_that_are_no_text(void **state)
{
    static const char nul[] = "variants:\n- name: v\0w\n", utf16[] = "\xfe\xff\0v\0:";
    struct lp_variants list = {0};
    struct lp_reason why = {""};

    (void)state;
    assert_int_equal(read_bytes(nul, sizeof(nul) - 1, &list, &why), LP_ERR_ARG);
    assert_int_equal(read_bytes(utf16, sizeof(utf16) - 1, &list, &why), LP_ERR_ARG);
    lp_variants_release(&list);
}

static void test_no_file(void **state)
{
    struct lp_variants list = {0};
    struct lp_reason why = {""};

    (void)state;
    assert_int_equal(lp_matrix_read(scratch_path(&scratch, "absent.yaml"), &list, &why), LP_ERR_IO);
    assert_says(why.text, "absent.yaml");
    assert_int_not_equal(lp_matrix_read(scratch.folder, &list, &why), LP_OK);
    assert_int_equal(list.n, 0);
}

/* What follows the first document would not be read. */
static void test_second_document_is_refused(void **state)
{
    struct lp_variants list = {0};
    struct lp_reason why = {""};

    (void)state;
    assert_int_equal(read_text("variants: [{name: a}]\n---\nvariants: [{name: b}]\n", &list, &why), LP_ERR_ARG);
    lp_variants_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),  cmocka_unit_test(test_whole_matrix),
        cmocka_unit_test(test_appends), cmocka_unit_test(test_no_variants),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_no_file), cmocka_unit_test(test_second_document_is_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
