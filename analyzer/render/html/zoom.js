/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zoom.js - a closer look at the figure of waits over time: drag over a part of it, or use the keys
 * + - and the arrows when it has the focus. What the pointer is on is told below it.
 */
const LEFT = 84;
const RIGHT = 708;
const TOP = 12;
const BOTTOM = 202;
const MOST_BARS = 318;

/* Batches one by one where they are embedded, else parts of the run with their mean and maximum. */
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

/* Stretches [begin, end) with one value each, that cover what is asked for. */
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

/* At most as many bars as there is room for, each the mean of what is in it. */
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

function startZoom(series) {
	const figure = document.getElementById("time");
	const svg = figure.querySelector("svg");
	const drawn = document.getElementById("bars");
	const original = {bars: drawn.innerHTML,
			  axes: Array.from(svg.querySelectorAll(".axis"), axis => axis.innerHTML)};
	const axes = svg.querySelectorAll(".axis");
	const say = make(figure, "say", "Drag to zoom; keys + \u2212 \u2190 \u2192 0.");
	let from = 0;
	let to = series.count;
	let shown = bars(series, from, to);
	let drag = null;

	const x = batch => LEFT + (batch - from) / (to - from) * (RIGHT - LEFT);
	const path = (name, d) => {
		const element = document.createElementNS(svg.namespaceURI, "path");

		element.setAttribute("class", name);
		element.setAttribute("d", d);
		drawn.append(element);
	};

	function text(axis, words, left, top, anchor) {
		const element = document.createElementNS(svg.namespaceURI, "text");

		element.textContent = words;
		element.setAttribute("x", left);
		element.setAttribute("y", top);
		element.setAttribute("text-anchor", anchor);
		axis.append(element);
	}

	function drawAxes(top) {
		axes[0].replaceChildren();
		axes[1].replaceChildren();
		for (let i = 0; i <= 4; i++) {
			const y = BOTTOM - i / 4 * (BOTTOM - TOP);
			const batch = from + (to - from) * i / 4;

			text(axes[0], i ? showTime(top * i / 4) : "0", LEFT - 6, y + 4, "end");
			text(axes[1], Math.round(batch).toLocaleString("en"), x(batch), BOTTOM + 18,
			     i === 4 ? "end" : "middle");
		}
		text(axes[1], "batch", RIGHT, BOTTOM + 38, "end");
	}

	function draw() {
		shown = bars(series, from, to);
		if (from === 0 && to === series.count) {
			drawn.innerHTML = original.bars;
			axes.forEach((axis, i) => { axis.innerHTML = original.axes[i]; });
			return;
		}
		const top = Math.max(...shown.map(bar => bar.most), 1) * 1.05;
		const y = ns => (BOTTOM - Math.min(1, ns / top) * (BOTTOM - TOP)).toFixed(1);
		let wait = "", compute = "", most = "";

		for (const bar of shown) {
			const left = Math.max(LEFT, x(bar.begin)), right = Math.min(RIGHT, x(bar.end));
			const width = (right - left > 3 ? right - left - 0.6 : right - left).toFixed(1);
			const at = left.toFixed(1);

			compute += `M${at} ${BOTTOM}V${y(bar.compute)}h${width}V${BOTTOM}z`;
			wait += `M${at} ${y(bar.compute)}V${y(bar.compute + bar.wait)}h${width}` +
				`V${y(bar.compute)}z`;
			if (bar.end - bar.begin > 1)
				most += `M${((left + right) / 2).toFixed(1)} ` +
					`${y(bar.compute + bar.wait)}V${y(bar.most)}`;
		}
		drawn.replaceChildren();
		path("compute", compute);
		path("wait", wait);
		path("most", most);
		drawAxes(top);
	}

	function zoom(begin, end) {
		const width = Math.min(series.count, Math.max(8, Math.round(end - begin)));

		from = Math.max(0, Math.min(series.count - width, Math.round(begin)));
		to = Math.min(series.count, from + width);
		draw();
	}

	function batchAt(event) {
		const box = svg.getBoundingClientRect();
		const place = (event.clientX - box.left) / box.width * 720;

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
				`wait ${showTime(bar.wait)}, compute ${showTime(bar.compute)}`;
	});
}

if (data.count && document.getElementById("time"))
	startZoom(readSeries(data));
