"use strict";
// Tables: of the trials (sortable), of the recommended set, of importance, failures, settings and runs.

const firstRows = 50, moreRows = 500;

/** The columns of the trials' table: what stands in a cell, and what it is sorted by. A gene may have a column's name. */
function trialColumns(view) {
  const plain = (key, title, text = number) => ({ key, title, value: (trial) => trial[key], text });
  const metrics = [["metrics/mAP_0.5", "mAP50"], ["metrics/mAP_0.5:0.95", "mAP50-95"], ["metrics/precision", "P"], ["metrics/recall", "R"],
    ["val/box_loss", "box loss"], ["val/obj_loss", "obj loss"], ["val/cls_loss", "cls loss"]];
  return [
    plain("trial", "trial"), plain("state", "state", String), plain("fitness", "fitness", fitnessText), plain("epoch", "epochs"),
    ...metrics.map(([name, title]) => ({ key: name, title, value: (trial) => trial.metrics[name], text: number })),
    plain("generation", "generation"), plain("device", "slot", String), { key: "seconds", title: "time", value: (trial) => trial.seconds || null, text: duration },
    ...view.genes.map((gene) => ({ key: `gene ${gene.name}`, title: gene.name, value: (trial) => trial.genes[gene.name],
      text: (value) => geneText(gene, value) })),
  ];
}

/** Ascending or descending; what is missing comes last either way. */
function sorted(trials, column, descending) {
  const way = descending ? -1 : 1;
  return [...trials].sort((a, b) => {
    const x = column.value(a), y = column.value(b);
    if (x === null || y === null) return (x === null) - (y === null);
    return x < y ? -way : x > y ? way : a.trial - b.trial;
  });
}

/** `order`: {by: a column's key, descending, rows: how many}; `ordered(order)` is called when another one is asked for. */
function drawTrials(view, chosen, order, ordered) {
  show("trials", view.trials.length > 0);
  const columns = trialColumns(view);
  const column = columns.find((one) => one.key === order.by) ?? columns[2];
  const trials = sorted(view.trials.filter(chosen), column, order.descending);
  const rows = trials.slice(0, order.rows);
  const head = element("tr", {}, ...columns.map((one) => {
    const button = element("button", {}, one.title);
    // Numbers: the greatest first; another click turns it round.
    button.addEventListener("click", () => ordered({ ...order, by: one.key,
      descending: one === column ? !order.descending : typeof one.value(view.trials[0]) !== "string" && one.key !== "trial" }));
    const sort = one === column && (order.descending ? "descending" : "ascending");
    return element("th", { "data-column": one.key, "aria-sort": sort }, button);
  }));
  const body = element("tbody", {}, ...rows.map((trial) => element("tr",
    { "data-trial": trial.trial, class: trial === view.recommendedTrial && "recommended" },
    ...columns.map((one) => cell(one, one.value(trial))))));
  const focused = byId("trial-table").contains(document.activeElement);
  byId("trial-table").replaceChildren(element("thead", {}, head), body);
  if (focused) head.querySelector("[aria-sort] button").focus();  // of the one that was pressed
  byId("trial-count").textContent = `${rows.length} of ${counted(view.trials.length, "trial")}` +
    (trials.length < view.trials.length ? `, ${trials.length} of them chosen above` : "");
  show("more-rows", rows.length < trials.length);
  byId("more-rows").textContent = `show ${Math.min(moreRows, trials.length - rows.length)} more`;
  byId("more-rows").onclick = () => ordered({ ...order, rows: rows.length + moreRows });
}

/** A cell has the exact value; what is read in it may be rounded. */
function cell(column, value) {
  const text = value === null || value === undefined ? "–" : column.text(value);
  if (column.key === "state")
    return element("td", { class: "left", "data-value": value },
      element("i", { class: "dot", style: `margin-left: 0; background: var(--${value})` }), text);
  return element("td", { "data-value": value ?? "", title: String(value ?? "") }, text);
}

/** A table of texts, numbers and elements; a column of which one is long is set as words. */
function fill(id, head, rows) {
  const isLong = (value) => typeof value === "string" && value.length > 24;
  const classes = head.map((_, i) => (rows.some((row) => isLong(row[i])) ? "words" : undefined));
  byId(id).replaceChildren(
    element("thead", {}, element("tr", {}, ...head.map((title, i) => element("th", { class: classes[i] }, title)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((value, i) =>
      element("td", { class: classes[i] }, value instanceof Node ? value : String(value)))))));
}

/** How much another seed moves a fitness, in the words of the last lines of a run. */
function luckText({ noise, luck_seen: seen }) {
  return noise ? `another seed ${seen ? "moves" : "may move"} a fitness by ±${fitnessText(noise)}` : "another seed changes nothing";
}

/** Trainings of the set that what is expected of it leaves out. */
function leftOut({ trainings, collapsed, failed }) {
  const words = (count, of, what) => (count ? `; ${count} of ${of} ${what}, this is for those that do not` : "");
  return words(collapsed, trainings.length, "collapsed") + words(failed, trainings.length + failed, "failed");
}

/** Which set that is, why, and what to expect of it. */
function recommendedText({ recommended, recommendedTrial: trial }) {
  const why = !recommended.is_start ? "" : `, the start${recommended.expected ? `: no other set is likely enough (${percent(recommended.enough)}) to beat it` : ""}`;
  const words = [`Trial ${trial.trial}, fitness ${fitnessText(trial.fitness)}${why}.`];
  if (recommended.expected) {
    words.push(`Trained again, expect ${expectedText(recommended.expected)} ${recommended.median ? "in the middle" : "on average"}, 90 % sure${leftOut(recommended)}; ${luckText(recommended)}.`);
    if (recommended.start && !recommended.is_start)
      words.push(`The start: ${expectedText(recommended.start)}; worse with a probability of ${percent(recommended.better)}.`);
    if (recommended.rival)
      words.push(`Undecided: trial ${recommended.rival.trial} is better with a probability of ${percent(Math.floor(100 * recommended.rival.better) / 100)}.`);
  }
  if (recommended.trainings.length > 1) words.push(`The recommended set gave ${recommended.trainings.map(fitnessText).join(", ")}.`);
  return words.join(" ");
}

