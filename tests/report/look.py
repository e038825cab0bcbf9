#!/usr/bin/env python3
"""Opens a report in Chromium, clicks, and compares what it shows with the journal: look.py REPORT JOURNAL

Exits with 77 where there is no Chromium.
"""

import datetime
import json
import pathlib
import sys

from browser import Browser, program

WINDOWS = {"dark": {"dark": True}, "light": {}, "phone": {"width": 390, "height": 800, "phone": True}}


def expect(what, found, wanted):
    if found == wanted:
        return
    if isinstance(wanted, dict) and found.keys() == wanted.keys():  # the first that differs says enough
        key = next(key for key in wanted if found[key] != wanted[key])
        what, found, wanted = f"{what}, at {key}", found[key], wanted[key]
    sys.exit(f"{what}: {found!r:.300}, not {wanted!r:.300}")


FIGURES = ("fitness", "epoch", "metrics/recall")


def trials_of(journal):
    """By number: the latest figures of each trial, as the journal has them, and its genes ("gene NAME"). One that failed, or
    begins again, has no fitness."""
    events = [json.loads(line) for line in open(journal)]
    space = events[0]["space"]
    trials = {}
    for event in events[1:]:
        if event["event"] == "started":
            genes = {f"gene {name}": space[name]["choices"].index(value) if "choices" in space[name] else value
                     for name, value in event["hyp"].items() if space[name].get("evolve", True)}
            trials[event["trial"]] = {"fitness": None, "epoch": 0, "metrics/recall": None, **genes}
        if event["event"] in ("completed", "stopped", "rung"):
            epoch = event.get("epoch", events[0]["options"]["epochs"])
            trials[event["trial"]].update(zip(FIGURES, (event["fitness"], epoch, event["metrics"]["metrics/recall"])))
        if event["event"] == "failed" and event["final"]:
            epoch = max(trials[event["trial"]]["epoch"], event.get("epoch", 0))
            trials[event["trial"]].update({"fitness": None, "epoch": epoch, "metrics/recall": None})
    return trials


def seconds_at_work(journal):
    """From the first event to the last, without the time for which nothing was trained."""
    events = [json.loads(line) for line in open(journal)][1:]
    times = [datetime.datetime.fromisoformat(event["time"].replace("Z", "+00:00")).timestamp() for event in events]
    seconds, ended = times[-1] - times[0], times[0]
    for event, time in zip(events, times):
        if event["event"] == "started" and time - ended > 60:
            seconds -= time - ended
        if event["event"] in ("completed", "stopped", "failed"):
            ended = time
    return seconds


def column(browser, name):
    """{trial: value} of a column of the table, in the order of its rows."""
    cells = browser.value(f"""(() => {{
        const at = [...document.querySelectorAll("#trial-table th")].findIndex((th) => th.dataset.column === {json.dumps(name)});
        return [...document.querySelectorAll("#trial-table tbody tr")].map((tr) => [tr.dataset.trial, tr.children[at].dataset.value]);
    }})()""")
    return {int(trial): None if value == "" else float(value) for trial, value in cells}


def look_at_table(browser, trials, genes):
    """Whatever is sorted, the figures are the journal's: to the last bit."""
    for name in [*FIGURES, *genes]:
        expect(f"the values of {name}", column(browser, name), {number: trial[name] for number, trial in trials.items()})
    fitness = [value for value in column(browser, "fitness").values() if value is not None]
    expect("the best come first", fitness, sorted(fitness, reverse=True))


def look_at_sorting(browser, gene):
    header = f'#trial-table th[data-column="{gene}"] button'
    browser.click(header)
    values = list(column(browser, gene).values())
    expect(f"a click sorts by {gene}", values, sorted(values, reverse=True))
    browser.click(header)
    values = list(column(browser, gene).values())
    expect("another click turns that round", values, sorted(values))
    expect("and says so", browser.value(f"document.querySelector('{header}').parentNode.ariaSort"), "ascending")


def look_at_recommendation(browser):
    def words(noise, seen):
        return browser.value(f"""recommendedText({{ recommendedTrial: {{ trial: 0, fitness: 0.5 }}, recommended: {{ is_start: true, trainings: [0.5], collapsed: 0, failed: 0, start: null, enough: 0.7,
            expected: {{ mean: 0.4, low: 0.3, high: 0.45 }}, noise: {noise}, luck_seen: {json.dumps(seen)} }} }})""")

    start = "Trial 0, fitness 0.5000, the start: no other set is likely enough (70 %) to beat it. " \
        "Trained again, expect 0.4000 (0.3000 to 0.4500) on average, 90 % sure; "
    expect("why the start is recommended", words(0.01, True), start + "another seed moves a fitness by ±0.0100.")
    expect("that luck was not seen", words(0.01, False), start + "another seed may move a fitness by ±0.0100.")
    expect("that there is no luck", words(0, True), start + "another seed changes nothing.")


