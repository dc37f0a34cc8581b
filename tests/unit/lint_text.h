/* For tests of lint: findings of a variant in one line, and a table of what is said. */
#ifndef LP_TESTS_LINT_TEXT_H
#define LP_TESTS_LINT_TEXT_H

#include "plan/lint.h"
#include "plan/matrix.h"

#include <stdio.h>

#include "unit.h"

/* Findings about "a: TEXT". */
static inline void lint_text(const char *text, const struct lp_lint_context *context, struct lp_findings *out)
{
    struct lp_variants list = {0};
    struct lp_reason why = {""};
    char variant[1024];

    snprintf(variant, sizeof(variant), "a: %s", text);
    if (lp_matrix_add_text(variant, &list, &why) != LP_OK)
        fail_msg("\"%s\": %s", text, why.text);
    assert_int_equal(lp_lint_variant(&list.item[0], context, out), LP_OK);
    lp_variants_release(&list);
}

/* The first of that level that says so, or NULL. */
static inline const struct lp_finding *find_finding(const struct lp_findings *findings, enum lp_lint_level level, const char *says)
{
    for (size_t i = 0; i < findings->n; i++)
        if (findings->item[i].level == level && strstr(findings->item[i].text, says))
            return &findings->item[i];
    return NULL;
}

#endif
