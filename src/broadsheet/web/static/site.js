"use strict";
// Everything works without this file; it adds keys, and copying without a selection.
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
    link.focus({ preventScroll: true });
    items[current].scrollIntoView({ block: "nearest" });
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
