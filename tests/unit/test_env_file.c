/* Files in which people keep variables: what is taken, what is said, what is never guessed. */
#include "plan/env_file.h"

#include "fixture.h"

#include "unit.h"

/* The file's variables as "A=B C=D -E", and its remarks one a line. */
static void read_text(struct scratch *scratch, const char *text, size_t len, char *taken, char *said, size_t cap)
{
    struct lp_variants list = {0};
    struct lp_findings remarks = {0};
    struct lp_reason why = {""};
    struct lp_variant *variant = lp_variants_add(&list, "file");

    if (lp_env_file_read(scratch_write(scratch, "set.sh", text, len), variant, &remarks, &why) != LP_OK)
        fail_msg("%s", why.text);
    taken[0] = said[0] = '\0';
    for (size_t i = 0; i < variant->nenv; i++)
        snprintf(taken + strlen(taken), cap - strlen(taken), "%s%s%s%s%s", i ? " " : "", variant->env[i].value ? "" : "-",
                 variant->env[i].name, variant->env[i].value ? "=" : "", variant->env[i].value ? variant->env[i].value : "");
    for (size_t i = 0; i < remarks.n; i++)
        snprintf(said + strlen(said), cap - strlen(said), "%s\n", remarks.item[i].text);
    lp_findings_release(&remarks);
    lp_variants_release(&list);
}

/* says: parts of the remarks, in order; NULL: there are none. */
static void test_files(void **state)
{
    static const struct {
        const char *text, *taken;
        const char *says[3];
    } cases[] = {
        {"", "", {NULL}},
        {"\n\n# only a comment\n", "", {NULL}},
        {"export NCCL_ALGO=Ring", "NCCL_ALGO=Ring", {NULL}},
        {"export A=B C=D # rest\n", "A=B C=D", {NULL}},
        {"A=B\r\nC=D\r\n", "A=B C=D", {NULL}},
        {"A=1;B=2 && C=3\n", "A=1 B=2 C=3", {NULL}},
        {"A='x y' B=\"p q\" C=r\\ s D=e'f'\"g\"\n", "A=x y B=p q C=r s D=efg", {NULL}},
        {"A='$HOME' B=\"\\$x\" C='' D=\n", "A=$HOME B=$x C= D=", {NULL}},
        {"A=x#y\n", "A=x#y", {NULL}},
        {"export A=1 \\\n  B=2 \\\r\n C=3\n", "A=1 B=2 C=3", {NULL}},
        {"A=one\\\ntwo\n", "A=onetwo", {NULL}},
        {"A=1\nA=2\n", "A=2", {NULL}},
        {"A=1\nexport A\n", "A=1", {NULL}},
        {"declare -x A=1\ntypeset -x B=2\n", "A=1 B=2", {NULL}},
        {"unset A -v B\n", "-A -B", {NULL}},
        {"env A=1 -u B prog -x\n", "A=1 -B", {NULL}},
        {"A=1 B=2 ./prog arg\n", "A=1 B=2", {NULL}},
        {"sudo env A=1 x\n", "A=1", {NULL}},
        {"A=^docker0,lo B=[::1]:5 C=a*b D={x}\n", "A=^docker0,lo B=[::1]:5 C=a*b D={x}", {NULL}},
        {"A=1 prog > log 2>&1 < in\nB=2\n", "A=1 B=2", {NULL}},
        {"A=1 prog &\nB=2 x | A=3 y\n", "A=3 B=2", {NULL}},
        /* docker and launchers */
        {"docker run --rm -e A=1 --env B=2 --env=C=3 -eD=4 image prog\n", "A=1 B=2 C=3 D=4", {NULL}},
        {"docker run -it \\\n  -e 'A=x y' \\\n  -e B=\"z\" image\n", "A=x y B=z", {NULL}},
        {"/usr/bin/podman run -e A=1 image\n", "A=1", {NULL}},
        {"docker run --env-file env.list image\n",
         "NCCL_ALGO='Ring' NCCL_PROTO=a b ",
         {"--env-file env.list, its line 4: 'HOME'", "line 5: '-x'"}},
        {"docker run --env-file absent image\n", "", {"--env-file absent: No such file"}},
        {"docker run -e HOME image\n", "", {"HOME is passed on"}},
        {"docker run image env A=1 prog\n", "A=1", {NULL}},
        {"docker run image prog NCCL_ALGO=Ring\n", "", {"line 1: 'NCCL_ALGO=Ring' without -e is an argument"}},
        {"docker run image sh -c 'NCCL_ALGO=Ring prog'\n", "", {"is an argument"}},
        {"mpirun -np 2 -x A=1 -x NCCL_ALGO=Ring ./p -e 1G\n", "A=1 NCCL_ALGO=Ring", {NULL}},
        {"mpirun -np 2 -x NCCL_PROTO ./p NCCL_ALGO=Ring\n", "", {"NCCL_PROTO is passed on", "'NCCL_ALGO=Ring' without -x"}},
        {"mpirun -genv A 1 ./p\n", "", {"-genv is not understood"}},
        {"srun --export=ALL,A=1,B=2 ./p\n", "A=1 B=2", {NULL}},
        /* never guessed */
        {"A=$B\n", "", {"line 1: A=$B: what the shell puts in there"}},
        {"\n\nA=\"x${B}\" C=1\n", "C=1", {"line 3: A=x${B}"}},
        {"A=~/x B=a~b\n", "B=a~b", {"A=~/x"}},
        {"A=$(cat x | tr a b) B=1\n", "B=1", {"A=$(cat x | tr a b)"}},
        {"A=`cat x` B=1\n", "B=1", {"A=`cat x`"}},
        {"source other.sh\nA=1\n", "A=1", {"line 1: 'source' is not understood"}},
        {"if true; then export A=1; fi\n", "", {"'if' is not understood", "'then' is not understood", "'fi' is not understood"}},
        {"false || A=1\n", "A=1", {"'false' is not understood", "'|' is not understood"}},
        {"declare A=1\n", "", {"declare without -x"}},
        {"export -n A\n", "", {"option -n of export"}},
        {"export A-B=1\n", "", {"'A-B=1' is no NAME=value"}},
        {"9A=1\n", "", {"'9A=1' is not understood"}},
        {"export A='x\n", "", {"not closed"}},
        {"./prog NCCL_ALGO=Ring\n", "", {"'NCCL_ALGO=Ring' is an argument", "'./prog' is not understood"}},
        {"- NCCL_ALGO=Ring\n", "", {"is an argument"}},
    };

    static const char list[] = "NCCL_ALGO='Ring'\n# no\n  NCCL_PROTO=a b \nHOME\n-x\n";
    struct scratch scratch;

    (void)state;
    scratch_make(&scratch);
    scratch_write(&scratch, "env.list", list, strlen(list));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char taken[1024], said[2048];
        const char *at = said;

        read_text(&scratch, cases[i].text, strlen(cases[i].text), taken, said, sizeof(taken));
        if (strcmp(taken, cases[i].taken) != 0)
            fail_msg("case \"%s\": taken \"%s\"", cases[i].text, taken);
        if (!cases[i].says[0] && said[0])
            fail_msg("case \"%s\": said \"%s\"", cases[i].text, said);
        for (size_t k = 0; k < COUNT_OF(cases[i].says) && cases[i].says[k]; k++) {
            at = strstr(at, cases[i].says[k]);
            if (!at)
                fail_msg("case \"%s\": \"%s\" does not say \"%s\"", cases[i].text, said, cases[i].says[k]);
        }
    }
    scratch_remove(&scratch);
}

