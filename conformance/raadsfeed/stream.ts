import { isRecord } from '../../src/lib/json/json-value.ts';
import { type Finding, firstFault } from '../case.ts';
import { bytesOf, jsonIn } from '../client.ts';
import type { Ask, StreamReading } from '../exchange.ts';
import { objectsIn, textAt } from '../json-members.ts';
import { after } from './pages.ts';
import { contract, feedRule, html } from './sources.ts';
import { type FeedSubject, feedChapters, pageAddress, recordsOf } from './subject.ts';

const streamRule = (quote: string) => feedRule(10, quote);

/**
 * An event of a stream: its fields, with the `data` lines joined.
 * @see HTML, "Interpreting an event stream"
 */
type StreamEvent = Readonly<Record<string, string>>;

const READ_MS = 5000;
/** Longer than the fifteen seconds between two comments. */
const COMMENT_MS = 18_000;
/** Time for a stream to send its past records. */
const START_MS = 1500;
const SEVERAL = 3;

export function eventsOf(text: string): readonly StreamEvent[] {
  const blocks = text.replaceAll(/\r\n?/g, '\n').split('\n\n').slice(0, -1);
  return blocks.flatMap((block) => {
    const fields: Record<string, string> = {};
    for (const line of block.split('\n').filter((one) => !one.startsWith(':'))) {
      const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      fields[name] = name === 'data' && fields.data !== undefined ? `${fields.data}\n${value}` : value;
    }
    return fields.data === undefined ? [] : [fields];
  });
}

/** Reads the stream until it has this many events; for none, only its beginning. */
function reading({ client, values }: FeedSubject, events: number, ask: Partial<Ask> = {}, forMs = READ_MS) {
  return client.readStream({ to: values.stream, ...ask }, (text) => eventsOf(text).length >= events, forMs);
}

function afterFirst(subject: FeedSubject): Promise<StreamReading> {
  const [{ record }] = recordsOf(subject.history);
  return reading(subject, SEVERAL, { headers: { 'last-event-id': String(record.sequenceNumber) } });
}

async function eachEvent(
  subject: FeedSubject,
  judge: (event: StreamEvent, place: number) => string | undefined,
): Promise<Finding> {
  if (subject.history.records.length < 2) return { skipped: 'the feed has fewer than two records' };
  const at = await afterFirst(subject);
  const events = eventsOf(at.text);
  if (events.length === 0) return { failed: 'no event came after the first record', at };
  return firstFault(events, at, judge);
}

