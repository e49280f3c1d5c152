"""Pages by group: each module of this folder has a ``router`` and its line here."""

from fastapi import APIRouter

from geobill.web.routes import area, audit, cases, entrance, finance, finding, map, queue

# in this order: /achados/area/… before /achados/{finding}/…, which would take it
ROUTERS: tuple[APIRouter, ...] = (
    entrance.router,
    queue.router,
    area.router,
    map.router,
    finding.router,
    finance.router,
    cases.router,
    audit.router,
)