function drawRecommended(view) {
  const { recommendedTrial: trial } = view;
  show("recommended", Boolean(trial));
  if (!trial) return;
  byId("recommended-words").textContent = recommendedText(view);
  fill("recommended-table", ["gene", "start", "recommended", "in its range: | start, ● this"], view.genes.map((gene) => {
    const value = trial.genes[gene.name];
    const at = (share) => element("i", { style: `left: ${100 * share}%` });
    return [gene.name, geneText(gene, gene.start), geneText(gene, value),
      element("span", { class: "place" }, at(toUnit(gene, gene.start)), at(toUnit(gene, value)))];
  }));
  byId("recommended-table").querySelectorAll("tbody tr").forEach((row, i) => {
    const value = trial.genes[view.genes[i].name];
    row.dataset.gene = view.genes[i].name;
    row.children[2].dataset.value = row.children[2].title = value;
  });
}

/** What the sets gave that were trained again at the end. */
function drawRepeats(view) {
  const again = new Map();
  for (const one of view.repeats) again.set(one.trial, [...(again.get(one.trial) ?? []), one.again]);
  show("repeat-table", again.size > 0);
  fill("repeat-table", ["trained again: trial", "fitness", "again"], [...again].map(([trial, values]) =>
    [trial, fitnessText(view.byNumber.get(trial).fitness), values.map(fitnessText).join(", ")]));
}

function drawImportance(view) {
  show("importance", Boolean(view.importance));
  if (!view.importance) return;
  const { genes, r2, verdict, known, unvaried } = view.importance;
  byId("importance-words").textContent = "Share of the variation of fitness that a gene explains: alone (strong), and with its part in interactions. " +
    `Predicting each trial from the others, the model has R² ${r2.toFixed(2)}; the trials pin down ${Math.round(100 * known)} % of the variation.` +
    (verdict ? ` ${verdict[0].toUpperCase()}${verdict.slice(1)}.` : "") +
    (unvaried.length > 0 ? ` The same in all trials that ended, so nothing is known of it: ${unvaried.join(", ")}.` : "");
  const most = Math.max(...genes.map((gene) => gene.total), 0.01);
  const loss = Math.max(...genes.map((gene) => Math.abs(gene.loss)));
  const digits = loss ? 2 - Math.floor(Math.log10(loss)) : 3;  // three of the greatest at least
  const decimals = Math.min(12, Math.max(digits, loss < 10 ? 3 : 0));
  fill("importance-table", ["gene", "alone", "total", "", "loss by chance"], genes.map((gene) => [
    gene.name, `${Math.round(100 * gene.alone)} %`, `${Math.round(100 * gene.total)} %`,
    element("span", { class: "bar" }, element("i", { style: `width: ${(100 * gene.total) / most}%` }),
      element("i", { style: `width: ${(100 * gene.alone) / most}%` })), gene.loss.toFixed(decimals)]));
}

/** The latest ones first. */
function drawFailures(view) {
  const shown = view.failures.slice(-firstRows).reverse();
  show("failures", shown.length > 0);
  byId("failure-count").textContent = counted(view.failures.length, "failed attempt") +
    (shown.length < view.failures.length ? `, the latest ${shown.length}:` : "");
  fill("failure-table", ["trial", "attempt", "slot", "kind", "reason", "log", "after", ""], shown.map((one) => [
    one.repeat ? `${one.trial}, repeat ${one.repeat}` : one.trial, one.attempt, one.device, one.kind, one.message, one.log,
    one.time === null ? "–" : duration(one.time),
    one.surroundings ? "its surroundings" : one.final ? "for good" : "tried again"]));
}

function drawSettings(view) {
  const { trainer, ...others } = view.options;
  const options = others.trainer_exec || others.trainer_command ? others : view.options;
  const given = Object.entries(options).filter(([, value]) => value !== "" && value !== null);
  const fixed = view.fixed.map((gene) => [`${gene.name} (not evolved)`, geneText(gene, gene.start)]);
  fill("settings-table", ["option", ""], [...given.map(([name, value]) => [name, String(value)]), ...fixed]);
}

/** The runs beside each other. */
function drawRuns(views) {
  show("runs", views.length > 1);
  fill("run-table", ["run", "fitness", "completed", "epochs", "highest", "expected, 90 %", "start", "time", "search", "seed"], views.map((view) => [
    element("span", {}, element("i", { class: "dot", style: `background: ${colourOf(view)}` }), view.name), view.fitness,
    view.trials.filter((trial) => trial.state === "completed").length, view.epochs_trained, fitnessText(view.best?.fitness),
    view.recommended?.expected ? expectedText(view.recommended.expected) : "–", fitnessText(startFitness(view)),
    duration(view.duration), view.search, view.seed]));
  // Runs on other data, or with another model, are not compared by their fitness.
  const options = [...new Set(views.flatMap((view) => Object.keys(view.options)))].filter((name) => name !== "seed" && name !== "search");
  const differing = options.filter((name) => new Set(views.map((view) => String(view.options[name] ?? ""))).size > 1);
  show("run-differences", differing.length > 0);
  fill("run-differences", ["where they differ", ...views.map((view) => view.name)],
    differing.map((name) => [name, ...views.map((view) => String(view.options[name] ?? ""))]));
}
