/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.js - the run's loads and steps through another loader: analysis/replay.c once more, on the
 * same batches. Times are nanoseconds. What it predicts must be what dlprof-report says.
 */
"use strict";

const FEWEST_BATCHES = 3000;
const MOST_SLOTS = 1 << 20;
const data = JSON.parse(document.getElementById("data").textContent);

/* A column of times as data.c packs it; NaN: not known. */
function unpack(text) {
	const bytes = atob(text);
	const values = new Float64Array(bytes.length >> 1);

	for (let i = 0; i < values.length; i++) {
		const packed = bytes.charCodeAt(2 * i) | bytes.charCodeAt(2 * i + 1) << 8;

		values[i] = packed === 65535 ? NaN : (Math.pow(2, packed / 1500) - 1) * 1e3;
	}
	return values;
}

function unpackTrace(packed) {
	const known = value => value === null ? NaN : value;

	return Object.assign({}, packed, {load: unpack(packed.load), compute: unpack(packed.compute),
					  cpu: known(packed.cpu), cores: known(packed.cores)});
}

/* What the run was. */
function setupOf(trace) {
	return {workers: trace.workers, prefetch: trace.prefetch, inOrder: trace.inOrder, factor: 1};
}

function loadOf(trace, setup, number, worker) {
	const ns = trace.load[number % trace.count] * setup.factor;

	return setup.equal || worker >= trace.factors.length ? ns : ns * trace.factors[worker];
}

/*
 * `count` batches from number `first` of the trace on; see(j, events) for each, where events are
 * the times of its request, delivery, and the begin and end of its load. Returns the end.
 */
function step(trace, setup, first, count, see) {
	const workers = setup.workers;
	const slots = Math.max(1, workers * Math.max(1, setup.prefetch));
	const free = new Float64Array(Math.max(1, workers));
	const delivered = new Float64Array(slots);
	const given = [];
	let request = 0;
	let next = 0;

	function dispatch(worker, now) {
		const begin = Math.max(free[worker], now);

		free[worker] = begin + loadOf(trace, setup, first + next, worker);
		given.push({number: next++, worker: worker, begin: begin, end: free[worker]});
	}

	/* Of all that are not delivered the one that ends first; of equals the first worker's. */
	function takeFirst() {
		let best = 0;

		for (let i = 1; i < given.length; i++)
			if (given[i].end < given[best].end ||
			    (given[i].end === given[best].end && given[i].worker < given[best].worker))
				best = i;
		return given.splice(best, 1)[0];
	}

	if (workers && !setup.inOrder)
		for (let j = 0; j < slots; j++)
			dispatch(j % workers, 0);
	for (let j = 0; j < count; j++) {
		let event;

		if (!workers) {
			event = {number: j, worker: 0, begin: request,
				 end: request + trace.load[(first + j) % trace.count] * setup.factor};
		} else if (setup.inOrder) {
			const worker = j % workers;
			const begin = Math.max(free[worker], j < slots ? 0 : delivered[j % slots]);

			free[worker] = begin + loadOf(trace, setup, first + j, worker);
			event = {number: j, worker: worker, begin: begin, end: free[worker]};
		} else {
			event = takeFirst();
		}
		event.request = request;
		event.delivery = Math.max(request, event.end) + (workers ? trace.delivery : 0);
		request = event.delivery;
		if (workers && setup.inOrder)
			delivered[j % slots] = request;
		else if (workers)
			dispatch(event.worker, request);
		request += trace.compute[(first + j) % trace.count];
		event.done = request;
		see(j, event);
	}
	return request;
}

/* Not faster than the cores allow, but not slower than was seen to be possible. */
function cap(trace, setup, floor, result) {
	const cpu = trace.cpu * setup.factor + trace.mainCpu;
	let most = trace.cores > 0 && cpu > 0 ? trace.cores / cpu * 1e9 : Infinity;

	if (most < floor)
		most = floor;
	if (result.rate <= most)
		return result;
	return {rate: most, stall: 1 - (1 - result.stall) * most / result.rate};
}

/* {rate: batches a second, stall: share of the time that is waiting}; see replay_run(). */
function replay(trace, setup, floor) {
	const slots = setup.workers * Math.max(1, setup.prefetch);
	let count = Math.max(trace.count, FEWEST_BATCHES);
	let dropped = slots;
	let begin = 0;
	let starved = 0;

	if (slots > MOST_SLOTS)
		return {rate: NaN, stall: NaN};
	count = setup.workers ? Math.max(count, 4 * slots) : trace.count;
	dropped = setup.workers ? slots : 0;
	const end = step(trace, setup, 0, count, (j, event) => {
		const wait = event.delivery - event.request;

		if (j === dropped)
			begin = event.request;
		if (j >= dropped && event.end > event.request && wait >= trace.theta)
			starved += wait;
	});
	if (!(end > begin))
		return {rate: NaN, stall: NaN};
	return cap(trace, setup, floor,
		   {rate: (count - dropped) / (end - begin) * 1e9, stall: starved / (end - begin)});
}

/* Three digits and a unit. */
function showTime(ns) {
	const units = [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3]];
	const [name, size] = units.find(([, least]) => ns >= least) || units[2];

	return Number((ns / size).toPrecision(3)) + " " + name;
}

function showShare(share) {
	return Number((100 * share).toPrecision(2)) + " %";
}

/* The sliders, and whoever wants to know of a change. */
function startSliders(trace, changed) {
	const slider = name => document.getElementById("s-" + name);
	const was = setupOf(trace);
	const before = replay(trace, was, Infinity);

	function read() {
		const workers = Number(slider("workers").value);

		return {workers: workers, prefetch: Number(slider("prefetch").value),
			inOrder: slider("order").checked, factor: Number(slider("load").value) / 100};
	}

	function update() {
		const setup = read();
		const after = replay(trace, setup, before.rate);
		const more = after.rate / before.rate - 1;
		const same = JSON.stringify(setup) === JSON.stringify(was);

		document.getElementById("o-workers").value = setup.workers;
		document.getElementById("o-prefetch").value = setup.prefetch;
		document.getElementById("o-load").value = Math.round(100 * setup.factor) + " %";
		document.getElementById("predicted").value = same
			? "As it was: " + after.rate.toPrecision(4) + " batches/s, waiting " +
			  showShare(after.stall) + " of the time."
			: "Predicted: " + after.rate.toPrecision(4) + " batches/s, " +
			  (more >= 0 ? "+" : "\u2212") + Math.abs(100 * more).toFixed(0) +
			  " %, waiting " + showShare(after.stall) + " of the time.";
		changed(setup);
	}

	for (const name of ["workers", "load", "prefetch", "order"])
		slider(name).addEventListener("input", update);
	document.getElementById("s-reset").addEventListener("click", () => {
		slider("workers").value = was.workers;
		slider("prefetch").value = was.prefetch;
		slider("load").value = 100;
		slider("order").checked = was.inOrder;
		update();
	});
	document.getElementById("whatif").hidden = false;
	update();
}
