// What the page shows: the results of memory_search, an edit of workspace_edit, and the proposals that wait.

const content = document.getElementById("content");

function note(text, problem) {
  const line = document.getElementById("note");
  line.className = problem ? "problem" : "hint";
  line.replaceChildren(...textOf(text));
}

function title(text) { document.getElementById("title").replaceChildren(...textOf(text)); }

// show shows a tool's result.
function show(result) {
  const data = result.structuredContent || {};
  note("");
  if (result.isError) {
    note((result.content || []).map(part => part.text || "").join("\n"), true);
  } else if (Array.isArray(data.results)) {
    showFound(data);
  } else if (data.event_id) {
    showEdit(data);
  }
}

// attempt runs what a button does: the button is off meanwhile, and a failure is shown.
async function attempt(button, perform) {
  button.disabled = true;
  note("");
  try {
    await perform();
  } catch (failure) {
    note(failure.message, true);
  }
  button.disabled = false;
}

function button(words, perform, kind) {
  const made = element("button", { type: "button", class: kind || "" }, words);
  made.addEventListener("click", () => attempt(made, () => perform(made)));
  return made;
}

// zone names who can read a memory, in words and by its colour.
function zone(visibility) {
  if (visibility === "private" || visibility === "shared") {
    return { kind: visibility, words: visibility === "private" ? "Private" : "Shared with every group" };
  }
  return { kind: "group", words: "Group " + String(visibility).replace(/^group:/, "") };
}

function day(time) {
  const at = new Date(time);
  return isNaN(at) ? "" : at.toLocaleDateString(undefined, { dateStyle: "medium" });
}

function showFound(data) {
  title(data.results.length === 1 ? "1 memory" : data.results.length + " memories");
  const list = element("ul", {}, data.results.map(memory));
  const parts = [list];
  if (data.results.length === 0) {
    parts[0] = element("p", { class: "hint" }, "Nothing was found.");
  } else if (data.confidence === "unlikely") {
    parts.unshift(element("p", { class: "hint" }, "Probably none of these is the answer."));
  }
  if ((data.standing || []).length > 0) {
    parts.push(element("h2", {}, "Instructions and preferences"),
      element("ul", {}, data.standing.map(memory)));
  }
  if ((data.lessons || []).length > 0) {
    parts.push(element("h2", {}, "Lessons"), element("ul", {}, data.lessons.map(lesson =>
      element("li", {}, element("p", { class: "stored" }, lesson.preventative_rule),
        element("p", { class: "meta" }, "applies to " + lesson.applicable_scope)))));
  }
  content.replaceChildren(...parts);
}

// memory is a result of a search.
function memory(found) {
  const at = zone(found.visibility);
  const text = element("p", { class: "stored" }, found.content);
  const facts = [day(found.created_at)];
  if (found.source) {
    facts.push("from " + found.source);
  }
  if (found.confidence) {
    facts.push(found.confidence === "unlikely" ? "probably not the answer" : found.confidence);
  }
  const item = element("li", { class: at.kind }, text,
    element("p", { class: "meta" }, element("span", { class: "zone " + at.kind }, at.words), " · ",
      facts.filter(Boolean).join(" · ")));
  if (found.replaces) {
    item.append(element("p", { class: "meta" }, "It replaced, " + found.replaces));
  }
  if (found.disputed) {
    item.append(element("p", { class: "meta" }, "It is " + found.disputed));
  }
  // A passage of a file is changed by an edit of the file.
  if (found.link || found.type === "file" || !host.can.serverTools) {
    return item;
  }
  const below = element("div", {});
  const buttons = element("div", { class: "buttons" },
    button("History and whole text", () => history(found, text, below)));
  // A lesson and a reflection were made from other memories.
  if (found.type !== "lesson" && found.type !== "reflection") {
    buttons.append(button("Correct", () => correct(found, item, below)));
  }
  buttons.append(button("Forget", () => forget(found, item, below), "danger"));
  item.append(buttons, below);
  return item;
}

async function history(found, text, below) {
  const whole = await call("memory_get", { id: found.id });
  text.replaceChildren(...textOf(whole.content + (whole.next_offset ? " …" : "")));
  const versions = whole.history || [];
  below.replaceChildren(element("p", { class: "meta" },
    versions.length > 1 ? "Its versions, oldest first:" : "It has not been changed since it was stored."));
  if (versions.length > 1) {
    below.append(element("ul", {}, versions.map(v => element("li", {}, element("p", { class: "stored" }, v.content),
      element("p", { class: "meta" }, v.until ? "until " + day(v.until) + (v.why ? ": " + v.why : "") : "current")))));
  }
}

