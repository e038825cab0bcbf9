"use strict";
// Charts with axes: uPlot has the axes, the grid and the zoom (drag; a double click undoes it), and the marks
// are drawn into it.

/** By host: its plot, and the observer of its width. The browser keeps both alive until they are told to end. */
const charts = new Map();

/** Ends the chart in a host, and those whose hosts have left the page. */
function endCharts(host) {
  for (const [place, { plot, observer }] of charts) {
    if (place !== host && place.isConnected) continue;
    observer.disconnect();
    plot.destroy();
    charts.delete(place);
  }
}

/**
 * A chart in `host`, in place of the one that is there. `x` and `y`: {label, range: [low, high], text: (value, step between ticks) → string,
 * whole: no ticks between whole numbers, size}. `marks(u, at)` draws; `at.x` and `at.y` turn values
 * into pixels of the canvas, `at.dot` is one CSS pixel. `hover(x, y, near)` gives the text for the place that is pointed at;
 * `near(x, y)` is its distance in CSS pixels.
 */
function chart(host, { height, x, y, marks, hover, series = [{}], data }) {
  endCharts(host);
  const axis = (of) => ({
    stroke: colour("soft"), grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("line"), width: 1 },
    label: of.label, labelSize: 18, labelFont: "12px system-ui", font: "12px system-ui", size: of.size ?? (of === x ? 32 : 56),
    gap: 4, labelGap: 0, splits: of.splits, incrs: of.whole && wholeSteps,
    values: of.text && ((u, values, place, space, step) => values.map((value) => of.text(value, step))),
  });
  const dot = devicePixelRatio;
  const plot = new uPlot({
    width: host.clientWidth, height, padding: [8, 10, 0, 0], legend: { show: false },
    cursor: { points: data ? {} : { show: false }, y: false, drag: { x: true, y: false, dist: 6 } },
    scales: { x: { time: false, range: (u, low, high) => (low === null || data ? spread(low, high, x.range) : [low, high]) },
              y: { range: y.range && (() => y.range) } },
    axes: [axis(x), axis(y)],
    series: [{}, ...series],
    hooks: { draw: [(u) => {
      if (!marks) return;
      const { ctx, bbox } = u;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      marks(ctx, { x: (v) => u.valToPos(v, "x", true), y: (v) => u.valToPos(v, "y", true), dot, box: bbox,
                   shown: [u.scales.x.min, u.scales.x.max] });
      ctx.restore();
    }] },
  }, data ?? [x.range, [null, null]], host);
  plot.over.addEventListener("pointermove", (event) => {
    const { left, top } = plot.over.getBoundingClientRect();
    const px = event.clientX - left, py = event.clientY - top;
    const near = (vx, vy) => Math.hypot(plot.valToPos(vx, "x") - px, plot.valToPos(vy, "y") - py);
    tell(hover && hover(plot.posToVal(px, "x"), plot.posToVal(py, "y"), near), event);
  });
  plot.over.addEventListener("pointerleave", () => tell(""));
  const observer = new ResizeObserver(() => {
    if (host.clientWidth && host.clientWidth !== plot.width) plot.setSize({ width: host.clientWidth, height });
  });
  observer.observe(host);
  charts.set(host, { plot, observer });
}

const wholeSteps = [1, 2, 5].flatMap((n) => [1, 10, 100, 1e3, 1e4, 1e5, 1e6].map((m) => n * m)).sort((a, b) => a - b);
const spread = (low, high, range) => (low === null ? range : low === high ? [low - 1, high + 1] : [low, high]);

/** A little room around values. */
function rangeOf(values, room = 0.05) {
  const finite = values.filter(Number.isFinite);
  if (!finite.length) return [0, 1];
  const low = finite.reduce((a, b) => Math.min(a, b)), high = finite.reduce((a, b) => Math.max(a, b));
  const more = high > low ? (high - low) * room : Math.abs(high) * 0.1 || 1;
  return [low - more, high + more];
}

