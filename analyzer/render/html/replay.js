/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.js - the run's loads and steps through another loader: analysis/predict/replay.c once more, on the
 * same batches. Times are nanoseconds. What it predicts must be what dlprof-report says.
 */
"use strict";

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
					  lag: unpack(packed.lag), latency: unpack(packed.latency),
					  handover: unpack(packed.handover),
					  most: known(packed.most), mostSteps: known(packed.mostSteps)});
}

/* What the run was. */
function setupOf(trace) {
	return {workers: trace.workers, prefetch: trace.prefetch, inOrder: trace.inOrder, factor: 1};
}

function loadOf(trace, setup, number, ordinal, worker) {
	const ns = trace.load[number] * setup.factor;
	const slow = trace.byIndex ? ordinal % trace.workers : worker;

	return slow < trace.factors.length ? ns * trace.factors[slow] : ns;
}

/* See analysis/predict/replay.c for all: what was not there to be measured is taken from elsewhere. */
const FORK = 8e6;
const BOOT = 1e7;
const FIRST_END = 2.5;
const PASS = 3e5;

function startsOthers(trace, setup, epoch) {
	return setup.workers !== trace.workers && (!epoch || trace.restarts);
}

function readyOf(trace, setup, epoch, worker) {
	const [, setupTime, start, , boot] = trace.epochs[epoch];
	const fork = trace.workers ? setupTime / trace.workers : FORK;
	const last = !trace.workers ? BOOT : boot === null ? start : boot;

	return Math.max(0, last - fork * (setup.workers - worker - 1));
}

function lagOf(trace, setup, number, epoch, ordinal) {
	if (startsOthers(trace, setup, epoch)) {
		if (ordinal < setup.workers)
			return readyOf(trace, setup, epoch, ordinal) - readyOf(trace, setup, epoch, 0);
		if (ordinal < trace.workers)
			return trace.usualLag;
	}
	return trace.lag[number];
}

/* What of asking for descriptors is gone. */
function fetchGone(trace, setup) {
	return trace.fetchWaits ? 1 - setup.factor : 0;
}

function handoverOf(trace, setup, number) {
	const ns = trace.handover[number];
	const sample = Math.min(trace.sample, ns);
	const fetch = Math.min(trace.fetch, ns - sample);

	if (!setup.workers)
		return trace.workers ? sample : ns;
	return trace.workers ? ns - fetch * fetchGone(trace, setup) : sample + PASS;
}

function latencyOf(trace, setup, number) {
	const ns = trace.latency[number];
	const asked = Math.max(0, trace.fetch + trace.sample - trace.handover[number]);

	if (!setup.workers)
		return 0;
	return trace.workers ? ns - Math.min(asked, ns) * fetchGone(trace, setup) : PASS;
}

function epochOf(trace, setup, number) {
	const [begin, setupTime, firstStart, stop] = trace.epochs[number];
	const isScaled = trace.workers && trace.restarts;
	const start = startsOthers(trace, setup, number) ? readyOf(trace, setup, number, 0)
		: firstStart;

	if (!setup.workers && trace.workers)
		return {begin: begin, setup: 0, start: 0, stop: 0};
	if (setup.workers && !trace.workers)
		return {begin: begin, setup: setupTime + FORK * setup.workers, start: start,
			stop: stop};
	if (!isScaled)
		return {begin: begin, setup: setupTime, start: start, stop: stop};
	return {begin: begin, setup: setupTime * setup.workers / trace.workers, start: start,
		stop: stop * (setup.workers + FIRST_END) / (trace.workers + FIRST_END)};
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
	let given, request = 0, next, begun, end, epoch = 0;

	function dispatch(worker, now) {
		if (next >= end)
			return;
		const lag = lagOf(trace, setup, next, epoch, next - begun);
		const begin = Math.max(free[worker], now) + lag;

		free[worker] = begin + loadOf(trace, setup, next, next - begun, worker);
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

	function startEpoch(from, times) {
		request += times.setup;
		begun = next = from;
		end = epoch + 1 < trace.epochs.length ? trace.epochs[epoch + 1][0] : trace.count;
		free.fill(request + times.start);
		delivered.fill(request);
		given = [];
		if (workers && !setup.inOrder)
			for (let j = 0; j < slots; j++)
				dispatch(j % workers, request);
	}

	while (epoch + 1 < trace.epochs.length && trace.epochs[epoch + 1][0] <= first)
		epoch++;
	startEpoch(first, trace.epochs[epoch][0] === first ? epochOf(trace, setup, epoch)
		: {setup: 0, start: 0});
	for (let j = 0; j < count && first + j < trace.count; j++) {
		const number = first + j;
		let event;

		if (number === end) {
			request += epochOf(trace, setup, epoch++).stop;
			startEpoch(number, epochOf(trace, setup, epoch));
		}
		const ordinal = number - begun;
		if (!workers) {
			event = {number: j, worker: 0, begin: request,
				 end: request + loadOf(trace, setup, number, ordinal, Infinity)};
		} else if (setup.inOrder) {
			const worker = ordinal % workers;
			const begin = Math.max(free[worker], delivered[ordinal % slots]) +
				lagOf(trace, setup, number, epoch, ordinal);

			free[worker] = begin + loadOf(trace, setup, number, ordinal, worker);
			event = {number: j, worker: worker, begin: begin, end: free[worker]};
		} else {
			event = takeFirst();
			event.number -= first;
		}
		event.request = request;
		event.delivery = Math.max(request, event.end + latencyOf(trace, setup, number)) +
			handoverOf(trace, setup, number);
		request = event.delivery;
		if (workers && setup.inOrder)
			delivered[ordinal % slots] = request;
		else if (workers)
			dispatch(event.worker, request);
		request += trace.compute[number];
		event.done = request;
		see(j, event);
	}
	return request;
}

/* Not faster than the cores allow, but not slower than was seen to be possible. */
function cap(trace, setup, floor, result) {
	const steps = 1 / trace.mostSteps || 0;
	const most = Math.max(floor, 1 / (setup.factor * ((1 / trace.most || 0) - steps) + steps));

	if (!(result.rate > most))
		return result;
	return {rate: most, stall: 1 - (1 - result.stall) * most / result.rate};
}

/* {rate: batches a second, stall: share of the time that is waiting}; see replay_run(). */
function replay(trace, setup, floor) {
	let begin = 0;
	let steps = 0;

	if (setup.workers * Math.max(1, setup.prefetch) > MOST_SLOTS)
		return {rate: NaN, stall: NaN};
	const end = step(trace, setup, 0, trace.count, (j, event) => {
		if (j === 0)
			begin = event.delivery;
		steps += event.done - event.delivery;
	});
	if (!(end > begin))
		return {rate: NaN, stall: NaN};
	return cap(trace, setup, floor,
		   {rate: trace.count / (end - begin) * 1e9, stall: 1 - steps / (end - begin)});
}

/*
 * What the report says of it: from the run as it was measured, and with what passes between epochs.
 * A batch's time that is gone was waiting; see whatif.c.
 */
function told(trace, before, after) {
	const was = trace.was;
	const own = after.rate * was.own / before.rate;
	const ceiling = was.ceiling === null ? Infinity : was.ceiling;
	const rate = Math.min(1 / (1 / own + was.outside / 1e9), ceiling);

	return {rate: rate, stall: Math.max(0, 1 - (1 - was.stall) * rate / was.rate)};
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
		const after = told(trace, before, replay(trace, setup, before.rate));
		const more = after.rate / trace.was.rate - 1;
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
