"""A publisher of council information, as small as possible: written from openapi/raadsfeed.yaml alone, with only the standard library.

python3 feed.py serve                 serves on a free port of this machine, and prints the address
python3 feed.py publish ADDRESS       publishes the lines of its standard input

It has no stream, no pages for people and no compression. Its data are in memory.
"""
import base64, datetime, hashlib, json, re, sys, threading, urllib.error, urllib.parse, urllib.request, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CODE = re.compile(r"(gm[0-9]{4}|pv[0-9]{2}|ws[0-9]{4})", re.I)
KINDS = {"vergaderingen": "Vergadering", "agendapunten": "Agendapunt", "informatieobjecten": "Informatieobject"}
REQUIRED = {
    "Vergadering": ["naam"],
    "Agendapunt": ["agendapuntnaam", "vergadering"],
    "Informatieobject": ["webpaginalink", "titel", "wooinformatiecategorie", "datumingediend"],
}
REASONS = ["ingetrokken", "correctie", "niet_langer_openbaar", "persoonsgegevens", "overig"]
FEED, LOCK = uuid.uuid4().hex, threading.Lock()
ORGANISATIONS = {"gm9901": "Gemeente Voorbeeldstad"}
records, updated = [], {}


class Refused(Exception):
    def __init__(self, status, title, *params, kind="about:blank"):
        self.status, self.title, self.params, self.kind = status, title, params, kind


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def key(record):
    return record["resourceType"], record["resource"]["organisatiecode"], record["resource"]["bronidentificatie"]


def state():
    found = {}
    for record in records:
        found.pop(key(record), None)
        if record["op"] == "upsert":
            found[key(record)] = record
    return found


def append(op, kind, resource, **more):
    number = len(records) + 1
    records.append({"sequenceNumber": number, "op": op, "resourceType": kind, "resource": resource, "storedAt": now(), **more})
    updated[resource["organisatiecode"]] = records[-1]["storedAt"]
    return number


def publish(line):
    op, kind = line["op"], line["resourceType"]
    if op == "upsert":
        data = line["data"]
        organisation = data["organisatie"]
        code = organisation.get("gemeente") or organisation.get("provincie") or organisation["waterschap"]
        if not CODE.fullmatch(code) or any(name not in data for name in ["bronidentificatie", "dossiertype", *REQUIRED[kind]]):
            raise ValueError("a member is missing")
        resource = {"organisatiecode": code.lower(), "bronidentificatie": data["bronidentificatie"]}
        text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        digest = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
        current = state().get((kind, *resource.values()))
        if current is None or current["contentHash"] != digest:
            ORGANISATIONS.setdefault(resource["organisatiecode"], organisation["naam"])
            append("upsert", kind, resource, contentHash=digest, data=data)
        return
    resource, reason = line["resource"], line["verwijderreden"]
    if reason not in REASONS:
        raise ValueError("verwijderreden is not known")
    more = {"verwijderreden": reason, **({"toelichting": line["toelichting"]} if "toelichting" in line else {})}
    place = (kind, resource["organisatiecode"], resource["bronidentificatie"])
    if op == "delete" and place in state():
        append("delete", kind, resource, **more)
    if op == "redact":
        held = [one for one in records if key(one) == place and "data" in one]
        if held:
            append("redact", kind, resource, **more, geredigeerdeSequenceNumbers=[one["sequenceNumber"] for one in held])
        for one in held:
            del one["data"], one["contentHash"]
            one.update(op="redact", **more, geredigeerdeSequenceNumbers=[one["sequenceNumber"]])


def cursor_of(*numbers):
    return base64.urlsafe_b64encode(":".join([FEED, *map(str, numbers)]).encode()).decode().rstrip("=")


