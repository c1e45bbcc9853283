/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sliders.js - shows what dlprof-report predicts for the settings of the sliders. A slider goes
 * through the values of data.grid, which has all predictions; none is made here.
 */
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);

/* Unpacks a column of times in ns, as packed by data.c; NaN: not known. */
function unpack(text) {
	const bytes = atob(text);
	const values = new Float64Array(bytes.length >> 1);

	for (let i = 0; i < values.length; i++) {
		const packed = bytes.charCodeAt(2 * i) | bytes.charCodeAt(2 * i + 1) << 8;

		values[i] = packed === 65535 ? NaN : (Math.pow(2, packed / 1500) - 1) * 1e3;
	}
	return values;
}

function make(parent, className, text) {
	const element = document.createElement("div");

	element.className = className;
	element.textContent = text || "";
	parent.append(element);
	return element;
}

/* Returns a time with three digits and a unit. */
function showTime(ns) {
	const units = [["s", 1e9], ["ms", 1e6], ["us", 1e3]];
	const [name, size] = units.find(([, least]) => ns >= least) || units[2];

	return Number((ns / size).toPrecision(3)) + " " + name;
}

function showShare(share) {
	return Number((100 * share).toPrecision(2)) + " %";
}

function startSliders(grid) {
	const slider = name => document.getElementById("s-" + name);
	const names = ["workers", "prefetch", "load"];
	const pointAt = places => [grid.workers, grid.prefetch, grid.load, grid.inOrder].reduce(
		(at, values, i) => at * values.length + places[i], 0);
	const was = pointAt([...grid.was, 0]);

	function update() {
		const places = names.map(name => Number(slider(name).value));
		const point = pointAt([...places, grid.inOrder.indexOf(slider("order").checked)]);
		const rate = grid.rate[point], more = rate / grid.rate[was] - 1;
		const begin = point === was ? "As it was: " : "Predicted: ";
		const gain = point === was ? "" :
			`${more >= 0 ? "+" : "\u2212"}${Math.abs(100 * more).toFixed(0)} %, `;

		document.getElementById("o-workers").value = grid.workers[places[0]];
		document.getElementById("o-prefetch").value = grid.prefetch[places[1]];
		document.getElementById("o-load").value = 100 * grid.load[places[2]] + " %";
		document.getElementById("predicted").value = rate === null ? "This cannot be told." :
			`${begin}${rate.toPrecision(4)} batches/s, ${gain}waiting ` +
			`${showShare(grid.stall[point])} of the time.`;
	}

	for (const name of [...names, "order"])
		slider(name).addEventListener("input", update);
	document.getElementById("s-reset").addEventListener("click", () => {
		names.forEach((name, i) => { slider(name).value = grid.was[i]; });
		slider("order").checked = grid.inOrder[0];
		update();
	});
	document.getElementById("whatif").hidden = false;
	update();
}

if (data.grid)
	startSliders(data.grid);
