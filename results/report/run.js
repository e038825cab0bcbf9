"use strict";
// The figures of the page as objects, and how they are written.

const page = JSON.parse(document.getElementById("data").textContent);

/** The rows of a table of columns: {a: [1, 2], b: {c: [3, 4]}} gives [{a: 1, b: {c: 3}}, …]. */
function rowsOf(columns) {
  const names = Object.keys(columns);
  const nested = names.filter((name) => !Array.isArray(columns[name]));
  const inner = new Map(nested.map((name) => [name, rowsOf(columns[name])]));  // a name may be "constructor"
  const length = names.length ? (inner.get(names[0]) ?? columns[names[0]]).length : 0;
  return Array.from({ length }, (_, i) =>
    Object.fromEntries(names.map((name) => [name, inner.has(name) ? inner.get(name)[i] ?? {} : columns[name][i]])));
}

/** A run with rows for columns, its evolved genes as a list, and what its trials had when they ended. */
function viewOf(run, index) {
  const trials = rowsOf(run.trials);
  for (const trial of trials) trial.curve = trial.curve.filter(([, fitness]) => fitness !== null);  // it was no number
  const trainings = rowsOf(run.trainings);
  const genes = Object.entries(run.space).map(([name, gene]) => ({ name, ...gene }));
  const view = { ...run, index, trials, trainings, genes: genes.filter((gene) => gene.evolve !== false),
    fixed: genes.filter((gene) => gene.evolve === false) };
  view.byNumber = new Map(trials.map((trial) => [trial.trial, trial]));
  view.timed = trainings.every((one) => one.begin !== null);
  if (!view.timed) placeBySeconds(view);
  leaveOutBreaks(view);
  view.results = resultsOf(view);
  view.best = view.results.reduce((best, one) =>
    one.trial.state === "completed" && (!best || one.fitness > best.fitness) ? one : best, null);
  view.recommendedTrial = run.recommended ? view.byNumber.get(run.recommended.trial) : null;
  return view;
}

/** A journal of before times were kept: each slot has done its trainings one after the other. */
function placeBySeconds(view) {
  const free = {};
  for (const one of view.trainings) {
    one.begin = free[one.device] ?? 0;
    one.end = free[one.device] = one.begin + one.seconds;
  }
  view.duration = Math.max(0, ...Object.values(free));
}

/** The spans in which no slot had anything to do, between a kill and a resume, say: [{from, length}, …] in seconds. */
function breaksOf(trainings) {
  const breaks = [];
  let until = 0;
  for (const { begin, end } of [...trainings].sort((a, b) => a.begin - b.begin)) {
    if (begin - until > 60) breaks.push({ from: until, length: begin - until });
    until = Math.max(until, end);
  }
  return breaks;
}

/** From here on all times of the page are those for which the run was at work. */
function leaveOutBreaks(view) {
  for (const one of view.trainings) one.end ??= view.duration;
  view.breaks = breaksOf([...view.trainings, ...(view.timed ? view.probes : []), { begin: view.duration, end: view.duration }]);
  const worked = (time) => time === null ? null :
    view.breaks.reduce((sum, { from, length }) => sum - Math.min(length, Math.max(0, time - from)), time);
  for (const one of view.trainings) [one.begin, one.end] = [worked(one.begin), worked(one.end)];
  view.duration = worked(view.duration);
  for (const list of ["failures", "device_events"]) view[list] = view[list].map((one) => ({ ...one, time: worked(one.time) }));
  view.devices = Object.fromEntries(Object.entries(view.devices).map(([device, table]) =>
    [device, { ...table, time: table.time.map(worked) }]));
}

/** [] or ["without 2 breaks of 2 d 16 h in all"] */
function breaksText(view) {
  const lost = view.breaks.reduce((sum, { length }) => sum + length, 0);
  return lost ? [`without ${counted(view.breaks.length, "break")} of ${duration(lost)} in all`] : [];
}

