"""The map of the review: its tiles, the findings' states, one finding from close by, metres between places, the background."""

from decimal import Decimal
from typing import Any

import shapely
from fastapi import APIRouter, Request
from starlette.responses import FileResponse, JSONResponse, Response

from geobill.documents import words
from geobill.pipeline.map_background import find_tile, read_background
from geobill.pipeline.map_near import look_close
from geobill.pipeline.map_place import measure
from geobill.pipeline.map_states import load_stamp, load_states
from geobill.pipeline.map_tiles import ZOOM, extent_of, find_tiles, plan_tiles
from geobill.web.drawing import hectares, read_vertices
from geobill.web.filters import Filters
from geobill.web.pages import site_of, workspace_of
from geobill.web.refusals import PageError
from geobill.web.sheets import sheet_of
from geobill.web.tile_maker import TileMaker

router = APIRouter(prefix="/mapa")
TILES_TYPE = "application/vnd.pmtiles"
# a file's name tells its content, so it is right for ever; a background may be changed under its name
FOR_EVER, ASK_AGAIN = {"Cache-Control": "private, max-age=604800, immutable"}, {"Cache-Control": "private, no-cache"}
# what the map shows where a folder has no tile: a missing one would be an error in the browser's console
NO_TILE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000b49444154789c6360000200000500017a5eab3f0000000049454e"
    "44ae426082"
)


@router.get("/camadas.json")
def list_layers(request: Request) -> Response:
    """Say which files the map draws, which of them are there, where to look first; have the others made."""
    site, workspace = site_of(request), workspace_of(request)
    maker, plan = _maker(request), [f for f in plan_tiles(workspace, site.today()) if not f.is_empty]
    missing = [f for f in plan if not f.ready]
    if missing:
        maker.start()
    answer: dict[str, Any] = {
        "camadas": [
            {
                "camada": f.layer,
                "nivel": f.level,
                "levantamento": f.survey,
                "zoom": ZOOM[f.level],
                "arquivo": f"/mapa/{f.path.name}" if f.ready else None,
            }
            for f in plan
        ],
        "limites": extent_of(workspace),
        "falha": maker.take_fault() if missing else "",
        "fundo": None,
    }
    if site.background is not None:
        background = read_background(site.background)
        answer["fundo"] = {
            "arquivo": "/mapa/fundo.pmtiles" if background.is_file else None,
            "zoom": [background.min_zoom, background.max_zoom],
        }
    return JSONResponse(answer)


@router.get("/fundo.pmtiles")
def give_background(request: Request) -> Response:
    """Give the background's file, or the part that is asked for."""
    path = site_of(request).background
    if path is None or not path.is_file():
        raise _not_there()
    return FileResponse(path, media_type=TILES_TYPE, headers=ASK_AGAIN)


@router.get("/fundo/{z}/{x}/{y}")
def give_background_tile(request: Request, z: int, x: int, y: int) -> Response:
    """Give one tile of the background's folder."""
    folder = site_of(request).background
    if folder is None or not folder.is_dir():
        raise _not_there()
    found = find_tile(folder, z, x, y)
    if found is None:
        return Response(NO_TILE, media_type="image/png", headers=ASK_AGAIN)
    return FileResponse(found[0], media_type=found[1], headers=ASK_AGAIN)


@router.get("/estados.json")
def list_states(request: Request) -> Response:
    """Tell the state of each finding that isn't suspected, and which of them the queue's filters take; by their key."""
    site, workspace = site_of(request), workspace_of(request)
    filters = Filters.read(request.query_params)
    query = filters.query(site.today())
    headers = {**ASK_AGAIN, "ETag": f'"{load_stamp(workspace)}-{site.today():%Y%m%d}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    states = load_states(workspace, query)
    answer = {"estados": states.by_state, "fora": states.gone, "mostrados": states.listed, "ocultos": states.hidden}
    return JSONResponse(answer, headers=headers)


@router.get("/achado/{finding}.json")
def show_close_up(request: Request, finding: str) -> Response:
    """Give a finding's exact geometry with the lines around it, in degrees, and short lines to what it is held against."""
    workspace = workspace_of(request)
    state = sheet_of(workspace, finding).look.file.state
    close = look_close(workspace, finding, site_of(request).today())
    layers = {
        "achado": [close.shape],
        "permitido": close.permitted,
        "levantado": close.surveyed,
        "afastamento": close.offsets,
    }
    drawn = {name: _collection(shapes) for name, shapes in layers.items()}
    return JSONResponse({"estado": state, "limites": close.bounds, **drawn})


@router.get("/medir")
def measure_drawn(request: Request, vertices: str = "[]") -> Response:
    """Measure what was pointed at: metres of the workspace's projected system, as the law's are; not the map's own."""
    workspace = workspace_of(request)
    legs, total, area_m2 = measure(read_vertices(vertices, workspace))
    return JSONResponse(
        {
            "trechos": [words.metres(leg) for leg in legs],
            "total": words.metres(total),
            "area": None if area_m2 is None else _area_words(area_m2),
            "metros": str(total),
        }
    )


@router.get("/{name}.pmtiles")
def give_tiles(request: Request, name: str) -> Response:
    """Give a file of tiles, or the part that is asked for; only one that was made here."""
    path = find_tiles(workspace_of(request), f"{name}.pmtiles")
    if path is None:
        raise _not_there()
    return FileResponse(path, media_type=TILES_TYPE, headers=FOR_EVER)


def _maker(request: Request) -> TileMaker:
    """Return the one that makes this server's tiles."""
    state, site = request.app.state, site_of(request)
    if not hasattr(state, "tile_maker"):
        state.tile_maker = TileMaker(site.root, site.today)
    maker: TileMaker = state.tile_maker
    return maker


def _collection(shapes: Any) -> dict[str, Any]:
    drawn = [shapely.geometry.mapping(shape) for shape in shapes]
    features = [{"type": "Feature", "properties": {}, "geometry": geometry} for geometry in drawn]
    return {"type": "FeatureCollection", "features": features}


def _area_words(area_m2: Decimal) -> str:
    if area_m2 < 10_000:
        return f"{words.number(area_m2)} m²"
    return f"{words.number(hectares(area_m2))} ha"


def _not_there() -> PageError:
    return PageError(
        "Não há esse arquivo do mapa.", "Ele pode ser de antes da última comparação.", "Recarregue a página.", 404
    )
