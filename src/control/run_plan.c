/* What --dry-run prints: the plan, with its time and memory. */
#include "control/run_parts.h"

#include "base/units.h"

#include <stdio.h>

static void print_skipped(const struct lp_planned_list *list, FILE *out)
{
    char words[128];

    for (size_t i = 0; i < list->n; i++)
        if (list->item[i].skip[0])
            fprintf(out, "skipped: %s: %s\n", lp_cell_words(&list->item[i].cell, words, sizeof(words)), list->item[i].skip);
}

void lp_job_print_plan(const struct lp_job *job, FILE *out)
{
    const struct lp_plan *plan = &job->plan;
    size_t tried = 0, copies = 0;
    char need[32];

    for (size_t i = 0; i < plan->cells.n; i++)
        tried += plan->cells.item[i].skip[0] == '\0';
    for (int g = 0; g < plan->ngroups; g++)
        copies += plan->group[g].copies.n;
    fprintf(out, "plan: %zu copies in %d crew%s", copies, plan->ngroups, plan->ngroups == 1 ? "" : "s");
    if (plan->variants.n > 0)
        fprintf(out, ", then %zu crews of %d workers%s, each with up to %zu cells (%zu skipped)", plan->variants.n, plan->nranks,
                job->options->rounds > 1 ? " in each round" : "", tried, plan->cells.n - tried);
    if (job->options->rounds > 1 && plan->variants.n > 0)
        fprintf(out, "; %ld rounds", job->options->rounds);
    if (plan->ngroups > 0 && plan->group[0].one_worker && !job->options->all_pairs)
        fprintf(out, "; curves for up to %d more pairs that turn out to differ", LP_OUTLIERS_MAX);
    fprintf(out, "\n");
    for (int g = 0; g < plan->ngroups; g++)
        print_skipped(&plan->group[g].copies, out);
    print_skipped(&plan->cells, out);
    fprintf(out, "about %.0f s, and %s of memory on every rank\n", plan->seconds,
            lp_format_about(plan->need_bytes, need, sizeof(need)));
}