/** The item nearest to the pointer, at most `reach` CSS pixels away. */
function nearest(items, distance, reach = 14) {
  let best = null, least = reach;
  for (const item of items) {
    const d = distance(item);
    if (d < least) [best, least] = [item, d];
  }
  return best;
}

const progressAxes = { trials: "trials that ended", epochs: "epochs trained", time: "time" };

/** Fitness of the trials, the highest so far, and what is expected of the recommended set: all runs. */
function drawProgress(views, over) {
  const results = views.flatMap((view) => view.results);
  show("progress", results.length > 0);
  if (!results.length) return;
  const expected = views.map((view) => view.recommended?.expected).filter(Boolean);
  const values = results.map((one) => one.fitness).sort((a, b) => a - b);
  // A few that learnt nothing would press the rest together: it has half of the height at least.
  const tenth = values[Math.floor(values.length * 0.1)];
  const shown = values.filter((value) => value >= tenth - (values.at(-1) - tenth));
  const range = rangeOf([...shown, ...expected.flatMap(({ low, high }) => [low, high])]);
  const below = results.filter((one) => one.fitness < range[0]).length;
  byId("progress-below").textContent = below ? `▾ ${counted(below, "trial")} below the axis` : "";
  const most = results.reduce((end, one) => Math.max(end, one[over]), 0);
  const [unit, label] = over === "time" ? unitOf(most) : [1, progressAxes[over]];
  chart(byId("progress-chart"), {
    height: 330,
    x: { label, range: [0, (most / unit) * 1.02 || 1], text: tickText, whole: over !== "time" },
    y: { label: "fitness", range, text: tickText },
    marks: (ctx, at) => views.forEach((view) =>
      markProgress(ctx, { ...at, x: (value) => at.x(value / unit) }, view, over, views.length > 1)),
    hover: (x, y, near) => {
      const one = nearest(results, (each) => near(each[over] / unit, Math.max(each.fitness, range[0])));  // ▾ is on the axis
      return one && trialText(one.trial);
    },
  });
}

function markProgress(ctx, at, view, over, several) {
  const main = several ? colourOf(view) : colour("accent");
  const { box, dot } = at;
  const expected = view.recommended?.expected;
  if (expected) {
    ctx.fillStyle = several ? `${main}22` : colour("band");
    ctx.fillRect(box.left, at.y(expected.high), box.width, at.y(expected.low) - at.y(expected.high));
    ctx.strokeStyle = main;
    ctx.setLineDash([6 * dot, 4 * dot]);
    line(ctx, [[box.left, at.y(expected.mean)], [box.left + box.width, at.y(expected.mean)]], dot);
    ctx.setLineDash([]);
  }
  for (const { trial, fitness, [over]: x } of view.results) {
    const completed = trial.state === "completed";
    const lowest = box.top + box.height;
    ctx.beginPath();
    if (at.y(fitness) > lowest) pointDown(ctx, at.x(x), lowest, 4 * dot);
    else ctx.arc(at.x(x), at.y(fitness), 2.6 * dot, 0, 2 * Math.PI);
    ctx.fillStyle = several ? `${main}88` : colour("completed");
    ctx.strokeStyle = colour("stopped");
    ctx.lineWidth = 1.3 * dot;
    if (completed) ctx.fill(); else ctx.stroke();
  }
  const steps = [];
  for (const { best, [over]: x } of view.results) {
    if (!Number.isFinite(best)) continue;
    if (steps.length) steps.push([at.x(x), steps.at(-1)[1]]);
    steps.push([at.x(x), at.y(best)]);
  }
  ctx.strokeStyle = several ? main : colour("best");
  line(ctx, steps, 2 * dot);
}

/** The path of a small triangle that stands on its tip. */
function pointDown(ctx, x, y, size) {
  ctx.moveTo(x, y);
  ctx.lineTo(x - size * 0.7, y - size);
  ctx.lineTo(x + size * 0.7, y - size);
  ctx.closePath();
}

