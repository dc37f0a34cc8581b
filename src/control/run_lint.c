/* Lint before anything is measured: what NCCL would misread is refused here, what is only odd is said and kept with the variant. */
#include "control/run_parts.h"

#include "base/json.h"
#include "base/log.h"
#include "collectives/coll.h"
#include "plan/lint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLLECTIVES_MAX 32

/* "2.28.3" as 22803; 0 for anything else. */
static int version_code(const char *text)
{
    int major, minor, patch;

    if (!text || sscanf(text, "%d.%d.%d", &major, &minor, &patch) != 3)
        return 0;
    return major * 10000 + minor * 100 + patch;
}

/* Those that the plan has cells of. */
static void list_collectives(const struct lp_plan *plan, const char **out)
{
    size_t n = 0;

    for (size_t c = 0; lp_colls[c] && n + 1 < COLLECTIVES_MAX; c++)
        for (size_t i = 0; i < plan->cells.n; i++)
            if (strcmp(plan->cells.item[i].cell.op, lp_colls[c]->name) == 0) {
                out[n++] = lp_colls[c]->name;
                break;
            }
    out[n] = NULL;
}

static bool excused(const struct lp_options *options, const char *variant)
{
    return lp_list_has(options->no_lint, variant);
}

/* Errors of variants that are excused are run all the same, contained like any other crash. */
static enum lp_status say_findings(const struct lp_job *job, const struct lp_findings *findings, struct lp_reason *why)
{
    enum lp_status st = LP_OK;
    char words[1280];

    for (size_t i = 0; i < findings->n; i++) {
        const struct lp_finding *finding = &findings->item[i];
        const char *variant = finding->variant[0] ? finding->variant : "every variant";
        bool refuses = finding->level == LP_LINT_ERROR && !excused(job->options, finding->variant);

        lp_finding_words(finding, words, sizeof(words));
        lp_say("%s: %s", variant, words);
        if (refuses && st == LP_OK)
            st = lp_because(why, LP_ERR_ARG,
                            "nothing was run: NCCL would misread variant '%s'; mend it, or run it as it is with "
                            "--no-lint %s",
                            variant, variant);
    }
    return st;
}

static void keep_findings(struct lp_job *job, const struct lp_findings *findings)
{
    for (size_t i = 0; i < job->plan.variants.n; i++)
        json_object_set_new(json_array_get(json_object_get(job->result.head, "variants"), i), "lint",
                            lp_findings_json(findings, job->plan.variants.item[i].name));
}

enum lp_status lp_job_lint(struct lp_job *job, struct lp_reason *why)
{
    const json_t *versions = json_object_get(job->result.head, "versions");
    const json_t *inherited = json_object_get(job->result.head, "inherited");
    const char *library = lp_json_str(versions, "nccl_path", NULL), *collectives[COLLECTIVES_MAX];
    struct lp_lint_names names = {0};
    struct lp_findings findings = {0};
    struct lp_lint_context context = {
        .version = version_code(lp_json_str(versions, "nccl_loaded", NULL)),
        .collectives = collectives,
        .inherited = inherited,
        .device = job->plan.device,
        .nranks = job->plan.nranks,
        .nhosts = 1,
    };
    json_t *conf = lp_lint_conf_read(lp_json_str(inherited, "NCCL_CONF_FILE", NULL), getenv("HOME"), "/etc", context.version);
    enum lp_status st;

    list_collectives(&job->plan, collectives);
    if (library && lp_lint_names_in_library(library, &names, NULL) == LP_OK)
        context.library = &names;
    context.conf = conf;
    st = lp_lint_matrix(&job->plan.variants, &context, &findings);
    keep_findings(job, &findings);
    if (st == LP_OK)
        st = say_findings(job, &findings, why);
    lp_findings_release(&findings);
    lp_lint_names_release(&names);
    json_decref(conf);
    return st;
}
