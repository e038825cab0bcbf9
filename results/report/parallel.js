"use strict";
// Parallel coordinates: a line a trial, an axis a gene and one for the fitness; brushes on the axes choose trials.

const parallelTop = 120, parallelHeight = 250, parallelBottom = 18, parallelLeft = 30, parallelRight = 120;
/** Of a long name its end tells it from others. */
const shortName = (name, most = 20) => (name.length > most ? `…${name.slice(1 - most)}` : name);

/** The axes: fitness, then the genes, those that matter first. Each says where a trial stands, in [0, 1] or null. */
function axesOf(view) {
  const rank = new Map((view.importance?.genes ?? []).map((gene, i) => [gene.name, i]));
  const rankOf = (gene) => rank.get(gene.name) ?? rank.size;  // of a gene that never varied nothing is known
  const genes = [...view.genes].sort((a, b) => rankOf(a) - rankOf(b));
  const [low, high] = rangeOf(view.trials.map((trial) => trial.fitness ?? NaN), 0);
  const fitness = { key: "fitness", name: "fitness", ends: view.trials.some((trial) => trial.fitness !== null) ? [fitnessText(low), fitnessText(high)] : ["–", "–"],
    at: (trial) => (trial.fitness === null ? null : (trial.fitness - low) / (high - low || 1)) };
  return [fitness, ...genes.map((gene) => ({
    key: `gene ${gene.name}`,  // its name may be "fitness"
    name: gene.name,
    ends: gene.choices ? [gene.choices[0], gene.choices.at(-1)].map((name) => shortName(name, 12)) : [number(gene.low), number(gene.high)],
    at: (trial) => toUnit(gene, trial.genes[gene.name]),
  }))];
}

/** Whether a trial is inside all brushes ({an axis' key: [low, high]}, in [0, 1]). */
function inside(axes, brushes, trial) {
  return axes.every((axis) => {
    if (!Object.hasOwn(brushes, axis.key)) return true;
    const brush = brushes[axis.key], at = axis.at(trial);
    return at !== null && brush[0] <= at && at <= brush[1];
  });
}

/** From blue (worst) over green to yellow (best), readable on either ground. */
function fitnessColour(share) {
  return `hsl(${250 - 200 * share} ${55 + 25 * share}% ${54 - 4 * share}%)`;
}

/** Draws into #parallel-chart. `brushed(brushes)` is called when they change. */
function drawParallel(view, brushes, brushed) {
  show("parallel", view.trials.length > 0);
  if (!view.trials.length) return;
  const host = byId("parallel-chart");
  const axes = axesOf(view);
  const width = Math.max(host.parentElement.clientWidth, axes.length * 36 + parallelRight);
  const height = parallelTop + parallelHeight + parallelBottom;
  const xOf = (i) => parallelLeft + (i * (width - parallelLeft - parallelRight)) / Math.max(1, axes.length - 1);
  const canvas = element("canvas", { width: width * devicePixelRatio, height: height * devicePixelRatio,
    style: `width: ${width}px; height: ${height}px` });
  host.style.width = `${width}px`;
  host.replaceChildren(canvas, ...axes.map((axis, i) => axisOf(axis, xOf(i), brushes, brushed)));
  drawLines(canvas.getContext("2d"), view, axes, brushes, xOf);
}

/** How a trial's line is drawn; `share`: the place of its fitness among all, in [0, 1], where it has one. */
function lineStyle(trial, share) {
  if (trial.state === "failed") return { stroke: colour("failed"), dash: [3, 3] };
  return { stroke: share === undefined ? colour(trial.state) : fitnessColour(share), dash: [] };
}

function drawLines(ctx, view, axes, brushes, xOf) {
  ctx.scale(devicePixelRatio, devicePixelRatio);
  const yOf = (share) => parallelTop + parallelHeight * (1 - share);
  const [fitness] = axes;
  // The best ones last: they lie on top.
  const trials = [...view.trials].sort((a, b) => (fitness.at(a) ?? -1) - (fitness.at(b) ?? -1));
  const ranked = trials.filter((trial) => trial.fitness !== null);
  const first = new Map();  // equal fitnesses have one place
  ranked.forEach((trial, i) => { if (!first.has(trial.fitness)) first.set(trial.fitness, i); });
  const shares = new Map(ranked.map((trial) => [trial, first.get(trial.fitness) / Math.max(1, ranked.length - 1)]));
  const draw = (trial) => {
    ctx.beginPath();
    let begun = false;
    axes.forEach((axis, i) => {
      const at = axis.at(trial);
      if (at === null) return;
      if (begun) ctx.lineTo(xOf(i), yOf(at)); else ctx.moveTo(xOf(i), yOf(at));
      begun = true;
    });
    ctx.stroke();
  };
  const chosen = trials.filter((trial) => inside(axes, brushes, trial));
  ctx.lineWidth = 1;
  ctx.strokeStyle = colour("faint");
  if (chosen.length < trials.length) trials.forEach(draw);
  ctx.globalAlpha = Math.max(0.12, Math.min(0.9, 60 / chosen.length));
  for (const trial of chosen) {
    const { stroke, dash } = lineStyle(trial, shares.get(trial));
    ctx.strokeStyle = stroke;
    ctx.setLineDash(dash);
    draw(trial);
  }
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colour("best");
  ctx.lineWidth = 2.4;
  if (view.recommendedTrial && chosen.includes(view.recommendedTrial)) draw(view.recommendedTrial);
  ctx.strokeStyle = colour("soft");
  ctx.lineWidth = 1;
  axes.forEach((_, i) => line(ctx, [[xOf(i), yOf(0)], [xOf(i), yOf(1)]], 1));
}

/** An axis that can be brushed, with its name and ends. */
function axisOf(axis, x, brushes, brushed) {
  const node = element("div", { class: "axis", "data-axis": axis.key, title: axis.name,
    style: `left: ${x}px; top: ${parallelTop}px; height: ${parallelHeight}px` });
  node.append(element("span", { class: "name" }, shortName(axis.name)), element("span", { class: "end", style: "top: -15px" }, axis.ends[1]),
    element("span", { class: "end", style: "bottom: -15px" }, axis.ends[0]));
  const mark = element("div", { class: "brush" });
  const place = ([low, high]) => {
    mark.style.bottom = `${100 * low}%`;
    mark.style.height = `${100 * (high - low)}%`;
    node.append(mark);
  };
  if (Object.hasOwn(brushes, axis.key)) place(brushes[axis.key]);
  const shareAt = (event) => {
    const box = node.getBoundingClientRect();
    return Math.min(1, Math.max(0, (box.bottom - event.clientY) / box.height));
  };
  node.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    node.setPointerCapture(event.pointerId);
    const from = shareAt(event), fromY = event.clientY;
    let to = from;
    const move = (moved) => {
      to = shareAt(moved);
      place([Math.min(from, to), Math.max(from, to)]);
    };
    const up = (last) => {
      node.removeEventListener("pointermove", move);
      const rest = { ...brushes };
      delete rest[axis.key];
      const dragged = last.type === "pointerup" && Math.abs(last.clientY - fromY) > 3;
      brushed(dragged ? { ...rest, [axis.key]: [Math.min(from, to), Math.max(from, to)] } : rest);
    };
    node.addEventListener("pointermove", move);
    node.addEventListener("pointerup", up, { once: true });
    node.addEventListener("pointercancel", up, { once: true });
  });
  return node;
}
