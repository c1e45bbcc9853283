/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame.js - draws stack samples as flame graphs, callers above. A line is as wide as the time that
 * its samples stand for. A click, or Enter, shows a line at full width; arrows go to callers,
 * callees and neighbours; Escape shows all again. Lines that contain the words searched for are
 * marked, and their time is summed.
 */
const FLAME_ROW = 21;
const FLAME_LEAST = 0.0015; /* share of the width below which a line is not drawn */

/* Makes a tree: equal callers of a group's stacks become one node. */
function flameTree(group) {
	const root = {frame: -1, ns: group.ns, parts: new Map(), up: null, depth: 0};

	for (const [ns, ...frames] of group.stacks) {
		let node = root;

		for (const frame of frames) {
			if (!node.parts.has(frame))
				node.parts.set(frame, {frame: frame, ns: 0, parts: new Map(), up: node,
						       depth: node.depth + 1});
			node = node.parts.get(frame);
			node.ns += ns;
		}
	}
	return root;
}

class Flame {
	constructor(parent, group, frames) {
		make(parent, "flame-title",
		     `${group.name}, ${group.samples.toLocaleString("en")} samples`);
		const find = make(parent, "flame-find");
		const label = document.createElement("label");

		this.frames = frames;
		this.group = group;
		this.root = flameTree(group);
		this.words = document.createElement("input");
		this.found = document.createElement("output");
		this.found.setAttribute("aria-live", "polite");
		label.append("Find ", this.words);
		find.append(label, this.found);
		this.area = make(parent, "flame");
		this.area.setAttribute("role", "group");
		this.area.setAttribute("aria-label", group.name + ": lines of code by time");
		const say = make(parent, "say", "Click or Enter zooms, arrows move, Escape shows all.");
		const on = (kind, act) => this.area.addEventListener(kind, event =>
			this.nodes.has(event.target) && act(this.nodes.get(event.target), event));

		on("click", node => this.draw(node, true));
		on("pointerover", node => { say.textContent = this.about(node); });
		on("focusin", node => { say.textContent = this.about(node); });
		on("keydown", (node, event) => this.press(node, event));
		this.words.addEventListener("input", () => this.mark());
		this.draw(this.root, false);
	}

	name(node) {
		return node.up ? this.frames[node.frame].slice(0, 2).join(", ") : this.group.name;
	}

	about(node) {
		return `${this.name(node)}: ${showShare(node.ns / this.root.ns)} of all, ${showTime(node.ns)}`;
	}

	/* Draws a node, its callers, and all that it calls. `takes`: the node gets the focus. */
	draw(top, takes) {
		this.nodes = new Map();
		this.area.replaceChildren();
		this.deepest = 0;
		for (let node = top.up; node; node = node.up)
			this.put(node, 0, 1);
		this.fill(top, 0, 1);
		this.area.style.height = (this.deepest + 1) * FLAME_ROW + "px";
		this.go(top, takes);
		this.mark();
	}

	/* Draws a node and all that it calls, from left to right by time. */
	fill(node, left, width) {
		this.put(node, left, width);
		for (const part of Array.from(node.parts.values()).sort((a, b) => b.ns - a.ns)) {
			const share = node.ns > 0 ? width * part.ns / node.ns : 0;

			if (share < FLAME_LEAST)
				break;
			this.fill(part, left, share);
			left += share;
		}
	}

	put(node, left, width) {
		const button = document.createElement("button");

		this.area.append(button);
		button.textContent = this.name(node);
		button.type = "button";
		button.className = node.up && this.frames[node.frame][2] ? "own" : "";
		button.title = this.about(node);
		button.tabIndex = -1;
		button.style.top = node.depth * FLAME_ROW + "px";
		button.style.left = 100 * left + "%";
		button.style.width = 100 * width + "%";
		this.nodes.set(button, node);
		this.deepest = Math.max(this.deepest, node.depth);
	}

	/* Makes `node` the one at which the Tab key stops. */
	go(node, takes) {
		for (const [button, one] of this.nodes) {
			button.tabIndex = one === node ? 0 : -1;
			if (one === node && takes)
				button.focus();
		}
	}

	press(node, event) {
		const drawn = new Set(this.nodes.values());
		const of = parts => Array.from(parts).filter(one => drawn.has(one)).sort((a, b) => b.ns - a.ns);
		const row = node.up ? of(node.up.parts.values()) : [node];
		const next = {ArrowUp: node.up, ArrowDown: of(node.parts.values())[0],
			      ArrowLeft: row[row.indexOf(node) - 1],
			      ArrowRight: row[row.indexOf(node) + 1]}[event.key];

		if (event.key === "Escape")
			this.draw(this.root, true);
		if (event.key.startsWith("Arrow"))
			event.preventDefault();
		if (next)
			this.go(next, true);
	}

	/* Marks lines with the words, and sums their stacks' time, in which each counts once. */
	mark() {
		const words = this.words.value.trim().toLowerCase();
		const hits = node => words && node.up && this.name(node).toLowerCase().includes(words);
		const sum = node => hits(node) ? node.ns
			: Array.from(node.parts.values()).reduce((all, part) => all + sum(part), 0);

		for (const [button, node] of this.nodes)
			button.classList.toggle("hit", Boolean(hits(node)));
		this.found.value = words ? `${showShare(sum(this.root) / this.root.ns)} of the time` : "";
	}
}

if (data.flames && document.getElementById("flames")) {
	const place = document.getElementById("flames");

	for (const group of data.flames.groups)
		new Flame(place, group, data.flames.frames);
	place.hidden = !data.flames.groups.length;
}
