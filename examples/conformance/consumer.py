"""A consumer of council feeds driven by lines of JSON; see docs/conformance.md. For each {"do":"follow","feed":"ADDRESS"} on its standard input
it catches up with that feed and prints its copy. Replace `follow` with your own consumer.

    koppelvlak-conformance raadsfeed-consumer --program 'python3 consumer.py'
"""
import email.utils, json, sys, time, urllib.error, urllib.parse, urllib.request

MAX_BYTES = 32 * 1024 * 1024
copies = {}  # by address of a service document


class Copy:
    def __init__(self):
        self.state, self.cursor, self.wait_until = {}, None, 0.0


class LostPlace(Exception):
    pass


def get(copy, address, cursor=None):
    query = "" if cursor is None else "?" + urllib.parse.urlencode({"cursor": cursor})
    time.sleep(max(0.0, copy.wait_until - time.time()))
    request = urllib.request.Request(address + query, headers={"accept": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            content = answer.read(MAX_BYTES + 1)
    except urllib.error.HTTPError as error:
        later = error.headers.get("retry-after")
        if later:
            moment = time.time() + int(later) if later.isdigit() else email.utils.parsedate_to_datetime(later).timestamp()
            copy.wait_until = moment
        problem = error.read(MAX_BYTES)
        if cursor is not None and (error.code == 410 or b"ongeldige-cursor" in problem):
            raise LostPlace(f"status {error.code}")
        raise
    if len(content) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES} bytes")
    return json.loads(content)


def read_page(copy, address, cursor=None):
    page = get(copy, address, cursor)
    if not isinstance(page, dict) or not isinstance(page.get("records"), list) or not isinstance(page.get("hasMore"), bool):
        raise ValueError("this is not a page")
    if page["hasMore"] and page.get("cursor") in (None, cursor):
        raise ValueError("the cursor does not move on")
    return page


def apply(state, record, organisations):
    resource, number = record["resource"], record["sequenceNumber"]
    key = (record["resourceType"], resource["organisatiecode"], resource["bronidentificatie"])
    if record["op"] == "redact":
        numbers = set(record["geredigeerdeSequenceNumbers"])
        for one in [one for one, (held, _) in state.items() if held in numbers]:
            del state[one]
    elif resource["organisatiecode"] not in organisations:
        print(f"record {number} is of an organisation that the feed does not name", file=sys.stderr)
    elif record["op"] == "delete":
        state.pop(key, None)
    elif record["op"] == "upsert" and "data" in record:
        state[key] = (number, {name: record[name] for name in ("resourceType", "resource", "data")})
    else:
        print(f"record {number} cannot be used", file=sys.stderr)


def follow(copy, feed):
    service = get(copy, feed + "/")
    organisations = {one["organisatiecode"] for one in service["organisaties"]}
    if copy.cursor is None:
        state = {}
        first = page = read_page(copy, service["snapshotUrl"])
        while True:
            for record in page["records"]:
                apply(state, record, organisations)
            if not page["hasMore"]:
                break
            page = read_page(copy, service["snapshotUrl"], page["cursor"])
        copy.state, copy.cursor = state, first["feedCursor"]
    more = True
    while more:
        page = read_page(copy, service["feedUrl"], copy.cursor)
        state = dict(copy.state)  # all of a page or none of it: the resources change together with the cursor
        for record in page["records"]:
            apply(state, record, organisations)
        copy.state, copy.cursor, more = state, page["cursor"], page["hasMore"]


for line in sys.stdin:
    feed = json.loads(line)["feed"]
    copy, fault = copies.setdefault(feed, Copy()), None
    try:
        follow(copy, feed)
    except LostPlace as error:
        copy.cursor, fault = None, str(error)
    except Exception as error:  # the copy is reported whatever the feed does
        fault = repr(error)
    print(json.dumps({"state": [resource for _, resource in copy.state.values()], "fault": fault}), flush=True)
