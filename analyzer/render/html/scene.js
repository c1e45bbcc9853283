/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene.js - the replay as a picture that moves: workers, finished batches, the training. Two of
 * them side by side: the run as it was, and with the settings of the sliders.
 */
const MOST_EVENTS = 600; /* batches that a play goes through */
const MOST_CREW = 24;    /* workers that are drawn */
const MOST_SHELF = 18;
const MOST_PAST = 48;

function make(parent, kind, text) {
	const element = document.createElement(kind === "b" ? "b" : "div");

	element.className = kind;
	element.textContent = text || "";
	parent.append(element);
	return element;
}

/* All that happens to the batches that are played, in order of delivery. */
function record(trace, setup, first) {
	const events = [];
	const count = Math.min(MOST_EVENTS, Math.max(60, 8 * setup.workers * setup.prefetch));

	step(trace, setup, first, count, (j, event) => events.push(event));
	return events;
}

class Scene {
	constructor(id) {
		const root = document.getElementById(id);

		this.part = name => root.querySelector("." + name);
		this.events = [];
	}

	show(trace, setup, first) {
		const crew = this.part("crew");

		this.first = first;
		this.setup = setup;
		this.events = record(trace, setup, first);
		crew.replaceChildren();
		this.cells = [];
		for (let i = 0; i < Math.min(MOST_CREW, Math.max(1, setup.workers)); i++) {
			const cell = make(crew, "cell");

			this.cells.push({fill: make(cell, "fill"), text: make(cell, "text")});
		}
		if (setup.workers > MOST_CREW)
			make(crew, "more", "and " + (setup.workers - MOST_CREW) + " more workers");
		this.drawPast = -1;
	}

	end() {
		return this.events[this.events.length - 1].done;
	}

	/* The moment of the first real wait, or of the first rounds: where there is something to see. */
	moment() {
		const event = this.events.find((e, i) => i > 0 && e.delivery - e.request >
					       (e.done - e.delivery) / 2 && e.end > e.request);

		return event ? (event.request + event.delivery) / 2 : this.end() / 8;
	}

	draw(now) {
		const at = this.events.find(e => e.done > now) || this.events[this.events.length - 1];
		const number = this.events.indexOf(at);
		const busy = new Array(this.cells.length).fill(null);
		const shelf = [];

		for (const event of this.events) {
			if (event.begin > now && event.request > now)
				break;
			if (event.begin <= now && now < event.end && event.worker < busy.length)
				busy[event.worker] = event;
			if (event.end <= now && now < event.delivery && event.delivery > event.request)
				shelf.push(event);
		}
		this.cells.forEach((cell, i) => {
			const event = busy[i];
			const share = event ? (now - event.begin) / (event.end - event.begin) : 0;

			cell.fill.style.width = 100 * share + "%";
			cell.text.textContent = event ? this.first + event.number : "idle";
			cell.text.classList.toggle("idle", !event);
		});
		this.drawShelf(shelf, at, now);
		this.drawModel(at, now);
		this.drawTally(number, at, now);
	}

	drawShelf(shelf, at, now) {
		const root = this.part("shelf");

		root.replaceChildren();
		if (!this.setup.workers)
			return;
		for (const event of shelf.slice(0, MOST_SHELF))
			make(root, "b", String(this.first + event.number));
		if (shelf.length > MOST_SHELF)
			make(root, "more", "+" + (shelf.length - MOST_SHELF));
		if (!shelf.length)
			make(root, "more", "none ready");
	}

	drawModel(at, now) {
		const model = this.part("model");
		const waits = now < at.delivery;
		const share = waits ? 1 : (now - at.delivery) / (at.done - at.delivery);

		if (!model.firstChild) {
			make(model, "fill");
			make(model, "text");
		}
		model.classList.toggle("waits", waits);
		model.firstChild.style.width = 100 * Math.min(1, share) + "%";
		model.lastChild.textContent = (waits ? "waits for " : "computes ") +
					      (this.first + at.number);
	}

	drawTally(number, at, now) {
		let wait = 0;

		for (let i = 0; i < number; i++)
			wait += this.events[i].delivery - this.events[i].request;
		wait += Math.max(0, Math.min(now, at.delivery) - at.request);
		this.part("tally").textContent = number + (number === 1 ? " batch" : " batches") +
			" trained, waited " +
			showTime(wait) + (now > 0 ? ", " + showShare(Math.min(1, wait / now)) : "");
		if (this.drawPast === number)
			return;
		this.drawPast = number;
		this.drawHistory(number);
	}

	/* The last steps as bars: the wait on top of the compute, as in the first figure. */
	drawHistory(number) {
		const root = this.part("past");
		const longest = Math.max(...this.events.map(e => e.done - e.request));

		root.replaceChildren();
		for (const event of this.events.slice(Math.max(0, number - MOST_PAST), number)) {
			const bar = make(root, "bar");
			const wait = make(bar, "w");
			const compute = make(bar, "c");

			wait.style.height = 36 * (event.delivery - event.request) / longest + "px";
			compute.style.height = 36 * (event.done - event.delivery) / longest + "px";
		}
	}
}

/* Returns what is to be called when the sliders have changed. */
function startReplay(trace) {
	const get = id => document.getElementById("r-" + id);
	const scenes = [new Scene("scene-was"), new Scene("scene-new")];
	const was = setupOf(trace);
	let setup = was;
	let now = 0;
	let last = 0;
	let playing = false;

	/* As fast as a mean load takes a second and a half, times what the slider says. */
	const mean = trace.load.reduce((sum, ns) => sum + ns, 0) / trace.count;
	const rate = () => Math.max(mean, 1e5) / 1.5e9 * Math.pow(10, get("speed").value / 20);
	const end = () => Math.max(scenes[0].end(), scenes[1].end());

	function draw() {
		for (const scene of scenes)
			scene.draw(now);
		get("time").value = 1000 * now / end();
		get("now").value = showTime(now);
		get("rate").value = Number(rate().toPrecision(2)) + "\u00d7";
		get("start").value = get("from").value;
	}

	function reset() {
		const first = Number(get("from").value);

		scenes[0].show(trace, was, first);
		scenes[1].show(trace, setup, first);
		now = Math.min(now, end());
		draw();
	}

	function play(want) {
		playing = want;
		get("play").textContent = playing ? "Pause" : "Play";
		last = performance.now();
		if (playing)
			requestAnimationFrame(tick);
	}

	function tick(time) {
		if (!playing)
			return;
		now += Math.max(0, time - last) * 1e6 * rate();
		last = time;
		if (now >= end()) {
			now = end();
			play(false);
		}
		draw();
		if (playing)
			requestAnimationFrame(tick);
	}

	get("play").addEventListener("click", () => {
		if (now >= end())
			now = 0;
		play(!playing);
	});
	get("time").addEventListener("input", () => {
		now = end() * get("time").value / 1000;
		draw();
	});
	get("speed").addEventListener("input", draw);
	get("from").max = Math.max(0, trace.count - 60);
	get("from").addEventListener("input", reset);
	document.getElementById("replay").hidden = false;
	reset();
	now = scenes[0].moment();
	draw();
	return changed => {
		setup = changed;
		reset();
	};
}

if (data.trace) {
	const trace = unpackTrace(data.trace);
	const changed = startReplay(trace);

	startSliders(trace, changed);
}
