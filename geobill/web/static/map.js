// The map of the review page: tiles of this workspace, drawn by MapLibre GL; no request leaves this machine.
//
// It talks with the list by the events that app.js names. For tests, <html data-mapa> says "preparando", "pronto" or "sem-mapa".
import { Map as MapLibreMap, NavigationControl, ScaleControl, addProtocol } from "./vendor/maplibre-gl.mjs";
import { buildControls, make, sample } from "./map-dom.js";
import { COLOURS, backgroundLayer, emptyStyle, findingPaint, layersOf, openPaint } from "./map-style.js";
import { Tools } from "./map-tools.js";

const LOCALE = {
  "Map.Title": "Mapa dos achados: setas movem, + e − aproximam e afastam, Enter abre o achado da mira",
  "NavigationControl.ZoomIn": "Aproximar", "NavigationControl.ZoomOut": "Afastar", "Popup.Close": "Fechar",
  "ScaleControl.Meters": "m", "ScaleControl.Kilometers": "km",
};
const POLL_MS = 1500; // while tiles are being made
const NEAR_PX = 7;
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const box = document.getElementById("mapa");
const root = document.documentElement;

if (box) start();

async function start() {
  root.dataset.mapa = "preparando";
  let manifest;
  try {
    manifest = await ask("/mapa/camadas.json");
  } catch {
    return without("O mapa não pôde ser carregado. A fila funciona sem ele; recarregue a página para tentar de novo.");
  }
  addProtocol("pmtiles", new globalThis.pmtiles.Protocol().tile);
  let map;
  try {
    map = new MapLibreMap({
      container: box, style: emptyStyle(), locale: LOCALE, minZoom: 10, maxZoom: 21, attributionControl: false,
      bounds: limits() ?? manifest.limites, fitBoundsOptions: { padding: clear(), maxZoom: 17 }, dragRotate: false, pitchWithRotate: false,
      touchPitch: false, fadeDuration: 0,
    });
  } catch {
    return without("Este navegador não mostra o mapa (falta WebGL). A fila funciona sem ele.");
  }
  map.touchZoomRotate.disableRotation();
  map.keyboard.disableRotation();
  map.addControl(new NavigationControl({ showCompass: false }), "top-right");
  map.addControl(new ScaleControl({ maxWidth: 120 }), "bottom-left");
  map.once("load", () => new ReviewMap(map, manifest));
}

function without(words) {
  root.dataset.mapa = "sem-mapa";
  box.replaceChildren(make("p", { class: "sem-mapa", role: "status" }, words));
}

