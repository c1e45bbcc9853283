/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time.js - draws waits and steps over time from data.bars. To look closer, drag over a part of
 * the figure, or use the keys + - and arrows while it has the focus. Text below it describes the
 * bar under the pointer.
 */
const WIDTH = 720;
const LEFT = 84;
const RIGHT = 708;
const TOP = 12;
const BOTTOM = 202;
const MOST_BARS = 318;
const TIME_UNITS = [["h", 3600e9], ["min", 60e9], ["s", 1e9], ["ms", 1e6], ["us", 1e3]];

function draw(name, attributes, ...inside) {
	/* SVG's namespace is an address. The page contains none, so take it from an <svg>. */
	const element = document.createElementNS(document.querySelector("svg").namespaceURI, name);

	for (const [key, value] of Object.entries(attributes))
		element.setAttribute(key, value);
	element.append(...inside);
	return element;
}

/* Returns round numbers from `low` to `high`, in at most `count` steps of `least` or more. */
function ticks(low, high, count, least) {
	const rough = (high - low) / count, power = Math.pow(10, Math.floor(Math.log10(rough) + 1e-9));
	const step = Math.max(least, power * [1, 2, 5, 10].find(times => rough <= times * power * 1.0001));
	const found = [];

	for (let value = Math.ceil(low / step - 1e-9) * step; value <= high * 1.000001; value += step)
		found.push(Number(value.toPrecision(9)));
	return found;
}

/* Unpacks the bars of the whole run, which bars_of() in series.c computed. */
function readBars(packed, count) {
	const [wait, compute, busy, most] = ["wait", "compute", "busy", "most"].map(
		name => packed[name] && unpack(packed[name]));

	return Array.from(compute, (ns, i) => ({
		begin: i * packed.each, end: Math.min(count, (i + 1) * packed.each),
		wait: wait[i], compute: ns, busy: busy ? busy[i] : NaN, most: most[i]
	})).filter(bar => bar.wait >= 0 && bar.compute >= 0);
}

/* Returns the scale's end: above the means of all bars, and above nearly all longest batches. */
function scaleOf(bars) {
	const most = bars.map(bar => bar.most).sort((a, b) => a - b);
	const means = bars.map(bar => bar.end - bar.begin > 1 ? bar.wait + bar.compute : 0);
	const top = most[Math.floor((most.length - 1) * 0.98)] || most[most.length - 1] || 1;

	return 1.05 * Math.max(top, ...means);
}

/* Unpacks the single batches that the page has, and means and maximums of parts of the run. */
function readSeries(packed) {
	const raw = packed.raw.map(part => ({begin: part.begin, count: part.count,
		wait: unpack(part.wait), compute: unpack(part.compute)}));
	const buckets = packed.buckets && {
		wait: unpack(packed.buckets.wait.mean), compute: unpack(packed.buckets.compute.mean),
		mostWait: unpack(packed.buckets.wait.most),
		mostCompute: unpack(packed.buckets.compute.most)};

	raw.sort((a, b) => a.begin - b.begin);
	return {count: packed.count, raw: raw, buckets: buckets};
}

/* Divides [from, to) into stretches: batches if the page has all of them, else parts of the run. */
function stretches(series, from, to) {
	const found = [];
	const whole = series.raw.find(part => part.begin <= from && part.begin + part.count >= to);

	function add(begin, end, wait, compute, most) {
		if (wait >= 0 || compute >= 0)
			found.push({begin: begin, end: end, wait: wait || 0, compute: compute || 0,
				    most: most});
	}

	if (whole) {
		for (let i = from; i < to; i++) {
			const wait = whole.wait[i - whole.begin];
			const compute = whole.compute[i - whole.begin];

			add(i, i + 1, wait, compute, (wait || 0) + (compute || 0));
		}
	} else if (series.buckets) {
		const count = series.buckets.wait.length;
		const edge = i => Math.floor(series.count * i / count);

		for (let i = 0; i < count; i++)
			if (edge(i + 1) > from && edge(i) < to)
				add(edge(i), edge(i + 1), series.buckets.wait[i],
				    series.buckets.compute[i],
				    Math.max(series.buckets.mostWait[i],
					     series.buckets.mostCompute[i]));
	}
	return found;
}

/* Joins stretches into at most MOST_BARS bars; a bar has the means of its stretches. */
function bars(series, from, to) {
	const parts = stretches(series, from, to);
	const each = Math.ceil(parts.length / MOST_BARS);
	const found = [];

	for (let i = 0; i < parts.length; i += each) {
		const some = parts.slice(i, i + each);
		const sum = name => some.reduce((all, part) =>
			all + part[name] * (part.end - part.begin), 0);
		const count = some.reduce((all, part) => all + part.end - part.begin, 0);

		found.push({begin: some[0].begin, end: some[some.length - 1].end,
			    wait: sum("wait") / count, compute: sum("compute") / count,
			    most: Math.max(...some.map(part => part.most))});
	}
	return found;
}

