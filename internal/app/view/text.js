"use strict";
// Stored text is hostile: it becomes text nodes only, and what a person could not see in it is shown.

// unseen matches what is shown as nothing or as an ordinary space, or reorders the text around it. The characters that
// are parts of emoji (U+200D, U+FE0F) and no-break spaces are ordinary.
const unseen =
  /(?![\n\t \u200D\uFE0F\u00A0\u202F])[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Zs}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}\u2800]/u;

// textOf returns nodes that show a string.
function textOf(string) {
  const nodes = [];
  let seen = "";
  for (const c of String(string)) {
    if (!unseen.test(c)) {
      seen += c;
      continue;
    }
    nodes.push(document.createTextNode(seen));
    seen = "";
    const mark = document.createElement("span");
    mark.className = "unseen";
    mark.textContent = "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    nodes.push(mark);
  }
  nodes.push(document.createTextNode(seen));
  return nodes;
}

// element makes an element. What it contains is strings, which are shown as stored text, and elements.
function element(name, attributes, ...contents) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    made.setAttribute(key, value);
  }
  for (const content of contents.flat()) {
    if (content instanceof Node) {
      made.append(content);
    } else if (content !== undefined && content !== null && content !== "") {
      made.append(...textOf(content));
    }
  }
  return made;
}