/** The trials with a fitness that ended, in that order: what had been trained by then, and the highest so far. */
function resultsOf(view) {
  const results = [];
  const last = new Map(view.trainings.flatMap((one, place) => (one.repeat ? [] : [[one.trial, place]])));
  let epochs = 0, best = -Infinity, ended = 0;
  for (const place of view.ended) {
    const one = view.trainings[place], trial = view.byNumber.get(one.trial);
    epochs += one.end_epoch - one.start_epoch;
    if (last.get(one.trial) !== place || !["completed", "stopped", "failed"].includes(trial.state)) continue;
    ended += 1;
    if (trial.state === "failed" || trial.fitness === null) continue;
    if (trial.state === "completed") best = Math.max(best, trial.fitness);
    results.push({ trial, fitness: trial.fitness, best, trials: ended, epochs, time: one.end });
  }
  return results;
}

/** What the start had when it was trained to its end. */
const startFitness = (view) => view.results.find(({ trial }) => trial.trial === 0 && trial.state === "completed")?.fitness ??
  (view.recommended?.is_start ? view.recommendedTrial.fitness : undefined);

/** Four significant digits, of large numbers all before the point. */
function number(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return String(value);
  if (Math.abs(value) >= 999.95 && Math.abs(value) < 1e9) return value.toFixed(0);
  const text = Math.abs(value) < 1e-4 ? value.toExponential(3) : value.toPrecision(4);
  return text.includes("e") ? text.replace(/\.?0+e/, "e") : text.replace(/\.?0+$/, "");
}

/** A value at a tick, with digits enough to tell it from the next one, `step` away. */
function tickText(value, step) {
  const text = number(value);
  if (value === null || !(step > 0) || Math.abs(Number(text) - value) < step / 10) return text;
  return String(Number(value.toPrecision(Math.min(15, 2 + Math.ceil(Math.log10(Math.abs(value) / step))))));
}

const fitnessText = (value) => (value === null || value === undefined ? "–" :
  value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e6) ? value.toFixed(4) :
    Math.abs(value) < 1 ? number(value) : String(Number(value.toPrecision(9))));
const percent = (share) => `${Math.round(100 * Math.min(0.99, Math.max(0.01, share)))} %`;
const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const expectedText = ({ mean, low, high }) => `${fitnessText(mean)} (${fitnessText(low)} to ${fitnessText(high)})`;

/** "2 d 16 h", "2 h 05 min", "3 min 10 s", "4.2 s" */
function duration(seconds) {
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  if (seconds >= 86400) return `${Math.floor(seconds / 86400)} d ${Math.floor((seconds % 86400) / 3600)} h`;
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${two((seconds % 3600) / 60)} min`;
  if (seconds >= 60) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  return `${number(seconds)} s`;
}

/** The unit of a time axis, in seconds, and its name. */
function unitOf(seconds) {
  return seconds > 2 * 3600 ? [3600, "hours"] : seconds > 120 ? [60, "minutes"] : [1, "seconds"];
}

/** A gene's value: a choice by its name. */
function geneText(gene, value) {
  return gene.choices ? gene.choices[value] ?? String(value) : number(value);
}

/** The place of a value in its gene's range, in [0, 1]. */
function toUnit(gene, value) {
  const [low, high] = gene.choices ? [0, gene.choices.length - 1] : [gene.low, gene.high];
  if (high === low) return 0.5;
  const scaled = gene.scale === "log" ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Math.min(1, Math.max(0, scaled));
}

/** An element with attributes, and text or elements in it. Text stays text, whatever it spells. */
function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

const byId = (id) => document.getElementById(id);
const show = (id, shown) => { byId(id).hidden = !shown; };
/** A colour of the page, of the mode (light or dark) that is on. */
function colour(name) {
  if (!palette.has(name)) palette.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return palette.get(name);
}
const palette = new Map();
const runColours = ["#2f6fd0", "#d9480f", "#2b9a6b", "#9a5fc4", "#c79a12", "#c2407e", "#3aa0b8", "#7a7f3a"];
const colourOf = (view) => runColours[view.index % runColours.length];

function tell(text, event) {
  const tip = byId("tip");
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.max(4, event.clientY + 14 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 8 : event.clientY + 14)}px`;
}

/** What is said of a trial when it is pointed at. */
function trialText(trial) {
  const fitness = trial.fitness === null ? "" : `\nfitness ${fitnessText(trial.fitness)} after epoch ${trial.epoch}`;
  return `trial ${trial.trial}, ${trial.state} on ${trial.device}${fitness}`;
}
