"""A client of openapi-python-client, against a running demo. It prints what it read, as JSON."""

import json
import sys
import uuid
from datetime import datetime, timezone

sys.path.insert(0, sys.argv[1])

import raadsfeed  # noqa: E402
import shv  # noqa: E402
import verwerkingenlog as log  # noqa: E402
from raadsfeed.api.feed import get_feed, get_servicedocument, get_snapshot  # noqa: E402
from raadsfeed.api.resources import (  # noqa: E402
    get_agendapunten,
    get_informatieobjecten,
    get_vergadering,
    get_vergaderingen,
)
from shv.api.gegevens import post_gegevens  # noqa: E402
from shv.models import GegevensRequest  # noqa: E402
from verwerkingenlog.api.verwerkingsacties import (  # noqa: E402
    delete_verwerkingsactie,
    get_verwerkingsacties,
    post_verwerkingsactie,
    put_verwerkingsactie,
)
from verwerkingenlog.api.verwerkte_objecten import get_verwerkte_objecten  # noqa: E402
from verwerkingenlog.models import (  # noqa: E402
    GetVerwerkingsactiesVertrouwelijkheidItem,
    ObjecttypeInvoer,
    VerwerkingsactieInvoer,
    VerwerkingsactieVolledig,
    VerwerktObjectInvoer,
    Vertrouwelijkheid,
)

demo = json.load(sys.stdin)


def read_feed():
    client = raadsfeed.Client(demo["mounts"]["raadsfeed"], raise_on_unexpected_status=True)
    page = get_feed.sync(client=client, limit=100, organisatiecode="gm9901")
    snapshot = get_snapshot.sync(client=client, limit=100, organisatiecode="gm9901")
    meetings = get_vergaderingen.sync("gm9901", client=client).results
    items = get_agendapunten.sync("gm9901", client=client).results
    documents = get_informatieobjecten.sync("gm9901", client=client).results
    one = get_vergadering.sync("gm9901", meetings[0].bronidentificatie, client=client)
    return {
        "role": get_servicedocument.sync(client=client).rol.value,
        "feed": [[record.sequence_number, record.op.value] for record in page.records],
        "snapshot": sorted({record.data.organisatie.naam for record in snapshot.records}),
        "organisations": sorted({one.organisatie.naam for one in [*meetings, *items, *documents]}),
        "collections": [len(meetings), len(items), len(documents)],
        "one": one.naam,
    }


def keep_log():
    client = log.AuthenticatedClient(
        demo["mounts"]["verwerkingenlog"], token=demo["logToken"], raise_on_unexpected_status=True
    )
    identity = str(uuid.uuid4())
    activity = uuid.uuid4()
    action = VerwerkingsactieInvoer(
        actie_naam="Zoeken persoon",
        vertrouwelijkheid=Vertrouwelijkheid.NORMAAL,
        verwerking_id=uuid.uuid4(),
        verwerkingsactiviteit_id=activity,
        bewaartermijn="P10Y",
        tijdstip=datetime(2026, 1, 15, 13, 35, 42, tzinfo=timezone.utc),
        verwerkte_objecten=[
            VerwerktObjectInvoer(objecttype=ObjecttypeInvoer.PERSOON, soort_object_id="TEST", object_id=identity)
        ],
    )
    logged = post_verwerkingsactie.sync(client=client, body=action, idempotency_key=str(uuid.uuid4()))
    asked = {"client": client, "soort_object_id": "TEST", "object_id": identity}
    caller = {"oin": demo["oin"], "verwerking_id": str(uuid.uuid4()), "bewaartermijn": "P10Y"}
    found = get_verwerkingsacties.sync(
        **asked,
        **caller,
        objecttype="persoon",
        begin_datum="2026-01-01",
        eind_datum="2026-02-01T00:00:00+01:00",
        verwerkingsactiviteit_id_query=activity,
        verwerkingsactiviteit_id_header=str(uuid.uuid4()),
        vertrouwelijkheid_query=[GetVerwerkingsactiesVertrouwelijkheidItem.NORMAAL],
        vertrouwelijkheid_header="normaal",
    )
    changed = put_verwerkingsactie.sync(
        logged.actie_id,
        client=client,
        body=VerwerkingsactieVolledig.from_dict(
            {**action.to_dict(), "actieNaam": "Zoeken adres", "systeem": "Balie 3"}
        ),
    )
    objects = get_verwerkte_objecten.sync(**asked, **caller, objecttype="persoon")
    delete_verwerkingsactie.sync(logged.actie_id, client=client)
    after = get_verwerkingsacties.sync(**asked, **caller, objecttype="persoon")
    return {
        "found": [[one.actie_naam, one.vertrouwelijkheid.value] for one in found.results],
        "changed": [changed.actie_naam, changed.systeem],
        "objects": [one.verwerkingsactie.actie_naam for one in objects.results],
        "after": [one.actie_naam for one in after.results],
    }


def receive_delivery():
    client = shv.AuthenticatedClient(
        demo["mounts"]["shv"], token=demo["deliveryToken"], raise_on_unexpected_status=True
    )
    delivery = post_gegevens.sync(
        client=client, body=GegevensRequest(), digest=demo["digest"], nlgov_adr_payload_sig=demo["signature"]
    )
    return {"supplier": delivery.gegevens.code_gegevensleverancier, "deliveries": len(delivery.gegevens.leveringen)}


print(json.dumps({"feed": read_feed(), "log": keep_log(), "delivery": receive_delivery()}))
