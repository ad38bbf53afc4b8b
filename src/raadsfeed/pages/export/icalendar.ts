/** Meetings as a calendar (RFC 5545). The UID stays, and `SEQUENCE` grows with each change, so that calendars move or cross out the entry. */
import { TIME_ZONE } from '../../../html/format.ts';
import { shorten, stripControls } from '../../../lib/template.ts';
import { dutchDay } from '../../../lib/time.ts';
import { pagePath } from '../context.ts';
import { hasTime, meetingState, momentIn, textIn } from '../rows.ts';
import type { Item } from '../search/lists.ts';

interface Calendar {
  readonly name: string;
  readonly url: string;
  readonly baseUrl: string;
  readonly meetings: readonly Item[];
}

/** The rules of the European Union since 1996 (RFC 5545 3.6.5). */
const TIMEZONE = [
  'BEGIN:VTIMEZONE',
  `TZID:${TIME_ZONE}`,
  'BEGIN:DAYLIGHT',
  'TZOFFSETFROM:+0100',
  'TZOFFSETTO:+0200',
  'TZNAME:CEST',
  'DTSTART:19960331T020000',
  'RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU',
  'END:DAYLIGHT',
  'BEGIN:STANDARD',
  'TZOFFSETFROM:+0200',
  'TZOFFSETTO:+0100',
  'TZNAME:CET',
  'DTSTART:19961027T030000',
  'RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU',
  'END:STANDARD',
  'END:VTIMEZONE',
];

export function icalendar({ name, url, baseUrl, meetings }: Calendar): string {
  return [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Koppelvlak//Raadsinformatie//NL',
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    `X-WR-CALNAME:${escapeText(name, 200)}`,
    `URL:${url}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
    ...TIMEZONE,
    ...meetings.flatMap((meeting) => event(meeting, baseUrl)),
    'END:VCALENDAR',
  ]
    .map((line) => `${fold(line)}\r\n`)
    .join('');
}

function event(item: Item, baseUrl: string): string[] {
  const { datum, summary, storedAt, organisatiecode, bronidentificatie, sequenceNumber } = item;
  if (datum === null) return [];
  const status = textIn(summary, 'vergaderstatus');
  const state = meetingState(status);
  const place = textIn(summary, 'locatie');
  const page = `${baseUrl}${pagePath(item)}`;
  const title = state === 'cancelled' ? `Gaat niet door: ${item.titel}` : item.titel;
  return [
    'BEGIN:VEVENT',
    `UID:${encodeURIComponent(bronidentificatie)}.vergadering.${organisatiecode}@raadsinformatie`,
    // The number in the feed grows with every change of the resource, and fits in 31 bits for long.
    `SEQUENCE:${Math.min(sequenceNumber, 2_147_483_647)}`,
    `DTSTAMP:${utc(storedAt)}`,
    `LAST-MODIFIED:${utc(storedAt)}`,
    ...times(item, datum),
    `SUMMARY:${escapeText(title, 300)}`,
    ...(place === undefined ? [] : [`LOCATION:${escapeText(place, 300)}`]),
    `DESCRIPTION:${escapeText([item.gremiumnaam, status, page].filter((part) => part !== null && part !== undefined).join('\n'), 5000)}`,
    `URL:${page}`,
    `STATUS:${state === 'cancelled' ? 'CANCELLED' : state === 'moved' ? 'TENTATIVE' : 'CONFIRMED'}`,
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ];
}

function times({ summary }: Item, start: Date): string[] {
  const date = (moment: Date): string => dutchDay(moment).replaceAll('-', '');
  if (!hasTime(summary)) {
    const next = new Date(start.getTime() + 86_400_000);
    return [`DTSTART;VALUE=DATE:${date(start)}`, `DTEND;VALUE=DATE:${date(next)}`];
  }
  const end = momentIn(summary, 'einde') ?? momentIn(summary, 'geplandeeinde');
  const isLater = end !== undefined && end.getTime() > start.getTime();
  return [`DTSTART;TZID=${TIME_ZONE}:${local(start)}`, ...(isLater ? [`DTEND;TZID=${TIME_ZONE}:${local(end)}`] : [])];
}

/** `20180208T123000Z` (3.3.5, form 2). */
const utc = (moment: Date): string => moment.toISOString().replace(/[-:]|\.\d{3}/g, '');

const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: TIME_ZONE, dateStyle: 'short', timeStyle: 'medium' });

/** `20180208T133000`, with a `TZID` beside it (form 3). */
const local = (moment: Date): string => clock.format(moment).replace(' ', 'T').replace(/[-:]/g, '');

function escapeText(text: string, length: number): string {
  return shorten(stripControls(text), length)
    .replace(/[\\;,]/g, (character) => `\\${character}`)
    .replace(/\r\n|\r|\n/g, '\\n');
}

/** Lines of at most 75 octets, continued with a blank (3.1); no character is cut in two. */
function fold(line: string): string {
  if (Buffer.byteLength(line) <= 75) return line;
  let folded = '';
  let octets = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (octets + size > 75) {
      folded += '\r\n ';
      octets = 1;
    }
    folded += character;
    octets += size;
  }
  return folded;
}