function line(ctx, points, width) {
  ctx.lineWidth = width;
  ctx.beginPath();
  points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.stroke();
}

/** Fitness after the epochs that the journal has, a line a trial; those that are chosen stand out. */
function drawCurves(view, chosen) {
  const trials = view.trials.filter((trial) => trial.curve.length);
  show("curves", trials.length > 0);
  if (!trials.length) return;
  // What matters most comes last, on top.
  const rank = (trial) => chosen(trial) + (trial === view.recommendedTrial);
  const ordered = [...trials].sort((a, b) => rank(a) - rank(b));
  const values = trials.flatMap((trial) => trial.curve.map((point) => point[1]));
  const points = trials.flatMap((trial) => trial.curve.map(([epoch, fitness]) => ({ trial, epoch, fitness })));
  chart(byId("curves-chart"), {
    height: 280,
    x: { label: "epoch", range: [0, view.epochs * 1.03], text: tickText, whole: true },
    y: { label: "fitness", range: rangeOf(values), text: tickText },
    marks: (ctx, at) => ordered.forEach((trial) => {
      const best = trial === view.recommendedTrial;
      ctx.strokeStyle = ctx.fillStyle = colour(!chosen(trial) ? "faint" : best ? "best" : trial.state);
      ctx.globalAlpha = best ? 1 : Math.max(0.15, Math.min(0.8, 60 / trials.length));
      line(ctx, trial.curve.map(([epoch, fitness]) => [at.x(epoch), at.y(fitness)]), (best ? 2.4 : 1.1) * at.dot);
      const [epoch, fitness] = trial.curve.at(-1);
      ctx.beginPath();
      ctx.arc(at.x(epoch), at.y(fitness), (best ? 4 : 2.2) * at.dot, 0, 2 * Math.PI);
      ctx.fill();
    }),
    hover: (x, y, near) => {
      const point = nearest(points, (each) => near(each.epoch, each.fitness));
      return point && `trial ${point.trial.trial}: ${fitnessText(point.fitness)} after epoch ${point.epoch}, ${point.trial.state}`;
    },
  });
}

const deviceCharts = [
  ["memory used, GB", (row) => row.memory_total_bytes !== null && row.memory_free_bytes !== null
    ? (row.memory_total_bytes - row.memory_free_bytes) / 1e9 : null, (rows) => [0, Math.max(...rows.map((row) => row.memory_total_bytes / 1e9))]],
  ["load, %", (row) => row.load_percent, () => [0, 105]],
  ["temperature, °C", (row) => row.temperature_celsius],
  ["power, W", (row) => row.power_watts],
];

/** What the devices' drivers said, where they said anything. */
function drawDevices(view) {
  show("devices", Object.keys(view.devices).length > 0 || view.device_events.length > 0);
  const host = byId("device-charts");
  host.replaceChildren();
  for (const [device, columns] of Object.entries(view.devices)) {
    const rows = rowsOf(columns);
    const block = element("div", { class: "device" }, element("h3", {}, device));
    host.append(block);
    for (const [label, valueOf, range] of deviceCharts) {
      const values = rows.map(valueOf);
      if (values.every((value) => value === null)) continue;
      const place = element("div", { class: "chart" });
      block.append(place);
      const [unit, name] = unitOf(view.duration);
      const times = rows.map((row) => row.time / unit);
      chart(place, {
        height: 150, data: [times, values],
        series: [{ stroke: colour("accent"), width: 1.6, points: { show: rows.length < 40 } }],
        x: { range: [0, view.duration / unit || 1], label: name, text: tickText },
        y: { label, range: range ? range(rows) : rangeOf(values.filter((value) => value !== null)), text: tickText },
        hover: (x) => {
          const at = times.reduce((best, time, i) => (Math.abs(time - x) < Math.abs(times[best] - x) ? i : best), 0);
          return `${label}: ${number(values[at])} after ${duration(rows[at].time)}`;
        },
      });
    }
  }
}