def look_at_time(browser, journal):
    seconds = seconds_at_work(journal)
    expect("the time is that at work", abs(browser.value("view.duration") - seconds) < 0.01, True)
    tile = "document.querySelector('[data-tile=time]')"
    expect("its tile", browser.value(f"{tile}.querySelector('b').textContent"), browser.value("duration(view.duration)"))
    expect("says what is left out", "without 1 break of 2 d 16 h in all" in browser.value(f"{tile}.textContent"), True)
    last = browser.value("view.results.at(-1).time")
    expect("so is that of the highest so far", 0.95 * seconds < last <= seconds, True)
    expect("and the devices'", browser.value("Math.max(...Object.values(view.devices).flatMap((one) => one.time))") <= seconds, True)


def look_at_keys(browser):
    """What says how lines and points are drawn."""
    # The first one failed, and was tried again.
    browser.value("drawSlots({ ...view, trainings: [0, 0, 1].map((i) => ({ ...view.trainings[i], repeat: i + 1 })) }, () => true)")
    expect("the key of slots says what is hollow", browser.value("byId('slots-key').lastChild.textContent"), "hollow: 2 repeats among these")
    browser.value("drawChosen()")

    # Where a break has been taken out, the times of two trainings may be the same but for their last bits.
    lanes = browser.value("""lanesOf({ slots: ["cpu:0"], trainings: [{ device: "cpu:0", begin: 8.672, end: 8.672 },
        { device: "cpu:0", begin: 8.671999999999997, end: 9 }] }).lanes""")
    expect("a slot that trains one at a time has one lane", lanes, ["cpu:0"])

    lines = browser.value("view.trials.filter((trial) => trial.fitness === null).map((trial) => [trial.state, lineStyle(trial).dash.length > 0])")
    expect("how the lines of trials without a fitness are", sorted(map(tuple, set(map(tuple, lines)))), [("failed", True), ("waiting", False)])


def look_at_words(browser):
    expect("large numbers", browser.value("[69630.25, 9999.5, 999.96, 708044].map(number)"), ["69630", "10000", "1000", "708044"])
    ticks = browser.value("[[0.25, 0.1], [0.2500002, 2e-7], [-69632.5, 2.5], [0.3, 0.1], [0, 1], [null, 1]].map(([value, step]) => tickText(value, step))")
    expect("ticks that are close together", ticks, ["0.25", "0.2500002", "-69632.5", "0.3", "0", "–"])
    expect("a long name", browser.value("['lr0', 'dataset.transforms.ops.RandomIoUCrop.p'].map((name) => shortName(name))"),
           ["lr0", "…ops.RandomIoUCrop.p"])
    recommended = "{ trainings: [0.5, 0.4, 0.3], is_start: false"
    again = browser.value(f"recommendedText({{ recommendedTrial: {{ trial: 0, fitness: 0.5 }}, recommended: {recommended} }} }})")
    expect("what the set gave", again, "Trial 0, fitness 0.5000. The recommended set gave 0.5000, 0.4000, 0.3000.")
    again = browser.value(f"""recommendedText({{ recommendedTrial: {{ trial: 0, fitness: 0.5 }}, recommended: {recommended}, collapsed: 1, failed: 2,
        expected: {{ mean: 0.45, low: 0.4, high: 0.5 }}, noise: 0, rival: {{ trial: 7, better: 0.358 }} }} }})""")
    expect("what is left out, and what is undecided", again,
           "Trial 0, fitness 0.5000. Trained again, expect 0.4500 (0.4000 to 0.5000) on average, 90 % sure; "
           "1 of 3 collapsed, this is for those that do not; 2 of 5 failed, this is for those that do not; another seed changes nothing. "
           "Undecided: trial 7 is better with a probability of 35 %. The recommended set gave 0.5000, 0.4000, 0.3000.")


def look_at_highest(browser):
    """Its axis begins below all trials but those that learnt nothing."""
    below = "(drawProgress([{{ ...view, recommended: null, results: {} }}], 'trials'), byId('progress-below').textContent)"
    results = "Array.from({{ length: 20 }}, (_, i) => ({{ trial: view.trials[0], fitness: i ? 0.3 + i / 200 : {}, best: 0.4, trials: i, epochs: i, time: i }}))"
    expect("a start that is a little worse", browser.value(below.format(results.format(0.28))), "")
    expect("one that learnt nothing", browser.value(below.format(results.format(0))), "▾ 1 trial below the axis")
    browser.value("drawAll()")


