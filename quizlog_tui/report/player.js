"use strict";
// Plays the branches of the page. It only copies what the page shows, and never makes HTML of text.
(() => {
  const sections = [...document.querySelectorAll("body > details")];
  if (!sections.length) return;
  const home = Math.max(sections.findIndex((section) => section.open), 0);
  const paths = [];
  let branch = -1;
  let position = 0;

  const make = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const button = (sign, label, act) => {
    const node = make("button", { type: "button", "aria-label": label, title: label }, sign);
    node.addEventListener("click", act);
    return node;
  };

  // What a branch's section holds: its steps, and what stands before and after them.
  const partsOf = (section) => {
    const parts = { before: [], steps: [], after: [] };
    for (const child of section.children) {
      if (child.matches(".step")) parts.steps.push(child);
      else if (parts.steps.length) parts.after.push(child);
      else if (!child.matches("summary")) parts.before.push(child);
    }
    return parts;
  };

  // All steps of a branch, with those that it shares with the one it forks from.
  const pathOf = (number) => {
    if (!paths[number]) {
      paths[number] = []; // branches that name each other as parents end here
      const { parent, at } = sections[number].dataset;
      const shared = parent === undefined ? [] : pathOf(Number(parent)).slice(0, Number(at));
      const { steps, after } = partsOf(sections[number]);
      const own = steps.map((element, index) => ({ element, at: Number(at) + index, after: [] }));
      if (own.length) own[own.length - 1].after = after;
      paths[number] = [...shared, ...own];
    }
    return paths[number];
  };

  // A step's question; without one how the run stands, or the last line that was printed.
  const questionOf = ({ element }) => {
    const asked = element.querySelector(".question") ?? element.querySelector(":scope > p");
    const printed = element.querySelector(":scope > pre")?.firstChild;
    const line = printed?.nodeType === Node.TEXT_NODE ? printed.data.trim().split("\n").pop() : "";
    return asked?.textContent.trim() || line || "no text";
  };
  const answerOf = ({ element }) => element.querySelector(".answer")?.textContent ?? "";
  const nameOf = (number) => sections[number].querySelector("summary strong").textContent;
  const titleOf = (number) => {
    const [name, outcome] = sections[number].querySelector("summary").children;
    return `${name.textContent} ${outcome.textContent}`;
  };
  const addressOf = (number, at) => `#${number === home ? "" : `branch-${number + 1}-`}step-${at}`;

  const options = sections.map((_, number) => new Option(titleOf(number), number));
  const choice = make("select", {}, ...options);
  const place = make("output", {});
  const first = button("\u21e4", "first step (Home)", () => go(0));
  const back = button("\u2190", "step back (left arrow)", () => go(position - 1));
  const on = button("\u2192", "step forward (right arrow)", () => go(position + 1));
  const last = button("\u21e5", "last step (End)", () => go(Infinity));
  const whole = make("button", { type: "button", "aria-pressed": "false" }, "show everything");
  const moves = make("span", { role: "group", "aria-label": "Steps" }, first, back, on, last);
  const chosen = make("label", {}, "branch ", choice);
  const bar = make("div", { class: "bar" }, moves, place, chosen, whole);
  const chapters = make("ol", {});
  const questions = make("nav", { "aria-label": "Questions" }, chapters);
  const heading = make("div", {});
  const stage = make("div", {});
  const ways = make("p", { class: "ways" });
  const shown = make("section", { "aria-label": "Run" }, heading, stage, ways);
  const player = make("section", { class: "player", "aria-label": "Player" }, bar, questions, shown);

  const copied = (elements) => elements.map((element) => element.cloneNode(true));
  const chapter = (step) => {
    const words = make("span", { class: "words" }, questionOf(step));
    const answer = make("span", { class: "answer" }, answerOf(step));
    const number = make("span", { class: "dim" }, `${step.at} `);
    return make("li", {}, make("a", { href: addressOf(branch, step.at) }, number, words, answer));
  };
  const fill = () => {
    const steps = pathOf(branch);
    heading.replaceChildren(...copied(partsOf(sections[branch]).before));
    stage.replaceChildren(...steps.map((step) => {
      const copy = step.element.cloneNode(true);
      copy.append(...copied(step.after));
      return copy;
    }));
    chapters.replaceChildren(...steps.map(chapter));
    choice.value = branch;
  };

  // Whether two branches are the same up to a step and part there. Before the first is nothing.
  const partAt = (one, other, index) =>
    other.length > index && other[index] !== one[index] && other[index - 1] === one[index - 1];
  const offerWays = () => {
    const numbers = sections.map((_, number) => number);
    const parts = (number) => partAt(pathOf(branch), pathOf(number), position);
    const links = numbers.filter(parts).flatMap((number) => {
      const step = pathOf(number)[position];
      const words = [nameOf(number), answerOf(step)].filter(Boolean).join(": ");
      return [" ", make("a", { href: addressOf(number, step.at) }, words)];
    });
    ways.replaceChildren(...(links.length ? ["Other branches from here:", ...links] : []));
  };

  const mark = (list, index) => {
    [...list.children].forEach((item, number) => {
      const node = list === chapters ? item.firstChild : item;
      if (number === index) node.setAttribute("aria-current", "step");
      else node.removeAttribute("aria-current");
      if (list === stage) item.hidden = number > index;
    });
  };
  const show = (number, index) => {
    const steps = pathOf(number);
    const turned = number !== branch;
    branch = number;
    position = Math.max(Math.min(index, steps.length - 1), 0);
    if (turned) fill();
    mark(stage, position);
    mark(chapters, position);
    offerWays();
    const end = steps.length - 1;
    place.value = steps.length ? `step ${steps[position].at} of ${steps[end].at}` : "no steps";
    // A button that is really disabled would lose the focus.
    for (const node of [first, back]) node.setAttribute("aria-disabled", position <= 0);
    for (const node of [on, last]) node.setAttribute("aria-disabled", position >= end);
    const link = chapters.children[position];
    if (link) chapters.scrollTop = link.offsetTop - chapters.clientHeight / 2;
  };
  const follow = () => stage.children[position]?.scrollIntoView({ block: "nearest" });
  const go = (index, number = branch) => {
    show(number, index);
    follow();
    const step = pathOf(branch)[position];
    // Comes last: some browsers refuse it when it is called very often, as by a key held down.
    if (step) history.replaceState(null, "", addressOf(branch, step.at));
  };

  const playing = () => document.body.classList.contains("playing");
  const fromAddress = () => {
    const [, number, at] = location.hash.match(/^#(?:branch-(\d+)-)?step-(\d+)$/) ?? [];
    if (at === undefined) return false;
    const wanted = number === undefined ? home : Number(number) - 1;
    const target = sections[wanted] ? wanted : home;
    const index = pathOf(target).findIndex((step) => step.at >= Number(at));
    show(target, index < 0 ? Infinity : index);
    follow();
    return true;
  };
  const keys = {
    ArrowLeft: () => go(position - 1),
    ArrowRight: () => go(position + 1),
    Home: () => go(0),
    End: () => go(Infinity),
  };
  document.addEventListener("keydown", (event) => {
    const combined = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
    if (combined || event.target === choice || !playing() || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
  choice.addEventListener("change", () => go(position, Number(choice.value)));
  whole.addEventListener("click", () => {
    whole.setAttribute("aria-pressed", String(!document.body.classList.toggle("playing")));
  });
  addEventListener("hashchange", fromAddress);

  sections[0].before(player);
  document.body.classList.add("playing");
  if (!fromAddress()) show(home, 0);
})();
