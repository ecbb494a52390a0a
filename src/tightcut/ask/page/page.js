// The screen of `tightcut ask`: one module for the local page and for notebooks.
//
// start(root, send) draws into an element. send(action, values) resolves to the reply, and rejects with an error whose
// `refused` says whether the session declined (true) or nobody answered (false), and `replaced` whether tightcut answered,
// started anew with another address. Whatever comes from the data or from people
// enters the page by textContent or as an attribute set by the DOM, never as HTML.

const LOOK_EVERY = 2500; // milliseconds between looks whether another window has answered
const LARGE_GROUPS = 4;
const TOO_WIDE = 0.7; // an interval that says nothing
const NARROW = 860, SLIM = 560; // pixels: one column, and a phone
// Things in a gallery, pictures and texts; the server sends two pictures more, as those in question are hidden.
const TYPICAL = 8, DOUBTFUL = 6, TYPICAL_TEXTS = 5, DOUBTFUL_TEXTS = 3;

// Building elements

function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else if (key === "text") element.textContent = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const button = (text, onclick, properties = {}) => h("button", { type: "button", text, onclick, ...properties });
// "93": of 100, where only what is certain is all or none.
const ofHundred = (share) => (share >= 0.995 && share < 1 ? "more than 99" : share < 0.005 && share > 0 ? "less than 1" : `${Math.round(100 * share)}`);
const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}`;
const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;

// Hue, saturation and lightness of the first groups; further ones are spread by the golden angle.
const COLOURS = [
  [212, 72, 46], [352, 68, 48], [128, 58, 38], [270, 55, 52], [40, 90, 40], [180, 80, 34], [318, 58, 50], [84, 65, 36],
  [18, 85, 48], [232, 30, 45], [25, 40, 34], [160, 75, 26],
];

function colour(group) {
  if (group < 0) return dark() ? "#5b6068" : "#c3c7cd";
  const [hue, saturation, lightness] = COLOURS[group] ?? [(group * 137.508) % 360, 60, 44];
  return `hsl(${hue} ${saturation}% ${lightness + (dark() ? 20 : 0)}%)`;
}

const swatch = (group) => svg("svg", { viewBox: "0 0 12 12", class: "swatch", "aria-hidden": "true" }, svg("circle", { cx: 6, cy: 6, r: 6, "data-group": group, fill: colour(group) }));

// Things

// Where no browser can draw the file, words stand in its place.
function picture(thing, words = thing.name) {
  const instead = (event) => event.target.replaceWith(h("span", { class: "snippet unreadable", text: words }));
  return h("img", { src: thing.image, alt: `Picture of ${thing.name}`, draggable: "false", onerror: instead });
}

// A cell; pieces are [text, whether the other record has something else there].
function cell(value, pieces = [[value, false]]) {
  if (!value.trim()) return h("td", {}, h(pieces[0]?.[1] === false ? "span" : "mark", { class: "empty", text: "empty" }));
  return h("td", {}, ...pieces.map(([text, differs]) => h(differs ? "mark" : "span", { text })));
}

function fieldsOf(thing) {
  const rows = thing.fields.map(([name, value]) => h("tr", {}, h("th", { scope: "row", text: name }), cell(value)));
  return h("table", { class: "fields" }, h("tbody", {}, ...rows));
}

// Two records field by field, what differs marked character by character: beside each other, whatever takes more than a line.
function compared(first, second, differing) {
  const names = h("tr", { class: "names" }, h("td", {}), ...[first, second].map((thing) => h("th", { scope: "col", text: thing.name })));
  const rows = first.fields.map(([name, value], i) => {
    const [one, other] = differing[i] ?? [];
    return h("tr", { class: one ? "differs" : "" }, h("th", { scope: "row", text: name }), cell(value, one), cell(second.fields[i][1], other));
  });
  return h("table", { class: "fields compared" }, h("tbody", {}, names, ...rows));
}

function two(first, second, differing = {}) {
  if (!first.fields) return h("div", { class: "two" }, large(first), large(second));
  const [one, other] = [first, second].map((thing) => ({ ...thing, fields: undefined }));
  const seen = one.image || other.image || one.text || other.text;
  return h("div", { class: "both" },
    seen ? h("div", { class: "two" }, large(one), large(other)) : null,
    h("figure", { class: "thing" }, compared(first, second, differing)));
}

function large(thing) {
  const onlyName = !thing.image && !thing.text && !thing.fields;
  return h("figure", { class: "thing" },
    thing.image ? picture(thing, "This picture cannot be shown.") : null,
    thing.text ? h("div", { class: "text", text: thing.text, tabindex: "0" }) : null,
    thing.fields ? fieldsOf(thing) : null,
    h("figcaption", { class: onlyName ? "only" : "", text: thing.name }));
}

function summary(thing) {
  const fields = (thing.fields ?? []).filter(([, value]) => value.trim()).slice(0, 3).map(([name, value]) => `${name} ${value}`);
  const named = thing.name !== `row ${thing.row}`; // many texts begin alike: a name tells them apart
  return [named || !thing.text ? thing.name : null, thing.text, ...fields].filter(Boolean).join(" · ").slice(0, 200);
}

const small = (thing) => (thing.image ? picture(thing) : h("span", { class: "snippet", text: summary(thing) }));

const sentence = (answer) =>
  answer.second ? `${answer.first.name} and ${answer.second.name}: ${answer.words}` : `${answer.first.name}: ${answer.words}`;

// The page

export function start(root, send, { keysFrom = document, standalone = true } = {}) {
  const state = {
    hello: null, kind: "pick", question: null, version: -1, shownAt: 0, busy: 0, turn: Promise.resolve(), pending: null, dead: false, lost: false,
    view: null, map: null, layout: -1, last: [], whole: new Set(), unfolded: false, blind: true, viewing: false, viewAgain: false, stopped: false, allAnswers: false,
  };
  const windowName = standalone ? remembered(sessionStorage, "tightcut-ask-window", randomName) : randomName();
  const ui = skeleton();
  root.classList.add("tightcut-ask", "waiting");
  root.replaceChildren(...ui.all);
  if (!standalone) root.tabIndex = 0;

  // Sending

  async function request(action, values = {}) {
    let reply;
    try { reply = await send(action, { window: windowName, who: ui.who.value.trim(), ...values }); } catch (error) {
      state.replaced = Boolean(error.replaced);
      if (error.lost) offerJournal(error.message);
      throw error;
    }
    if (state.dead) { state.dead = false; banner(""); }
    if (state.lost && ["look", "save"].includes(action)) { state.lost = false; banner(""); }
    return reply;
  }

  // Something that a person did; one after another. What nobody acknowledged is kept and sent again when the server is back.
  function act(action, values = {}) {
    if (state.pending) { unreachable(); return state.turn; }
    state.busy += 1;
    state.turn = state.turn.then(() => actNow(action, values)).finally(() => { state.busy -= 1; });
    return state.turn;
  }

  async function actNow(action, values) {
    try {
      receive(await request(action, { kind: state.kind, ...values }));
    } catch (error) {
      if (error.refused) { notify(error.message, true); if (state.view) drawGroups(); } // a name that was refused goes
      else { state.pending = { action, values }; unreachable(); }
    }
  }

  function receive(reply) {
    state.version = reply.version;
    state.question = reply.question;
    state.shownAt = performance.now();
    if (reply.journal) state.hello.journal = reply.journal;
    notify(reply.notice ?? "");
    drawQuestion(reply.n_answers);
    refresh();
  }

  async function refresh() {
    if (state.viewing) { state.viewAgain = true; return; }
    state.viewing = true;
    try {
      do {
        state.viewAgain = false;
        const view = await request("view", { layout: state.layout, all_answers: state.allAnswers });
        if (view.map) state.map = view.map;
        state.layout = view.layout;
        await fetchWhole(view);
        state.view = view;
        drawView();
      } while (state.viewAgain);
    } catch (error) {
      if (error.refused) notify(error.message, true); else unreachable();
    } finally { state.viewing = false; }
  }

  // Groups that somebody has opened stay open: their galleries are fetched again.
  async function fetchWhole(view) {
    for (const group of view.groups.filter((one) => state.whole.has(one.id))) group.whole = (await request("gallery", { group: group.id })).things;
  }

  function unreachable() {
    state.dead = true;
    const kept = state.hello?.journal ? `Every answer that was accepted is in ${state.hello.journal}. ` : "Answers were kept in its memory only: if it has ended, they are lost. Next time, name a file for them with --answers. ";
    if (state.replaced) { replaced(kept); return; }
    const waiting = state.pending ? "Your last action has not been accepted yet; it is sent again as soon as tightcut answers. " : "";
    banner(`tightcut does not answer. ${kept}${waiting}If it has ended, start it again with the same command and use the new address.`);
  }

  // The journal was deleted, moved or replaced: tightcut still has the answers, but no file for them.
  function offerJournal(problem) {
    if (state.lost) return;
    state.lost = true;
    banner(`${problem} tightcut still has all answers, and takes no more until they are in a journal. `);
    ui.alert.append(button("Write all answers to a new journal", () => act("save")));
  }

  // This page has the token of a run that has ended, and will never be answered again.
  function replaced(kept) {
    const repeat = state.pending ? "Your last action was not accepted; repeat it there. " : "";
    const next = newestPage();
    const words = `tightcut was restarted, and this page belongs to the run before. ${kept}${repeat}`;
    if (next) banner(words, h("a", { href: next + location.hash, text: "Go on with the new page" }));
    else banner(`${words}Go on at the address that it has printed.`);
  }

  async function look() {
    if (state.stopped) return;
    try {
      if (!state.busy && (state.dead || document.visibilityState !== "hidden")) await lookOnce();
    } catch (error) { if (!error.refused) unreachable(); }
    setTimeout(look, LOOK_EVERY);
  }

  async function lookOnce() {
    const now = await request("look");
    if (state.pending) {
      const { action, values } = state.pending;
      state.pending = null;
      await act(action, values);
    } else if (now.version !== state.version && !state.busy && !ui.dialog.open) await act("question", { keep: true });
    else if (now.layout !== state.layout) refresh();
  }

  // What a person does

  const asked = (q) => ({ number: q.number, kind: q.kind, first: q.first.row, second: q.second ? q.second.row : null });

  function answer(choice) {
    const question = state.question;
    if (!question || state.busy || state.pending) return;
    state.last = [question.first.row, ...(question.second ? [question.second.row] : [])];
    act("answer", { ...asked(question), choice, seconds: (performance.now() - state.shownAt) / 1000 });
  }

  // After a click of the mouse the button must not keep the focus: the space bar means unsure, and would undo once more.
  function undoClicked(event) {
    if (event.detail > 0) ui.heading.focus({ preventScroll: true });
    act("undo");
  }

  function setKind(kind) {
    state.kind = kind;
    for (const input of ui.kinds) input.checked = input.value === kind;
    if (standalone) history.replaceState(null, "", `#${kind}`);
    act("question");
  }

  async function download(action, name) {
    try {
      const { text } = await request(action);
      const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
      const link = h("a", { href: address, download: name });
      root.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(address), 10000);
    } catch (error) { if (error.refused) notify(error.message, true); else unreachable(); }
  }

  function onKey(event) {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || ui.dialog.open) return;
    if (target.matches?.("input:not([type=radio]):not([type=checkbox]), textarea, select")) {
      if (event.key === "Escape") ui.heading.focus();
      return;
    }
    const presses = target.closest?.("button, a, summary, input") && !target.closest("input[type=radio]");
    if (presses && (event.key === " " || event.key === "Enter")) return;
    const action = keyAction(event.key);
    if (!action) return;
    event.preventDefault();
    if (!event.repeat) action();
  }

  function keyAction(key) {
    const question = state.question;
    if (key === "?") return help;
    if (key === "Backspace") return () => act("undo");
    if (!question) return null;
    if (key === " ") return () => answer("unsure");
    if (question.kind === "pair") return { y: () => answer("same"), n: () => answer("different") }[key.toLowerCase()] ?? null;
    if (key === "0") return () => answer("none");
    if (key === "e") return () => ui.question.querySelector("[data-keep=unfold]")?.click();
    if (key === "t" || key === "/") return () => ui.question.querySelector("input")?.focus();
    const group = /^[1-9]$/.test(key) ? question.groups[Number(key) - 1] : undefined;
    return group ? () => answer(group.id) : null;
  }

  // The parts of the screen

  function skeleton() {
    const together = `tightcut-kind-${Math.random()}`; // several widgets in one notebook
    const kinds = ["pick", "pair"].map((value) =>
      h("input", { type: "radio", name: together, value, onchange: () => setKind(value) }));
    const words = { pick: "Which group?", pair: "Same or different?" };
    const title = h("h1", { text: "tightcut ask" });
    const alert = h("div", { class: "banner", role: "alert", hidden: true });
    const notice = h("p", { class: "notice", role: "status" });
    const heading = h("h2", { tabindex: "-1", text: "Preparing ..." });
    const live = h("div", { class: "unseen", "aria-live": "polite" });
    const question = h("div", { class: "question-body" });
    const contradictions = h("section", { class: "contradictions", hidden: true, "aria-label": "Answers that contradict each other" });
    const canvas = h("canvas", { role: "img", "aria-label": "Map of all points" });
    const hint = h("div", { class: "hint", hidden: true });
    const curve = h("div", { class: "curve" });
    const estimate = h("p", { class: "estimate" });
    const blind = h("input", { type: "checkbox", onchange: (event) => { state.blind = !event.target.checked; drawMap(); } });
    const groups = h("div", { class: "groups" }), groupsTitle = h("h2", { text: "Groups" });
    const answers = h("ol", { class: "answers" }), people = h("ul", { class: "people quiet" });
    const who = h("input", { type: "text", maxlength: "100", placeholder: "your name", autocomplete: "off", onchange: () => standalone && remember(localStorage, "tightcut-ask-who", who.value.trim()) });
    const dialog = h("dialog", {});
    const head = h("header", {},
      title,
      h("fieldset", { class: "kinds" }, h("legend", { class: "unseen", text: "How to ask" }),
        ...kinds.map((input) => h("label", {}, input, h("span", { text: words[input.value] })))),
      button("Undo", undoClicked, { title: "Backspace" }),
      button("?", () => help(), { "aria-label": "Help and keys", class: "round" }));
    const aside = h("aside", { "aria-label": "Map and progress" },
      h("div", { class: "map" }, canvas, hint),
      h("label", { class: "blind" }, blind, h("span", { text: "Mark the question on the map (this may give away what tightcut thinks)" })),
      curve, estimate);
    const lower = h("section", { class: "lower" },
      h("div", { class: "clusters" }, groupsTitle,
        h("p", { class: "quiet", text: "Is something in the wrong group? Click it to move it." }, h("span", { class: "naming", text: " Click the name of a group to change it; two groups with the same name become one." })), groups),
      h("div", { class: "past" }, h("h2", { text: "Answers" }), answers, people,
        h("label", { class: "who quiet" }, "Answering as ", who),
        h("div", { class: "downloads" },
          button("Labels (CSV)", () => download("labels", "labels.csv")), button("Pairs (CSV)", () => download("pairs", "pairs.csv")))));
    const all = [head, alert,
      h("main", {}, h("section", { class: "question", "aria-label": "Question" }, heading, live, question, notice, contradictions), aside),
      lower, dialog];
    return { all, kinds, title, alert, notice, heading, live, question, contradictions, canvas, hint, curve, estimate, groups, groupsTitle, answers, people, who, dialog };
  }

  function banner(text, link = null) {
    ui.alert.hidden = !text;
    if (ui.alert.textContent === text + (link?.textContent ?? "")) return; // what has the focus keeps it
    ui.alert.replaceChildren(text, ...(link ? [link] : []));
  }

  function notify(text, wrong = false) {
    ui.notice.textContent = text;
    ui.notice.classList.toggle("wrong", wrong);
  }

  function drawQuestion(nAnswers) {
    const question = state.question;
    const inside = ui.question.contains(document.activeElement) || document.activeElement === document.body;
    if (!question) {
      ui.heading.textContent = "Nothing is left to ask";
      ui.live.textContent = "Nothing is left to ask.";
      ui.question.replaceChildren(h("p", { text: `All ${many()} follow from your answers. Look through the groups below, and download the labels.` }));
      return;
    }
    const pair = question.kind === "pair";
    const records = state.hello.records;
    ui.heading.textContent = records ? "Are these two the same?" : pair ? "Do these two belong together?" : "Where does this belong?";
    ui.live.textContent = `Question ${nAnswers + 1}. ` + (pair
      ? `Do ${question.first.name} and ${question.second.name} belong together?`
      : `Where does ${question.first.name} belong? ${question.groups.slice(0, 9).map((g, i) => `${i + 1}: ${g.label}`).join(", ")}.`);
    ui.question.replaceChildren(...(pair ? pairBody(question) : pickBody(question)));
    if (inside) ui.heading.focus({ preventScroll: true });
    drawMap();
  }

  const keyed = (key, text, action, properties = {}) =>
    h("button", { type: "button", onclick: action, ...properties }, h("kbd", { text: key, "aria-hidden": "true" }), h("span", { text }));

  function pairBody(question) {
    return [
      two(question.first, question.second, question.differing),
      h("div", { class: "choices" },
        keyed("y", "Same", () => answer("same"), { class: "main" }),
        keyed("n", "Different", () => answer("different"), { class: "main" }),
        keyed("space", "Unsure", () => answer("unsure"))),
      ...(question.evidence.length ? [h("ul", { class: "evidence quiet" }, ...question.evidence.map((text) => h("li", { text })))] : []),
    ];
  }

  function pickBody(question) {
    const { groups } = question;
    const few = groups.length <= LARGE_GROUPS;
    const cards = groups.map((group, i) =>
      h("button", { type: "button", class: few ? "card" : "card little", onclick: () => answer(group.id) },
        h("kbd", { text: String(i + 1), "aria-hidden": "true" }),
        h("span", { class: "label", title: group.label }, swatch(group.id), group.label),
        h("span", { class: "about quiet", "data-about": String(group.id), text: about(group.id) }),
        h("span", { class: "members" }, ...group.members.map(small))));
    // What is typed is a name or, beyond the key 9, a number; only the cards that it may mean stay in sight.
    const meant = (text) => groups.find((group) => group.label.toLowerCase() === text.toLowerCase()) ?? (/^\d+$/.test(text) ? groups[Number(text) - 1] : undefined);
    const sift = () => {
      const text = field.value.trim().toLowerCase();
      cards.forEach((card, i) => { card.hidden = !(groups[i].label.toLowerCase().includes(text) || `${i + 1}`.startsWith(text)); });
    };
    const field = h("input", { type: "text", "aria-label": "Name or number of the group it belongs to", placeholder: "or type a name", maxlength: "100", autocomplete: "off", oninput: sift });
    const submit = (event) => {
      event.preventDefault();
      const text = field.value.trim();
      if (text) answer(text === "0" ? "none" : meant(text)?.id ?? text);
    };
    const folded = !few && groups.some((group) => group.members.length > 1);
    return [
      h("div", { class: "pick" },
        large(question.first),
        h("div", {},
          h("div", { class: `cards ${few ? "" : "more"} ${folded && !state.unfolded ? "folded" : ""}` }, ...cards),
          folded ? button(`${state.unfolded ? "One example" : "More examples"} of each group`, unfold, { class: "link", "data-keep": "unfold" }) : null)),
      h("div", { class: "choices" },
        keyed("0", "None of these", () => answer("none")),
        keyed("space", "Unsure", () => answer("unsure")),
        h("form", { onsubmit: submit }, field, h("button", { type: "submit", text: "Enter" }))),
    ];
  }

  function unfold() {
    state.unfolded = !state.unfolded;
    ui.question.querySelector(".cards").classList.toggle("folded", !state.unfolded);
    ui.question.querySelector("[data-keep=unfold]").textContent = `${state.unfolded ? "One example" : "More examples"} of each group`;
  }

  // The words that tell the texts of a group from others.
  const about = (group) => state.view?.groups.find((one) => one.id === group)?.words ?? "";

  function drawView() {
    for (const words of ui.question.querySelectorAll("[data-about]")) words.textContent = about(Number(words.dataset.about));
    drawMap();
    drawProgress();
    drawGroups();
    drawAnswers();
    drawContradictions();
  }

  function drawMap() {
    const { map, view, question } = state;
    const canvas = ui.canvas, width = canvas.clientWidth, height = canvas.clientHeight;
    if (!map || !view || !width) return;
    const scale = window.devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    const place = ([x, y]) => [10 + x * (width - 20), 10 + y * (height - 20)];
    const current = question ? [question.first.row, question.second?.row] : [];
    const asked = new Set(view.asked), last = new Set(state.last);
    const radius = map.rows.length > 1200 ? 2 : 3.2;
    const ring = (x, y, r, w) => { pen.lineWidth = w; pen.beginPath(); pen.arc(x, y, r, 0, 7); pen.stroke(); };
    pen.strokeStyle = dark() ? "#fff" : "#111";
    map.rows.forEach((row, i) => {
      if (state.blind && current.includes(row)) return; // its colour would tell what tightcut thinks
      const [x, y] = place(map.positions[i]);
      pen.fillStyle = colour(view.colours[i]);
      pen.beginPath();
      pen.arc(x, y, asked.has(row) ? radius + 1.2 : radius, 0, 7);
      pen.fill();
      if (asked.has(row)) ring(x, y, radius + 1.2, 1);
      if (last.has(row) || (!state.blind && current.includes(row))) ring(x, y, radius + 6, 2);
    });
    canvas.setAttribute("aria-label", `Map of ${map.rows.length} points in ${view.groups.length} groups; ${asked.size} points were asked about.`);
  }

  function pointAt(event) {
    if (!state.map || !state.view) return -1;
    const box = ui.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - 10) / (box.width - 20), y = (event.clientY - box.top - 10) / (box.height - 20);
    const hidden = state.blind && state.question ? [state.question.first.row, state.question.second?.row] : [];
    let best = -1, nearest = 12;
    state.map.positions.forEach(([a, b], i) => {
      const far = Math.hypot((a - x) * box.width, (b - y) * box.height);
      if (far < nearest && !hidden.includes(state.map.rows[i])) { nearest = far; best = i; }
    });
    return best;
  }

  const many = (n = 2) => state.hello.nouns[n === 1 ? 0 : 1];

  // How far it has come, in sentences.
  function progressInWords() {
    const { progress, left, n_answers: n, n_unknown: unknown } = state.view;
    const answers = counted(n, n === 1 ? "answer" : "answers");
    if (left !== null) return `${counted(left, left === 1 ? "decision" : "decisions")} left, after ${answers}.`;
    const words = [], tooEarly = progress.high - progress.low > TOO_WIDE;
    if (n > 0 && tooEarly) words.push(`After ${answers} it is too early to tell how many ${many()} are in the right group.`);
    else if (n > 0) words.push(`After ${answers}, about ${ofHundred(progress.expected_accuracy)} of 100 ${many()} should be in the right group (between ${Math.round(100 * progress.low)} and ${Math.round(100 * progress.high)}).`);
    if (n > 0 && !tooEarly && progress.next_50 >= 0.005) words.push(`50 more answers would put about ${ofHundred(progress.next_50)} more of 100 right.`);
    if (unknown > 0) words.push(`${counted(unknown, many(unknown))} (grey on the map) ${unknown === 1 ? "is" : "are"} in no known group yet.`);
    return words.join(" ");
  }

  function drawProgress() {
    const { progress, curve, left, n_answers: n } = state.view;
    ui.estimate.textContent = progressInWords();
    if (left !== null) return;
    const W = 300, H = 70, end = Math.max(10, n);
    const steps = curve.filter((step) => step[0] <= n);
    const line = (some, k) => some.map((step) => `${((step[0] / end) * W).toFixed(1)},${(H - step[k] * H).toFixed(1)}`).join(" ");
    const now = n > 0 ? [svg("path", { d: `M${(n / end) * W} ${H - progress.expected_accuracy * H}h0`, class: "now" })] : [];
    const label = (place, text) => h("span", { class: place, text, "aria-hidden": "true" });
    const what = `${many()[0].toUpperCase()}${many().slice(1)} in the right group, of 100, by number of answers`;
    const labels = [label("top", "100"), label("half", "50"), label("base", "0"), label("start", "0"), label("end", String(end))];
    ui.curve.replaceChildren(h("p", { class: "quiet", text: what }), h("div", { class: "plot" }, ...labels, svg("svg", { viewBox: `-2 -4 ${W + 4} ${H + 8}`, preserveAspectRatio: "none", role: "img", "aria-label": n > 0 ? `Estimated share that is right after each answer, now ${ofHundred(progress.expected_accuracy)} of 100` : "Estimated share that is right: not known before the first answer" },
      svg("polygon", { points: `${line(steps, 2)} ${line([...steps].reverse(), 3)}`, class: "range" }),
      svg("path", { d: `M0 0V${H}H${W}`, class: "axes" }), svg("path", { d: `M0 0H${W}M0 ${H / 2}H${W}`, class: "goal" }),
      svg("polyline", { points: line(steps, 1), class: "expected" }), ...now)));
  }

  function drawGroups() {
    if (ui.groups.contains(document.activeElement) && document.activeElement.matches("input")) return; // someone is typing
    const hidden = new Set(state.question ? [state.question.first.row, state.question.second?.row] : []);
    const scrolled = root.ownerDocument.scrollingElement?.scrollTop;
    const focused = document.activeElement?.dataset?.keep;
    ui.groups.replaceChildren(...state.view.groups.map((group) => gallery(group, hidden)));
    if (focused) root.querySelector(`[data-keep="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    if (scrolled !== undefined) root.ownerDocument.scrollingElement.scrollTop = scrolled;
  }

  function gallery(group, hidden) {
    const items = (things, count) => things.filter((thing) => !hidden.has(thing.row)).slice(0, count).map((thing) => item(thing, group));
    const pictures = group.typical.some((thing) => thing.image);
    const typical = items(group.whole ?? group.typical, group.whole ? undefined : pictures ? TYPICAL : TYPICAL_TEXTS);
    const list = h("div", { class: "items" }, ...typical);
    const shown = new Set(typical.map((element) => element.dataset.keep));
    const doubtful = items(group.doubtful, pictures ? DOUBTFUL : DOUBTFUL_TEXTS).filter((element) => !shown.has(element.dataset.keep));
    const name = h("input", { type: "text", value: group.name ?? "", placeholder: group.label, title: group.label, maxlength: "100", readonly: state.hello.records, tabindex: state.hello.records ? "-1" : null, "aria-label": `Name of ${group.label}`, "data-keep": `name-${group.id}` });
    const save = () => { if (name.value.trim() && name.value.trim() !== group.name) act("name", { group: group.id, name: name.value.trim() }); };
    name.addEventListener("change", save);
    name.addEventListener("keydown", (event) => {
      if (event.key === "Escape") name.value = group.name ?? ""; // before the field is left, which saves the name
      if (event.key === "Enter") name.blur();
    });
    const more = button(group.whole ? "Show less" : "Show more", () => {
      if (!state.whole.delete(group.id)) state.whole.add(group.id);
      refresh();
    }, { class: "link", "aria-label": `${group.whole ? "Show less" : "Show more"} of ${group.label}`, "data-keep": `more-${group.id}` });
    return h("section", { class: "gallery", "aria-label": group.label },
      h("div", { class: "title" }, swatch(group.id), name, h("span", { class: "quiet", text: counted(group.size, many(group.size)) })),
      group.words ? h("p", { class: "about quiet", text: group.words }) : null,
      list,
      doubtful.length ? h("div", { class: "items doubtful" }, h("span", { class: "quiet", text: "least sure" }), ...doubtful) : null,
      group.size > typical.length || group.whole ? more : null);
  }

  const item = (thing, group) =>
    h("button", { type: "button", class: "item", title: thing.name, "aria-label": `${summary(thing)}, in ${group.label}: move it`, "data-keep": `item-${thing.row}`, onclick: () => moveDialog(thing, group) }, small(thing));

  function drawAnswers() {
    const rows = state.view.answers.map((given) =>
      h("li", { class: given.believed ? "" : "doubted", value: String(given.number) }, ...answerLine(given)));
    const { n_answers: n } = state.view;
    const all = () => { state.allAnswers = true; refresh(); };
    if (rows.length < n) rows.push(h("li", {}, button(`Show all ${n.toLocaleString("en")} answers`, all, { class: "link" })));
    ui.answers.replaceChildren(...(rows.length ? rows : [h("li", { class: "quiet none", text: "None yet." })]));
    const several = state.view.people.length > 1 ? state.view.people : [];
    ui.people.replaceChildren(...several.map(({ who, given, believed }) =>
      h("li", { text: `${who}: ${counted(given, given === 1 ? "answer" : "answers")}, ${believed === given ? "all" : believed} in agreement with the rest` })));
  }

  function answerLine(given) {
    return [
      h("span", { class: "thumbs", "aria-hidden": "true" }, given.first.image ? picture(given.first) : null, given.second?.image ? picture(given.second) : null),
      h("span", { class: "words", text: given.first.image ? given.words : sentence(given), title: sentence(given) }),
      given.who ? h("span", { class: "quiet", text: ` ${given.who} ` }) : null,
      given.believed ? null : h("span", { class: "flag", text: "not believed" }),
      button("Change", () => reviseDialog(given), { class: "link", "aria-label": `Change: ${sentence(given)}`, "data-keep": `change-${given.number}` }),
    ];
  }

  function drawContradictions() {
    const found = state.view.contradictions;
    ui.contradictions.hidden = !found.length;
    ui.contradictions.replaceChildren(
      h("h3", { text: found.length === 1 ? "These answers contradict each other" : `${found.length} contradictions among your answers` }),
      h("p", { class: "quiet", text: "The marked answer is believed least, and is left out for now. Change whichever is wrong; nothing is lost." }),
      ...found.map(({ chain, suspect }) => h("ol", { class: "chain" }, ...chain.map((given) =>
        h("li", { class: given.number === suspect ? "suspect" : "" },
          ...answerLine({ ...given, believed: true }),
          given.number === suspect ? h("span", { class: "flag", text: "believed least" }) : null)))));
  }

  // Dialogues

  function open(title, ...content) {
    const close = () => ui.dialog.close();
    ui.dialog.setAttribute("aria-label", title);
    ui.dialog.replaceChildren(h("h2", { text: title }), ...content, h("div", { class: "end" }, button("Close", close)));
    if (!ui.dialog.open) ui.dialog.showModal();
  }

  function choose(action, values) {
    ui.dialog.close();
    act(action, values);
  }

  function groupButtons(except, action, values, chosen = null) {
    const offered = state.view.groups.filter((group) => group.id !== except);
    return h("div", { class: "cards more" },
      ...offered.map((group) => h("button", { type: "button", class: "card little", "aria-pressed": chosen === null ? null : String(chosen === group.id), onclick: () => choose(action, { ...values, choice: group.id }) },
        h("span", { class: "label", text: group.label }), h("span", { class: "members" }, ...group.typical.slice(0, 3).map(small)))),
      button("None of the groups", () => choose(action, { ...values, choice: "none" }), { class: "card little" }));
  }

  function moveDialog(thing, group) {
    open(`Where does ${thing.name} belong?`, large(thing),
      h("p", { class: "quiet", text: `It is in ${group.label} now. Moving it counts as an answer.` }),
      button(`It belongs to ${group.label}`, () => choose("move", { row: thing.row, choice: group.id })),
      groupButtons(group.id, "move", { row: thing.row }));
  }

  function reviseDialog(given) {
    const values = { number: given.number };
    const to = (choice, text) => button(text, () => choose("revise", { ...values, choice }), { "aria-pressed": String(given.choice === choice) });
    open("Change an answer", given.second ? two(given.first, given.second) : large(given.first),
      h("p", { class: "quiet", text: `You answered: ${given.words}.` }),
      given.kind === "pair"
        ? h("div", { class: "choices" }, to("same", "Same"), to("different", "Different"), to("unsure", "Unsure"))
        : h("div", {}, groupButtons(null, "revise", values, given.choice), h("div", { class: "choices" }, to("unsure", "Unsure"))));
  }

  async function pointDialog(event) {
    const i = pointAt(event);
    if (i < 0) return;
    try {
      const { thing } = await request("thing", { row: state.map.rows[i] });
      const group = state.view.groups.find((one) => one.id === state.view.colours[i]) ?? null;
      if (group) moveDialog(thing, group);
      else open(`Where does ${thing.name} belong?`, large(thing), groupButtons(null, "move", { row: thing.row }));
    } catch (error) { if (error.refused) notify(error.message, true); else unreachable(); }
  }

  function help() {
    const records = state.hello?.records;
    const picks = [["1 to 9", "that group"], ["0", "none of these"], ["t", "type the name of a group, old or new, or its number"], ["e", "more examples of each group, where there are many"]];
    const keys = [["y, n", "same, different (two things)"], ...(records ? [] : picks), ["space", "unsure: skip it"], ["Backspace", "undo the last action"], ["Esc", "leave a text field or close this"], ["?", "this help"]];
    open("How it works",
      h("p", { text: "Answer what you know, and skip what you do not. tightcut asks where an answer helps most and works out the rest. Its own guess is not shown before you have answered." }),
      h("dl", { class: "keys" }, ...keys.flatMap(([key, text]) => [h("dt", {}, h("kbd", { text: key })), h("dd", { text })])),
      ...(records ? [] : [h("p", { text: `The curve is how many of 100 ${many()} are in the right group, as far as your answers tell; the band says how sure that is.` })]),
      records
        ? h("p", { text: "Below are the clusters that your last answers concern. All clusters are written when tightcut ends: press Ctrl-C in its terminal." })
        : h("p", { text: "Wrong answers do little harm: an answer that others outweigh is left out, shown to you, and kept. The map shows all points (or an even sample), coloured by group; those you were asked about have a ring." }),
      h("p", { class: "quiet", text: state.hello?.journal ? `Every answer is written to ${state.hello.journal} at once.` : "Answers are kept in memory only: they are lost when tightcut ends. Download the labels and pairs first." }));
  }

  // Beginning

  async function begin() {
    try {
      const hello = state.hello = await request("hello");
      if (!ui.who.value) ui.who.value = hello.who ?? (standalone ? remembered(localStorage, "tightcut-ask-who", () => "") : "");
      if (hello.title) { ui.title.textContent = hello.title; if (standalone) document.title = `${hello.title} · tightcut ask`; }
      if (hello.failure) { ui.heading.textContent = "This cannot be asked about"; banner(hello.failure); return; }
      if (!hello.ready) {
        ui.heading.textContent = "Preparing ...";
        ui.question.replaceChildren(h("p", { class: "quiet", text: `Looking for neighbours among ${counted(hello.n, many(hello.n))}. The first time ever takes up to a minute.` }));
        setTimeout(begin, 600);
        return;
      }
      if (standalone) rememberPage();
      root.classList.remove("waiting");
      root.classList.toggle("records", hello.records);
      if (hello.records) ui.groupsTitle.textContent = "Clusters of your last answers";
      const wanted = standalone && !hello.records ? location.hash.slice(1) : "";
      setKind(["pick", "pair"].includes(wanted) ? wanted : hello.kind);
      setTimeout(look, LOOK_EVERY);
    } catch (error) {
      if (error.refused) banner(error.message); else unreachable();
      setTimeout(begin, LOOK_EVERY);
    }
  }

  keysFrom.addEventListener("keydown", onKey);
  ui.canvas.addEventListener("click", pointDialog);
  ui.canvas.addEventListener("mousemove", (event) => {
    const i = pointAt(event);
    const group = i < 0 ? null : state.view.groups.find((one) => one.id === state.view.colours[i]);
    ui.hint.hidden = i < 0;
    ui.hint.textContent = i < 0 ? "" : group ? group.label : "not asked yet";
  });
  ui.canvas.addEventListener("mouseleave", () => { ui.hint.hidden = true; });
  const fit = () => {
    root.classList.toggle("narrow", root.clientWidth <= NARROW);
    root.classList.toggle("slim", root.clientWidth <= SLIM);
    drawMap();
  };
  const resized = new ResizeObserver(fit);
  resized.observe(root);
  resized.observe(ui.canvas);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const redraw = () => {
    for (const dot of ui.question.querySelectorAll("[data-group]")) dot.setAttribute("fill", colour(Number(dot.dataset.group)));
    if (state.view) drawView();
  };
  scheme.addEventListener("change", redraw);
  begin();
  return () => {
    state.stopped = true;
    keysFrom.removeEventListener("keydown", onKey);
    scheme.removeEventListener("change", redraw);
    resized.disconnect();
  };
}

// Two ways to send

function refusal(message, lost = false) {
  const error = new Error(message);
  error.refused = true;
  error.lost = lost;
  return error;
}

const randomName = () => Math.random().toString(36).slice(2);

function remember(store, key, value) {
  try { store.setItem(key, value); } catch { /* not allowed by the browser's settings */ }
  return value;
}

function remembered(store, key, otherwise) {
  try { return store.getItem(key) ?? remember(store, key, otherwise()); } catch { return otherwise(); }
}

// The page that began last on this port: an older one finds it here. Its token is of no use once its run has ended.
const NEWEST = "tightcut-ask";

const rememberPage = () => remember(localStorage, NEWEST, location.pathname);

function newestPage() {
  try {
    const path = localStorage.getItem(NEWEST) ?? "";
    return /^\/[\w-]+\/$/.test(path) && path !== location.pathname ? path : null;
  } catch { return null; }
}

async function overHttp(action, values) {
  const response = await fetch(action, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(values), signal: AbortSignal.timeout(action === "look" ? 10000 : 60000),
  });
  const type = response.headers.get("content-type") ?? "";
  if (response.headers.has("tightcut-replaced")) throw Object.assign(new Error("another run"), { replaced: true });
  if (!type.startsWith("application/json")) throw new Error(`${response.status}`); // not our server
  const reply = await response.json();
  if (!response.ok) throw refusal(reply.error ?? `The server answered ${response.status}.`, reply.lost);
  return reply;
}

function overMessages(model) {
  const waiting = new Map();
  let count = 0;
  model.on("msg:custom", (message) => {
    const one = waiting.get(message.id);
    if (!one) return;
    waiting.delete(message.id);
    clearTimeout(one.timer);
    if (message.error !== undefined) one.reject(refusal(message.error, message.lost)); else one.resolve(message.reply);
  });
  return (action, values) => new Promise((resolve, reject) => {
    const id = `${Date.now()}-${count++}`;
    const timer = setTimeout(() => { waiting.delete(id); reject(new Error("The kernel does not answer.")); }, 60000);
    waiting.set(id, { resolve, reject, timer });
    model.send({ id, action, values });
  });
}

export default {
  render({ model, el }) {
    const root = h("div");
    el.append(root);
    return start(root, overMessages(model), { keysFrom: root, standalone: false });
  },
};

const page = typeof document === "undefined" ? null : document.getElementById("tightcut-ask");
if (page) start(page, overHttp);
