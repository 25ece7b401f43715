"""The scripts that run in pages: what notes drawn text and shadow roots, and what reads it all.

They send nothing and know no secret. WebRTC is removed; otherwise a page finds what it expects.
"""

from __future__ import annotations

BEFORE = """
(() => {
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) delete window[name];
  if (window.__quizlog) return;
  const seen = { drawn: new Map(), roots: [], changed: performance.now(), timers: new Set(),
                 blobs: new Map(), pressed: new WeakSet() };
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
  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type, ...rest) {
    if (/^(click|mousedown|pointerdown)$/.test(type) && this instanceof Element) {
      seen.pressed.add(this);
    }
    return listen.call(this, type, ...rest);
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

_SENT_ON = r"""
  const sentOn = (() => {
    const meta = document.querySelector("meta[http-equiv=refresh i]");
    const said = /^\s*(\d*)[.\d]*\s*[;,]\s*(?:url\s*=)?\s*["']?([^"']+)/i.exec(meta?.content || "");
    if (!said) return null;
    try {
      const url = new URL(said[2].trim(), document.baseURI).href, own = location.href;
      return url.split("#")[0] === own.split("#")[0] ? null : { url, soon: Number(said[1]) <= 5 };
    } catch { return null; }
  })();
"""
"""Finds where a document sends its reader by itself."""

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
    + _SENT_ON
    + r"""
  const drawn = [...seen.drawn.values()].map(list => {
    const lines = [];
    for (const [text, y] of list) {
      const last = lines[lines.length - 1];
      if (last && last[1] === y) last[0] += " " + text; else lines.push([text, y]);
    }
    return lines.map(line => line[0]).join("\n");
  }).filter(Boolean);
  const inSight = e => {
    const box = e.getBoundingClientRect();
    return shown(e) && (!e.checkVisibility || e.checkVisibility({ opacityProperty: true }))
      && parseFloat(getComputedStyle(e).fontSize) >= 3
      && box.right + scrollX > 0 && box.left + scrollX < 5000 && box.bottom + scrollY > 0;
  };
  const links = all.filter(e => e.href && typeof e.href === "string"
      && (e.tagName === "LINK" ? shown(e) : inSight(e))
      && (e.tagName === "A" || (e.tagName === "LINK" && e.rel === "next")))
    .map(e => ({ url: e.href, text: (e.innerText || "").trim(), rel: e.rel || "",
                 download: e.hasAttribute("download") }));
  if (sentOn && !sentOn.soon) links.push({ url: sentOn.url, text: "", rel: "refresh" });
  const media = all.filter(e => /^(IMG|AUDIO|VIDEO|SOURCE|TRACK|EMBED)$/.test(e.tagName) && e.src)
    .map(e => e.src);
  for (const e of all.filter(shown)) {
    const found = /url\("([^"]+)"\)/.exec(getComputedStyle(e).backgroundImage);
    if (found) media.push(found[1]);
  }
  const resolved = url => {
    try { return new URL(url, document.baseURI).href; } catch { return ""; }
  };
  const given = (e, name) => e.getAttribute(name) ?? "";
  const said = e => [e.innerText, ...["name", "placeholder", "aria-label", "title"]
    .map(name => given(e, name)), /^(submit|button|image)$/.test(e.type) ? e.value : ""].join(" ");
  const forms = all.filter(e => e.tagName === "FORM").flatMap(e => {
    const held = all.filter(f => f.form === e);
    if (![e, ...held].some(inSight)) return [];
    const before = e.previousSibling?.textContent.trim() ? e.previousSibling
      : e.previousElementSibling;
    return {
      action: given(e, "action") && resolved(given(e, "action")),
      method: given(e, "method").toLowerCase(),
      names: held.map(f => given(f, "name")).filter(Boolean),
      said: [e, ...held].map(said).join(" "),
      before: (before?.innerText ?? before?.textContent ?? "").slice(-200),
      password: held.some(f => f.type === "password" && given(f, "name") !== "secret") };
  });
  const kinds = "(to|url|uri|path|action|endpoint)";
  const sends = new RegExp(
    `^(formaction|hx-(post|put)|(data-)?(submit|answer|post|grade)[-_]?${kinds})$`, "i");
  const names = /^data-(url|uri|href|endpoint|path)$/i;
  const holds = /^data-(action|target|submit|post)$/i;
  const speaks = text => text.length < 200 && /submit|answer|grade|post|send/i.test(text);
  const isTarget = (e, name, url) => sends.test(name)
    || ((names.test(name) || (holds.test(name) && url.includes("/")))
      && (speaks(url) || speaks(e.innerText || e.value || "")));
  const targets = all.flatMap(e => e.getAttributeNames()
    .filter(name => /^[^\s<>"{}]+$/.test(given(e, name)) && isTarget(e, name, given(e, name)))
    .map(name => ({ url: resolved(given(e, name)), text: said(e).trim().slice(0, 200) })));
  const scripts = all.filter(e => e.tagName === "SCRIPT" && !e.src).map(e => e.textContent || "");
  return {
    title: document.title || "", base: document.baseURI, encoding: document.characterSet,
    drawn, links, media, forms, targets, scripts,
    blank: all.some(e => e.tagName === "CANVAS" && shown(e) && !seen.drawn.has(e)),
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

STATE = (
    "(() => {"
    + _SENT_ON
    + r"""
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
           leaving: !!sentOn?.soon,
           asks: /\b(submit|answer|post)\b/i.test(text),
           loading: /^\s*(loading|please wait)\b[\s.…]*$/i.test(text.trim()),
           inert: document.readyState === "complete"
             && ![...document.querySelectorAll("*")].some(moved) };
})()
"""
)
"""Reads the state of a frame: whether it still changes, and whether it shows text yet."""

OPEN = (
    "(() => {"
    + _ALL
    + r"""
  for (const e of all) {
    if (e.tagName === "DETAILS" && !e.open) { e.removeAttribute("name"); e.open = true; }
    if (getComputedStyle(e).contentVisibility === "auto") e.style.contentVisibility = "visible";
  }
  const page = document.scrollingElement;
  if (!page || page.scrollHeight <= innerHeight) return false;
  page.scrollTo(0, page.scrollHeight);
  seen.changed = performance.now();
  return new Promise(done => {
    requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
    setTimeout(() => done(true), 400);
  });
})()
"""
)
"""Opens what can be opened without pressing anything; true if it also scrolled to the end.

Who watches what comes into view is told of it with the next frame.
"""

CONTROLS = (
    "(() => {"
    + _ALL
    + r"""
  const label = /\b(show|reveal|start|load|open|unlock|view|display)\b/i;
  const never = /\b(submit|send|post|delete|remove|pay|buy|log ?out|sign|cancel|reset)\b/i;
  const said = e =>
    (e.innerText || e.value || e.getAttribute("aria-label") || e.title || "").trim();
  const at = id => id && document.getElementById(id.replace(/^#/, ""));
  const hidden = e => e && !shown(e);
  const button = e => e.matches("button, [role=button], input[type=button], [onclick]");
  const declared = e => e.matches(
      "[aria-expanded=false], [role=tab]:not([aria-selected=true]), [popovertarget], [commandfor]")
    || ["aria-controls", "data-target", "data-bs-target", "href"].some(name =>
      /^#?[\w:.-]+$/.test(e.getAttribute(name) || "") && hidden(at(e.getAttribute(name))))
    || (e.tagName === "LABEL" && e.control && /^(checkbox|radio)$/.test(e.control.type)
      && (label.test(said(e)) || hidden(e.control) || getComputedStyle(e.control).opacity === "0"));
  const unseen = "head, select, datalist, script, style, template, noscript";
  const secret = all.some(e => !shown(e) && !e.closest(unseen)
    && [...e.childNodes].some(one => one.nodeType === 3 && /\S/.test(one.data)));
  const leads = e => e.tagName === "A" && /^(?!#|javascript:)./i.test(e.getAttribute("href") || "");
  const points = e => getComputedStyle(e).cursor === "pointer"
    && !(e.parentElement && getComputedStyle(e.parentElement).cursor === "pointer");
  const heard = e => e.onclick || e.onmousedown || e.onpointerdown || seen.pressed?.has(e);
  const hears = e => heard(e) && !e.matches("html, body, form, main");
  const presses = e => !leads(e) && !e.matches("input:not([type=button]), select, textarea, option")
    && (hears(e) || (secret && (button(e) || (points(e) && !e.matches("a, label, summary")))));
  const rank = e => button(e) && label.test(said(e)) ? 2 : declared(e) || presses(e) ? 1 : 0;
  const found = all.filter(shown).filter(e => !e.disabled && !(e.form && e.type === "submit"))
    .filter(e => rank(e) && said(e).length < 60 && !never.test(said(e)));
  return found.sort((a, b) => rank(a) - rank(b)).slice(0, 16)
    .flatMap(e => [e, said(e), rank(e) > 1]);
})()
"""
)
"""Finds the controls that may reveal something, but none that says that it sends something.

Each with its text, and whether that text promises something, so that it may load what it shows.
"""

PRESS = """
e => {
  if (window.__quizlog) window.__quizlog.changed = performance.now();
  for (const type of ["pointerdown", "mousedown", "pointerup", "mouseup"]) {
    const kind = type.startsWith("pointer") ? PointerEvent : MouseEvent;
    e.dispatchEvent(new kind(type, { bubbles: true, composed: true, cancelable: true }));
  }
  e.click();
}
"""
"""Presses a control; what it changes may take as long as a page may to change."""

COUNT = "document.getElementsByTagName('*').length"
PLAIN = "document.body ? document.body.innerText : ''"
