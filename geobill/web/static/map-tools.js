// Measuring and drawing an area: by clicks, or by keyboard alone (arrows move the map, space sets a vertex at the cross-hair).
import { make } from "./map-dom.js";

const HOW = {
  medir: "Medir: clique em cada ponto (ou mova o mapa com as setas e marque a mira com Espaço). Backspace tira o último, Enter termina, Esc sai.",
  area: "Área: clique em cada canto (ou setas e Espaço). Enter fecha a área, Backspace tira o último canto, Esc sai.",
};

export class Tools {
  constructor(map, box, parts, queue) {
    Object.assign(this, { map, box, parts, queue, tool: null, vertices: [], done: false });
    for (const button of parts.tools.querySelectorAll("[aria-pressed]")) {
      button.addEventListener("click", () => this.toggle(button.dataset.mapa));
    }
    box.addEventListener("click", (event) => {
      if (event.target.closest('[data-mapa="fechar-area"]')) this.stop();
    });
    map.on("click", (event) => this.tool && this.add([event.lngLat.lng, event.lngLat.lat]));
    map.on("dblclick", (event) => {
      if (!this.tool) return;
      event.preventDefault();
      this.vertices.pop(); // the second click of the two set the same place again
      this.finish();
    });
    map.on("mousemove", (event) => this.tool && !this.done && this.draw([event.lngLat.lng, event.lngLat.lat]));
    // before the page's own keys: Esc leaves the tool and not the finding
    document.addEventListener("keydown", (event) => this.key(event), { capture: true });
  }

  get active() {
    return this.tool !== null;
  }

  toggle(name) {
    const same = this.tool === name;
    this.stop();
    if (same) return;
    this.tool = name;
    this.box.classList.add("com-ferramenta");
    this.parts.tools.querySelector(`[data-mapa="${name}"]`).setAttribute("aria-pressed", "true");
    this.say(HOW[name]);
    this.map.getCanvas().focus();
  }

  stop() {
    Object.assign(this, { tool: null, vertices: [], done: false });
    this.box.classList.remove("com-ferramenta");
    for (const button of this.parts.tools.querySelectorAll("[aria-pressed]")) button.setAttribute("aria-pressed", "false");
    const had = this.parts.area.contains(document.activeElement);
    this.parts.area.hidden = true;
    this.parts.area.replaceChildren();
    if (had) this.map.getCanvas().focus();
    this.say("");
    this.draw();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
    const typing = event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
    const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (pressed === "Escape" && this.tool) this.stop();
    else if (typing) return;
    else if (pressed === "m" || pressed === "d") this.toggle(pressed === "m" ? "medir" : "area");
    else if (!this.tool || ![this.map.getCanvas(), document.body].includes(event.target)) return;
    else if (pressed === " ") this.add(this.map.getCenter().toArray());
    else if (pressed === "Enter") this.finish();
    else if (pressed === "Backspace") this.back();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  add(vertex) {
    if (this.done) Object.assign(this, { vertices: [], done: false }); // the next one begins anew
    if (this.parts.area.childElementCount) {
      this.parts.area.hidden = true;
      this.parts.area.replaceChildren();
    }
    this.vertices.push(vertex);
    this.draw();
    this.measure();
  }

  back() {
    if (this.done) return;
    this.vertices.pop();
    this.draw();
    this.measure();
  }

  finish() {
    const least = this.tool === "area" ? 3 : 2;
    if (this.vertices.length < least) {
      this.say(this.tool === "area" ? "Uma área precisa de três cantos ou mais." : "Para medir, marque dois pontos ou mais.");
      return;
    }
    this.done = true;
    this.draw();
    if (this.tool === "area") this.count();
  }

  async measure() {
    const asked = this.vertices.slice();
    if (!asked.length) return this.say(HOW[this.tool]);
    const answer = await fetch(`/mapa/medir?${new URLSearchParams({ vertices: JSON.stringify(asked) })}`, { headers: { "HX-Request": "true" } });
    if (!this.tool || asked.length !== this.vertices.length) return; // another vertex was set meanwhile
    if (!answer.ok) return this.say("Não se pode medir ali: o desenho sai do município e dos arredores. Backspace tira o último ponto.");
    const { trechos, total, area } = await answer.json();
    const told = [make("strong", {}, total)];
    if (trechos.length > 1) told.push(` · último trecho ${trechos.at(-1)}`);
    if (area) told.push(` · fechando: ${area}`);
    this.say(make("span", {}, ...told));
  }

  // what the area holds comes as a fragment of the page, with the form of the decision
  count() {
    const field = (name, value) => {
      const input = make("input", { type: "hidden", name });
      input.value = value;
      return input;
    };
    const form = make("form", { "hx-post": "/achados/area/contar", "hx-target": "#mapa-area", "hx-swap": "innerHTML" },
      field("desenho", JSON.stringify(this.vertices)), field("fila", this.queue()));
    this.parts.area.replaceChildren(form);
    this.parts.area.hidden = false;
    this.say("");
    htmx.process(form);
    form.requestSubmit();
  }

  say(what) {
    this.parts.message.hidden = !what;
    this.parts.message.replaceChildren(what);
  }

  draw(pointer = null) {
    const points = pointer && this.vertices.length ? [...this.vertices, pointer] : this.vertices;
    const shape = (type, coordinates) => ({ type: "Feature", properties: {}, geometry: { type, coordinates } });
    const features = this.vertices.map((vertex) => shape("Point", vertex));
    if (points.length > 1) {
      const closed = this.tool === "area" && points.length > 2;
      features.push(shape("LineString", closed ? [...points, points[0]] : points));
      if (closed) features.push(shape("Polygon", [[...points, points[0]]]));
    }
    this.map.getSource("desenho")?.setData({ type: "FeatureCollection", features });
  }
}
