/** A run's publications, step by step: each step runs once, when a case first needs it, and after those before it. */
import { setTimeout as wait } from 'node:timers/promises';
import { COLLECTIONS, type ResourceType } from '../../src/lib/feed/resource.ts';
import { isRecord, type JsonObject } from '../../src/lib/json/json-value.ts';
import { reasonOf } from '../../src/lib/log.ts';
import { type Finding, Inconclusive, Skipped, type Undoing, writtenChapters } from '../case.ts';
import type { StreamReading } from '../exchange.ts';
import { objectsIn, textAt } from '../json-members.ts';
import { addressOf } from '../raadsfeed/collections.ts';
import { draft } from '../raadsfeed/sources.ts';
import { eventsOf } from '../raadsfeed/stream.ts';
import { type FeedSubject, keyOf, organisationIn, pageAddress, type Walk, walk } from '../raadsfeed/subject.ts';
import { contentOf, organisationOf } from '../raadsfeed/written-content.ts';

export interface PublishSubject extends FeedSubject {
  readonly story: Story;
}

/** The prerequisite of cases without `needs`. */
export const storyChapters = (first: string) =>
  writtenChapters((subject: PublishSubject, { ask }) => ({ ...subject, ask }), first);

/** Checks that redacted content is gone from a place. */
export const notIn =
  (step: 'deleted' | 'redacted', place: 'snapshot' | 'resource' | 'listed') =>
  async ({ story }: Pick<PublishSubject, 'story'>): Promise<Finding> => {
    const { snapshot, resource, listed } = (await story[step]()).gone;
    if (place === 'snapshot') return snapshot && { failed: 'it is still there', at: snapshot.at };
    if (place === 'listed') return listed && 'it is still there';
    const { status } = resource;
    return [404, 410].includes(status) ? undefined : { failed: `its address gets status ${status}`, at: resource };
  };

/** Records that were read stay unchanged. */
export const isALog = draft('What the service does, Area C 1', 'The feed is a log, not a query interface');

/**
 * Publishes one line.
 * @throws {Inconclusive} when the command refuses it
 */
export type Publish = (line: JsonObject, signal?: AbortSignal) => Promise<void>;

/** The name of a resource of the run: its type and the end of its `bronidentificatie`. */
interface Own {
  readonly kind: ResourceType;
  readonly name: string;
}

export const MEETING: Own = { kind: 'Vergadering', name: 'v' };
export const ITEM: Own = { kind: 'Agendapunt', name: 'a' };
export const DOCUMENT: Own = { kind: 'Informatieobject', name: 'd' };
/** Characters that need encoding in a path. */
export const ODD: Own = { kind: 'Informatieobject', name: 'o/é %&?#' };
const MARKER: Own = { kind: 'Agendapunt', name: 'm' };
const WITHDRAWN: Own = { kind: 'Informatieobject', name: 'w' };
export const TOGETHER: readonly Own[] = ['p1', 'p2', 'p3', 'p4'].map((name) => ({ kind: 'Agendapunt', name }));

const LOOK_MS = 400;
/** By then the stream is open. */
const OPENING_MS = 500;
/** Time for an event to arrive, on top of the command's publishing time. */
const STREAM_MS = 10_000;
const PAGE_SIZE = 1000;
const MOST_PAGES = 20;

export type Story = ReturnType<typeof createStory>;

/**
 * @param patienceMs milliseconds within which a publication must appear
 * @param run identifies this run
 */
