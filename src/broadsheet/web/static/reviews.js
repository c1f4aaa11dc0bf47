"use strict";
// The desk works without this file; it adds keys, and keeps a decision from being sent twice.
(() => {
  const form = document.querySelector("form.deciding");
  const forms = document.querySelectorAll("form[method=post]");
  let sending = false;

  for (const one of forms) {
    one.addEventListener("submit", (event) => {
      if (sending) {
        event.preventDefault();
        return;
      }
      sending = true;
      document.body.classList.add("sending");
      if (one.enctype === "multipart/form-data") {
        document.querySelector(".toast").textContent = "Reading what was sent; a large file takes a minute.";
      }
    });
  }

  // Shown again by "back": it can be sent again.
  window.addEventListener("pageshow", () => {
    sending = false;
    document.body.classList.remove("sending");
  });

  if (!form) {
    return;
  }
  const title = document.getElementById("record-title");
  const note = form.querySelector("textarea[name=note]");
  if (title && (document.activeElement === document.body || document.activeElement === null)) {
    title.focus({ preventScroll: true });
  }

  const writing = (target) =>
    target instanceof HTMLElement && (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName)
      || (target.tagName === "INPUT" && target.type !== "checkbox" && target.type !== "radio"));

  document.addEventListener("keydown", (event) => {
    const keys = document.getElementById("keys");
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat || (keys && keys.open)) {
      return;
    }
    if (writing(event.target)) {
      if (event.key === "Escape" && event.target === note && title) {
        title.focus({ preventScroll: true });
      }
      return;
    }
    if (event.key === "n") {
      note.focus();
    } else if (/^[1-9]$/.test(event.key)) {
      const reason = form.querySelector(`input[data-key="${event.key}"]`);
      if (!reason) {
        return;
      }
      reason.checked = !reason.checked;
    } else {
      const button = ["i", "e", "l", "u"].includes(event.key) && form.querySelector(`button[data-key="${event.key}"]`);
      if (!button) {
        return;
      }
      button.form.requestSubmit(button);
    }
    event.preventDefault();
  });
})();