static void test_unreadable(void **state)
{
    struct lp_variants list = {0};
    struct lp_findings remarks = {0};
    struct lp_reason why = {""};
    struct lp_variant *variant = lp_variants_add(&list, "file");
    struct scratch scratch;

    (void)state;
    scratch_make(&scratch);
    assert_int_equal(lp_env_file_read("/nowhere/x", variant, &remarks, &why), LP_ERR_IO);
    assert_says(why.text, "/nowhere/x: No such file");
    assert_int_equal(lp_env_file_read(scratch.folder, variant, &remarks, &why), LP_ERR_IO);
    assert_int_equal(lp_env_file_read(scratch_write(&scratch, "nul", "A=1\n\0B=2\n", 9), variant, &remarks, &why), LP_ERR_IO);
    assert_says(why.text, "NUL byte");
    assert_int_equal(variant->nenv, 0);
    scratch_remove(&scratch);
    lp_variants_release(&list);
    lp_findings_release(&remarks);
}

/* Any bytes: it ends, and what is taken has a name. */
static void test_junk(void **state)
{
    static const char letters[] = "A=1 'x\"\\$(`)~\n\r;&|<>#-e \t docker export env unset =";
    struct scratch scratch;
    unsigned seed = 7;

    (void)state;
    scratch_make(&scratch);
    for (int round = 0; round < 3000; round++) {
        char text[64], taken[4096], said[8192];
        size_t len = (size_t)(round % 60);

        for (size_t i = 0; i < len; i++) {
            seed = seed * 1103515245u + 12345u;
            text[i] = round % 3 ? letters[(seed >> 16) % (sizeof(letters) - 1)] : (char)(1 + (seed >> 16) % 255);
        }
        read_text(&scratch, text, len, taken, said, sizeof(taken));
    }
    scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_junk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