export function createStory(subject: FeedSubject, publish: Publish, patienceMs: number, run: string) {
  const { client, service, values } = subject;
  const code = values.organisation;
  if (code === undefined) throw new Skipped('the service document names no organisation to publish for');
  const organisatie = organisationOf(code, textAt(organisationIn(service, code), 'naam') ?? code);
  /** Occurs in the redacted content, and nowhere else. */
  const word = `inhoud-${run}`;
  const withdrawnWord = `ingetrokken-${run}`;

  const idOf = ({ name }: Own): string => `conformance-${run}-${name}`;
  const recordOf = (own: Own): JsonObject => ({
    resourceType: own.kind,
    resource: { organisatiecode: code, bronidentificatie: idOf(own) },
  });
  const keyOfOwn = (own: Own): string => keyOf(recordOf(own));
  const addressOfOwn = (own: Own): string => addressOf(recordOf(own)).replace('{base}', values.base);
  /** The records of a resource, or only those with this operation. */
  const of = ({ records }: Pick<Walk, 'records'>, own: Own, op?: string) =>
    records.filter(({ record }) => keyOf(record) === keyOfOwn(own) && (op === undefined || record.op === op));
  const held = new Set<Own>();

  const upsert = async (own: Own, more?: JsonObject): Promise<JsonObject> => {
    const content = contentOf(own.kind, idOf(own), `Conformance ${run} ${own.name}`, idOf(MEETING));
    const data = { ...content, organisatie, ...more };
    // Also when the command fails, because it may have got part of the way.
    held.add(own);
    await publish({ op: 'upsert', resourceType: own.kind, data });
    return data;
  };
  const remove = async (op: 'delete' | 'redact', own: Own, signal?: AbortSignal): Promise<void> => {
    const verwijderreden = op === 'delete' ? 'ingetrokken' : 'persoonsgegevens';
    await publish({ op, ...recordOf(own), verwijderreden }, signal);
    held.delete(own);
  };

  /** The end of the feed before the first publication. */
  const begin = once(async () => {
    let cursor = values.feedCursor;
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const startedAt = Date.now();
      const at = await client.send({ to: pageAddress(values.feed, { limit: String(PAGE_SIZE), cursor }) });
      cursor = textAt(at.json, 'cursor');
      if (cursor === undefined || !isRecord(at.json)) break;
      if (at.json.hasMore === false) return { cursor, head: Number(at.json.head), at, startedAt };
    }
    throw new Inconclusive('the end of the feed was not reached before publishing');
  });
  /** The feed since then. */
  const since = async (): Promise<Walk> => {
    const { cursor } = await begin();
    return walk(client, pageAddress(values.feed, { cursor }), PAGE_SIZE, MOST_PAGES);
  };
  /** Records of the published resources, once there are as many as of this one; fewer when they do not come. */
  const appeared = async (own: Own, op: string, count: number): Promise<Walk> => {
    const end = performance.now() + patienceMs;
    for (;;) {
      const found = await since();
      if (of(found, own, op).length >= count || performance.now() > end) return found;
      await wait(LOOK_MS);
    }
  };

  /**
   * The resource in the snapshot.
   * @throws {Skipped} when the snapshot is too large to tell that it is absent
   */
  const inSnapshot = async (own: Own) => {
    const address = pageAddress(values.snapshot, { organisatiecode: code, resourceType: own.kind });
    const { records, complete } = await walk(client, address, PAGE_SIZE, MOST_PAGES);
    const found = of({ records }, own);
    if (found.length === 0 && !complete) throw new Skipped('the snapshot is larger than the part that was read');
    return found;
  };
  /**
   * The resource in its organisation's list.
   * @throws as `inSnapshot`
   */
  const inCollection = async (own: Own): Promise<JsonObject | undefined> => {
    const address = `${values.base}/organisaties/${code}/${COLLECTIONS[own.kind]}`;
    let cursor: string | undefined;
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const { json } = await client.send({ to: pageAddress(address, { limit: String(PAGE_SIZE), cursor }) });
      const found = objectsIn(json, 'results').find(({ bronidentificatie }) => bronidentificatie === idOf(own));
      cursor = textAt(json, 'cursor');
      if (found !== undefined || cursor === undefined) return found;
    }
    throw new Skipped('the list is larger than the part that was read');
  };

  const created = once(async () => {
    await begin();
    const stream = openStream();
    await wait(OPENING_MS);
    const data = new Map<Own, JsonObject>();
    data.set(MEETING, await upsert(MEETING, { locatie: 'Raadzaal “é” 🗳️ \u2028 </b>' }));
    data.set(ITEM, await upsert(ITEM, { indicatiehamerstuk: null, indicatiebesloten: false }));
    data.set(DOCUMENT, await upsert(DOCUMENT, { omschrijving: word, omvang: 9007199254740991 }));
    return { data, stream, feed: await appeared(DOCUMENT, 'upsert', 1) };
  });
  /** Reads until the first published record, while it is being published. */
  const openStream = (): Promise<StreamReading> => {
    const reading = client.readStream(
      { to: values.stream },
      (text) => eventsOf(text).some(({ data = '' }) => data.includes(idOf(MEETING))),
      STREAM_MS + patienceMs,
    );
    // The case about it reports this.
    reading.catch(() => undefined);
    return reading;
  };
  const changed = once(async () => {
    const { feed: before } = await created();
    const resourceBefore = await client.send({ to: addressOfOwn(DOCUMENT) });
    const data = await upsert(DOCUMENT, { omschrijving: `${word} gewijzigd` });
    return { before, data, feed: await appeared(DOCUMENT, 'upsert', 2), resourceBefore };
  });
  const repeated = once(async () => {
    await changed();
    await upsert(DOCUMENT, { omschrijving: `${word} gewijzigd` });
    await upsert(MARKER);
    return appeared(MARKER, 'upsert', 1);
  });
  const returned = once(async () => {
    await repeated();
    await upsert(DOCUMENT, { omschrijving: word, omvang: 9007199254740991 });
    return appeared(DOCUMENT, 'upsert', 3);
  });
  /** Where a resource still exists. */
  const left = async (own: Own) => ({
    snapshot: (await inSnapshot(own))[0],
    resource: await client.send({ to: addressOfOwn(own) }),
    listed: await inCollection(own),
  });
  const deleted = once(async () => {
    await returned();
    await remove('delete', ITEM);
    return { feed: await appeared(ITEM, 'delete', 1), gone: await left(ITEM) };
  });
  const deletedTwice = once(async () => {
    await deleted();
    await remove('delete', ITEM);
    await upsert(MARKER, { omschrijving: 'na de tweede delete' });
    return appeared(MARKER, 'upsert', 2);
  });
  const recreated = once(async () => {
    await deletedTwice();
    await upsert(ITEM);
    return { feed: await appeared(ITEM, 'upsert', 2), snapshot: (await inSnapshot(ITEM))[0] };
  });
  const redacted = once(async () => {
    await recreated();
    const before = await since();
    await remove('redact', DOCUMENT);
    return { before, feed: await appeared(DOCUMENT, 'redact', 1), gone: await left(DOCUMENT) };
  });
  const redactedDeleted = once(async () => {
    await redacted();
    await upsert(WITHDRAWN, { omschrijving: withdrawnWord });
    await remove('delete', WITHDRAWN);
    await remove('redact', WITHDRAWN);
    return appeared(WITHDRAWN, 'redact', 1);
  });
  const odd = once(async () => {
    await created();
    await upsert(ODD);
    return appeared(ODD, 'upsert', 1);
  });
  const together = once(async () => {
    await odd();
    await Promise.all(TOGETHER.map((own) => upsert(own)));
    for (const own of TOGETHER) await appeared(own, 'upsert', 1);
    return since();
  });

  return {
    word,
    withdrawnWord,
    idOf,
    keyOfOwn,
    addressOfOwn,
    of,
    inSnapshot,
    inCollection,
    begin,
    created,
    changed,
    repeated,
    returned,
    deleted,
    deletedTwice,
    recreated,
    redacted,
    redactedDeleted,
    odd,
    together,
    async undo({ signal }: Pick<Undoing, 'signal'>): Promise<string | undefined> {
      let reason = '';
      for (const own of held)
        await remove('delete', own, signal).catch((error: unknown) => {
          reason = reasonOf(error);
        });
      return held.size === 0 ? undefined : `not deleted: ${held.size} (${reason})`;
    },
  };
}

/** One promise shared by all callers. */
function once<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
