"""The scripts that run in pages: what notes drawn text and shadow roots, and what reads it all.

They send nothing and know no secret. WebRTC is removed; otherwise a page finds what it expects.
"""

from __future__ import annotations

BEFORE = """
(() => {
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) delete window[name];
  if (window.__quizlog) return;
  const seen = { drawn: new Map(), roots: [], changed: performance.now(), timers: new Set(),
                 blobs: new Map() };
  Object.defineProperty(window, "__quizlog", { value: seen, enumerable: false });
  for (const name of ["fillText", "strokeText"]) {
    const draw = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (text, x, y, ...rest) {
      const list = seen.drawn.get(this.canvas) || [];
      if (list.length < 2000) list.push([String(text), Number(y) || 0, Number(x) || 0]);
      seen.drawn.set(this.canvas, list);
      seen.changed = performance.now();
      return draw.call(this, text, x, y, ...rest);
    };
  }
  const set = window.setTimeout, clear = window.clearTimeout;
  window.setTimeout = function (call, delay, ...rest) {
    if (typeof call !== "function" || !(delay >= 50 && delay <= 6000)) {
      return set.call(this, call, delay, ...rest);
    }
    const id = set.call(this, (...given) => {
      seen.timers.delete(id);
      call(...given);
    }, delay, ...rest);
    seen.timers.add(id);
    return id;
  };
  window.clearTimeout = function (id) { seen.timers.delete(id); return clear.call(this, id); };
  const make = URL.createObjectURL;
  URL.createObjectURL = function (object) {
    const url = make.call(URL, object);
    if (object instanceof Blob && object.size < 5e7) {
      seen.blobs.set(url, object);
      if (seen.blobs.size > 16) seen.blobs.delete(seen.blobs.keys().next().value);
    }
    return url;
  };
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options);
    seen.roots.push([this, root]);
    watch(root);
    return root;
  };
  const watch = root => new MutationObserver(() => { seen.changed = performance.now(); })
    .observe(root, { childList: true, subtree: true, characterData: true,
                     attributeFilter: ["hidden", "class", "open"] });
  watch(document);
})();
"""
"""Runs before a page's own scripts: in every frame."""

_ALL = r"""
  const seen = window.__quizlog || { drawn: new Map(), roots: [] };
  const roots = new Map(seen.roots);
  const all = [];
  const walk = node => {
    all.push(node);
    const root = roots.get(node) || node.shadowRoot;
    for (const child of [...(root ? root.children : []), ...node.children]) walk(child);
  };
  if (document.documentElement) walk(document.documentElement);
  const shown = e => e.checkVisibility ? e.checkVisibility({ visibilityProperty: true }) : true;
"""
"""Finds all elements of a frame, those in closed shadow roots too."""

READ = (
    "(() => {"
    + _ALL
    + r"""
  const shadows = all.filter(e => roots.get(e) || e.shadowRoot)
    .map(e => [...(roots.get(e) || e.shadowRoot).children]
      .map(c => c.innerText || "").join("\n").trim()).filter(Boolean);
  const drawn = [...seen.drawn.values()].map(list => {
    const lines = [];
    for (const [text, y] of list) {
      const last = lines[lines.length - 1];
      if (last && last[1] === y) last[0] += " " + text; else lines.push([text, y]);
    }
    return lines.map(line => line[0]).join("\n");
  }).filter(Boolean);
  const links = all.filter(e => e.href && typeof e.href === "string" && shown(e)
      && (e.tagName === "A" || (e.tagName === "LINK" && e.rel === "next")))
    .map(e => ({ url: e.href, text: (e.innerText || "").trim(), rel: e.rel || "",
                 download: e.hasAttribute("download") }));
  const media = all.filter(e => /^(IMG|AUDIO|VIDEO|SOURCE|TRACK|EMBED)$/.test(e.tagName) && e.src)
    .map(e => e.src);
  for (const e of all.filter(shown)) {
    const found = /url\("([^"]+)"\)/.exec(getComputedStyle(e).backgroundImage);
    if (found) media.push(found[1]);
  }
  const forms = all.filter(e => e.tagName === "FORM").map(e => ({
    action: e.action, method: (e.method || "get").toLowerCase(),
    names: [...e.elements].map(f => f.name).filter(Boolean) }));
  const samples = all
    .filter(e => e.tagName === "PRE" || (e.tagName === "CODE" && !e.closest("pre")))
    .filter(shown).map(e => e.innerText || "").filter(Boolean);
  const scripts = all.filter(e => e.tagName === "SCRIPT" && !e.src).map(e => e.textContent || "");
  return {
    title: document.title || "", base: document.baseURI, lang: document.documentElement?.lang || "",
    text: document.body ? document.body.innerText : "",
    shadows, drawn, links, media, forms, samples, scripts,
    canvases: document.querySelectorAll("canvas").length,
  };
})()
"""
)
"""Reads the visible content of a frame and its references, as the browser resolved them."""

