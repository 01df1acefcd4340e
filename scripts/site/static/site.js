"use strict";

// Browsers do not let pages from disk request files, so a search there has no excerpts.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// The versions beside this one. Their list is a script, which a page from disk may load.
(() => {
  const root = document.documentElement.dataset.content_root;
  const list = document.createElement("script");
  list.src = `${root}../versions.js`;
  list.onload = () => {
    const nav = document.querySelector(".versions");
    const own = nav.dataset.version;
    for (const { folder, label, latest } of window.weirVersions) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = `${root}../${folder}/index.html`;
      link.textContent = latest ? `${label}, the latest` : label;
      if (folder === own) link.setAttribute("aria-current", "true");
      item.append(link);
      nav.querySelector("ul").append(item);
    }
    const latest = window.weirVersions.find((one) => one.latest);
    nav.querySelector(".old").hidden = !latest || latest.folder === own;
  };
  document.head.append(list);
})();
