"""A client of openapi-generator's `python`, against a running demo. It prints what it read, as JSON."""

import json
import os
import sys
import uuid
from datetime import datetime, timezone

folder = sys.argv[1]
for contract in ("raadsfeed", "verwerkingenlog", "shv"):
    sys.path.insert(0, os.path.join(folder, contract))

import raadsfeed_client as raadsfeed  # noqa: E402
import shv_client as shv  # noqa: E402
import verwerkingenlog_client as log  # noqa: E402

demo = json.load(sys.stdin)


def client(package, area, token=None):
    return package.ApiClient(package.Configuration(host=demo["mounts"][area], access_token=token))


def read_feed():
    api = client(raadsfeed, "raadsfeed")
    feed, resources = raadsfeed.FeedApi(api), raadsfeed.ResourcesApi(api)
    page = feed.get_feed(limit=100, organisatiecode="gm9901")
    snapshot = feed.get_snapshot(limit=100, organisatiecode="gm9901")
    meetings = resources.get_vergaderingen("gm9901").results
    items = resources.get_agendapunten("gm9901").results
    documents = resources.get_informatieobjecten("gm9901").results
    one = resources.get_vergadering("gm9901", meetings[0].bronidentificatie)
    return {
        "role": feed.get_servicedocument().rol.value,
        "feed": [[record.sequence_number, record.op] for record in page.records],
        "snapshot": sorted({record.data.actual_instance.organisatie.naam for record in snapshot.records}),
        "organisations": sorted({one.organisatie.naam for one in [*meetings, *items, *documents]}),
        "collections": [len(meetings), len(items), len(documents)],
        "one": one.naam,
    }


def keep_log():
    api = log.VerwerkingsactiesApi(client(log, "verwerkingenlog", demo["logToken"]))
    person = {"objecttype": "persoon", "soort_object_id": "TEST", "object_id": str(uuid.uuid4())}
    activity = uuid.uuid4()
    action = log.VerwerkingsactieInvoer(
        actie_naam="Zoeken persoon",
        vertrouwelijkheid=log.Vertrouwelijkheid.NORMAAL,
        verwerking_id=uuid.uuid4(),
        verwerkingsactiviteit_id=activity,
        bewaartermijn="P10Y",
        tijdstip=datetime(2026, 1, 15, 13, 35, 42, tzinfo=timezone.utc),
        verwerkte_objecten=[log.VerwerktObjectInvoer(**person)],
    )
    logged = api.post_verwerkingsactie(action, idempotency_key=str(uuid.uuid4()))
    caller = {"oin": demo["oin"], "verwerking_id": str(uuid.uuid4()), "bewaartermijn": "P10Y"}
    found = api.get_verwerkingsacties(
        **person,
        **caller,
        begin_datum="2026-01-01",
        eind_datum="2026-02-01T00:00:00+01:00",
        verwerkingsactiviteit_id=activity,
        verwerkingsactiviteit_id_aanroeper=str(uuid.uuid4()),
        vertrouwelijkheid=["normaal"],
        vertrouwelijkheid_aanroeper="normaal",
    )
    changed = api.put_verwerkingsactie(
        logged.actie_id,
        log.VerwerkingsactieVolledig.from_dict({**action.to_dict(), "actieNaam": "Zoeken adres", "systeem": "Balie 3"}),
    )
    objects = log.VerwerkteObjectenApi(api.api_client).get_verwerkte_objecten(**person, **caller)
    api.delete_verwerkingsactie(logged.actie_id)
    after = api.get_verwerkingsacties(**person, **caller)
    return {
        "found": [[one.actie_naam, one.vertrouwelijkheid.value] for one in found.results],
        "changed": [changed.actie_naam, changed.systeem],
        "objects": [one.verwerkingsactie.actie_naam for one in objects.results],
        "after": [one.actie_naam for one in after.results],
    }


def receive_delivery():
    api = shv.GegevensApi(client(shv, "shv", demo["deliveryToken"]))
    delivery = api.post_gegevens(demo["digest"], demo["signature"], shv.GegevensRequest())
    return {"supplier": delivery.gegevens.code_gegevensleverancier, "deliveries": len(delivery.gegevens.leveringen)}


print(json.dumps({"feed": read_feed(), "log": keep_log(), "delivery": receive_delivery()}))
