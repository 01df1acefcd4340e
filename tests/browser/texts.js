// What is wrong with the texts of all drawings in sight: they stand on each other, or are cut at the
// drawing's edge. Texts may be turned, so that their corners are compared and not upright boxes.
() => {
  const corners = (text) => {
    const box = text.getBBox();
    const to = text.getScreenCTM();
    const at = (x, y) => ({ x: to.a * x + to.c * y + to.e, y: to.b * x + to.d * y + to.f });
    // A line is higher than its letters.
    const [top, bottom] = [box.y + box.height * 0.2, box.y + box.height * 0.8];
    const [left, right] = [box.x + 1, box.x + box.width - 1];
    return [at(left, top), at(right, top), at(right, bottom), at(left, bottom)];
  };
  // Whether a line parallel to a side of one of them goes between both.
  const areApart = (one, other) => [one, other].some((shape) => shape.some((corner, i) => {
    const next = shape[(i + 1) % 4];
    const across = { x: corner.y - next.y, y: next.x - corner.x };
    const ends = (all) => all.map((point) => point.x * across.x + point.y * across.y);
    const [a, b] = [ends(one), ends(other)];
    return Math.max(...a) <= Math.min(...b) || Math.max(...b) <= Math.min(...a);
  }));
  const wrong = [];
  for (const drawing of document.querySelectorAll("figure .plot svg")) {
    const where = drawing.closest("figure").id;
    const edge = drawing.getBoundingClientRect();
    const isOut = ({ x, y }) =>
      x < edge.left - 0.5 || x > edge.right + 0.5 || y < edge.top - 0.5 || y > edge.bottom + 0.5;
    const texts = [...drawing.querySelectorAll("text")].filter((text) => text.textContent.trim());
    const places = texts.map(corners);
    texts.forEach((text, i) => {
      if (places[i].some(isOut)) wrong.push(`${where}: ${text.textContent} is cut`);
      for (let j = i + 1; j < texts.length; j++) {
        if (areApart(places[i], places[j])) continue;
        wrong.push(`${where}: ${text.textContent} stands on ${texts[j].textContent}`);
      }
    });
  }
  return wrong;
}