def look_at_start(browser):
    start = "view.trials.find((trial) => trial.trial === 0)"
    browser.value(f"{start}.state = 'running', drawTiles()")
    expect("what a start had that is still trained", browser.value("document.querySelector('.tile').textContent").endswith("the start had –"), True)
    browser.value(f"{start}.state = 'completed'")


def look_at_runs(browser, journal):
    browser.value("drawRuns([view, view])")
    completed = sum(1 for line in open(journal) if json.loads(line)["event"] == "completed")
    head, *runs = browser.value("[...document.querySelectorAll('#run-table tr')].map((tr) => [...tr.children].map((cell) => cell.textContent))")
    expect("how many completed, beside another run", [run[head.index("completed")] for run in runs], [str(completed)] * 2)
    rows = "[...document.querySelectorAll('#run-differences tbody tr')].map((tr) => [...tr.children].map((cell) => cell.textContent))"
    expect("of runs alike it says no difference", browser.value(rows), [])
    browser.value("drawRuns([view, { ...view, options: { ...view.options, data: 'other.yaml' } }])")
    expect("in what two runs differ", browser.value(rows), [["data", browser.value("view.options.data"), "other.yaml"]])
    browser.value("drawAll()")


def look_at_axes(browser):
    genes = "['lr0', 'momentum', 'box'].map((name) => ({ name, low: 0, high: 1 }))"
    importance = "{ genes: [{ name: 'box' }, { name: 'lr0' }] }"  # momentum never varied
    axes = browser.value(f"axesOf({{ ...view, genes: {genes}, importance: {importance} }}).map((axis) => axis.name)")
    expect("the axes, those that matter first", axes, ["fitness", "box", "lr0", "momentum"])


def look_at_brush(browser, trials):
    browser.drag('[data-axis="fitness"]', 0.6, 0.97)
    low, high = browser.value("brushes.fitness")
    had = [trial["fitness"] for trial in trials.values() if trial["fitness"] is not None]
    share = {number: (trial["fitness"] - min(had)) / (max(had) - min(had)) for number, trial in trials.items()
             if trial["fitness"] is not None}
    chosen = {number for number, at in share.items() if low <= at <= high}
    expect("the brush is where it was drawn", (abs(low - 0.6) < 0.02, abs(high - 0.97) < 0.02), (True, True))
    expect("some are chosen", 0 < len(chosen) < len(trials), True)
    expect("the table has the trials inside the brush", set(column(browser, "fitness")), chosen)

    def draw_again():
        browser.drag('[data-axis="fitness"]', 0.5, 0.9)
        browser.value("drawAll()")
        return browser.listeners()

    before = draw_again()
    expect("what listens when all has been drawn again", [draw_again() for _ in range(3)], [before] * 3)
    browser.click("#unbrush")
    expect("without the brush it has all", set(column(browser, "fitness")), set(trials))


def look(browser, journal):
    trials = trials_of(journal)
    genes = [name for name in trials[0] if name not in FIGURES]
    if browser.value("!document.querySelector('#more-rows').hidden"):
        browser.click("#more-rows")
    look_at_table(browser, trials, genes)
    look_at_sorting(browser, genes[0])
    look_at_recommendation(browser)
    look_at_time(browser, journal)
    look_at_keys(browser)
    look_at_words(browser)
    look_at_highest(browser)
    look_at_start(browser)
    look_at_runs(browser, journal)
    look_at_axes(browser)
    look_at_brush(browser, trials)
    browser.value("document.querySelector('#progress-x').value = 'epochs', document.querySelector('#progress-x').dispatchEvent(new Event('change'))")
    expect("errors", browser.errors, [])


def main(report, journal):
    if program() is None:
        print("there is no Chromium here")
        sys.exit(77)
    for name, how in WINDOWS.items():
        with Browser(pathlib.Path(report).resolve().as_uri(), **how) as browser:
            expect(f"{name}: errors", browser.errors, [])
            browser.value("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
            print(f"{name}: loaded and drawn in {browser.seconds():.2f} s of a processor")
            expect(f"{name}: the title", browser.value("document.title").split()[0], "evolve")
            expect(f"{name}: nothing is wider than the window",
                   browser.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), True)
            expect(f"{name}: what is loaded besides the page", browser.value("performance.getEntriesByType('resource').length"), 0)
            if name == "light":
                look(browser, journal)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
