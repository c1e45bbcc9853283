/* SPDX-License-Identifier: Apache-2.0 */
#include "render/html/put.h"

#include <math.h>
#include <stdarg.h>

#include "analysis/statistics/stats.h"

#define ABOVE          12
#define BELOW          46
#define SCALE_QUANTILE 0.98
#define BAR            34

static void begin_svg(struct html *html, const char *class, double height, const char *title,
		      const char *description)
{
	int id = ++html->figure_count;

	html_put(html,
		 "<svg class=\"%s\" viewBox=\"0 0 %.0f %.0f\" role=\"img\""
		 " aria-labelledby=\"f%dt f%dd\"><title id=\"f%dt\">%s</title><desc id=\"f%dd\">",
		 class, FIGURE_WIDTH, height, id, id, id, title, id);
	html_text(html, description);
	html_put(html, "</desc>\n");
}

void figure_begin(struct html *html, struct figure *ret, const char *name, double height,
		  const char *title, const char *format, ...)
{
	char text[512];
	va_list args;

	*ret = (struct figure){
		.html = html,
		.left = FIGURE_LEFT,
		.right = FIGURE_RIGHT,
		.top = ABOVE,
		.bottom = ABOVE + height,
	};
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	begin_svg(html, name, ABOVE + height + BELOW, title, text);
}

void figure_end(struct figure *figure)
{
	html_put(figure->html, "</svg>\n");
}

double figure_x(const struct figure *f, double value)
{
	return f->left + (value - f->x_low) / (f->x_high - f->x_low) * (f->right - f->left);
}

double figure_y(const struct figure *f, double value)
{
	return f->bottom - fmin(value / f->y_high, 1) * (f->bottom - f->top);
}

void figure_bar(const struct figure *f, double x, double x2, double from, double to)
{
	if (from - to > 0.05)
		html_put(f->html, "M%.1f %.1fV%.1fH%.1fV%.1fz", x, from, to,
			 x2 - (x2 - x > 3 ? 0.6 : 0), from);
}

/* Returns 1, 2 or 5 times a power of ten, so that about `count` steps reach `high`. */
static double step_of(double high, int count)
{
	double rough = high / count, power;

	if (!(rough > 0))
		return 1;
	power = pow(10, floor(log10(rough) + 1e-9));
	return power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
}

double figure_scale(double *values, size_t count)
{
	double top;

	stats_sort(values, count);
	top = values[(size_t)((double)(count - 1) * SCALE_QUANTILE)] * 1.05;
	return top > 0 ? top : values[count - 1] > 0 ? values[count - 1] * 1.05 : 1;
}

/* Returns the largest unit of which `high_ns` has at least 2. */
static const char *time_unit(double high_ns, double *ret_ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = {{3600e9, "h"}, {60e9, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
	size_t i = 0;

	while (i + 1 < ARRAY_COUNT(units) && high_ns < units[i].ns * 2)
		i++;
	*ret_ns = units[i].ns;
	return units[i].name;
}

/* Writes a number without an exponent, which %g would use for large ones. */
static const char *plain_number(char *buffer, double value)
{
	if (fabs(value) >= 1000)
		return units_count(buffer, llrint(value));
	snprintf(buffer, UNITS_MAX, "%g", value);
	return buffer;
}

void figure_y_axis(struct figure *f, bool has_times)
{
	double unit = 1, step, value;
	const char *name = has_times ? time_unit(f->y_high, &unit) : "";
	char text[UNITS_MAX];

	step = step_of(f->y_high / unit, 5);
	html_put(f->html, "<g class=\"axis\">");
	for (value = 0; value * unit <= f->y_high * 1.0001; value += step) {
		double y = figure_y(f, value * unit);

		html_put(f->html,
			 "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>"
			 "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s%s%s</text>",
			 f->left, y, f->right, f->left - 6, y + 4, plain_number(text, value),
			 *name && value > 0 ? " " : "", value > 0 ? name : "");
	}
	html_put(f->html, "</g>\n");
}

static void put_x(struct figure *f, double unit, const char *unit_name, double step_least,
		  const char *name)
{
	double step = fmax(step_least, step_of((f->x_high - f->x_low) / unit, 6));
	double value = ceil(f->x_low / unit / step - 1e-9) * step + 0.0; /* + 0.0 turns -0 into 0 */
	char text[UNITS_MAX];
	int number = 0;

	html_put(f->html, "<g class=\"axis\"><path class=\"base\" d=\"M%.1f %.1fH%.1f\"/>", f->left,
		 f->bottom, f->right);
	for (; value * unit <= f->x_high + step * unit * 1e-6; value += step) {
		double x = figure_x(f, value * unit);
		bool at_edge = x > f->right - 30 && value >= 1000;

		/* CSS hides every other label on a narrow screen. */
		html_put(f->html,
			 "<path class=\"base\" d=\"M%.1f %.1fv4\"/>"
			 "<text%s x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>",
			 x, f->bottom, number++ % 2 ? " class=\"odd\"" : "",
			 at_edge ? f->right + 8 : x, f->bottom + 20, at_edge ? "end" : "middle",
			 plain_number(text, value));
	}
	html_put(f->html, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s%s%s</text></g>\n",
		 f->right, f->bottom + 38, name, *unit_name ? ", " : "", unit_name);
}

void figure_x_numbers(struct figure *f, const char *name)
{
	put_x(f, 1, "", 1, name);
}

void figure_x_times(struct figure *f, const char *name)
{
	double unit;
	const char *unit_name = time_unit(f->x_high - f->x_low, &unit);

	put_x(f, unit, unit_name, 0, name);
}

void figure_put_keys(struct html *html, const struct figure_key *keys)
{
	html_put(html, "<p class=\"keys\">");
	for (; keys->words; keys++)
		html_put(html, "<span><i class=\"key %s\"></i>%s</span> ", keys->class,
			 keys->words);
	html_put(html, "</p>\n");
}

void figure_balance(struct html *html, const struct figure_part *parts, size_t count,
		    const char *title, const char *description)
{
	double x = 0;

	begin_svg(html, "balance", BAR, title, description);
	for (size_t i = 0; i < count; i++) {
		double width = parts[i].share * FIGURE_WIDTH;

		if (!(width > 0))
			continue;
		html_put(html,
			 "<rect class=\"%s\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%d\"/>",
			 parts[i].class, x, fmax(width - 1, 0.5), BAR);
		x += width;
	}
	html_put(html, "</svg>\n<p class=\"keys\">");
	for (size_t i = 0; i < count; i++)
		if (parts[i].share > 0 || parts[i].value)
			html_put(html, "<span>%s%s%s%s%s%s</span> ",
				 parts[i].share > 0 ? "<i class=\"key block " : "",
				 parts[i].share > 0 ? parts[i].class : "",
				 parts[i].share > 0 ? "\"></i>" : "", parts[i].words,
				 parts[i].value ? " " : "",
				 parts[i].value ? parts[i].value : "");
	html_put(html, "</p>\n");
}