async function ask(path) {
  const answer = await fetch(path, { headers: { "HX-Request": "true" } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

// bounds of the finding that the page was opened with: [[west, south], [east, north]]
function limits(text = openedNow()?.dataset.limites ?? box.dataset.limites) {
  const four = (text ?? "").split(",").map(Number);
  return four.length === 4 && four.every(Number.isFinite) ? four : null;
}

// pixels at each side that what is zoomed to keeps clear of: the legend lies on the left, open where there is room at first
function clear() {
  const around = Math.min(70, Math.min(box.clientWidth, box.clientHeight) / 6);
  const legend = box.querySelector(".legenda");
  const hidden = legend?.open ? legend.offsetLeft + legend.offsetWidth + 8 : !legend && box.clientWidth > 620 ? 245 : 0;
  return { top: around, right: around, bottom: around, left: hidden < box.clientWidth / 2 ? Math.max(around, hidden) : around };
}

function openedNow() {
  return document.querySelector("#painel [data-achado], #conteudo article[data-achado]");
}

class ReviewMap {
  constructor(map, manifest) {
    Object.assign(this, { map, asking: 0, added: new Set(), queue: this.queueNow(), chosen: null, onlyListed: false, choice: { a: "", b: "" }, off: new Set() });
    this.parts = buildControls(box);
    this.tools = new Tools(map, box, this.parts, () => this.queue);
    this.take(manifest);
    this.listen();
    this.loadStates();
    this.choose(openedNow()?.dataset.achado ?? (box.dataset.achado || null), null);
  }

  // an answer of the server, or null; the map isn't at rest before what it says is drawn
  async ask(path) {
    this.asking += 1;
    root.dataset.mapa = "preparando";
    const answer = await ask(path).catch(() => null);
    this.asking -= 1;
    this.map.triggerRepaint();
    return answer;
  }

  // -- tiles, as they come

  take(manifest) {
    this.manifest = manifest;
    this.addBackground(manifest.fundo);
    for (const file of manifest.camadas.filter((f) => f.arquivo && !this.added.has(f.arquivo))) this.addTiles(file);
    this.offerSurveys(manifest.camadas.filter((f) => f.levantamento).map((f) => f.levantamento));
    for (const field of this.parts.legend.querySelectorAll("[data-do-grupo]")) {
      const name = field.dataset.doGrupo;
      field.hidden = name === "background" ? !manifest.fundo : !manifest.camadas.some((f) => f.camada === name);
    }
    this.restyle();
    const missing = new Set(manifest.camadas.filter((f) => !f.arquivo).map((f) => `${f.camada}${f.levantamento}`)).size;
    if (manifest.falha) this.tools.say(`O mapa está incompleto. ${manifest.falha}`);
    else if (missing) {
      this.tools.say(`Preparando o mapa: ${missing === 1 ? "falta uma camada" : `faltam ${missing} camadas`}…`);
      setTimeout(() => ask("/mapa/camadas.json").then((next) => this.take(next), () => this.take(manifest)), POLL_MS);
    } else if (this.waited) this.tools.say("");
    this.waited = missing > 0;
  }

  addTiles(file) {
    const source = file.arquivo.slice("/mapa/".length, -".pmtiles".length);
    this.added.add(file.arquivo);
    this.map.addSource(source, {
      type: "vector", tiles: [`pmtiles://${location.origin}${file.arquivo}/{z}/{x}/{y}`], minzoom: file.zoom, maxzoom: file.zoom,
      ...(file.camada === "findings" && { promoteId: { findings: "key" } }),
    });
    for (const layer of layersOf(file, source)) this.map.addLayer(layer, `antes-${file.camada}`);
    if (file.camada === "findings") this.applyStates([source]);
  }

  addBackground(background) {
    if (!background || this.map.getSource("fundo")) return;
    const tiles = background.arquivo ? `pmtiles://${location.origin}${background.arquivo}/{z}/{x}/{y}` : `${location.origin}/mapa/fundo/{z}/{x}/{y}`;
    this.map.addSource("fundo", { type: "raster", tiles: [tiles], tileSize: 256, minzoom: background.zoom[0], maxzoom: background.zoom[1] });
    this.map.addLayer(backgroundLayer(), "antes-background");
  }

  // -- what is seen of them

  layers(wanted) {
    return this.map.getStyle().layers.filter((layer) => layer.metadata && wanted(layer.metadata));
  }

  restyle() {
    const { a, b } = this.choice;
    for (const layer of this.layers((m) => m.group)) {
      const { group, survey, role } = layer.metadata;
      const chosen = !role || (role === "a" ? survey === a : survey === b);
      this.map.setLayoutProperty(layer.id, "visibility", chosen && !this.off.has(group) ? "visible" : "none");
    }
    for (const layer of this.layers((m) => m.finding)) {
      for (const [name, value] of Object.entries(findingPaint(layer, { onlyListed: this.onlyListed, other: b }))) this.map.setPaintProperty(layer.id, name, value);
      const ofType = ["==", ["geometry-type"], layer.type === "line" ? "LineString" : "Point"];
      this.map.setFilter(layer.id, b ? ["all", ofType, ["in", ["get", "survey"], ["literal", [a, b]]]] : ofType);
    }
  }

  toggle(group) {
    if (!this.off.delete(group)) this.off.add(group);
    this.parts.legend.querySelector(`[data-grupo="${group}"]`).checked = !this.off.has(group);
    this.restyle();
  }

  offerSurveys(names) {
    const surveys = [...new Set(names)]; // the latest first
    const [a, b] = this.parts.legend.querySelectorAll("[data-levantamento]");
    if (a.options.length) return;
    a.append(...surveys.map((name) => new Option(name, name)));
    b.append(new Option("nenhum", ""), ...surveys.map((name) => new Option(name, name)));
    b.closest(".escolha").hidden = surveys.length < 2;
    this.choice.a = surveys[0] ?? "";
  }

  compare() {
    const [a, b] = this.parts.legend.querySelectorAll("[data-levantamento]");
    if (a.value === b.value) b.value = "";
    this.choice = { a: a.value, b: b.value };
    b.closest(".escolha").querySelectorAll(".amostra").forEach((old) => old.remove());
    if (b.value) b.closest(".escolha").append(sample("other"), sample("suspected", COLOURS.otherFinding));
    this.restyle();
  }

  // -- states of the findings

  queueNow() {
    return document.getElementById("fila")?.dataset.consulta ?? box.dataset.consulta ?? "";
  }

  async loadStates() {
    const asked = this.queue;
    const states = await this.ask(`/mapa/estados.json?${asked}`);
    if (!states || asked !== this.queue) return;
    this.states = states;
    this.onlyListed = states.mostrados !== null;
    this.applyStates(this.findingSources());
    this.restyle();
  }

  findingSources() {
    return Object.entries(this.map.getStyle().sources).filter(([, s]) => s.promoteId).map(([name]) => name);
  }

  applyStates(sources) {
    if (!this.states) return;
    const { estados, fora, mostrados, ocultos } = this.states;
    for (const source of sources) {
      const where = { source, sourceLayer: "findings" };
      this.map.removeFeatureState(where);
      const set = (keys, state) => { for (const id of keys) this.map.setFeatureState({ ...where, id }, state); };
      for (const [state, keys] of Object.entries(estados)) set(keys, { estado: state });
      set(fora, { fora: true });
      set(mostrados ?? [], { mostrado: true });
      set(ocultos ?? [], { mostrado: false });
    }
  }

  // -- the finding that is open

  async choose(id, bounds) {
    this.chosen = id;
    box.dataset.achado = id ?? "";
    if (bounds) this.goTo(bounds);
    const nothing = { type: "FeatureCollection", features: [] };
    const names = ["achado", "permitido", "levantado", "afastamento"];
    const close = id ? await this.ask(`/mapa/achado/${encodeURIComponent(id)}.json`) : null;
    if (this.chosen !== id) return; // another was opened meanwhile
    for (const name of names) this.map.getSource(name).setData(close?.[name] ?? nothing);
    const state = close?.estado ?? "suspected";
    for (const [name, value] of Object.entries(openPaint(state))) this.map.setPaintProperty("exato-achado", name, value);
    this.map.setLayoutProperty("exato-achado-miolo", "visibility", state === "in_case" ? "visible" : "none");
    if (close && !bounds) this.goTo(close.limites);
  }

  goTo(bounds) {
    this.map.resize(); // the panel may have opened or closed beside it just now
    this.map.fitBounds(bounds, { padding: clear(), maxZoom: 18, duration: STILL.matches ? 0 : 500, linear: true });
  }

  pointed(point) {
    const around = [[point.x - NEAR_PX, point.y - NEAR_PX], [point.x + NEAR_PX, point.y + NEAR_PX]];
    return (wanted) => {
      const layers = this.layers(wanted).map((l) => l.id).filter((id) => this.map.getLayoutProperty(id, "visibility") !== "none");
      return layers.length ? this.map.queryRenderedFeatures(around, { layers }) : [];
    };
  }

  findingsAt(point) {
    const there = this.pointed(point)((m) => m.finding).filter((f) => !f.state.fora);
    const listed = there.filter((f) => f.state.mostrado ?? !this.onlyListed);
    return [...new Map((listed.length ? listed : there).map((f) => [f.properties.id, f])).values()];
  }

  openAt(point) {
    const found = this.findingsAt(point);
    const after = found.findIndex((f) => f.properties.id === this.chosen); // several in one place: the next one with each click
    if (found.length) {
      document.dispatchEvent(new CustomEvent("geobill:abrir", { detail: { id: found[(after + 1) % found.length].properties.id } }));
    } else this.tellWhatIsAt(point);
  }

  tellWhatIsAt(point) {
    const at = this.pointed(point), told = [];
    const name = (f) => [f.id, f.operator, f.service].filter(Boolean).join(", ");
    for (const [group, words] of [["permitted", "Permitido"], ["surveyed", "Levantado"]]) {
      const names = [...new Set(at((m) => m.group === group).map((f) => name(f.properties)))];
      if (names.length) told.push(`${words}: ${names.slice(0, 3).join("; ")}${names.length > 3 ? ` e mais ${names.length - 3}` : ""}`);
    }
    const zone = at((m) => m.group === "zones")[0]?.properties;
    if (zone) told.push(`Zona ${zone.zone}: R$ ${zone.land_value.replace(".", ",")}/m²`);
    this.tools.say(told.length ? make("span", {}, ...told.flatMap((t, n) => (n ? [make("br"), t] : [t]))) : "");
  }

  // -- what is told and heard

  listen() {
    const { map } = this;
    const hear = (name, then) => document.addEventListener(`geobill:${name}`, (event) => then(event.detail));
    hear("achado", ({ id, limites }) => this.choose(id, limites));
    hear("fila", ({ consulta }) => {
      this.queue = consulta;
      this.loadStates();
    });
    hear("mudou", () => this.loadStates());
    map.on("click", (event) => this.tools.active || this.openAt(event.point));
    map.on("mousemove", (event) => {
      map.getCanvas().classList.toggle("sobre-achado", !this.tools.active && !map.isMoving() && this.findingsAt(event.point).length > 0);
    });
    map.getCanvas().addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || this.tools.active || event.defaultPrevented) return;
      event.preventDefault();
      this.openAt(map.project(map.getCenter()));
    });
    map.on("dataloading", () => { root.dataset.mapa = "preparando"; });
    map.on("movestart", () => { root.dataset.mapa = "preparando"; });
    map.on("idle", () => { if (!this.waited && !this.asking) root.dataset.mapa = "pronto"; });
    map.on("error", (event) => this.failed(event.error));
    this.parts.legend.addEventListener("change", (event) => {
      if (event.target.dataset.grupo) this.toggle(event.target.dataset.grupo);
      else this.compare();
    });
    this.parts.tools.querySelector('[data-mapa="tudo"]').addEventListener("click", () => this.goTo(this.manifest.limites));
    document.addEventListener("keydown", (event) => this.key(event));
    this.parts.area.addEventListener("htmx:after:swap", () => this.decidedInArea());
    addEventListener("beforeprint", () => this.takePicture());
    addEventListener("afterprint", () => {
      this.parts.picture.hidden = true;
      this.parts.legend.open = this.legendWasOpen;
    });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
    const group = ["findings", "permitted", "surveyed", "zones", "background"][Number(event.key) - 1];
    if (!group || this.parts.legend.querySelector(`[data-do-grupo="${group}"]`).hidden) return;
    event.preventDefault();
    this.toggle(group);
  }

  decidedInArea() {
    const { area } = this.parts;
    (area.querySelector("textarea") ?? area.querySelector("h3"))?.focus();
    const done = area.querySelector("[data-achados]");
    if (!done || done.dataset.told) return;
    done.dataset.told = "1";
    document.dispatchEvent(new CustomEvent("geobill:mudou", { detail: { achados: done.dataset.achados.split(",") } }));
    if (document.getElementById("fila")) htmx.ajax("GET", `/achados?${this.queue}`, { target: "#fila", swap: "outerHTML" });
  }

  failed(error) {
    if (/40[04]/.test(`${error?.status ?? error?.message}`)) {
      // the tiles were made anew, since something was compared or imported: the page's own are gone
      this.tools.say("O cadastro mudou desde que a página foi aberta. Recarregue-a para ver o mapa de agora.");
    } else console.error(error);
  }

  // -- on paper: the picture as it is on the screen, with its scale and north

  takePicture() {
    this.map.redraw(); // the picture is only there until the browser has shown it
    const canvas = this.map.getCanvas(), { picture } = this.parts;
    const drawn = document.createElement("canvas");
    Object.assign(drawn, { width: canvas.width, height: canvas.height });
    const pen = drawn.getContext("2d"), unit = canvas.width / canvas.clientWidth;
    pen.drawImage(canvas, 0, 0);
    pen.scale(unit, unit);
    const bar = box.querySelector(".maplibregl-ctrl-scale");
    const width = bar.offsetWidth, bottom = canvas.clientHeight - 14;
    pen.fillStyle = "rgb(255 255 255 / .85)";
    pen.fillRect(8, bottom - 30, width + 60, 38);
    pen.fillStyle = pen.strokeStyle = COLOURS.ink;
    pen.lineWidth = 2;
    pen.font = "600 13px sans-serif";
    pen.strokeRect(16, bottom - 6, width, 6);
    pen.fillText(bar.textContent, 16, bottom - 12);
    pen.fillText("N", width + 38, bottom - 15);
    pen.beginPath();
    pen.moveTo(width + 43, bottom + 2);
    pen.lineTo(width + 43, bottom - 11);
    pen.moveTo(width + 39, bottom - 7);
    pen.lineTo(width + 43, bottom - 12);
    pen.lineTo(width + 47, bottom - 7);
    pen.stroke();
    this.legendWasOpen = this.parts.legend.open; // on paper it stands beside the picture, whole
    this.parts.legend.open = true;
    picture.src = drawn.toDataURL("image/png");
    picture.hidden = false;
  }
}