async function correct(found, item, below) {
  // The whole memory: a search shows a part of a long one, and not every field.
  const whole = await call("memory_get", { id: found.id });
  if (whole.next_offset) {
    throw new Error("It is too long to be corrected here: use yamo-mcp view.");
  }
  const field = element("textarea", { id: "said" });
  field.value = whole.content;
  const save = button("Save the correction", async () => {
    const said = field.value.trim();
    if (said === "" || said === whole.content.trim()) {
      throw new Error("Write what is true now. To remove the memory, use Forget.");
    }
    const args = { content: said, source: "user", supersedes: [found.id], type: whole.type, tags: whole.tags || [] };
    if (whole.occurred_at) {
      args.occurred_at = whole.occurred_at;
    }
    if (whole.visibility === "shared") {
      args.visibility = "shared";
    }
    const stored = await call("memory_store", args);
    tell("The user corrected the memory " + found.id + ": " + stored.id + " is current now.");
    item.replaceWith(memory({ ...found, type: whole.type, id: stored.id, content: said, source: "user",
      created_at: stored.created_at, confidence: "", replaces: "" }));
    note("Corrected. What it said before is kept in its history.");
  });
  below.replaceChildren(element("label", { for: "said" }, "What is true now"), field,
    element("div", { class: "buttons" }, save, button("Cancel", () => below.replaceChildren())));
  field.focus();
}

function forget(found, item, below) {
  const sure = button("Forget it permanently", async () => {
    const gone = await call("memory_delete", { id: found.id, confirm: true });
    tell("The user permanently erased the memory " + found.id + ".");
    item.replaceChildren(element("p", { class: "hint" }, "Forgotten. It was permanently erased."));
    if (gone.hint) {
      item.append(element("p", { class: "hint" }, gone.hint));
    }
  }, "danger");
  below.replaceChildren(element("p", { class: "problem" }, "This erases it permanently, with its words in the history."),
    element("div", { class: "buttons" }, sure, button("Keep it", () => below.replaceChildren())));
  sure.focus();
}

function showEdit(data) {
  const target = data.file + (data.section ? ", " + data.section : "");
  if (data.proposal === "pending") {
    title("The agent proposes a change of " + target);
    const parts = [element("p", {}, "Nothing has changed yet: you decide.")];
    if (host.can.serverTools) {
      parts.push(element("div", { class: "buttons" }, button("Show what waits for you", () => review(""))));
    }
    content.replaceChildren(...parts);
    return;
  }
  title("Changed: " + target);
  content.replaceChildren(element("p", { class: "stored item" }, data.snapshot || ""));
}

// review shows the proposals that wait, and first what was just decided.
async function review(said, answer) {
  const data = answer || await call("proposals", {});
  const waiting = data.proposals || [];
  title(waiting.length === 0 ? "No proposal waits for you" :
    waiting.length === 1 ? "1 proposal waits for you" : waiting.length + " proposals wait for you");
  content.replaceChildren(...waiting.map(proposal));
  note([said, data.hint].filter(Boolean).join(" "));
}

function proposal(waiting) {
  const why = element("input", { type: "text", maxlength: "500", "aria-label": "Why, if you reject it" });
  const decide = (action, said) => async () => {
    const args = { action, id: waiting.id, digest: waiting.digest };
    if (action === "reject" && why.value.trim() !== "") {
      args.reason = why.value.trim();
    }
    const answer = await call("proposals", args);
    tell("The user decided about the proposal " + waiting.id + ": " + action + "ed.");
    await review(said, answer);
  };
  const shared = waiting.shared ? "Every group reads this file. " : "";
  const item = element("div", { class: "item " + (waiting.shared ? "shared" : "private") },
    element("h2", {}, waiting.file + (waiting.section ? ", " + waiting.section : "")),
    element("p", { class: "stored" }, waiting.rationale),
    element("p", { class: "meta" }, shared + day(waiting.time)), difference(waiting.diff));
  for (const warning of [waiting.changed && "The section was changed since: look at what it would replace.",
    waiting.pin && "The section has a " + waiting.pin + ", which accepting this overrides.", waiting.problem]) {
    if (warning) {
      item.append(element("p", { class: "problem" }, warning));
    }
  }
  const buttons = element("div", { class: "buttons" });
  if (!waiting.problem) {
    buttons.append(button("Accept", decide("accept", "Accepted. The file was changed.")));
  }
  buttons.append(button("Reject", decide("reject", "Rejected."), "danger"));
  item.append(element("label", {}, "Why, if you reject it"), why, buttons);
  return item;
}

// difference shows a unified difference, each line with a sign, so that no one needs the colour.
function difference(diff) {
  const shown = element("pre", {});
  for (const line of String(diff || "").split("\n")) {
    if (/^(diff|---|\+\+\+) /.test(line) || line === "") {
      continue;
    }
    const kind = line[0] === "+" ? "added" : line[0] === "-" ? "removed" : "";
    shown.append(element("span", { class: kind }, line), "\n");
  }
  return shown;
}

connect().catch(failure => note(failure.message, true));
