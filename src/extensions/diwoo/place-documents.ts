/**
 * Which documents are offered, and where: pure. A document keeps its place while its address and category stay; one that comes, or comes
 * back, gets the next place of its organisation and category. Of documents with the same address one is offered: who has the place keeps it.
 */
import type { Offer, OwnReason, Reason } from './offer.ts';

/**
 * Documents of one sitemap. A document takes at most `MAX_ENTRY_BYTES`, so a sitemap stays below 50 000 addresses and 50 MB whatever is in
 * it and however it changes.
 */
export const SITEMAP_PLACES = 5000;

export interface Place {
  readonly pagina: number;
  readonly plaats: number;
}

/** A document of the index. */
export interface Document extends Omit<Offer, 'reason' | 'items'> {
  readonly organisatiecode: string;
  readonly bronidentificatie: string;
  /** Number of its current record. */
  readonly nummer: number;
  readonly gewijzigd: Date;
  readonly reden: Reason | undefined;
  readonly place: Place | undefined;
}

/** A document that the batch changed; without `offer` it is gone. */
export interface ChangedDocument {
  readonly key: string;
  readonly document: Pick<Document, 'organisatiecode' | 'bronidentificatie' | 'nummer' | 'gewijzigd'>;
  readonly offer: Offer | undefined;
}

export interface Batch {
  /** Documents as they are, by key: those that change, those of items that changed, and those with the addresses of both. */
  readonly before: ReadonlyMap<string, Document>;
  readonly changed: readonly ChangedDocument[];
  /** Documents of which `closed` says whether all their items are closed; the others keep what they had. */
  readonly judged: ReadonlySet<string>;
  readonly closed: ReadonlySet<string>;
  /** When the items changed. */
  readonly at: Date;
}

export interface Placement {
  readonly gone: readonly Document[];
  readonly written: readonly Document[];
  /** Offered now, and still without a place; in the order in which they get one. */
  readonly placeless: readonly Document[];
}

/** One text for one document, as a key. */
export function documentKey({
  organisatiecode,
  bronidentificatie,
}: Pick<Document, 'organisatiecode' | 'bronidentificatie'>): string {
  return `${organisatiecode}/${bronidentificatie}`;
}

const LATER: ReadonlySet<Reason> = new Set<Reason>(['closed-items-only', 'same-address']);

function isOwn(reason: Reason): reason is OwnReason {
  return !LATER.has(reason);
}

type Candidate = Document & { readonly own: OwnReason | undefined; readonly isClosed: boolean };

export function placeDocuments({ before, changed, judged, closed, at }: Batch): Placement {
  const gone = changed.flatMap(({ key, offer }) => (offer === undefined ? (before.get(key) ?? []) : []));
  const candidates = new Map<string, Candidate>();
  for (const [key, document] of before) {
    const own = document.reden !== undefined && isOwn(document.reden) ? document.reden : undefined;
    const isClosed = judged.has(key) ? closed.has(key) : document.reden === 'closed-items-only';
    candidates.set(key, { ...document, own, isClosed });
  }
  for (const { key, document, offer } of changed) {
    if (offer === undefined) {
      candidates.delete(key);
      continue;
    }
    const { reason, items: _items, ...members } = offer;
    const old = before.get(key);
    const stays = old !== undefined && old.loc === members.loc && old.categorie === members.categorie;
    const place = stays ? old.place : undefined;
    // Taken in anew, as it was.
    const gewijzigd =
      old?.nummer === document.nummer && old.gewijzigd > document.gewijzigd ? old.gewijzigd : document.gewijzigd;
    const base = { ...document, ...members, gewijzigd, reden: undefined };
    candidates.set(key, { ...base, place, own: reason, isClosed: closed.has(key) });
  }
  const holders = holdersOf([...candidates.values()]);
  const written: Document[] = [];
  const placeless: Document[] = [];
  const all = [...candidates].sort(([, a], [, b]) => a.nummer - b.nummer);
  for (const [key, { own, isClosed, ...candidate }] of all) {
    const reden: Reason | undefined =
      own ?? (isClosed ? 'closed-items-only' : holders.get(candidate.loc ?? '') === key ? undefined : 'same-address');
    const place = reden === undefined ? candidate.place : undefined;
    const old = before.get(key);
    if (old !== undefined && isSame(old, { ...candidate, reden, place })) continue;
    const isOther = old !== undefined && old.nummer === candidate.nummer && old.reden !== reden;
    const document = {
      ...candidate,
      reden,
      place,
      gewijzigd: isOther && at > candidate.gewijzigd ? at : candidate.gewijzigd,
    };
    if (reden === undefined && place === undefined) placeless.push(document);
    else written.push(document);
  }
  return { gone, written, placeless };
}

/** Who is offered under each address: who has a place, else who came first. */
function holdersOf(candidates: readonly Candidate[]): Map<string, string> {
  const holders = new Map<string, Candidate>();
  for (const candidate of candidates) {
    if (candidate.loc === undefined || candidate.own !== undefined || candidate.isClosed) continue;
    const holder = holders.get(candidate.loc);
    if (holder === undefined || comesBefore(candidate, holder)) holders.set(candidate.loc, candidate);
  }
  return new Map([...holders].map(([loc, holder]) => [loc, documentKey(holder)]));
}

function comesBefore(a: Candidate, b: Candidate): boolean {
  if ((a.place === undefined) !== (b.place === undefined)) return a.place !== undefined;
  return a.nummer < b.nummer;
}

function isSame(a: Document, b: Document): boolean {
  return (
    a.nummer === b.nummer &&
    a.loc === b.loc &&
    a.categorie === b.categorie &&
    a.titel === b.titel &&
    a.creatiedatum === b.creatiedatum &&
    a.ontvangen === b.ontvangen &&
    a.formaat === b.formaat &&
    a.reden === b.reden &&
    a.place?.plaats === b.place?.plaats
  );
}

/** A sitemap that changed. */
export interface TouchedSitemap {
  readonly organisatiecode: string;
  readonly categorie: number;
  readonly pagina: number;
  /** How many documents more it has. */
  readonly delta: number;
  readonly gewijzigd: Date;
}

/**
 * The sitemaps that differ.
 * @param after as written, with places
 * @param at when those that are gone went
 */
export function touchedSitemaps(
  before: ReadonlyMap<string, Document>,
  after: readonly Document[],
  gone: ReadonlyMap<Document, Date>,
): TouchedSitemap[] {
  const touched = new Map<string, TouchedSitemap>();
  const touch = ({ organisatiecode, categorie, place }: Document, delta: number, gewijzigd: Date): void => {
    if (place === undefined || categorie === undefined) return;
    const key = `${organisatiecode} ${categorie} ${place.pagina}`;
    const found = touched.get(key);
    touched.set(key, {
      ...{ organisatiecode, categorie, pagina: place.pagina },
      delta: (found?.delta ?? 0) + delta,
      gewijzigd: found !== undefined && found.gewijzigd > gewijzigd ? found.gewijzigd : gewijzigd,
    });
  };
  for (const document of after) {
    const old = before.get(documentKey(document));
    if (old !== undefined) touch(old, -1, document.gewijzigd);
    touch(document, 1, document.gewijzigd);
  }
  for (const [document, at] of gone) touch(document, -1, at);
  return [...touched.values()];
}
