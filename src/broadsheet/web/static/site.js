"use strict";
// Everything works without this file; it adds keys, copying without a selection, and marks without a new page.
(() => {
  const box = document.getElementById("q");
  const keys = document.getElementById("keys");
  const items = Array.from(document.querySelectorAll("[data-item]"));
  const hint = document.querySelector(".keys-hint");
  let current = -1;

  if (keys && typeof keys.showModal === "function" && hint) {
    hint.classList.add("ready");
  }

  const move = (step) => {
    if (!items.length) {
      return;
    }
    const focused = items.findIndex((item) => item.contains(document.activeElement));
    const from = focused >= 0 ? focused : current;
    current = Math.min(items.length - 1, Math.max(0, from + step));
    const link = items[current].querySelector("a[href^='/paper/']");
    if (link) {
      link.focus({ preventScroll: true });
    }
    items[current].scrollIntoView({ block: "nearest" });
  };

  // Marks: what a button of a form would do, done without a new page.

  const toast = document.querySelector(".toast");
  let hush = 0;
  let lastForm = null;

  const tell = (text) => {
    clearTimeout(hush);
    toast.textContent = text;
    hush = setTimeout(() => { toast.textContent = ""; }, 6000);
  };

  const show = (form, marks) => {
    for (const button of form.querySelectorAll("button.mark")) {
      const event = marks[button.dataset.action];
      button.name = event ? "undo" : "action";
      button.value = event || button.dataset.action;
      button.setAttribute("aria-pressed", event ? "true" : "false");
    }
    const undo = form.querySelector(".undo");
    const events = Object.values(marks);
    undo.disabled = !events.length;
    undo.value = events.length ? Math.max(...events) : "";
    form.querySelector(".not > summary").classList.toggle("held", Boolean(marks.dismiss));
    const item = form.closest("[data-item]");
    if (item) {
      item.classList.toggle("dismissed", Boolean(marks.dismiss));
    }
  };

  const ask = async (method, path, body) => {
    const answer = await fetch(path, {
      method,
      headers: { "content-type": "application/json" },
      body: body ? JSON.stringify(body) : undefined,
    });
    const said = await answer.json();
    if (!answer.ok) {
      throw new Error(said.error.message);
    }
    return said;
  };

  const told = { save: "Saved.", like: "Liked.", dismiss: "Not for you: noted." };

  const send = async (form, name, value) => {
    const data = new FormData(form);
    form.querySelector(".not").open = false;
    try {
      if (name === "undo") {
        const back = await ask("DELETE", `/api/events/${value}`);
        if (!back.event) {
          window.location.reload(); // taken back elsewhere: what holds is not known here
          return;
        }
        show(form, back.marks);
        tell("Taken back.");
        return;
      }
      const body = { action: name === "because" ? "dismiss" : value, paper: Number(data.get("paper")) };
      if (data.get("edition")) {
        body.edition = data.get("edition");
      }
      if (name === "because") {
        const cut = value.indexOf(":");
        body.because = { kind: value.slice(0, cut), value: value.slice(cut + 1) };
      }
      show(form, (await ask("POST", "/api/events", body)).marks);
      lastForm = form;
      tell(body.because ? `Not for you, nor anything else with “${body.because.value}”.` : told[body.action]);
    } catch (error) {
      tell(error instanceof TypeError ? "The library cannot be reached; nothing was changed." : error.message);
    }
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.matches("form.marks") && event.submitter && window.fetch) {
      event.preventDefault();
      send(form, event.submitter.name, event.submitter.value);
    }
  });

  document.addEventListener("click", (event) => {
    for (const open of document.querySelectorAll("details.not[open]")) {
      if (!open.contains(event.target)) {
        open.open = false;
      }
    }
  });

  // A form that was sent and then left by "back" may show what held before.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted && document.querySelector("form.marks")) {
      window.location.reload();
    }
  });

  const mark = (key) => {
    const selected = items.find((item) => item.contains(document.activeElement)) || items[current];
    const forms = document.querySelectorAll("form.marks");
    let form = selected?.querySelector("form.marks") || (forms.length === 1 ? forms[0] : null);
    if (key === "u" && (!form || form.querySelector(".undo").disabled)) {
      form = lastForm;
    }
    if (!form) {
      return false;
    }
    if (key === "u") {
      const undo = form.querySelector(".undo");
      if (!undo.disabled) {
        send(form, "undo", undo.value);
      }
    } else if (key === "x") {
      if (!form.querySelector("summary.held")) {
        send(form, "action", "dismiss");
      }
    } else {
      const button = form.querySelector(`button.mark[data-action="${key === "s" ? "save" : "like"}"]`);
      send(form, button.name, button.value);
    }
    return true;
  };

  const writing = (target) =>
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) {
      return;
    }
    if (writing(event.target)) {
      if (event.key === "Escape") {
        event.target.blur();
      }
      return;
    }
    if (keys && keys.open) {
      return;
    }
    if (event.key === "Escape") {
      const open = document.querySelector("details.not[open]");
      if (open) {
        open.open = false;
        open.querySelector("summary").focus();
      }
      return;
    }
    if ("slxu".includes(event.key) && mark(event.key)) {
      event.preventDefault();
      return;
    }
    if (event.key === "/" && box) {
      box.focus();
      box.select();
    } else if (event.key === "j") {
      move(1);
    } else if (event.key === "k") {
      move(-1);
    } else if (event.key === "?" && keys && typeof keys.showModal === "function") {
      keys.showModal();
    } else {
      return;
    }
    event.preventDefault();
  });

  const select = (node) => {
    const details = node.closest("details");
    if (details) {
      details.open = true;
    }
    window.getSelection().selectAllChildren(node);
  };

  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      const told = button.parentElement.querySelector("[role=status]");
      try {
        await navigator.clipboard.writeText(source.textContent);
        told.textContent = "Copied";
      } catch {
        // The clipboard is only given to secure origins: select the text, so that Ctrl+C takes it.
        select(source);
        told.textContent = document.execCommand("copy") ? "Copied" : "Selected: press Ctrl+C";
      }
    });
  }
})();
