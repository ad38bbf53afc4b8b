/** The history of a resource, from the feed itself: what changed when; and the page of a removed one. Redacted content is not shown here either. */
import type { Db } from '../../database/transaction.ts';
import { dayAndTime } from '../../html/format.ts';
import { alert, facts, heading, link, type Page, paragraph } from '../../html/page.ts';
import type { ResourceType } from '../../lib/feed/resource.ts';
import { isRecord, type JsonObject } from '../../lib/json/json-value.ts';
import { type Html, type HtmlValue, html, shorten, withinBytes } from '../../lib/template.ts';
import type { FeedOrganisation } from '../store/state.ts';
import { organisationPath, type Subject, trail, withQuery } from './context.ts';
import { textIn } from './rows.ts';

export type History = Awaited<ReturnType<typeof readHistory>>;
type HistoryEntry = History['entries'][number];

/** Number of versions that are compared, and the size of the largest in bytes: changes of larger ones are not listed. */
const VERSIONS = 20;
const VERSION_BYTES = 200_000;
const LIST_BYTES = 6000;

/** Versions of a resource, latest first, none when the feed has never had it; and the one before these. @param before only what has a lower number */
export async function readHistory(
  db: Db,
  { organisatiecode, resourceType, bronidentificatie }: Subject,
  before = Number.MAX_SAFE_INTEGER,
) {
  // Each kind of record has an index of its own.
  const records = (condition: string): string => `
    (select sequence_number, op, stored_at from raadsfeed.records
      where ${condition} and organisatiecode = $1::text and resource_type = $2::text and bronidentificatie = $3::text
        and sequence_number < $4::bigint
      order by sequence_number desc limit ${VERSIONS + 1})`;
  const { rows } = await db.query<Version>({
    // Without a name: planned for its numbers, so that it opens only the partitions that they are in.
    text: `select r.sequence_number as "sequenceNumber", r.op, r.stored_at as "storedAt", t.text
             from (${records(`op = 'upsert'`)} union all ${records(`op <> 'upsert'`)}) r
            cross join lateral (
                  select case when octet_length(record_prefix) + coalesce(octet_length(record_suffix), 0) <= ${VERSION_BYTES} then record_prefix || coalesce(record_suffix, '') end as text
                    from raadsfeed.texts where sequence_number = r.sequence_number offset 0) t
            order by r.sequence_number desc
            limit ${VERSIONS + 1}`,
    values: [organisatiecode, resourceType, bronidentificatie, before],
  });
  // Without a record: too large to be compared.
  const entries = rows.map(({ text, ...entry }) => ({ ...entry, record: recordIn(text) }));
  return { entries: entries.slice(0, VERSIONS), earlier: entries[VERSIONS] };
}

interface Version {
  readonly sequenceNumber: number;
  readonly op: 'upsert' | 'delete' | 'redact';
  readonly storedAt: Date;
  readonly text: string | null;
}

function recordIn(text: string | null): JsonObject | undefined {
  const record: unknown = JSON.parse(text ?? 'null');
  return isRecord(record) ? record : undefined;
}

export const historySection = (history: History, address: string): HtmlValue => [
  heading(2, 'Geschiedenis'),
  historyList(history, address),
];

/** The changes that fit, and a link to earlier ones. @param address of the resource's page */
export function historyList({ entries, earlier }: History, address: string): Html {
  const all = earlier === undefined ? entries : [...entries, earlier];
  const rows = entries.map((entry, i) => {
    const before = all.slice(i + 1).find(({ op }) => op === 'upsert');
    return html`<li><time datetime="${entry.storedAt.toISOString()}">${dayAndTime(entry.storedAt)}</time>: ${describe(entry, before, i === all.length - 1)}</li>`;
  });
  const { items } = withinBytes(rows, LIST_BYTES);
  const last = entries[Math.max(1, items.length) - 1];
  const more = withQuery(`${address}/geschiedenis`, { voor: last?.sequenceNumber });
  return html`<ol class="kv-history">${items.length === 0 ? rows.slice(0, 1) : items}</ol>${items.length < all.length && all.length > 1 && html`<p class="kv-more">${link(more, 'Eerdere wijzigingen')}</p>`}`;
}

function describe({ op, record }: HistoryEntry, before: HistoryEntry | undefined, isFirst: boolean): string {
  if (op === 'delete') return `verwijderd, reden: ${reasonOf(record)}`;
  if (op === 'redact') return `inhoud verwijderd, reden: ${reasonOf(record)}`;
  const [now, then] = [record?.data, before?.record?.data];
  if (!isRecord(now) || !isRecord(then)) return isFirst ? 'gepubliceerd' : 'gepubliceerd of gewijzigd';
  const changed = Object.keys({ ...now, ...then }).filter(
    (name) => name !== 'gewijzigdop' && JSON.stringify(now[name]) !== JSON.stringify(then[name]),
  );
  if (changed.length === 0) return 'opnieuw gepubliceerd';
  const names = [...new Set(changed.map((name) => MEMBERS.get(name) ?? shorten(name, 40)))];
  return `gewijzigd: ${names.slice(0, 8).join(', ')}${names.length > 8 ? ' en meer' : ''}`;
}