function startTime(all, count, series) {
	const figure = document.getElementById("time");
	const svg = draw("svg", {class: "plot", viewBox: `0 0 ${WIDTH} ${BOTTOM + 46}`, role: "img",
				 "aria-labelledby": "time-t time-d"});
	const plot = draw("g", {id: "bars"});
	let from = 0;
	let to = count;
	let shown = all;
	let drag = null;

	const x = batch => LEFT + (batch - from) / (to - from) * (RIGHT - LEFT);

	function text(words, left, top, anchor) {
		return draw("text", {x: left, y: top, "text-anchor": anchor}, words);
	}

	function drawAxes(top, y) {
		const [unit, size] = TIME_UNITS.find(([, ns]) => top >= 2 * ns) || TIME_UNITS[4];
		const rows = draw("g", {class: "axis"}), columns = draw("g", {class: "axis"});

		for (const value of ticks(0, top / size, 5, 0))
			rows.append(draw("path", {class: "grid", d: `M${LEFT} ${y(value * size)}H${RIGHT}`}),
				    text(value ? value.toLocaleString("en") + " " + unit : "0", LEFT - 6,
					 Number(y(value * size)) + 4, "end"));
		columns.append(draw("path", {class: "base", d: `M${LEFT} ${BOTTOM}H${RIGHT}`}),
			       text("batch", RIGHT, BOTTOM + 38, "end"));
		ticks(from, to, 6, 1).forEach((batch, i) => {
			const atEdge = x(batch) > RIGHT - 30 && batch >= 1000;
			const label = text(batch.toLocaleString("en"), atEdge ? RIGHT + 8 : x(batch),
					   BOTTOM + 20, atEdge ? "end" : "middle");

			if (i % 2)
				label.setAttribute("class", "odd");
			columns.append(draw("path", {class: "base", d: `M${x(batch)} ${BOTTOM}v4`}), label);
		});
		svg.append(rows, plot, columns);
	}

	function drawEpochs() {
		const epochs = draw("g", {class: "epoch"});

		for (const [batch, number] of data.epochs)
			if (batch > from && batch < to)
				epochs.append(draw("path", {d: `M${x(batch)} ${BOTTOM}V${TOP}`}),
					      draw("text", {x: x(batch) + 4, y: TOP + 4}, "epoch " + number));
		plot.append(epochs);
	}

	function drawAll() {
		const isWhole = from === 0 && to === count;

		shown = isWhole ? all : bars(series, from, to);
		const top = isWhole ? scaleOf(shown) : Math.max(...shown.map(bar => bar.most), 1) * 1.05;
		const y = ns => (BOTTOM - Math.min(1, ns / top) * (BOTTOM - TOP)).toFixed(1);
		const paths = {compute: "", wait: "", most: "", busy: ""};

		for (const bar of shown) {
			const left = Math.max(LEFT, x(bar.begin)), right = Math.min(RIGHT, x(bar.end));
			const width = (right - left > 3 ? right - left - 0.6 : right - left).toFixed(1);
			const at = left.toFixed(1), step = y(bar.compute + bar.wait);

			paths.compute += `M${at} ${BOTTOM}V${y(bar.compute)}h${width}V${BOTTOM}z`;
			if (bar.wait > 0)
				paths.wait += `M${at} ${y(bar.compute)}V${step}h${width}V${y(bar.compute)}z`;
			if (bar.end - bar.begin > 1)
				paths.most += `M${((left + right) / 2).toFixed(1)} ${step}V${y(bar.most)}`;
			if (bar.busy >= 0)
				paths.busy += `M${at} ${y(bar.busy)}H${right.toFixed(1)}`;
		}
		svg.replaceChildren(draw("title", {id: "time-t"}, "Wait and step, batch by batch"),
				    draw("desc", {id: "time-d"}, `Batches ${from} to ${to - 1} from left to ` +
					 "right. The lower part of a bar is the step, the upper part the wait " +
					 "before it."));
		plot.replaceChildren(...Object.entries(paths).filter(([, d]) => d).map(
			([name, d]) => draw("path", {class: name, d: d})));
		drawEpochs();
		drawAxes(top, y);
	}

	figure.prepend(svg);
	drawAll();
	if (!series)
		return;
	const say = make(figure, "say", "Drag to zoom; keys + \u2212 \u2190 \u2192 0.");

	function zoom(begin, end) {
		const width = Math.min(series.count, Math.max(8, Math.round(end - begin)));

		from = Math.max(0, Math.min(series.count - width, Math.round(begin)));
		to = Math.min(series.count, from + width);
		drawAll();
	}

	function batchAt(event) {
		const box = svg.getBoundingClientRect();
		const place = (event.clientX - box.left) / box.width * WIDTH;

		return from + Math.min(1, Math.max(0, (place - LEFT) / (RIGHT - LEFT))) * (to - from);
	}

	svg.setAttribute("tabindex", "0");
	svg.addEventListener("keydown", event => {
		const middle = (from + to) / 2, width = to - from;
		const moves = {"+": [middle - width / 4, middle + width / 4],
			       "-": [middle - width, middle + width],
			       ArrowLeft: [from - width / 4, to - width / 4],
			       ArrowRight: [from + width / 4, to + width / 4],
			       0: [0, series.count], Escape: [0, series.count]};

		if (!moves[event.key] || event.ctrlKey || event.metaKey || event.altKey)
			return;
		event.preventDefault();
		zoom(...moves[event.key]);
	});
	svg.addEventListener("pointerdown", event => {
		drag = batchAt(event);
		svg.setPointerCapture(event.pointerId);
	});
	svg.addEventListener("pointerup", event => {
		const end = batchAt(event);

		if (drag !== null && Math.abs(end - drag) > (to - from) / 100)
			zoom(Math.min(drag, end), Math.max(drag, end));
		drag = null;
	});
	svg.addEventListener("dblclick", () => zoom(0, series.count));
	svg.addEventListener("pointermove", event => {
		const batch = batchAt(event);
		const bar = shown.find(one => one.begin <= batch && batch < one.end);

		if (bar)
			say.textContent = (bar.end - bar.begin > 1 ?
				`Batches ${bar.begin} to ${bar.end - 1}, mean: ` :
				`Batch ${bar.begin}: `) +
				`wait ${showTime(bar.wait)}, step ${showTime(bar.compute)}`;
	});
}

if (data.bars && document.getElementById("time"))
	startTime(readBars(data.bars, data.count), data.count, data.raw && readSeries(data));
