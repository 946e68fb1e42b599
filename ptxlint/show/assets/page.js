"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const byId = (id) => document.getElementById(id);
function clear(section) {
  all(".access,.step,.chosen,.faded", section).forEach((e) => e.classList.remove("access", "step", "chosen", "faded"));
  all("[aria-pressed]", section).forEach((b) => b.setAttribute("aria-pressed", "false"));
  all(".trace", section).forEach((t) => { t.hidden = true; });
}
function chooseHazard(button) {
  const section = button.closest(".kernel");
  const again = button.getAttribute("aria-pressed") === "true";
  clear(section);
  if (again) return;
  button.setAttribute("aria-pressed", "true");
  button.nextElementSibling.hidden = false;
  const ends = [byId(button.dataset.first), byId(button.dataset.second)].filter(Boolean);
  const path = button.dataset.path.split(" ").map(byId).filter(Boolean);
  all(".item,.arrow,.bar", section).forEach((e) => e.classList.add("faded"));
  [...ends, ...path].forEach((e) => e.classList.remove("faded"));
  ends.forEach((e) => e.classList.add("access"));
  path.forEach((e) => e.classList.add("step"));
  const lit = new Set([...ends, ...path].map((e) => e.id));
  all(".arrow", section).forEach((a) => {
    if (lit.has(a.dataset.from) || lit.has(a.dataset.to)) a.classList.remove("faded");
  });
  const gap = byId(button.dataset.hazard);
  if (gap) gap.classList.add("chosen");
  if (ends[0]) ends[0].scrollIntoView({ block: "center", inline: "center" });
}
function chooseItem(item) {
  const section = item.closest(".kernel");
  clear(section);
  item.classList.add("chosen");
  byId(section.id + "-detail").textContent = item.dataset.text;
  all(".arrow", section).forEach((a) => {
    if (a.dataset.from !== item.id && a.dataset.to !== item.id) a.classList.add("faded");
  });
}
function filter(section) {
  const off = { role: new Set(), buffer: new Set(), rule: new Set() };
  all("[data-filter]", section).forEach((c) => { if (!c.checked) off[c.dataset.filter].add(c.value); });
  const gone = (e) => {
    const buffers = (e.dataset.buffers || "").split(" ").filter(Boolean);
    return off.role.has(e.dataset.role) || (buffers.length > 0 && buffers.every((b) => off.buffer.has(b)));
  };
  all("[data-role]", section).forEach((e) => e.classList.toggle("gone", gone(e)));
  all(".arrow", section).forEach((a) => {
    const ends = [byId(a.dataset.from), byId(a.dataset.to)];
    a.classList.toggle("gone", ends.some((e) => !e || e.classList.contains("gone")));
  });
  all(".hazard", section).forEach((b) => {
    const hide = off.rule.has(b.dataset.code);
    b.parentElement.classList.toggle("gone", hide);
    const gap = byId(b.dataset.hazard);
    if (gap) gap.classList.toggle("gone", hide);
  });
}
document.addEventListener("click", (event) => {
  const button = event.target.closest(".hazard");
  const item = event.target.closest(".item");
  if (button) chooseHazard(button); else if (item) chooseItem(item);
});
document.addEventListener("keydown", (event) => {
  const item = event.target.closest && event.target.closest(".item");
  if (!item) return;
  if (event.key === "Enter" || event.key === " ") { event.preventDefault(); chooseItem(item); return; }
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const items = all(".item:not(.gone)", item.closest(".kernel"));
  const next = items[items.indexOf(item) + (event.key === "ArrowDown" ? 1 : -1)];
  if (next) { event.preventDefault(); next.focus(); chooseItem(next); }
});
document.addEventListener("change", (event) => {
  if (event.target.dataset && event.target.dataset.filter) filter(event.target.closest(".kernel"));
});