/** Names of members for readers; other members keep their own. */
const MEMBERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    agendapuntnaam: 'naam',
    aanvang: 'begintijd',
    einde: 'eindtijd',
    geplandeaanvang: 'geplande begintijd',
    geplandeeinde: 'geplande eindtijd',
    vergaderdatum: 'datum',
    geplandedatum: 'geplande datum',
    vergaderstatus: 'status',
    vergaderingstype: 'soort',
    vergadertoelichting: 'toelichting',
    locatie: 'plaats',
    deelvergaderingen: 'delen van de vergadering',
    georganiseerddoorgremium: 'commissie',
    bestandsurl: 'bestand',
    checksum: 'controlegetal',
    omvang: 'grootte',
    formaat: 'soort bestand',
    webpaginalink: 'pagina bij de bron',
  }),
);

/** Reasons of a removal in words, and as the end of a sentence about a removed item. */
const REASONS: Readonly<Record<string, readonly [reason: string, happened: string]>> = {
  ingetrokken: ['ingetrokken', 'is ingetrokken'],
  correctie: ['een correctie', 'is weggehaald: het was een vergissing'],
  niet_langer_openbaar: ['niet langer openbaar', 'is niet langer openbaar'],
  persoonsgegevens: ['er stonden persoonsgegevens in', 'is weggehaald: er stonden persoonsgegevens in'],
  overig: ['een andere reden', 'is weggehaald'],
};

function reasonOf(record: JsonObject = {}): string {
  const reason = textIn(record, 'verwijderreden') ?? 'onbekend';
  return REASONS[reason]?.[0] ?? shorten(reason, 60);
}

export async function readRemovals(
  db: Db,
  organisatiecode: string,
  agendapunten: readonly string[],
): Promise<Map<string, { readonly storedAt: Date; readonly happened: string }>> {
  const { rows } = await db.query<{ bronidentificatie: string; storedAt: Date; text: string | null }>({
    // Without a name: planned for its numbers, so that it opens only the partitions that they are in.
    text: `select r.bronidentificatie, r.stored_at as "storedAt", t.record_prefix || coalesce(t.record_suffix, '') as text
             from (select distinct on (bronidentificatie) bronidentificatie, sequence_number, stored_at from raadsfeed.records
                    where op <> 'upsert' and organisatiecode = $1::text and resource_type = 'Agendapunt'
                      and bronidentificatie = any ($2::text[])
                    order by bronidentificatie, sequence_number desc) r
            cross join lateral (select * from raadsfeed.texts where sequence_number = r.sequence_number offset 0) t`,
    values: [organisatiecode, agendapunten],
  });
  return new Map(
    rows.map(({ bronidentificatie, storedAt, text }) => {
      const reason = textIn(recordIn(text) ?? {}, 'verwijderreden') ?? '';
      return [bronidentificatie, { storedAt, happened: REASONS[reason]?.[1] ?? 'is weggehaald' }];
    }),
  );
}

const REMOVED: Readonly<Record<ResourceType, string>> = {
  Vergadering: 'Deze vergadering is verwijderd',
  Agendapunt: 'Dit agendapunt is verwijderd',
  Informatieobject: 'Dit document is verwijderd',
};

/** The page of a withdrawn or redacted resource: why it was removed, without its content. */
export function removedPage(
  resourceType: ResourceType,
  organisation: FeedOrganisation,
  { entries: [last] }: History,
): Page {
  const { organisatiecode, naam, herkomstSoort } = organisation;
  const title = REMOVED[resourceType];
  const explanation = textIn(last?.record ?? {}, 'toelichting');
  return {
    title,
    description: `${title}.`,
    path: trail(organisation),
    body: [
      heading(1, title),
      alert(
        'info',
        last?.op === 'redact'
          ? 'De inhoud is overal verwijderd, ook uit de geschiedenis.'
          : 'Dit is weggehaald uit de gegevens. De reden staat hieronder.',
      ),
      facts([
        ['Reden', reasonOf(last?.record)],
        ['Toelichting', explanation !== undefined && html`<span class="kv-pre">${shorten(explanation, 2000)}</span>`],
        ['Verwijderd op', last !== undefined && dayAndTime(last.storedAt)],
      ]),
      resourceType === 'Informatieobject' &&
        herkomstSoort !== 'eigen' &&
        paragraph(
          `Het bestand zelf staat niet bij ons, maar bij de leverancier van ${shorten(naam, 100)}. Alleen de leverancier kan het weghalen.`,
        ),
      paragraph(link(organisationPath(organisatiecode), 'Naar de vergaderingen en documenten van deze organisatie')),
    ],
  };
}
