/*
 * The reader of NCCL's logs on damaged input: parts of the logs in tests/data, cut, spliced, flipped, repeated and mixed
 * with junk. Whatever comes out must be in the text and within its bounds. Input i depends on nothing but i, so a failure
 * can be repeated; LP_FUZZ_INPUTS says how many (20000).
 */
#include "proof/nccl_log.h"
#include "proof/proof.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

#define MAX_FILES 64
#define MAX_INPUT ((size_t)8192)

struct file {
    char *data;
    size_t n;
};

struct fuzz {
    struct file file[MAX_FILES];
    size_t nfiles;
    uint64_t random;
    char text[MAX_INPUT + 1];
    size_t n;
};

static uint64_t draw(struct fuzz *fuzz, uint64_t below)
{
    fuzz->random ^= fuzz->random << 13;
    fuzz->random ^= fuzz->random >> 7;
    fuzz->random ^= fuzz->random << 17;
    return below ? (fuzz->random >> 11) % below : 0;
}

/* Puts data into the text at `at`, as far as there is room. */
static void insert(struct fuzz *fuzz, size_t at, const char *data, size_t n)
{
    if (n > MAX_INPUT - fuzz->n)
        n = MAX_INPUT - fuzz->n;
    memmove(fuzz->text + at + n, fuzz->text + at, fuzz->n - at);
    memmove(fuzz->text + at, data, n);
    fuzz->n += n;
}

static void cut(struct fuzz *fuzz, size_t at, size_t n)
{
    if (n > fuzz->n - at)
        n = fuzz->n - at;
    memmove(fuzz->text + at, fuzz->text + at + n, fuzz->n - at - n);
    fuzz->n -= n;
}

/* Some bytes of some log, from anywhere; whole lines when asked. Every third window is from a file's end, where the choices are. */
static void splice(struct fuzz *fuzz, size_t at, size_t n, bool whole)
{
    const struct file *file = &fuzz->file[draw(fuzz, fuzz->nfiles)];
    size_t from = draw(fuzz, file->n), end;

    if (n > file->n)
        n = file->n;
    if (from + n > file->n || draw(fuzz, 3) == 0)
        from = file->n - n;
    end = from + n;
    while (whole && from > 0 && file->data[from - 1] != '\n')
        from--;
    insert(fuzz, at, file->data + from, end - from);
}

static void junk(struct fuzz *fuzz, size_t at)
{
    char bytes[64];
    size_t n = 1 + draw(fuzz, sizeof(bytes));

    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)draw(fuzz, 256);
    insert(fuzz, at, bytes, n);
}

static void word(struct fuzz *fuzz, size_t at)
{
    static const char *const words[] = {
        "NCCL INFO ",
        " NCCL WARN ",
        " via ",
        " Bytes -> Algo ",
        "Channel 00/0 : ",
        " set by environment to ",
        "\n",
        "\r\n",
        "99999999999999999999",
        "-1",
        "0",
        "Error while creating shared memory segment ",
        "Trees",
        " [Symmetric]: ",
        "} ",
        "[",
        "%n",
        "NCCL version ",
        " proto ",
        "channel{Lo..Hi}={0..23}",
        "Init timings",
        "P2P/",
        "...",
        ":",
        "\t",
        "Invalid NCCL_",
    };
    const char *chosen = words[draw(fuzz, COUNT_OF(words))];

    insert(fuzz, at, chosen, strlen(chosen));
}

static void mutate(struct fuzz *fuzz)
{
    size_t at = draw(fuzz, fuzz->n + 1), len = 1 + draw(fuzz, 120);
    char copy[512];

    switch (draw(fuzz, 8)) {
    case 0:
        if (at < fuzz->n)
            fuzz->text[at] ^= (char)(1 << draw(fuzz, 8));
        break;
    case 1:
        cut(fuzz, at, len);
        break;
    case 2: /* repeat what is there, elsewhere */
        len = len > fuzz->n - at ? fuzz->n - at : len;
        memcpy(copy, fuzz->text + at, len);
        insert(fuzz, draw(fuzz, fuzz->n + 1), copy, len);
        break;
    case 3:
        junk(fuzz, at);
        break;
    case 4: /* as a second writer does: in the middle of a line */
        splice(fuzz, at, 2 * len, draw(fuzz, 2));
        break;
    case 5:
        word(fuzz, at);
        break;
    case 6:
        if (at < fuzz->n)
            fuzz->text[at] = (char)('0' + draw(fuzz, 10));
        break;
    default: /* a line end more or less */
        if (at < fuzz->n && fuzz->text[at] == '\n')
            cut(fuzz, at, 1);
        else
            insert(fuzz, at, "\n", 1);
    }
}

