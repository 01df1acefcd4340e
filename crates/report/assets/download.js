// The visible picture as a file of its own: SVG with its colours inside, CSV with its numbers.

const FILE_WIDTH = 760;

function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The drawing's style sheet, with the light colours in place of their names: figures go on paper.
function fileStyle() {
  const colours = JSON.parse(document.getElementById("colours").textContent).light;
  const style = document.getElementById("drawing").textContent;
  return style.replace(/var\(--([a-z0-9]+)\)/g, (whole, name) => colours[name] || whole);
}

// Words in lines of at most `letters` letters.
function wrapped(text, letters) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.length - 1;
    if (lines[last] && lines[last].length + word.length >= letters) lines.push(word);
    else lines[last] += (lines[last] ? " " : "") + word;
  }
  return lines;
}

function texts(lines, kind, y, step) {
  return lines.map((line, i) =>
    `<text class="${kind}" x="12" y="${y + i * step}">${escaped(line)}</text>`).join("");
}

// The legend as a row of samples, as many in a row as fit.
function legendRows(lines, top, form) {
  const parts = [];
  let [x, y] = [12, top];
  for (const line of lines) {
    const text = line.mark ? `${line.label}: ${line.mark[0]}` : line.label;
    const width = 40 + textWidth(text);
    if (x > 12 && x + width > FILE_WIDTH - 12) [x, y] = [12, y + 20];
    if (form !== "scatter" || !line.raw.length) {
      parts.push(`<line class="line c${line.colour}" stroke-dasharray="${DASHES[line.dash]}"` +
        ` x1="${x}" x2="${x + 26}" y1="${y}" y2="${y}"/>`);
    }
    if (["sweep", "scatter"].includes(form) && line.raw.length) {
      parts.push(`<path class="f${line.colour}" d="${markPath(line.dash, x + 13, y, 3.5)}"/>`);
    }
    parts.push(`<text class="label" x="${x + 32}" y="${y}" dy=".32em">${escaped(text)}</text>`);
    x += width + 14;
  }
  return { inside: parts.join(""), bottom: y + 14 };
}

// Roles, widths and colours of a drawing.
function mapLegend(top) {
  const roles = ["consumer", "forwarder", "producer"].map((role, i) => {
    const x = 22 + i * 110;
    return `${nodeShape(role, [x, top], false)}<text class="label" x="${x + 16}" y="${top}"` +
      ` dy=".32em">${role}</text>`;
  });
  const uses = ["0", "below 20", "40", "60", "80", "100 % used"].map((text, i) => {
    const x = 352 + i * 62;
    return `<line class="way u${i}" stroke-width="7" x1="${x}" x2="${x + 56}" y1="${top - 4}"` +
      ` y2="${top - 4}"/><text class="tick" x="${x + 28}" y="${top + 14}"` +
      ` text-anchor="middle">${text}</text>`;
  });
  return { inside: roles.join("") + uses.join(""), bottom: top + 26 };
}

function pictureFile(picture, state) {
  const title = wrapped(picture.title, 76);
  const parts = [texts(title, "title", 26, 20)];
  let y = 26 + title.length * 20;
  picture.panels.forEach((panel, i) => {
    if (panel.title) {
      parts.push(`<text class="label" x="12" y="${y + 8}">${escaped(panel.title)}</text>`);
      y += 22;
    }
    const { inside, frame } = drawPanel(picture, panel, state, FILE_WIDTH - 24, `clip-file-${i}`);
    parts.push(`<g transform="translate(12 ${y})">${inside}</g>`);
    y += frame.height + 8;
    const legend = picture.form === "map" ? mapLegend(y + 10)
      : picture.form === "dots" ? { inside: "", bottom: y }
        : legendRows(panel.lines.filter((_, j) => state.shown(panel, j)), y + 8, picture.form);
    parts.push(legend.inside);
    y = legend.bottom + 8;
  });
  const caption = wrapped(picture.caption, 112);
  parts.push(texts(caption, "caption", y + 8, 16));
  const height = y + 14 + caption.length * 16;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${FILE_WIDTH} ${height}"` +
    ` width="${FILE_WIDTH}" height="${height}"><title>${escaped(picture.title)}</title>` +
    `<style>${fileStyle()}</style><rect class="paper" width="100%" height="100%"/>` +
    `${parts.join("")}</svg>\n`;
}

function cell(value) {
  const text = String(value);
  return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

function pictureTable(picture) {
  const rows = [];
  const add = (...cells) => rows.push(cells.map(cell).join(","));
  if (picture.form === "map") {
    add("panel", "from", "to", "rate (Mbit/s)", "link", "used (share)");
    for (const panel of picture.panels) {
      for (const link of panel.links) {
        add(panel.title, panel.nodes[link.from].name, panel.nodes[link.to].name,
          link.rate ?? "", link.label, link.used);
      }
    }
  } else if (picture.form === "dots") {
    add("name", axisText(picture.x), "low", "high", "published");
    for (const line of picture.panels.flatMap((panel) => panel.lines)) {
      add(line.label, ...line.raw, line.published[0] ?? "");
    }
  } else {
    add("panel", "line", "what", axisText(picture.x), axisText(picture.y), "low", "high");
    for (const panel of picture.panels) {
      for (const line of panel.lines) {
        const pairs = (values, what) => {
          for (let i = 0; i < values.length; i += 2) {
            add(panel.title, line.label, what, values[i], values[i + 1], "", "");
          }
        };
        pairs(line.raw, "sample");
        pairs(line.smooth, "mean");
        pairs(line.published, "published");
        for (let i = 0; i < line.band.length; i += 3) {
          add(panel.title, line.label, "interval", line.band[i], "", line.band[i + 1],
            line.band[i + 2]);
        }
        const across = line.across || [];
        for (let i = 0; i < across.length; i += 3) {
          add(panel.title, line.label, "interval to the right", "", across[i], across[i + 1],
            across[i + 2]);
        }
      }
    }
  }
  return rows.join("\n") + "\n";
}
