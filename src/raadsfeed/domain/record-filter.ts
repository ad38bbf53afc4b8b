/** The filters of the feed, its stream, the snapshot and the collections. Another one is a parameter in the contract and a row here. */
import type { operations } from '../../contracts/raadsfeed.ts';
import { normaliseOrganisatiecode } from '../../lib/feed/resource.ts';
import type { Change } from './change.ts';

type FilterName = Exclude<keyof operations['getFeed']['Querystring'], 'cursor' | 'limit'>;

/** Which records are wanted; absent: all. */
export type RecordFilter = { readonly [Name in FilterName]?: string | undefined };

/** The members that filters may compare: no others are read of a record for the stream. */
type Filterable = Pick<Change, 'resourceType' | 'resource'>;

interface Filter {
  /** Its column in `raadsfeed.records` and in `raadsfeed.current_records`. */
  readonly column: string;
  readonly valueOf: (record: Filterable) => string;
  readonly normalise?: (value: string) => string | undefined;
}

const FILTERS: Readonly<Record<FilterName, Filter>> = {
  organisatiecode: {
    column: 'organisatiecode',
    valueOf: ({ resource }) => resource.organisatiecode,
    normalise: normaliseOrganisatiecode,
  },
  resourceType: { column: 'resource_type', valueOf: ({ resourceType }) => resourceType },
};

const isFilterName = (name: string): name is FilterName => Object.hasOwn(FILTERS, name);
const NAMES = Object.keys(FILTERS).filter(isFilterName);

export function isFiltered(filter: RecordFilter): boolean {
  return NAMES.some((name) => filter[name] !== undefined);
}

/** The filters among the parameters of a query that the contract has validated. */
export function readFilter(query: RecordFilter): RecordFilter {
  const read = (name: FilterName, value: string | undefined) =>
    value === undefined ? undefined : (FILTERS[name].normalise ?? String)(value);
  return Object.fromEntries(NAMES.map((name) => [name, read(name, query[name])]));
}

/** The filters as parameters of an address, or as a key. */
export function filterParameters(filter: RecordFilter): string[] {
  return NAMES.flatMap((name) => {
    const value = filter[name];
    return value === undefined ? [] : `${name}=${encodeURIComponent(value)}`;
  });
}

/**
 * The filters as conditions whose values begin at a parameter. The suffix gives each set of filters a statement of its own, with the plan of its
 * own index; it is short because Postgres cuts names at 63 characters.
 */
export function filterConditions(filter: RecordFilter, firstParameter: number) {
  const used = NAMES.filter((name) => filter[name] !== undefined);
  return {
    suffix: used.map((name) => `-${NAMES.indexOf(name)}`).join(''),
    conditions: used.map((name, i) => ` and ${FILTERS[name].column} = $${firstParameter + i}::text`).join(''),
    values: used.map((name) => filter[name]),
  };
}

export function filterableValues(record: Filterable): RecordFilter {
  return Object.fromEntries(NAMES.map((name) => [name, FILTERS[name].valueOf(record)]));
}

export function passesFilter(values: RecordFilter, filter: RecordFilter): boolean {
  return NAMES.every((name) => (filter[name] ?? values[name]) === values[name]);
}
