"use strict";
// Timelines: intervals of tracks on a canvas, with zoom, pan, an overview and tooltips. Rows of tables link to
// them; on a page with several, all move together as long as the box says so.
const timelines = [];
document.querySelectorAll(".timeline").forEach(function (root) {
  const data = JSON.parse(root.querySelector("script").textContent);
  const detail = root.querySelector(".detail"), overview = root.querySelector(".overview");
  const tip = root.querySelector(".tip");
  const GUTTER = 74, AXIS = 22, SHORTEST = 50; // pixels, pixels, nanoseconds

  const tracks = data.tracks.map(function (track) {
    let at = 0;
    const rows = track.rows ? track.rows.split(";") : [];
    return {
      title: track.title,
      items: rows.map(function (row) {
        const v = row.split(",").map((digits) => parseInt(digits || "0", 36));
        const begin = at + v[0];
        at = begin + (v[1] || 0);
        return { begin: begin, end: at, kind: v[2] || 0, label: track.labels[v[3] || 0], bytes: v[4] || 0, more: v[5] || 0 };
      }),
    };
  });
  let view = data.view.slice(), mark = null, colours = [], ink = "", soft = "", rule = "", ground = "", card = "";

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(name).trim();
    const probe = document.createElement("i");
    document.body.appendChild(probe);
    colours = data.kinds.map(function (kind) {
      probe.style.color = "var(--" + kind[0] + ")";
      return getComputedStyle(probe).color;
    });
    probe.remove();
    ink = get("--ink"); soft = get("--soft"); rule = get("--rule"); ground = get("--block");
    card = get("--card");
  }

  function time(ns) {
    const abs = Math.abs(ns);
    if (abs >= 1e6) return (ns / 1e6).toLocaleString("en", { maximumFractionDigits: 4 }) + " ms";
    if (abs >= 1e3) return (ns / 1e3).toLocaleString("en", { maximumFractionDigits: 3 }) + " µs";
    return Math.round(ns) + " ns";
  }

  function surface(canvas) {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const g = canvas.getContext("2d");
    g.scale(ratio, ratio);
    g.clearRect(0, 0, width, height);
    g.font = "12px system-ui, sans-serif";
    g.textBaseline = "middle";
    return { g: g, width: width, height: height };
  }

  function firstAfter(items, t) { // the first interval that ends after t
    let low = 0, high = items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (items[middle].end <= t) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Intervals of a pixel and more are boxes; of shorter ones a column shows how much of it they cover.
  function drawTrack(g, items, begin, end, left, width, y, height, labels) {
    const scale = width / (end - begin);
    let column = -1, cover = null, covered = 0;
    function flush() {
      if (column < 0 || !covered) return;
      let best = 0;
      cover.forEach(function (part, kind) { if (part > cover[best] || cover[best] === undefined) best = kind; });
      g.globalAlpha = Math.min(1, 0.25 + 0.75 * covered);
      g.fillStyle = colours[best];
      g.fillRect(left + column, y, 1, height);
      g.globalAlpha = 1;
    }
    for (let i = firstAfter(items, begin); i < items.length && items[i].begin < end; i++) {
      const item = items[i];
      const from = Math.max(item.begin, begin), to = Math.min(item.end, end);
      const x = left + (from - begin) * scale, w = (to - from) * scale;
      if (w < 1) {
        const now = Math.max(Math.floor(x - left), 0);
        if (now !== column) {
          flush();
          column = now; cover = []; covered = 0;
        }
        cover[item.kind] = (cover[item.kind] || 0) + w;
        covered += w;
        continue;
      }
      g.fillStyle = colours[item.kind];
      g.fillRect(x, y, Math.max(w - (w > 4 ? 1 : 0), 1), height);
      if (!labels || w < 14) continue;
      const text = item.label && item.label !== data.kinds[item.kind][0] ? item.label : data.kinds[item.kind][1];
      const caption = data.kinds[item.kind][0] === "code" || !labels.cpu ? text : data.kinds[item.kind][1];
      if (g.measureText(caption).width > w - 8) continue;
      g.fillStyle = card;
      g.fillText(caption, x + 5, y + height / 2);
    }
    flush();
  }

  function step(span, room) { // 1, 2 or 5 times a power of ten
    const rough = span / room, power = Math.pow(10, Math.floor(Math.log10(rough)));
    return [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  }

  function draw() {
    const s = surface(detail), g = s.g, span = view[1] - view[0], width = s.width - GUTTER;
    const pitch = (s.height - AXIS) / tracks.length;
    const tick = step(span, Math.max(width / 90, 2));
    g.textAlign = "center";
    for (let t = Math.ceil(view[0] / tick) * tick; t <= view[1]; t += tick) {
      const x = GUTTER + (t - view[0]) / span * width;
      g.fillStyle = rule;
      g.fillRect(x, 0, 1, s.height - AXIS);
      g.fillStyle = soft;
      if (x > GUTTER + 20 && x < s.width - 30) g.fillText(time(t), x, s.height - AXIS / 2 + 2);
    }
    g.textAlign = "left";
    tracks.forEach(function (track, i) {
      const y = i * pitch + 3, height = pitch - 6;
      g.fillStyle = ink;
      g.fillText(track.title, 0, y + height / 2);
      g.fillStyle = ground;
      g.globalAlpha = 0.6;
      g.fillRect(GUTTER, y, width, height);
      g.globalAlpha = 1;
      drawTrack(g, track.items, view[0], view[1], GUTTER, width, y, height, { cpu: i === 0 });
    });
    if (mark && mark[1] > view[0] && mark[0] < view[1]) { // where a row of a table led
      const from = Math.max(GUTTER + (mark[0] - view[0]) / span * width, GUTTER);
      const to = Math.min(GUTTER + (mark[1] - view[0]) / span * width, s.width - 1);
      g.strokeStyle = ink;
      g.lineWidth = 2;
      g.strokeRect(from, 1, Math.max(to - from, 2), s.height - AXIS - 2);
    }
    const o = surface(overview), thin = o.height / tracks.length;
    const whole = o.width - GUTTER;
    o.g.fillStyle = soft;
    o.g.fillText("whole run", 0, o.height / 2);
    tracks.forEach(function (track, i) {
      drawTrack(o.g, track.items, 0, data.end, GUTTER, whole, i * thin, thin - 1, null);
    });
    const left = GUTTER + view[0] / data.end * whole, right = GUTTER + view[1] / data.end * whole;
    o.g.strokeStyle = ink;
    o.g.lineWidth = 2;
    o.g.strokeRect(Math.min(left, o.width - 4), 1, Math.max(right - left, 3), o.height - 2);
  }

  function set(begin, end) {
    view = [begin, end];
    tip.hidden = true;
    requestAnimationFrame(draw);
  }
  function show(begin, end) {
    const span = Math.min(Math.max(end - begin, SHORTEST), data.end);
    begin = Math.min(Math.max(begin, 0), data.end - span);
    const together = document.getElementById("together");
    if (together && together.checked) timelines.forEach((other) => other.set(begin, begin + span));
    else set(begin, begin + span);
  }
  function lead(begin, end) { // to a stretch, with as much again before and after it
    mark = [begin, end];
    show(begin - 1.5 * (end - begin), end + 1.5 * (end - begin));
    root.scrollIntoView({ block: "center" });
    detail.focus({ preventScroll: true });
  }
  function zoom(factor, part) {
    const span = view[1] - view[0], at = view[0] + span * part;
    show(at - span * factor * part, at + span * factor * (1 - part));
  }
  function part(event) {
    const box = detail.getBoundingClientRect();
    return Math.min(Math.max((event.clientX - box.left - GUTTER) / (box.width - GUTTER), 0), 1);
  }

  detail.addEventListener("wheel", function (event) {
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = event.deltaX / detail.clientWidth * (view[1] - view[0]);
      show(view[0] + by, view[1] + by);
    } else zoom(Math.exp(event.deltaY / 400), part(event));
  }, { passive: false });

  const fingers = new Map();
  let start = null;
  function grasp() {
    const xs = [...fingers.values()];
    start = { view: view.slice(), x: xs.reduce((a, b) => a + b, 0) / xs.length, spread: xs.length > 1 ? Math.abs(xs[0] - xs[1]) : 0 };
  }
  detail.addEventListener("pointerdown", function (event) {
    detail.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, event.clientX);
    grasp();
  });
  detail.addEventListener("pointermove", function (event) {
    if (!fingers.has(event.pointerId)) { hover(event); return; }
    fingers.set(event.pointerId, event.clientX);
    const xs = [...fingers.values()], x = xs.reduce((a, b) => a + b, 0) / xs.length;
    const width = detail.clientWidth - GUTTER, span = start.view[1] - start.view[0];
    const by = (start.x - x) / width * span;
    const wide = start.spread > 20 && xs.length > 1 ? start.spread / Math.max(Math.abs(xs[0] - xs[1]), 10) : 1;
    const middle = (start.view[0] + start.view[1]) / 2 + by;
    show(middle - span * wide / 2, middle + span * wide / 2);
  });
  ["pointerup", "pointercancel"].forEach((name) => detail.addEventListener(name, function (event) {
    fingers.delete(event.pointerId);
    if (fingers.size) grasp();
  }));
  detail.addEventListener("pointerleave", function () { tip.hidden = true; });

  function hover(event) {
    const box = detail.getBoundingClientRect(), pitch = (box.height - AXIS) / tracks.length;
    const track = tracks[Math.floor((event.clientY - box.top) / pitch)];
    const t = view[0] + part(event) * (view[1] - view[0]);
    const item = track && event.clientX - box.left >= GUTTER ? track.items[firstAfter(track.items, t)] : null;
    const slack = (view[1] - view[0]) / box.width;
    if (!item || item.begin > t + slack) { tip.hidden = true; return; }
    const kind = data.kinds[item.kind], lines = [track.title + ": " + kind[1]];
    if (item.label && item.label !== kind[0] && item.label !== kind[1]) lines.push(item.label);
    lines.push(time(item.end - item.begin) + ", from " + time(item.begin));
    if (item.bytes) lines.push(item.bytes.toLocaleString("en") + " bytes, " + (item.bytes / (item.end - item.begin) * 1000).toFixed(1) + " MB/s");
    if (item.more) lines.push("stands for " + (item.more + 1) + " intervals");
    tip.textContent = "";
    lines.forEach(function (line) {
      const row = document.createElement("div");
      row.textContent = line;
      tip.appendChild(row);
    });
    tip.hidden = false;
    const x = event.clientX - box.left, y = event.clientY - box.top;
    tip.style.left = Math.max(0, Math.min(x + 14, box.width - tip.offsetWidth)) + "px";
    tip.style.top = y + 18 + "px";
  }

  detail.addEventListener("keydown", function (event) {
    const by = (view[1] - view[0]) / 6;
    const moves = {
      ArrowLeft: () => show(view[0] - by, view[1] - by), ArrowRight: () => show(view[0] + by, view[1] + by),
      "+": () => zoom(0.5, 0.5), "=": () => zoom(0.5, 0.5), "-": () => zoom(2, 0.5), "0": () => show(0, data.end),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
  });
  root.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", function () {
    const factor = Number(button.dataset.zoom);
    if (factor) zoom(factor, 0.5);
    else show(0, data.end);
  }));
  function jump(event) {
    const box = overview.getBoundingClientRect(), span = view[1] - view[0];
    const at = (event.clientX - box.left - GUTTER) / (box.width - GUTTER) * data.end;
    show(at - span / 2, at + span / 2);
  }
  overview.addEventListener("pointerdown", function (event) { overview.setPointerCapture(event.pointerId); jump(event); });
  overview.addEventListener("pointermove", function (event) { if (event.buttons) jump(event); });

  window.addEventListener("resize", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () { readColours(); draw(); });
  readColours();
  draw();
  timelines.push({ root: root, set: set, lead: lead });
});
document.querySelectorAll("a.at").forEach((link) => link.addEventListener("click", function (event) {
  const target = document.querySelector(link.hash);
  const timeline = timelines.find((other) => target && target.contains(other.root));
  if (!timeline) return;
  event.preventDefault();
  timeline.lead(Number(link.dataset.from), Number(link.dataset.to));
}));
