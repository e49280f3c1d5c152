// How the map draws: colours that colour-blind eyes tell apart (Okabe–Ito), and for each of them a form of its own.
//
// A finding's look says its state: dashed and wide while nobody decided, solid where it holds, thin, grey, dash and dot where it doesn't,
// with a black core once it is in a case. Points are hollow, full, small and grey, full with a black rim.

export const COLOURS = {
  permitted: "#0072b2", surveyed: "#555555", other: "#222222", finding: "#d55e00", otherFinding: "#a3296f", dismissed: "#777777",
  chosen: "#f0e442", zone: "#8a9a5b", ink: "#1a1f26", drawn: "#6a2c91",
};
export const CLOSE_UP = 14; // from this zoom on the detail is drawn, before it the overview
const FROM_AFAR = 12; // the surveyed lines show from this zoom on
const DASH_DOT = [6, 2, 1, 2]; // of what doesn't hold: no survey is drawn so
const STATE = ["coalesce", ["feature-state", "estado"], "suspected"];
const LINE = ["==", ["geometry-type"], "LineString"];
const POINT = ["==", ["geometry-type"], "Point"];
const AREA = ["==", ["geometry-type"], "Polygon"];

// what the legend switches on and off: group → words
export const GROUPS = {
  findings: "Achados", permitted: "Permitido", surveyed: "Levantado", zones: "Zonas de valor", background: "Fundo",
};

export function emptyStyle() {
  const nothing = { type: "FeatureCollection", features: [] };
  const drawn = (names) => Object.fromEntries(names.map((name) => [name, { type: "geojson", data: nothing, maxzoom: 20 }]));
  return {
    version: 8,
    transition: { duration: 0, delay: 0 },
    sources: drawn(["achado", "permitido", "levantado", "afastamento", "desenho"]),
    layers: [
      { id: "papel", type: "background", paint: { "background-color": "#f4f5f2" } },
      // groups are put in before these, so that they stay in their order whenever their tiles come
      marker("antes-background"), marker("antes-zones"), marker("antes-permitted"), marker("antes-surveyed"), marker("antes-findings"),
      // beneath the exact lines: two cables side by side stay two
      { id: "halo", type: "line", source: "achado", filter: LINE, layout: round(), paint: line(COLOURS.chosen, 15) },
      { id: "halo-borda", type: "line", source: "achado", filter: LINE, layout: round(), paint: { ...line(COLOURS.ink, 1.2), "line-gap-width": 15 } },
      { id: "halo-ponto", type: "circle", source: "achado", filter: POINT, paint: {
        "circle-radius": 13, "circle-color": COLOURS.chosen, "circle-stroke-color": COLOURS.ink, "circle-stroke-width": 1.2 } },
      { id: "exato-permitido", type: "line", source: "permitido", filter: LINE, paint: line(COLOURS.permitted, 5), metadata: { group: "permitted" } },
      { id: "exato-levantado", type: "line", source: "levantado", filter: LINE, paint: line(COLOURS.surveyed, 1.8), metadata: { group: "surveyed" } },
      { id: "afastamento", type: "line", source: "afastamento", minzoom: 15, paint: { ...line(COLOURS.ink, 1), "line-dasharray": [2, 2] } },
      { id: "exato-achado", type: "line", source: "achado", filter: LINE, paint: line(COLOURS.finding, 4.5) },
      { id: "exato-achado-miolo", type: "line", source: "achado", filter: LINE, layout: { visibility: "none" }, paint: line("#000000", 1.4) },
      { id: "exato-achado-ponto", type: "circle", source: "achado", filter: POINT, paint: {
        "circle-radius": 6, "circle-color": "#ffffff", "circle-stroke-color": COLOURS.finding, "circle-stroke-width": 3 } },
      { id: "desenho-area", type: "fill", source: "desenho", filter: AREA, paint: { "fill-color": COLOURS.drawn, "fill-opacity": 0.14 } },
      { id: "desenho-linha", type: "line", source: "desenho", filter: LINE, paint: { ...line(COLOURS.drawn, 2.5), "line-dasharray": [3, 1.5] } },
      { id: "desenho-ponto", type: "circle", source: "desenho", filter: POINT, paint: {
        "circle-radius": 4.5, "circle-color": "#ffffff", "circle-stroke-color": COLOURS.drawn, "circle-stroke-width": 2 } },
    ],
  };
}

// the finding that is open, drawn exactly, by its state
export function openPaint(state) {
  const grey = state === "dismissed";
  return {
    "line-color": grey ? COLOURS.dismissed : COLOURS.finding, "line-width": grey ? 2 : 4.5,
    "line-dasharray": state === "suspected" ? [2, 0.9] : grey ? DASH_DOT : [1, 0],
  };
}

// layers of one file of tiles, by its group, with the marker that they stand before
export function layersOf(file, source) {
  const from = { source, "source-layer": file.camada };
  const range = file.nivel === "detail" ? { minzoom: CLOSE_UP } : { maxzoom: CLOSE_UP };
  const made = { zones, permitted, surveyed, findings }[file.camada](file.nivel === "overview");
  return made.map((layer, n) => ({
    ...range, ...from, ...layer, id: `${source}-${n}`, metadata: { group: file.camada, survey: file.levantamento, ...layer.metadata },
  }));
}

export function backgroundLayer() {
  return { id: "fundo", type: "raster", source: "fundo", paint: { "raster-opacity": 0.75, "raster-saturation": -0.4, "raster-fade-duration": 0 }, metadata: { group: "background" } };
}