static void make_input(struct fuzz *fuzz, uint64_t number)
{
    fuzz->random = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 8; i++)
        draw(fuzz, 0);
    fuzz->n = 0;
    splice(fuzz, 0, 200 + draw(fuzz, 1200), true);
    for (uint64_t i = draw(fuzz, 12); i > 0; i--)
        mutate(fuzz);
    fuzz->text[fuzz->n] = '\0';
}

static bool is_in(const struct fuzz *fuzz, const char *text)
{
    return memmem(fuzz->text, fuzz->n, text, strlen(text)) != NULL;
}

/* Fails with the number of the input. */
#define MUST(number, condition)                                                                                                    \
    do {                                                                                                                           \
        if (!(condition))                                                                                                          \
            fail_msg("input %llu: %s", (unsigned long long)(number), #condition);                                                  \
    } while (0)

static void check_links(const struct fuzz *fuzz, const struct lp_nccl_log *log, uint64_t number)
{
    MUST(number, log->nways <= LP_NCCL_WAYS);
    for (int i = 0; i < log->nways; i++)
        MUST(number, strcmp(log->ways[i], "unknown") == 0 || is_in(fuzz, log->ways[i]));
    for (size_t i = 0; i < log->nlinks; i++) {
        const struct lp_nccl_link *link = &log->link[i];

        MUST(number, link->way >= 0 && link->way < log->nways && link->channels);
        MUST(number, link->from >= 0 && link->to >= 0 && link->conn >= -1 && link->conn < 64);
    }
    for (size_t i = 0; i < log->nrings; i++) {
        uint64_t seen = 0;

        for (int k = 0; k < log->ring[i].n; k++)
            seen |= UINT64_C(1) << log->ring[i].rank[k];
        MUST(number, log->ring[i].n > 0 && seen == (UINT64_MAX >> (64 - log->ring[i].n)));
    }
}

/* NCCL's own spelling of an algorithm must be there for the name that is reported. */
static bool names_algorithm(const struct fuzz *fuzz, const struct lp_nccl_selection *selection)
{
    static const char *const spelt[][2] = {{"Tree", "TREE"},
                                           {"Ring", "RING"},
                                           {"CollNetDirect", "COLLNET_DIRECT"},
                                           {"CollNetChain", "COLLNET_CHAIN"},
                                           {"NVLSTree", "NVLS_TREE"}};

    for (size_t i = 0; i < COUNT_OF(spelt); i++)
        if (strcmp(selection->algorithm, spelt[i][0]) == 0)
            return is_in(fuzz, spelt[i][1]);
    return is_in(fuzz, selection->algorithm);
}

static void check_selections(const struct fuzz *fuzz, const struct lp_nccl_log *log, uint64_t number)
{
    for (size_t i = 0; i < log->nselections; i++) {
        const struct lp_nccl_selection *s = &log->selection[i];
        char bytes[48];

        snprintf(bytes, sizeof(bytes), "%llu Bytes -> ", (unsigned long long)s->bytes);
        MUST(number, is_in(fuzz, bytes) && is_in(fuzz, s->function) && s->count > 0);
        MUST(number, s->channels == -1 || (s->channels > 0 && s->channels <= 4096));
        MUST(number, s->form != LP_FORM_TEXT || names_algorithm(fuzz, s));
        MUST(number, s->form != LP_FORM_SYMMETRIC || (is_in(fuzz, "[Symmetric]") && is_in(fuzz, s->protocol)));
        MUST(number, s->form != LP_FORM_COPY_ENGINE || is_in(fuzz, "CE]") || is_in(fuzz, "[Copy Engine]"));
        MUST(number, s->form != LP_FORM_NUMBERS || !s->algorithm[0] || (log->version_code >= 22000 && is_in(fuzz, " time ")));
        MUST(number, s->form != LP_FORM_UNKNOWN || (!s->algorithm[0] && !s->protocol[0]));
    }
}

static void check_words(const struct fuzz *fuzz, const struct lp_nccl_log *log, uint64_t number)
{
    for (size_t i = 0; i < log->nset; i++)
        MUST(number, is_in(fuzz, log->set[i].name) && is_in(fuzz, log->set[i].value) && log->set[i].value[0]);
    for (size_t i = 0; i < log->nwriters; i++)
        MUST(number, is_in(fuzz, log->writer[i].network) && log->writer[i].rank < (1 << 20));
    for (size_t i = 0; i < log->nwarnings; i++) {
        const char *text = log->warning[i].text;

        MUST(number, strpbrk(text, "? ") || is_in(fuzz, text));
        MUST(number, log->warning[i].count > 0);
    }
    for (size_t i = 0; i < log->nshm; i++)
        MUST(number, strchr(log->shm[i].path, '?') || is_in(fuzz, log->shm[i].path) || memchr(fuzz->text, '\t', fuzz->n));
    MUST(number, log->nwriters <= LP_NCCL_WRITERS && log->nwarnings <= 64);
    MUST(number, !log->version_code || is_in(fuzz, "NCCL version "));
}

/* What is made of a log must hold together, too. */
static void check_proofs(const struct lp_nccl_log *log, uint64_t number)
{
    struct lp_cell cell = {.kind = LP_COLLECTIVE, .op = "allreduce", .size_bytes = 1024};
    struct lp_env env = {.name = (char[]){"NCCL_ALGO"}, .value = (char[]){"Ring"}};
    struct lp_variant variant = {.name = "x", .env = &env, .nenv = 1};
    struct lp_proof_variables variables;
    struct lp_proof_standing standing;
    struct lp_proof_cell proof;
    struct lp_proof_crew crew = {&variant, log, &variables, &proof, 1};
    json_t *json;

    if (log->nselections > 0) {
        snprintf(cell.op, sizeof(cell.op), "%s", log->selection[0].function);
        cell.size_bytes = log->selection[0].bytes;
    }
    lp_proof_cell(log, &cell, 2, true, &proof);
    MUST(number, proof.tag[0] && strlen(proof.tag) < sizeof(proof.tag));
    MUST(number, lp_proof_variables(log, &variant, &variables) == LP_OK);
    lp_proof_standing(&crew, &crew, NULL, &standing);
    MUST(number, standing.words[0] && standing.standing != LP_EFFECTIVE); /* it is compared with itself */
    lp_proof_variables_release(&variables);
    json = lp_nccl_log_json(log);
    MUST(number, json != NULL);
    json_decref(json);
}

static void read_input(struct fuzz *fuzz, struct lp_nccl_log *log, bool pieces)
{
    lp_nccl_log_init(log);
    for (size_t at = 0, n; at < fuzz->n; at += n) {
        n = pieces ? 1 + draw(fuzz, 300) : fuzz->n;
        if (n > fuzz->n - at)
            n = fuzz->n - at;
        lp_nccl_log_feed(log, fuzz->text + at, n);
    }
    lp_nccl_log_end(log);
}

static void run_input(struct fuzz *fuzz, uint64_t number)
{
    struct lp_nccl_log log, again;

    make_input(fuzz, number);
    read_input(fuzz, &log, false);
    check_links(fuzz, &log, number);
    check_selections(fuzz, &log, number);
    check_words(fuzz, &log, number);
    if (number % 8 == 0) {
        check_proofs(&log, number);
        read_input(fuzz, &again, true);
        MUST(number, again.lines == log.lines && again.nset == log.nset && again.nselections == log.nselections);
        MUST(number, again.nlinks == log.nlinks && again.nwarnings == log.nwarnings && again.unfinished == log.unfinished);
        lp_nccl_log_release(&again);
    }
    lp_nccl_log_release(&log);
}

static void test_damaged_logs(void **state)
{
    const char *inputs = getenv("LP_FUZZ_INPUTS");
    uint64_t n = inputs ? strtoull(inputs, NULL, 10) : 20000;
    struct fuzz *fuzz = *state;

    for (uint64_t i = 0; i < n; i++)
        run_input(fuzz, i);
}

static void read_whole(const char *path, struct file *out)
{
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    out->data = malloc(MAX_INPUT * 8);
    assert_non_null(out->data);
    out->n = fread(out->data, 1, MAX_INPUT * 8, file);
    fclose(file);
}

static int set_up(void **state)
{
    struct fuzz *fuzz = calloc(1, sizeof(*fuzz));
    glob_t found;

    if (!fuzz || glob("tests/data/nccl-logs/*.log", 0, NULL, &found) != 0)
        return -1;
    for (size_t i = 0; i < found.gl_pathc && i < MAX_FILES; i++)
        read_whole(found.gl_pathv[i], &fuzz->file[fuzz->nfiles++]);
    globfree(&found);
    *state = fuzz;
    return 0;
}

static int tear_down(void **state)
{
    struct fuzz *fuzz = *state;

    for (size_t i = 0; i < fuzz->nfiles; i++)
        free(fuzz->file[i].data);
    free(fuzz);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_damaged_logs, set_up, tear_down)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
