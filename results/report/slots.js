"use strict";
// Trainings over slots and time: a bar for what a slot has done without a break.

const barStates = ["completed", "stopped", "paused", "failed", "running", "interrupted"];

/** The bars with the lane of each: a slot has as many lanes as it had trainings at a time. */
function lanesOf(view) {
  const slots = [...new Set([...view.slots, ...view.trainings.map((one) => one.device)])];
  const lanes = [], bars = [];
  for (const slot of slots) {
    const free = [];
    for (const one of view.trainings) {  // in the order in which they began
      if (one.device !== slot) continue;
      let lane = free.findIndex((until) => until <= one.begin + 1e-3);
      if (lane < 0) lane = free.length;
      free[lane] = one.end;
      bars.push({ ...one, lane: lanes.length + lane });
    }
    for (let lane = 0; lane < Math.max(1, free.length); ++lane) lanes.push(lane === 0 ? slot : "");
  }
  // The first slot on top.
  for (const bar of bars) bar.lane = lanes.length - 1 - bar.lane;
  lanes.reverse();
  return { lanes, bars };
}

function drawSlots(view, chosen) {
  show("slots", view.trainings.length > 0);
  if (!view.trainings.length) return;
  const { lanes, bars } = lanesOf(view);
  const [unit, name] = unitOf(view.duration);
  const end = Math.max(view.duration / unit, 1e-3);
  for (const bar of bars) {
    bar.left = bar.begin / unit;
    bar.right = bar.end / unit;
  }
  const what = [name, ...(view.timed ? [] : ["of training (this journal has no times)"]), ...breaksText(view)].join(" ");
  byId("slots-box").classList.toggle("tall", lanes.length > 60);
  const longest = Math.max(...lanes.map((lane) => lane.length), 3);
  chart(byId("slots-chart"), {
    height: 58 + Math.max(lanes.length, 2) * Math.max(12, Math.min(30, 420 / lanes.length)),
    x: { label: what, range: [0, end], text: tickText },
    y: { range: [-0.5, lanes.length - 0.5], splits: () => lanes.map((_, i) => i), text: (i) => shortName(lanes[i] ?? "", 19),
         size: Math.min(160, 14 + 7.5 * longest) },
    marks: (ctx, at) => bars.forEach((bar) => markBar(ctx, at, bar, chosen(view.byNumber.get(bar.trial)))),
    hover: (x, y) => {
      const bar = bars.find((one) => one.lane === Math.round(y) && one.left <= x && x <= one.right);
      return bar && barText(bar);
    },
  });
  const key = byId("slots-key");
  key.replaceChildren(element("span", {}, "stretches of training by how they ended:"), ...barStates.filter((state) => bars.some((bar) => bar.state === state)).flatMap((state) => [
    element("span", {}, element("i", { class: "dot", style: `background: var(--${state})` }),
      `${state} ${bars.filter((bar) => bar.state === state).length}`)]));
  const repeats = new Set(bars.filter((bar) => bar.repeat).map((bar) => `${bar.trial} ${bar.repeat}`)).size;
  if (repeats) key.append(element("span", {}, `hollow: ${counted(repeats, "repeat")} among these`));
}

function barText(bar) {
  const what = bar.repeat ? `repeat ${bar.repeat} of trial ${bar.trial}` : `trial ${bar.trial}`;
  const epochs = bar.end_epoch > bar.start_epoch ? `\nepochs ${bar.start_epoch + 1} to ${bar.end_epoch}` : "";
  return `${what}, ${bar.state}\n${bar.device}, ${duration(bar.end - bar.begin)} from ${duration(bar.begin)} on${epochs}`;
}

/** Failed bars have a full-height mark where they end, repeats a hollow middle: not told apart by colour alone. */
function markBar(ctx, at, bar, chosen) {
  const left = at.x(bar.left), right = Math.max(at.x(bar.right) - 0.5 * at.dot, left + at.dot);
  if (right < at.box.left || left > at.box.left + at.box.width) return;
  const half = Math.abs(at.y(1) - at.y(0)) * 0.38, middle = at.y(bar.lane);
  ctx.globalAlpha = chosen ? 1 : 0.15;
  ctx.fillStyle = colour(bar.state);
  const low = bar.state === "paused" || bar.state === "stopped" ? 0.55 : 1;
  ctx.fillRect(left, middle - half * low, right - left, 2 * half * low);
  if (bar.state === "failed") ctx.fillRect(right - 2 * at.dot, middle - half * 1.25, 2 * at.dot, half * 2.5);
  if (bar.repeat) {
    ctx.fillStyle = colour("card");
    ctx.fillRect(left + at.dot, middle - half * 0.3, right - left - 2 * at.dot, half * 0.6);
  }
  ctx.globalAlpha = 1;
}