// how much of a finding is seen: what the queue's filters leave out is faint, what left the queue isn't there
export function seen(onlyListed) {
  const listed = ["boolean", ["feature-state", "mostrado"], !onlyListed];
  return ["case", ["boolean", ["feature-state", "fora"], false], 0, listed, 1, 0.12];
}

export function findingColour(other) {
  return other ? ["case", ["==", ["get", "survey"], other], COLOURS.otherFinding, COLOURS.finding] : COLOURS.finding;
}

// what depends on the filters and the surveys that are chosen just now
export function findingPaint(layer, { onlyListed, other }) {
  const { states } = layer.metadata;
  const shown = states ? ["case", ["in", STATE, ["literal", states]], seen(onlyListed), 0] : seen(onlyListed);
  const colour = ["case", ["==", STATE, "dismissed"], COLOURS.dismissed, findingColour(other)];
  if (layer.type === "line") return { "line-opacity": shown, ...(layer.metadata.tinted && { "line-color": colour }) };
  return {
    "circle-opacity": shown, "circle-stroke-opacity": shown,
    "circle-color": ["match", STATE, ["upheld", "in_case"], findingColour(other), "#ffffff"],
    "circle-stroke-color": ["case", ["==", STATE, "in_case"], "#000000", colour],
  };
}

function zones() {
  return [
    { type: "fill", paint: { "fill-color": COLOURS.zone, "fill-opacity": 0.1 } },
    { type: "line", paint: { "line-color": COLOURS.zone, "line-width": ["interpolate", ["linear"], ["zoom"], 11, 0.4, 15, 1.2] } },
  ];
}

function permitted() {
  return [
    { type: "line", filter: LINE, paint: line(COLOURS.permitted, ["interpolate", ["linear"], ["zoom"], 10, 0.6, 14, 2.6, 18, 5]) },
    { type: "circle", filter: POINT, minzoom: CLOSE_UP, paint: { "circle-radius": 4, "circle-color": COLOURS.permitted } },
  ];
}

// from afar it would only cover what is permitted: the overview draws it from zoom 12 on
function surveyed(afar) {
  const width = ["interpolate", ["linear"], ["zoom"], 10, 0.4, 14, 0.9, 18, 1.8];
  return [
    { type: "line", filter: LINE, paint: line(COLOURS.surveyed, width), metadata: { role: "a" } },
    { type: "line", filter: LINE, paint: { ...line(COLOURS.other, ["interpolate", ["linear"], ["zoom"], 10, 0.6, 14, 1.6, 18, 2.8]), "line-dasharray": [1, 1.6] }, metadata: { role: "b" } },
    { type: "circle", filter: POINT, minzoom: CLOSE_UP, paint: { "circle-radius": 3, "circle-color": COLOURS.surveyed }, metadata: { role: "a" } },
    { type: "circle", filter: POINT, minzoom: CLOSE_UP, paint: { "circle-radius": 3, "circle-color": "#ffffff", "circle-stroke-color": COLOURS.other, "circle-stroke-width": 1.5 }, metadata: { role: "b" } },
  ].map((layer) => (afar ? { minzoom: FROM_AFAR, ...layer } : layer));
}

// from afar the halo and the core stay away, which is quick with 50,000 of them; the dashes say the state at any distance
function findings(afar) {
  const width = (at10, at14, at18) => ["interpolate", ["linear"], ["zoom"], 10, at10, 14, at14, 18, at18];
  const thinner = (full, thin) => ["case", ["==", STATE, "dismissed"], thin, full];
  const point = { type: "circle", filter: POINT, paint: {
    "circle-radius": ["interpolate", ["linear"], ["zoom"], 10, thinner(1.3, 0.8), 14, thinner(3.3, 2), 18, thinner(5.5, 3)],
    "circle-stroke-width": width(0.9, 1.8, 3),
  } };
  const solid = (...states) => ({ type: "line", filter: LINE, metadata: { states, tinted: true }, paint: line(COLOURS.finding, width(1.6, 3.4, 5.5)) });
  const open = { type: "line", filter: LINE, metadata: { states: ["suspected"], tinted: true }, paint: { ...line(COLOURS.finding, width(1.6, 3.4, 5.5)), "line-dasharray": [2, 0.9] } };
  const broken = { type: "line", filter: LINE, metadata: { states: ["dismissed"], tinted: true }, paint: { ...line(COLOURS.dismissed, width(0.8, 1.6, 2.2)), "line-dasharray": DASH_DOT } };
  const close = [
    { type: "line", filter: LINE, layout: round(), metadata: { states: ["suspected", "upheld", "in_case"] }, paint: line("#ffffff", width(1.6, 5, 8)) },
    open,
    solid("upheld", "in_case"),
    broken,
    { type: "line", filter: LINE, metadata: { states: ["in_case"] }, paint: line("#000000", width(0.4, 1.1, 1.8)) },
  ];
  return [...(afar ? [broken, open, solid("upheld", "in_case")] : close), point].map((layer) => ({ ...layer, metadata: { ...layer.metadata, finding: true } }));
}

function marker(id) {
  return { id, type: "background", layout: { visibility: "none" } };
}

function line(colour, width) {
  return { "line-color": colour, "line-width": width };
}

function round() {
  return { "line-cap": "round", "line-join": "round" };
}
