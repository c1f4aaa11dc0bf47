"use strict";
// The desk works without this file; it adds keys, and keeps a decision from being sent twice.
(() => {
  const form = document.querySelector("form.deciding");
  const forms = document.querySelectorAll("form[method=post]");
  let sending = false;

  const toast = document.querySelector(".toast");
  const TRIES = 5;
  const PAUSE = 2000; // milliseconds
  let straight = false; // the next form is sent by the browser itself

  const rest = () => {
    sending = false;
    document.body.classList.remove("sending");
  };

  // A decision is sent without leaving the page, so that nothing is lost where the server cannot be reached. To send it
  // again is safe: what is the same is kept once.
  const send = async (one, button, tries) => {
    const data = new FormData(one);
    if (button && button.name) {
      data.append(button.name, button.value);
    }
    let answer;
    try {
      answer = await fetch(one.action, {
        method: "POST",
        headers: { accept: "application/json" },
        body: new URLSearchParams(data),
      });
      if (answer.ok) {
        window.location.assign((await answer.json()).next);
        return;
      }
    } catch {
      if (tries < TRIES) {
        toast.textContent = "Not kept yet: the server cannot be reached. It is tried again …";
        setTimeout(() => send(one, button, tries + 1), PAUSE);
        return;
      }
      toast.textContent = "Not kept: the server cannot be reached. Your marks and your note are still here; decide again when it is back.";
      rest();
      return;
    }
    if (answer.status === 503) {
      toast.textContent = "Not kept: the library is busy. Decide again in a few seconds.";
      rest();
      return;
    }
    rest();
    straight = true; // the browser shows what is wrong
    one.requestSubmit(button);
  };

  for (const one of forms) {
    one.addEventListener("submit", (event) => {
      if (sending) {
        event.preventDefault();
        return;
      }
      sending = true;
      document.body.classList.add("sending");
      if (one.classList.contains("stays") && !straight) {
        event.preventDefault();
        toast.textContent = "";
        send(one, event.submitter, 1);
        return;
      }
      if (one.enctype === "multipart/form-data") {
        toast.textContent = "Reading what was sent; a large file takes a minute.";
      }
    });
  }

  // Shown again by "back": it can be sent again.
  window.addEventListener("pageshow", () => {
    rest();
    straight = false;
    toast.textContent = "";
  });

  const keys = document.getElementById("keys");
  const help = document.querySelector("button[data-keys]");
  if (help && keys && typeof keys.showModal === "function") {
    help.hidden = false;
    help.addEventListener("click", () => keys.showModal());
  }

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
