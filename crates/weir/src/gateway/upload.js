"use strict";
// Sends files that are chosen or dropped to the folder that the page shows, two at a time.
{
  const AT_A_TIME = 2;
  const part = document.getElementById("upload");
  const input = part.querySelector("input[type=file]");
  const token = part.querySelector("input[type=password]");
  const list = part.querySelector("ul");
  const limit = Number(part.dataset.limit);
  const waiting = [];
  let sending = 0;

  function line(name) {
    const item = document.createElement("li");
    const text = document.createElement("span");
    const bar = document.createElement("progress");
    const state = document.createElement("span");
    text.textContent = name;
    bar.max = 1;
    bar.value = 0;
    bar.setAttribute("aria-label", name);
    state.className = "state";
    item.append(text, bar, state);
    list.append(item);
    return { item, text, bar, state };
  }

  function end(shown, failed, words) {
    shown.bar.remove();
    shown.state.textContent = words;
    shown.item.className = failed ? "failed" : "done";
  }

  function add(files) {
    for (const file of files) {
      const shown = line(file.name);
      if (file.size > limit) end(shown, true, "too large");
      else waiting.push({ file, shown });
    }
    next();
  }

  function next() {
    while (sending < AT_A_TIME && waiting.length > 0) send(waiting.shift());
  }

  function send({ file, shown }) {
    const request = new XMLHttpRequest();
    const at = new URL("./" + encodeURIComponent(file.name), location.href);
    sending += 1;
    request.upload.addEventListener("progress", (event) => {
      if (!event.lengthComputable || event.total === 0) return;
      shown.bar.value = event.loaded / event.total;
      shown.state.textContent = Math.floor((100 * event.loaded) / event.total) + " %";
    });
    request.addEventListener("load", () => {
      const failed = request.status !== 201;
      if (!failed) {
        const link = document.createElement("a");
        link.href = at.href;
        link.textContent = file.name;
        shown.text.replaceChildren(link);
      }
      end(shown, failed, failed ? request.responseText.trim() : "stored");
    });
    request.addEventListener("error", () => end(shown, true, "the connection broke; try again"));
    request.addEventListener("loadend", () => {
      sending -= 1;
      next();
    });
    request.open("PUT", at.href);
    if (token) request.setRequestHeader("Authorization", "Bearer " + token.value.trim());
    // The name says what it is.
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.send(file);
  }

  input.addEventListener("change", () => {
    add(input.files);
    input.value = "";
  });
  // The token is sent with files alone.
  if (token) token.form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("dragover", (event) => {
    event.preventDefault();
    part.classList.add("over");
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) part.classList.remove("over");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    part.classList.remove("over");
    const files = [];
    for (const item of event.dataTransfer.items) {
      if (item.kind !== "file") continue;
      const entry = item.webkitGetAsEntry ? item.webkitGetAsEntry() : null;
      if (entry && entry.isDirectory) {
        end(line(entry.name), true, "a folder cannot be uploaded; drop its files");
      } else {
        files.push(item.getAsFile());
      }
    }
    add(files);
  });
  addEventListener("beforeunload", (event) => {
    if (sending > 0) event.preventDefault();
  });
  part.hidden = false;
}
