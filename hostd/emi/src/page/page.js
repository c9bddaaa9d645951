"use strict";
(() => {
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const root = document.documentElement;
  root.classList.add("js");
  all(".needs-js").forEach((part) => { part.hidden = false; });

  // The picture: `view` is what is to be seen, `drawn` what the browser has drawn; between both, a drawn picture is moved.
  const svg = one("#board");
  const pane = one(".pane");
  const home = svg.getAttribute("viewBox").split(" ").map(Number);
  const markPixels = 8;
  const markUnits = Number(svg.dataset.mark);
  let view = home;
  let drawn = home;
  let timer = 0;

  const fitted = ([x, y, w, h]) => {
    const aspect = pane.clientWidth / Math.max(1, pane.clientHeight);
    const [width, height] = w / h < aspect ? [h * aspect, h] : [w, w / aspect];
    return [x - (width - w) / 2, y - (height - h) / 2, width, height];
  };
  const draw = () => {
    drawn = view;
    svg.setAttribute("viewBox", view.join(" "));
    svg.style.transform = "";
    svg.style.setProperty("--k", (view[2] / pane.clientWidth) * (markPixels / markUnits));
  };
  const show = (wanted, now) => {
    const most = fitted(home)[2] * 2;
    const width = Math.min(Math.max(wanted[2], 50), most);
    const scale = width / wanted[2];
    view = [wanted[0], wanted[1], wanted[2] * scale, wanted[3] * scale];
    clearTimeout(timer);
    if (now) {
      draw();
      return;
    }
    const dots = pane.clientWidth / view[2];
    const [dx, dy] = [(drawn[0] - view[0]) * dots, (drawn[1] - view[1]) * dots];
    svg.style.transform = `translate(${dx}px,${dy}px) scale(${drawn[2] / view[2]})`;
    timer = setTimeout(draw, 140);
  };
  const zoom = (factor, clientX, clientY) => {
    const box = pane.getBoundingClientRect();
    const px = clientX === undefined ? 0.5 : (clientX - box.left) / box.width;
    const py = clientY === undefined ? 0.5 : (clientY - box.top) / box.height;
    const most = fitted(home)[2] * 2;
    const width = Math.min(Math.max(view[2] * factor, 50), most);
    const height = view[3] * (width / view[2]);
    show([view[0] + (view[2] - width) * px, view[1] + (view[3] - height) * py, width, height]);
  };
  const move = (dx, dy) => {
    const units = view[2] / pane.clientWidth;
    show([view[0] - dx * units, view[1] - dy * units, view[2], view[3]]);
  };
  const fit = () => show(fitted(home), true);
  new ResizeObserver(() => show(fitted(view), true)).observe(pane);

  const fingers = new Map();
  let moved = 0;
  pane.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.005), event.clientX, event.clientY);
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    fingers.set(event.pointerId, event);
    moved = 0;
  });
  addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
    moved += Math.abs(dx) + Math.abs(dy);
    if (fingers.size === 1) {
      svg.classList.add("moving");
      move(dx, dy);
    } else {
      const other = [...fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
      const away = (finger) => Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY);
      zoom(away(before) / Math.max(1, away(event)), (event.clientX + other.clientX) / 2, (event.clientY + other.clientY) / 2);
    }
    fingers.set(event.pointerId, event);
  });
  const lift = (event) => {
    fingers.delete(event.pointerId);
    svg.classList.remove("moving");
  };
  addEventListener("pointerup", lift);
  addEventListener("pointercancel", lift);
  // A drag that ends on a mark is no click on it.
  svg.addEventListener("click", (event) => { if (moved > 6) event.preventDefault(); }, true);
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  one("#closer").addEventListener("click", () => zoom(0.6));
  one("#further").addEventListener("click", () => zoom(1 / 0.6));
  one("#whole").addEventListener("click", fit);
  pane.addEventListener("keydown", (event) => {
    const step = 60;
    const keys = {
      ArrowLeft: () => move(step, 0), ArrowRight: () => move(-step, 0), ArrowUp: () => move(0, step), ArrowDown: () => move(0, -step),
      "+": () => zoom(0.7), "-": () => zoom(1 / 0.7), 0: fit,
    };
    if (keys[event.key] && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      keys[event.key]();
    }
  });

  // One finding, named by the address: #f12, or by the fingerprint that it has in every version of the board.
  const findings = all(".finding[data-x]");
  const box = one("#box");
  const clear = () => {
    all(".selected").forEach((part) => part.classList.remove("selected"));
    all(".hot", svg).forEach((part) => part.classList.remove("hot"));
    all(".lit,.beside", svg).forEach((part) => part.classList.remove("lit", "beside"));
    svg.classList.remove("focus");
    box.setAttribute("visibility", "hidden");
  };
  const select = (finding) => {
    clear();
    const of = finding.dataset;
    finding.classList.add("selected");
    const mark = one(`.mark[data-f="${finding.id}"]`, svg);
    if (mark) {
      mark.classList.add("selected");
      mark.parentNode.parentNode.append(mark.parentNode);
    }
    if (of.i) all(`.n${of.i}`, svg).forEach((part) => part.classList.add("hot"));
    if (of.l) {
      const layer = Number(of.l);
      svg.classList.add("focus");
      all(`.layer.l${layer}`, svg).forEach((part) => part.classList.add("lit"));
      all(`.layer.l${layer - 1},.layer.l${layer + 1}`, svg).forEach((part) => part.classList.add("beside"));
    }
    let [x, y, w, h] = [Number(of.x), Number(of.y), 0, 0];
    if (of.b) {
      [x, y, w, h] = of.b.split(" ").map(Number);
      const names = ["x", "y", "width", "height"];
      [x, y, w, h].forEach((value, index) => box.setAttribute(names[index], value));
      box.setAttribute("visibility", "visible");
    }
    const around = Math.max(0.15 * Math.max(w, h), 700);
    show(fitted([x - around, y - around, w + 2 * around, h + 2 * around]), true);
    for (let part = finding.parentElement; part; part = part.parentElement) {
      if (part.tagName === "DETAILS") part.open = true;
    }
    // On narrow pages the picture stays above the list.
    finding.scrollIntoView({ block: matchMedia("(max-width: 60rem)").matches ? "center" : "nearest" });
  };
  const follow = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    const finding = findings.find((finding) => finding.id === name || finding.dataset.p === name);
    if (finding) select(finding);
  };
  const reset = () => {
    clear();
    fit();
    try {
      history.replaceState(null, "", location.pathname + location.search);
    } catch {
      // A page that was opened from a message has no address of its own.
    }
  };
  addEventListener("hashchange", follow);
  // The same one once more: the address does not change.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#f']") || event.target.closest("a.pick");
    if (link && !event.defaultPrevented && location.hash === link.getAttribute("href")) follow();
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") reset();
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key !== "j" && event.key !== "k") return;
    const shown = findings.filter((finding) => !finding.hidden);
    const at = shown.findIndex((finding) => finding.classList.contains("selected"));
    const next = shown[event.key === "j" ? at + 1 : Math.max(0, at - 1)];
    if (next) location.hash = next.id;
  });

  // Filters.
  const search = one("#search");
  const rule = one("#rule");
  const net = one("#net");
  const severities = all("input[name=severity]");
  const filter = () => {
    const words = search.value.trim().toLowerCase();
    const wanted = severities.filter((input) => input.checked).map((input) => input.value);
    let shown = 0;
    for (const finding of findings) {
      const of = finding.dataset;
      const fits = wanted.includes(of.s) && (!rule.value || rule.value === of.r) && (!net.value || net.value === (of.i || "-"))
        && (!words || finding.textContent.toLowerCase().includes(words));
      finding.hidden = !fits;
      one(`.mark[data-f="${finding.id}"]`, svg)?.classList.toggle("out", !fits);
      shown += fits ? 1 : 0;
    }
    all(".group").forEach((group) => { group.hidden = !one(".finding:not([hidden])", group); });
    one("#shown").textContent = `${shown} of ${findings.length} listed`;
  };
  [search, rule, net, ...severities].forEach((input) => input.addEventListener("input", filter));
  one("#all").addEventListener("click", () => {
    [search.value, rule.value, net.value] = ["", "", ""];
    severities.forEach((input) => { input.checked = true; });
    filter();
    reset();
  });

  addEventListener("beforeprint", () => {
    all("details").forEach((part) => { part.open = true; });
    svg.setAttribute("viewBox", home.join(" "));
    svg.style.transform = "";
  });
  addEventListener("afterprint", draw);
  fit();
  filter();
  follow();
})();
