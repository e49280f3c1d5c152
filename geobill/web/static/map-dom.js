// What lies on the map beside the picture: tools, legend with samples of each line, messages. Made here, without HTML as text.
import { COLOURS, GROUPS } from "./map-style.js";

export function make(tag, attributes = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...inside);
  return element;
}

// a piece of line, or a point, as the map draws it
export function sample(kind, colour) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const add = (tag, attributes) => {
    const part = document.createElementNS(svg.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value);
    svg.append(part);
  };
  svg.setAttribute("viewBox", "0 0 30 12");
  svg.setAttribute("class", "amostra");
  svg.setAttribute("aria-hidden", "true");
  const stroke = (color, width, dash = "") => add("line", { x1: 1, x2: 29, y1: 6, y2: 6, stroke: color, "stroke-width": width, "stroke-dasharray": dash });
  const looks = {
    suspected: () => stroke(colour ?? COLOURS.finding, 4, "8 3.6"),
    upheld: () => stroke(colour ?? COLOURS.finding, 4),
    in_case: () => { stroke(COLOURS.finding, 5); stroke("#000", 1.4); },
    dismissed: () => stroke(COLOURS.dismissed, 1.8, "9 3 1.8 3"),
    permitted: () => stroke(COLOURS.permitted, 3.5),
    surveyed: () => stroke(COLOURS.surveyed, 1.5),
    other: () => stroke(COLOURS.other, 2.5, "2.5 4"),
    zones: () => add("rect", { x: 1, y: 1, width: 28, height: 10, fill: COLOURS.zone, "fill-opacity": 0.14, stroke: COLOURS.zone }),
    background: () => add("rect", { x: 1, y: 1, width: 28, height: 10, fill: "#c9cdd2" }),
  };
  looks[kind]();
  return svg;
}

const STATES = { suspected: "a decidir", upheld: "procede", in_case: "em processo", dismissed: "não procede" };

export function buildControls(box) {
  const group = (name, key, ...more) => {
    const field = make("input", { type: "checkbox", "data-grupo": name, checked: true });
    const label = make("label", {}, field, name === "findings" ? "" : sample(name), ` ${GROUPS[name]} `, make("kbd", {}, key));
    return make("div", { class: "grupo", "data-do-grupo": name }, label, ...more);
  };
  const states = make("ul", {}, ...Object.entries(STATES).map(([state, words]) => make("li", {}, sample(state), ` ${words}`)));
  const choice = (name, words) => make("label", { class: "escolha" }, `${words} `, make("select", { "data-levantamento": name }));
  const legend = make("details", { class: "legenda", open: box.clientWidth > 620 },
    make("summary", {}, "Legenda e camadas"),
    group("findings", "1", states), group("permitted", "2"),
    group("surveyed", "3", choice("a", "Levantamento"), choice("b", "Comparar com")),
    group("zones", "4"), group("background", "5"),
    make("p", { class: "norte" }, "Norte em cima. Metros medidos no sistema do cadastro."));
  const tools = make("div", { class: "ferramentas", role: "group", "aria-label": "Ferramentas do mapa" },
    tool("medir", "Medir", "M"), tool("area", "Área", "D"), make("button", { type: "button", "data-mapa": "tudo", title: "Ver todos os achados" }, "Ver tudo"));
  const message = make("div", { class: "mensagem", role: "status", "aria-live": "polite", hidden: true });
  const area = make("div", { id: "mapa-area", class: "area", hidden: true });
  const cross = make("div", { class: "mira", "aria-hidden": "true" });
  const picture = make("img", { class: "impresso", alt: "Mapa, como estava na tela", hidden: true });
  box.append(tools, legend, message, area, cross, picture);
  return { legend, tools, message, area, picture };
}

function tool(name, words, key) {
  return make("button", { type: "button", "data-mapa": name, "aria-pressed": "false", "aria-keyshortcuts": key }, `${words} `, make("kbd", {}, key));
}
