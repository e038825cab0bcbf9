"use strict";
// The page: what is chosen in it, and drawing all of it again when that changes.

const views = page.runs.map(viewOf);
let view = views[0];
let brushes = {};
let order = { by: "fitness", descending: true, rows: firstRows };

function chosenTrials() {
  const axes = axesOf(view);
  const brushed = Object.keys(brushes).length > 0;
  const chosen = new Set(view.trials.filter((trial) => !brushed || inside(axes, brushes, trial)));
  byId("brushed").textContent = brushed ? `${chosen.size} of ${counted(view.trials.length, "trial")} chosen.` : "";
  show("unbrush", brushed);
  return (trial) => chosen.has(trial);
}

/** What follows the brushes. */
function drawChosen() {
  const chosen = chosenTrials();
  drawParallel(view, brushes, (now) => { brushes = now; drawChosen(); });
  drawSlots(view, chosen);
  drawCurves(view, chosen);
  drawTable(chosen);
}

function drawTable(chosen) {
  drawTrials(view, chosen, order, (now) => { order = now; drawTable(chosen); });
}

function drawTiles() {
  const { slots } = view, most = 4;
  const counts = ["completed", "stopped", "paused", "failed", "running", "waiting"].map((state) =>
    [state, view.trials.filter((trial) => trial.state === state).length]).filter(([, count]) => count);
  const expected = view.recommended?.expected;
  const tiles = [
    ["highest fitness", fitnessText(view.best?.fitness), view.best ? `trial ${view.best.trial.trial}; the start had ${fitnessText(startFitness(view))}` : "no trial has completed"],
    expected && ["expected again", fitnessText(expected.mean), `${fitnessText(expected.low)} to ${fitnessText(expected.high)}, 90 % sure`],
    ["trials", view.trials.length.toLocaleString("en"), counts.map(([state, count]) => `${count} ${state}`).join(", ")],
    ["epochs trained", view.epochs_trained.toLocaleString("en"), `${view.epochs} for a whole training`],
    ["time", duration(view.duration), [`${counted(slots.length, "slot")}: ${slots.slice(0, most).join(", ")}${slots.length > most ? ", …" : ""}`, ...breaksText(view)].join("; ")],
  ];
  byId("tiles").replaceChildren(...tiles.filter(Boolean).map(([name, value, note]) =>
    element("div", { class: "tile", "data-tile": name }, element("span", {}, name), element("b", {}, value), element("span", {}, note))));
}

function drawHead() {
  const names = views.map((one) => one.name).join(", ");
  document.title = `evolve ${names}`;
  byId("title").textContent = names;
  const state = view.going_on ? "Going on: reload the page for newer figures." : !view.finished ? "Stopped: evolve --resume goes on." : view.best ? "Finished." : "Failed: no trial was trained to its end.";
  const began = view.began ? `Began ${new Date(view.began).toLocaleString()}. ` : "";
  byId("status").textContent = `${state} ${began}Figures of ${new Date(page.written).toLocaleString()}. Fitness is ${view.fitness}.`;
}

function drawEvents() {
  byId("device-events").replaceChildren(...view.device_events.map((one) => element("li", {},
    `${one.device}: ${one.event.replace("_", " ")}${one.time === null ? "" : ` after ${duration(one.time)}`}${one.reason ? `, ${one.reason}` : ""}`)));
}

function drawAll() {
  palette.clear();
  drawHead();
  drawTiles();
  drawRuns(views);
  drawProgress(views, byId("progress-x").value);
  drawRecommended(view);
  drawRepeats(view);
  drawImportance(view);
  drawChosen();
  drawDevices(view);
  drawEvents();
  drawFailures(view);
  drawSettings(view);
}

function keyOfProgress() {
  const dot = (name) => element("i", { class: "dot", style: `background: var(--${name})` });
  return views.length > 1
    ? [...views.map((one) => element("span", {}, element("i", { class: "dot", style: `background: ${colourOf(one)}` }), one.name)),
       element("span", {}, "hollow: stopped early; band: what is expected of the recommended set, trained again (90 %)")]
    : [element("span", {}, dot("best"), "highest so far"), element("span", {}, dot("completed"), "trial"),
       ...(views[0].results.some((one) => one.trial.state === "stopped")
         ? [element("span", {}, dot("stopped"), "stopped early")] : []),
       ...(views[0].recommended?.expected
         ? [element("span", {}, dot("band"), "what is expected of the recommended set, trained again (90 %)")] : [])];
}

byId("run").append(...views.map((one) => element("option", { value: one.index }, one.name)));
byId("run").addEventListener("change", (event) => {
  view = views[event.target.value];
  brushes = {};
  drawAll();
});
byId("progress-x").append(...Object.entries(progressAxes).map(([name, text]) => element("option", { value: name }, text)));
byId("progress-x").addEventListener("change", () => drawProgress(views, byId("progress-x").value));
byId("progress-key").append(...keyOfProgress());
byId("curves-key").append("One line per trial, up to where it was stopped, paused, completed or failed, in the colours above; the recommended one is bold.");
byId("unbrush").addEventListener("click", () => { brushes = {}; drawChosen(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;  // a phone's address bar comes and goes
  width = innerWidth;
  drawChosen();
});
drawAll();
document.documentElement.dataset.drawn = "yes";
