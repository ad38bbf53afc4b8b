/** Words for a kind of item: a search for only such a word lists all of that kind, newest first. */
import type { ResourceType } from '../../../lib/feed/resource.ts';
import { fold } from './fold.ts';
import type { SearchQuery, Term } from './query.ts';

/** Few meetings or documents contain the word for their kind. */
const TYPES: Readonly<Record<string, ResourceType>> = {
  ...{
    vergadering: 'Vergadering',
    vergaderingen: 'Vergadering',
    bijeenkomst: 'Vergadering',
    bijeenkomsten: 'Vergadering',
  },
  ...{ agendapunt: 'Agendapunt', agendapunten: 'Agendapunt' },
  ...{ document: 'Informatieobject', documenten: 'Informatieobject', stuk: 'Informatieobject' },
  ...{ stukken: 'Informatieobject', raadsstuk: 'Informatieobject', raadsstukken: 'Informatieobject' },
};

/** Documents name their kind in their title or type; some suppliers use other words. */
const DOCUMENTS: Readonly<Record<string, readonly string[]>> = {
  ...{ motie: [], moties: [], amendement: [], amendementen: [], toezegging: [], toezeggingen: [] },
  ...{ raadsvoorstel: [], raadsvoorstellen: [], raadsbesluit: [], raadsbesluiten: [], notulen: [] },
  ...{ raadsbrief: ['raadsinformatiebrief'], raadsbrieven: ['raadsinformatiebrief'] },
  ...{ raadsvraag: ['schriftelijke vragen'], raadsvragen: ['schriftelijke vragen'] },
};

export interface KindQuery {
  readonly word: string;
  /** Absent: the kind has items of several types. */
  readonly type?: ResourceType;
  readonly query: SearchQuery | undefined;
}

/** Reads a query that has a word for a kind and, besides, at most an organisation or a day. @param asked the type that was chosen already */
export function readKind(
  { groups, isCut }: SearchQuery,
  organisations: readonly { readonly naam: string }[],
  asked: ResourceType | undefined,
): KindQuery | undefined {
  const [terms = [], ...others] = groups;
  if (others.length > 0) return undefined;
  const names = new Set(organisations.flatMap(({ naam }) => fold(naam).split(' ')));
  const isPlace = ({ kind, isExcluded, text }: Term): boolean =>
    !isExcluded &&
    (kind === 'date' ||
      fold(text)
        .split(' ')
        .every((word) => names.has(word)));
  const [word, ...more] = terms.filter((term) => !isPlace(term));
  if (word === undefined || more.length > 0 || word.kind !== 'word' || word.isExcluded) return undefined;
  const name = fold(word.text);
  const rest = terms.filter((term) => term !== word);
  const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  if (type !== undefined) {
    if (asked !== undefined && asked !== type) return undefined;
    return { type, word: word.text, query: rest.length === 0 ? undefined : { groups: [rest], isCut } };
  }
  const also = Object.hasOwn(DOCUMENTS, name) ? DOCUMENTS[name] : undefined;
  if (also === undefined) return undefined;
  const alternatives = also.map((text): Term[] => [{ text, kind: 'phrase', isExcluded: false }, ...rest]);
  return { word: word.text, query: { groups: [terms, ...alternatives], isCut } };
}