def read_cursor(text, length):
    try:
        feed, *numbers = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode().split(":")
        numbers = [int(number) for number in numbers]
    except ValueError:
        feed, numbers = "", []
    if feed != FEED or len(numbers) != length or cursor_of(*numbers) != text or max(numbers) > len(records):
        raise Refused(400, "Ongeldige cursor", ("cursor", "niet van deze feed"), kind="https://feed.example/ongeldige-cursor")
    return numbers


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # the head and the body of an answer in one packet

    def log_message(self, *_):
        pass

    def send(self, status, body, kind="application/json", **headers):
        content = json.dumps(body).encode()
        if status == 200:
            headers["etag"] = f'"{hashlib.sha256(content).hexdigest()}"'
            if self.headers.get("if-none-match") == headers["etag"]:
                status, content = 304, b""
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(content)), "api-version": "0.0.2", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def do_GET(self):
        base = f"http://{self.headers.get('host', 'localhost')}"
        url = urllib.parse.urlsplit(self.path)
        try:
            if len(self.path) > 8192:
                raise Refused(414, "Adres te lang")
            with LOCK:
                body, headers = self.answer(base, [urllib.parse.unquote(one) for one in url.path.split("/")[1:]], url.query)
                self.send(200, body, **headers)
        except Refused as refused:
            problem = {"type": refused.kind, "title": refused.title, "status": refused.status, "instance": f"urn:uuid:{uuid.uuid4()}"}
            if refused.params:
                problem["invalidParams"] = [{"name": name, "reason": reason} for name, reason in refused.params]
            self.send(refused.status, problem, "application/problem+json")

    do_HEAD = do_GET

    def do_POST(self):
        try:
            with LOCK:
                for line in self.rfile.read(int(self.headers["content-length"])).decode().split("\n"):
                    if line.strip():
                        publish(json.loads(line))
        except (KeyError, TypeError, ValueError) as error:
            return self.send(422, {"fault": repr(error)})
        self.send(200, {"head": len(records)})

    def answer(self, base, path, query):
        if path == [""]:
            self.parameters(query)
            return self.service(base), {}
        if path == ["feed"]:
            given = self.parameters(query, "cursor", "limit", "organisatiecode", "resourceType")
            return self.feed(base, given)
        if path == ["snapshot"]:
            given = self.parameters(query, "cursor", "limit", "organisatiecode", "resourceType")
            after, place = read_cursor(given["cursor"], 2) if "cursor" in given else (len(records), 0)
            rows = [one for one in state().values() if one["sequenceNumber"] > place and self.fits(one, given)]
            page, rest = rows[: given["limit"]], rows[given["limit"] :]
            cursor = cursor_of(after, page[-1]["sequenceNumber"]) if rest else None
            body = {"records": page, "feedCursor": cursor_of(after), "cursor": cursor, "hasMore": bool(rest)}
            return {**body, "next": self.next(base + "/snapshot", query, cursor)}, {}
        if len(path) >= 3 and path[0] == "organisaties" and path[2] in KINDS and CODE.fullmatch(path[1]):
            return self.collection(base, path, query)
        if len(path) >= 3 and path[0] == "organisaties" and path[2] in KINDS:
            raise Refused(400, "Ongeldig verzoek", ("organisatiecode", "past niet bij het patroon"))
        raise Refused(404, "Niet gevonden")

    def service(self, base):
        organisations = [
            {"organisatiecode": code, "naam": name, "herkomstSoort": "eigen", **({"laatstBijgewerkt": updated[code]} if code in updated else {})}
            for code, name in ORGANISATIONS.items()
        ]
        addresses = {"feedUrl": base + "/feed", "snapshotUrl": base + "/snapshot"}
        history = {"historieVanaf": "2026-01-01", "retentie": "permanent"}
        return {"rol": "bronhouder", "organisaties": organisations, "resourceTypes": list(REQUIRED), **addresses, **history}

    def feed(self, base, given):
        (after,) = read_cursor(given["cursor"], 1) if "cursor" in given else (0,)
        page, looked = [], after
        for record in records[after:]:
            if len(page) == given["limit"]:
                break
            looked = record["sequenceNumber"]
            if self.fits(record, given):
                page.append(record)
        cursor, more = cursor_of(looked), looked < len(records)
        there = self.next(base + "/feed", urllib.parse.urlsplit(self.path).query, cursor)
        body = {"records": page, "cursor": cursor, "head": len(records), "hasMore": more, "next": there if more else None}
        links = {"next": there, "self": base + self.path, "service-desc": "https://koppelvlak.example/ori/v1/openapi.json"}
        link = ", ".join(f'<{target}>; rel="{relation}"' for relation, target in links.items())
        return body, {"cache_control": "public, max-age=0", "link": link}

    def collection(self, base, path, query):
        code, kind, name = path[1].lower(), KINDS[path[2]], "/".join(path[3:])
        if len(path) > 3:
            self.parameters(query)
            found = state().get((kind, code, name))
            if found is None:
                raise Refused(404, "Niet gevonden")
            return found["data"], {}
        given = self.parameters(query, "cursor", "limit")
        (place,) = read_cursor(given["cursor"], 1) if "cursor" in given else (0,)
        rows = [one for one in state().values() if key(one)[:2] == (kind, code) and one["sequenceNumber"] > place]
        page, rest = rows[: given["limit"]], rows[given["limit"] :]
        cursor = cursor_of(page[-1]["sequenceNumber"]) if rest else None
        address = f"{base}/organisaties/{code}/{path[2]}"
        body = {"results": [one["data"] for one in page], "cursor": cursor, "hasMore": bool(rest)}
        return {**body, "next": self.next(address, query, cursor)}, {}

    def fits(self, record, given):
        kind, code, _ = key(record)
        return given.get("organisatiecode", code) == code and given.get("resourceType", kind) == kind

    def next(self, address, query, cursor):
        given = {**dict(urllib.parse.parse_qsl(query)), "cursor": cursor}
        return None if cursor is None else f"{address}?{urllib.parse.urlencode(given)}"

    def parameters(self, query, *known):
        given = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        wrong = [(name, "onbekende parameter") for name in given if name not in known]
        limit = given.get("limit", "500")
        if "limit" in known and not (re.fullmatch(r"[0-9]{1,4}", limit) and 1 <= int(limit) <= 1000):
            wrong.append(("limit", "moet van 1 tot 1000 zijn"))
        if "organisatiecode" in given and not CODE.fullmatch(given["organisatiecode"]):
            wrong.append(("organisatiecode", "past niet bij het patroon"))
        if given.get("resourceType", "Vergadering") not in REQUIRED:
            wrong.append(("resourceType", "is geen bekende soort"))
        if wrong:
            raise Refused(400, "Ongeldig verzoek", *wrong)
        given["limit"] = int(limit) if "limit" in known else 0
        if "organisatiecode" in given:
            given["organisatiecode"] = given["organisatiecode"].lower()
        return given


if sys.argv[1] == "publish":
    request = urllib.request.Request(sys.argv[2], sys.stdin.buffer.read(), {"content-type": "application/x-ndjson"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            print(answer.read().decode())
    except urllib.error.HTTPError as error:
        sys.exit(error.read().decode())
else:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
