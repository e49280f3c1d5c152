// What the page does beside htmx: keys, what the map and the list tell each other, where the focus goes.
//
// Between this file and map.js there are only events of `document`:
//   geobill:achado  {id, limites: [oeste, sul, leste, norte] | null}  a finding was opened (null: closed): zoom to it
//   geobill:fila    {consulta: "tipo=…&estado=…"}                      the filters changed: draw these findings
//   geobill:mudou   {achados: ["V00001-00001", …]}                     decisions changed: draw anew
// and map.js says:
//   geobill:abrir   {id}                                               a finding was pointed at on the map: it is opened here
const $ = (selector) => document.querySelector(selector);
const say = (name, detail) => document.dispatchEvent(new CustomEvent(`geobill:${name}`, { detail }));

export const token = document.body.dataset.token ?? "";

// -- the finding that is open

const opened = () => $("article[data-achado]");

function tellOpened() {
  const finding = opened();
  const limits = finding?.dataset.limites?.split(",").map(Number);
  document.body.classList.toggle("aberto", Boolean(finding && $("#painel"))); // first: the map zooms to what is left beside the panel
  say("achado", { id: finding?.dataset.achado ?? null, limites: limits?.length === 4 ? limits : null });
  for (const row of document.querySelectorAll("#fila [aria-current]")) row.removeAttribute("aria-current");
  const row = finding && document.getElementById(`linha-${finding.dataset.achado}`);
  row?.querySelector("a")?.setAttribute("aria-current", "true");
  row?.scrollIntoView({ block: "nearest" });
}

function open(id) {
  const queue = $("#fila")?.dataset.consulta ?? "";
  const query = queue ? `?${queue}` : "";
  if (!$("#painel")) location.href = `/achados/${encodeURIComponent(id)}${query}`;
  else htmx.ajax("GET", `/achados/${encodeURIComponent(id)}${query}`, { target: "#painel" });
}

document.addEventListener("geobill:abrir", (event) => open(event.detail.id));

// the list says which queue is shown: what was sent before the filters changed goes on in that one
function followQueue() {
  const queue = $("#fila")?.dataset.consulta;
  if (queue === undefined) return;
  const fragments = [document, ...[...document.querySelectorAll("template")].map((e) => e.content)];
  const all = (selector) => fragments.flatMap((f) => [...f.querySelectorAll(selector)]);
  for (const link of all("[data-tecla=proximo], [data-tecla=anterior]")) {
    const address = link.getAttribute("href").split("?")[0] + (queue ? `?${queue}` : "");
    for (const name of ["href", "hx-get"]) link.setAttribute(name, address);
  }
  for (const field of all("input[name=fila]")) field.value = queue;
}

document.addEventListener("htmx:after:swap", () => {
  followQueue();
  const now = { achado: opened()?.dataset.achado ?? null, versao: opened()?.dataset.versao, consulta: $("#fila")?.dataset.consulta };
  if (now.achado !== shown.achado || now.versao !== shown.versao) tellOpened();
  if (now.consulta !== shown.consulta) say("fila", { consulta: now.consulta ?? "" });
  // what had the focus may be gone with the old content
  if (opened() && (now.achado !== shown.achado || document.activeElement === document.body)) opened().querySelector("h2").focus({ preventScroll: true });
  const changed = $("#aviso [data-mudou]")?.dataset.mudou;
  if (changed && changed !== shown.mudou) say("mudou", { achados: changed.split(" ")[0].split(",") });
  shown = { ...now, mudou: changed };
});
let shown = { achado: opened()?.dataset.achado ?? null, versao: opened()?.dataset.versao, consulta: $("#fila")?.dataset.consulta };

// -- closing the panel, and what only the mouse can't do

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-faz]");
  if (button) acts[button.dataset.faz]?.(button);
});

const acts = {
  fechar() {
    const back = opened()?.dataset.achado;
    $("#painel").replaceChildren($("#painel-vazio").content.cloneNode(true));
    htmx.process($("#painel")); // what lies in a template wasn't looked at by htmx
    const queue = $("#fila").dataset.consulta;
    history.replaceState(history.state, "", queue ? `/achados?${queue}` : "/achados");
    tellOpened();
    shown = { ...shown, achado: null, versao: undefined };
    document.getElementById(`linha-${back}`)?.querySelector("a")?.focus();
  },
  dispensar: () => $("#aviso").replaceChildren(),
  ajuda: () => $("#ajuda")?.showModal(),
  imprimir: () => print(),
  cancelar(button) {
    button.form.reset();
    const around = button.closest("details");
    around.open = false;
    around.querySelector("summary").focus();
  },
};

// -- keys: never while somebody types, never with Ctrl, Alt or Meta

const keys = {
  p: "procede", n: "nao-procede", z: "desfazer", j: "proximo", k: "anterior", a: "abrir-processo", t: "nota",
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.ctrlKey && event.target.matches("textarea")) event.target.form?.requestSubmit();
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing || event.repeat) return; // a key that is held down decides once
  if (document.querySelector("dialog[open]")) return;
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "Escape") {
    if (typing) typing.blur();
    else if (opened() && $("#painel-vazio")) acts.fechar(); // on a page of its own it isn't closed
    return;
  }
  if (typing) return;
  if (event.key === "?") acts.ajuda();
  const name = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  const target = name && [...document.querySelectorAll(`[data-tecla="${name}"]`)].find((e) => !e.disabled && e.offsetParent !== null);
  if (!target) return;
  event.preventDefault();
  if (target.matches("textarea, input")) {
    target.closest("details")?.setAttribute("open", "");
    target.focus();
  } else if (target.matches("summary")) {
    target.parentElement.open = true;
    target.parentElement.querySelector("textarea, input:not([type=hidden]), select")?.focus();
  } else target.click();
});

// -- on paper the sum of the month stands open

const closed = [];
addEventListener("beforeprint", () => {
  closed.push(...document.querySelectorAll("details.sum:not([open])"));
  for (const sum of closed) sum.open = true;
});
addEventListener("afterprint", () => {
  for (const sum of closed.splice(0)) sum.open = false;
});

// -- what is missing is said in our own words, not the browser's

document.addEventListener("invalid", (event) => {
  const { validity, dataset } = event.target;
  if (dataset.falta && validity.valueMissing) event.target.setCustomValidity(dataset.falta);
}, { capture: true });
document.addEventListener("input", (event) => event.target.dataset.falta && event.target.setCustomValidity(""));

// -- a photo that the server would cut off is refused before it is sent

document.addEventListener("change", (event) => {
  const field = event.target.closest("input[type=file][data-maximo]");
  if (!field) return;
  const most = Number(field.dataset.maximo);
  const over = [...field.files].some((file) => file.size > most);
  field.setCustomValidity(over ? `O arquivo tem mais de ${most / 1e6} MB. Reduza a foto e escolha de novo.` : "");
  field.reportValidity();
});

// map.js reads what is shown at first from #mapa's own data-consulta, data-achado and data-limites
tellOpened();
