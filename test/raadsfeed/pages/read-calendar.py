"""Reads a calendar with Python's icalendar, and prints its events as JSON. Faults that the library tolerates are errors."""
import json
import sys

from datetime import datetime, timezone

from icalendar import Calendar


def moment(value):
    """A time in UTC; a date unchanged."""
    return value.astimezone(timezone.utc).isoformat() if isinstance(value, datetime) else value.isoformat()


calendar = Calendar.from_ical(sys.stdin.buffer.read())
faults = [[component.name, *map(str, fault)] for component in calendar.walk() for fault in component.errors]
events = [
    {
        "uid": str(event["UID"]),
        "sequence": int(event["SEQUENCE"]),
        "summary": str(event["SUMMARY"]),
        "location": str(event.get("LOCATION", "")),
        "status": str(event.get("STATUS", "")),
        "start": moment(event["DTSTART"].dt),
        "end": moment(event["DTEND"].dt) if "DTEND" in event else None,
    }
    for event in calendar.walk("VEVENT")
]
json.dump({"faults": faults, "events": events}, sys.stdout)