DRAWN = (
    "(() => {"
    + _ALL
    + r"""
  const sketch = e => e.tagName.toLowerCase() === "svg" && !e.parentElement?.closest("svg");
  const picture = e => e.tagName === "IMG" && e.src.startsWith("blob:");
  const area = e => {
    const box = e.getBoundingClientRect();
    const fit = box.width >= 16 && box.height >= 16 && box.width * box.height <= 16e6;
    return fit ? box.width * box.height : 0;
  };
  return all.filter(e => e.tagName === "CANVAS" || sketch(e) || picture(e))
    .filter(e => shown(e) && area(e))
    .sort((a, b) => (b.tagName === "CANVAS") - (a.tagName === "CANVAS") || area(b) - area(a))
    .slice(0, 20);
})()
"""
)
"""Finds the elements that must be saved as pictures: canvases, then drawings by size."""

BLOB = r"""
async ([url, most]) => {
  const blob = window.__quizlog?.blobs.get(url);
  if (!blob || blob.size > most) return null;
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) {
    text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  }
  return btoa(text);
}
"""
"""Reads an object that the page itself made, in base64, even after its URL was revoked."""

STATE = r"""
(() => {
  const seen = window.__quizlog;
  const drawn = seen ? [...seen.drawn.values()].flat().map(one => one[0]).join(" ") : "";
  const shadow = seen ? seen.roots.map(one => one[1].textContent || "").join(" ") : "";
  const text = (document.body ? document.body.innerText : "") + " " + drawn + " " + shadow;
  const moved = e => e.matches("script, iframe, frame, embed, object, meta[http-equiv=refresh i]")
    || e.shadowRoot || e.getAttributeNames().some(name => /^on|^begin$/i.test(name));
  return { length: text.trim().length, quiet: seen ? performance.now() - seen.changed : 1e9,
           ready: document.readyState !== "loading", pictures: document.images.length
             + document.querySelectorAll("canvas,audio,video").length,
           timers: seen ? seen.timers.size : 0,
           asks: /\b(submit|answer|post)\b/i.test(text),
           loading: /^\s*(loading|please wait)\b[\s.…]*$/i.test(text.trim()),
           inert: document.readyState === "complete"
             && ![...document.querySelectorAll("*")].some(moved) };
})()
"""
"""Reads the state of a frame: whether it still changes, and whether it shows text yet."""

REVEAL = r"""
(() => {
  const label = /\b(show|reveal|start|load|open|unlock|view|display)\b/i;
  const never = /\b(submit|send|post|delete|remove|pay|buy|log ?out|sign|cancel|reset)\b/i;
  const found = [...document.querySelectorAll("button, summary, [role=button], input[type=button]")]
    .filter(e => e.checkVisibility ? e.checkVisibility() : true)
    .filter(e => !e.disabled && !(e.form && e.type === "submit"))
    .filter(e => { const text = (e.innerText || e.value || "").trim();
                   return label.test(text) && !never.test(text) && text.length < 60; })
    .slice(0, 5);
  found.forEach(e => e.click());
  return found.map(e => (e.innerText || e.value || "").trim());
})()
"""
"""Clicks controls that may reveal the question, but none that may send something."""
