/* The link baseline and the line rate, a line each, with direction and full name. The pairs are view_link's. */
#include "report/views.h"

#include "base/json.h"
#include "base/units.h"
#include "report/view_title.h"
#include "report/view_words.h"

#include <math.h>
#include <string.h>

/* "2 -> 3", from whatever form the edge has: words, [src, dst], or {src, dst}. Empty when there is none. Returns buf. */
static const char *edge_words(const json_t *edge, char *buf, size_t cap)
{
    const json_t *src = json_is_array(edge) ? json_array_get(edge, 0) : json_object_get(edge, "src");
    const json_t *dst = json_is_array(edge) ? json_array_get(edge, 1) : json_object_get(edge, "dst");

    buf[0] = '\0';
    if (json_is_string(edge))
        lp_words_line(json_string_value(edge), buf, cap);
    else if (json_is_integer(src) && json_is_integer(dst))
        snprintf(buf, cap, "%d -> %d", (int)json_integer_value(src), (int)json_integer_value(dst));
    return buf;
}

static void print_share(double gbps, double line, FILE *out)
{
    char percent[LP_WORD];

    if (isfinite(line))
        fprintf(out, ", %s %% of line rate", lp_words_percent(gbps, line, percent, sizeof(percent)));
}

void lp_view_baseline(const struct lp_result *result, FILE *out)
{
    const json_t *baseline = json_object_get(result->head, "baseline");
    double gbps = lp_json_num(baseline, "gbps", (double)NAN);
    size_t bytes = (size_t)lp_json_int(baseline, "size_bytes", 0);
    char number[LP_WORD], edge[LP_WORD * 2], line[512];

    if (!json_is_object(baseline))
        return;
    fprintf(out, "link baseline: %s", lp_words_line(lp_json_str(baseline, "name", "(not named)"), line, sizeof(line)));
    if (bytes)
        fprintf(out, ", %s bytes", lp_format_size(bytes, edge, sizeof(edge)));
    if (!isfinite(gbps)) {
        fprintf(out, ": none: %s\n", lp_words_line(lp_json_str(baseline, "reason", "it was not measured"), line, sizeof(line)));
        return;
    }
    fprintf(out, ": %s GB/s per direction", lp_words_number(gbps, number, sizeof(number)));
    if (edge_words(json_object_get(baseline, "slowest_edge"), edge, sizeof(edge))[0])
        fprintf(out, " (edge %s)", edge);
    print_share(gbps, lp_title_line_gbps(result), out);
    fprintf(out, "%s\n", lp_title_host_note(result));
}

/* The nominal figure is usually both directions added up: say so next to ours. */
static void print_nominal(const json_t *line, FILE *out)
{
    const char *words = lp_json_str(line, "nominal_words", NULL);
    char text[512];

    if (!words)
        return;
    if (strstr(words, "both directions"))
        fprintf(out, "; %s", lp_words_line(words, text, sizeof(text)));
    else
        fprintf(out, "; the '%s' people quote counts both directions", lp_words_line(words, text, sizeof(text)));
}

void lp_view_line_rate(const struct lp_result *result, FILE *out)
{
    const json_t *line = json_object_get(json_object_get(result->head, "topology"), "line");
    double gbps = lp_title_line_gbps(result);
    const char *words = lp_json_str(line, "words", NULL);
    char text[512], number[LP_WORD];

    if (!json_is_object(line) || lp_title_on_host(result))
        return;
    fprintf(out, "line rate: ");
    if (isfinite(gbps))
        fprintf(out, "%s GB/s per direction", lp_words_number(gbps, number, sizeof(number)));
    else
        fprintf(out, "unknown: %s", lp_words_line(lp_json_str(line, "reason", "no reason recorded"), text, sizeof(text)));
    if (words)
        fprintf(out, " (%s)", lp_words_line(words, text, sizeof(text)));
    print_nominal(line, out);
    fprintf(out, "\n");
}