export const STREAM = feedChapters('C-STR-02')('C-STR', ['Stroom', 'Stream'], {
  'C-STR-01': {
    must: streamRule('Content type is `text/event-stream`'),
    nl: 'De stroom is `text/event-stream`',
    en: 'The stream is `text/event-stream`',
    needs: [],
    check: async (subject) => {
      const at = await reading(subject, 0);
      if (subject.service.streamUrl === undefined && at.status === 404) return { skipped: 'it is not offered' };
      const type = at.headers['content-type'] ?? '';
      if (at.status === 200 && type.startsWith('text/event-stream')) return undefined;
      return { failed: `status ${at.status}, content type ${type}`, at };
    },
  },
  'C-STR-02': {
    must: streamRule('each event has `id` equal to the `sequenceNumber`'),
    nl: 'Het `id` van een event is het volgnummer',
    en: 'The `id` of an event is the sequence number',
    needs: ['C-STR-01', 'C-FEED-01'],
    check: (subject) =>
      eachEvent(subject, ({ id, data }) => {
        const record = jsonIn(bytesOf(data));
        if (isRecord(record) && String(record.sequenceNumber) === id) return undefined;
        return `an event with id ${id} does not have that record`;
      }),
  },
  'C-STR-03': {
    must: streamRule('reconnecting consumers resume with `Last-Event-ID`'),
    nl: 'Na `Last-Event-ID` komt het volgende record',
    en: 'The record after `Last-Event-ID` comes next',
    needs: ['C-STR-01', 'C-FEED-04'],
    check: (subject) => {
      const expected = subject.history.records.slice(1).map(({ record }) => String(record.sequenceNumber));
      return eachEvent(subject, ({ id }, place) =>
        id === expected[place] || expected[place] === undefined
          ? undefined
          : `event ${id} comes in place of ${expected[place]}`,
      );
    },
  },
  'C-STR-04': {
    may: contract('getFeedStream', '`data` het record op één regel'),
    nl: 'Een event heeft het record zoals het in de feed staat',
    en: 'An event contains the record exactly as in the feed',
    check: (subject) => {
      const known = new Map(
        subject.history.records.map(({ record }) => [String(record.sequenceNumber), JSON.stringify(record)] as const),
      );
      return eachEvent(subject, ({ id = '', data }) => {
        const record = known.get(id);
        if (record === undefined || JSON.stringify(jsonIn(bytesOf(data))) === record) return undefined;
        return `event ${id} has a different record from the feed`;
      });
    },
  },
  'C-STR-05': {
    may: contract('getFeedStream', 'Er is geen regel `event`, zodat `EventSource.onmessage` ze krijgt'),
    nl: 'Een event heeft geen naam, zodat `onmessage` het krijgt',
    en: 'An event has no name, so that `onmessage` gets it',
    needs: ['C-STR-01'],
    check: (subject) =>
      eachEvent(subject, ({ event }) =>
        event === undefined || event === 'message' ? undefined : `an event has the name ${event}`,
      ),
  },
  'C-STR-06': {
    open: html('9.2.6 Interpreting an event stream', 'The field is ignored.'),
    nl: 'Welke velden een event heeft',
    en: 'Which fields an event has',
    check: async (subject) => {
      const { text } = await afterFirst(subject);
      return { seen: [...new Set(eventsOf(text).flatMap((event) => Object.keys(event)))].join(', ').slice(0, 200) };
    },
  },
  'C-STR-07': {
    may: contract('getFeedStream', 'De stroom begint na `Last-Event-ID`, anders na `cursor`'),
    nl: 'De stroom begint na de cursor',
    en: 'The stream starts after the cursor',
    check: async (subject, { ask }) => {
      const page = await ask({ to: '{feed}?limit=1' });
      const [expected] = objectsIn((await ask({ to: `{feed}?limit=1&${after(page.json)}` })).json, 'records');
      if (expected === undefined) return { skipped: 'the feed has fewer than two records' };
      const to = pageAddress(subject.values.stream, { cursor: textAt(page.json, 'cursor') });
      const at = await reading(subject, 1, { to });
      const id = eventsOf(at.text)[0]?.id;
      if (id === String(expected.sequenceNumber)) return undefined;
      return { failed: `event ${id} comes first instead of ${String(expected.sequenceNumber)}`, at };
    },
  },
  'C-STR-08': {
    may: contract('ResourceTypeFilter', 'Alleen resources van deze soort.'),
    nl: 'Het filter op soort geldt ook voor de stroom',
    en: 'The filter on resource type applies to the stream too',
    check: async (subject) => {
      const [meeting] = recordsOf(subject.history, ({ resourceType }) => resourceType === 'Vergadering');
      const to = pageAddress(subject.values.stream, { resourceType: 'Vergadering' });
      const headers = { 'last-event-id': String(Number(meeting.record.sequenceNumber) - 1) };
      const at = await reading(subject, SEVERAL, { to, headers });
      const records = eventsOf(at.text).map(({ data }) => jsonIn(bytesOf(data)));
      if (records.length === 0) return { failed: 'no event came', at };
      if (records.every((record) => isRecord(record) && record.resourceType === 'Vergadering')) return undefined;
      return { failed: 'an event has another resource type', at };
    },
  },
  'C-STR-09': {
    may: contract('getFeedStream', 'Elke vijftien seconden komt er een commentaarregel'),
    nl: 'Elke vijftien seconden komt er een regel, ook als er niets verandert',
    en: 'A line comes every fifteen seconds, even when nothing changes',
    needs: ['C-STR-01'],
    check: async ({ client, values }) => {
      const hasLine = (text: string): boolean => /^(:|data:)/m.test(text.replace(/^:.*\n+/, ''));
      const at = await client.readStream({ to: values.stream }, hasLine, COMMENT_MS);
      return hasLine(at.text) ? undefined : { failed: `nothing came in ${COMMENT_MS / 1000} seconds`, at };
    },
  },
  'C-STR-10': {
    may: contract('LastEventId, OngeldigVerzoek', 'type: integer … Een parameter is ongeldig of onbekend'),
    nl: 'Een `Last-Event-ID` die geen nummer is, krijgt 400',
    en: 'A `Last-Event-ID` that is not a number gets 400',
    needs: ['C-STR-01'],
    check: async (subject) => {
      const { status } = await reading(subject, 0, { headers: { 'last-event-id': 'x' } });
      return status === 400 ? undefined : `the answer has status ${status} instead of 400`;
    },
  },
  'C-STR-11': {
    may: contract('Cache-Control', 'Hoe lang het antwoord bewaard mag worden.'),
    nl: 'De stroom meldt of hij gecachet mag worden',
    en: 'The stream says whether it may be cached',
    needs: ['C-STR-01'],
    check: async (subject) => {
      const at = await reading(subject, 0);
      return at.headers['cache-control'] ? undefined : { failed: 'the answer has no header cache-control', at };
    },
  },
  'C-STR-12': {
    may: contract('getFeedStream', 'anders bij het einde van de feed'),
    nl: 'Zonder `Last-Event-ID` en cursor begint de stroom bij het einde van de feed',
    en: 'Without `Last-Event-ID` and cursor the stream starts at the end of the feed',
    check: async (subject) => {
      const last = Number(subject.history.records.at(-1)?.record.sequenceNumber);
      const at = await reading(subject, 1, {}, START_MS);
      return firstFault(eventsOf(at.text), at, ({ id }) =>
        Number(id) <= last ? `event ${id} was sent although it was already in the feed` : undefined,
      );
    },
  },
});
