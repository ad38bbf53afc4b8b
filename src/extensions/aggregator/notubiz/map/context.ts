import type { AdapterSource, SourceData } from '../../supplier/source-adapter.ts';
import type { Names } from '../read/organisation.ts';

/** What every mapping of one reading uses. */
export interface MappingContext {
  readonly source: AdapterSource;
  /** Labels of the meeting's attributes; `undefined` when the organisation gives none. */
  readonly labels: Names | undefined;
  readonly gremia: Names;
  /** Base of the API, for the addresses of files. */
  readonly base: string;
  readonly now: Date;
  readonly categories: WooCategories;
}

/**
 * The `organisatie` of a resource.
 * @throws {TypeError} for a code that is not of a municipality, province or water board
 */
export function mapOrganisatie({ organisatiecode, naam }: AdapterSource): SourceData['organisatie'] {
  switch (organisatiecode.slice(0, 2)) {
    case 'gm':
      return { gemeente: organisatiecode, naam };
    case 'pv':
      return { provincie: organisatiecode, naam };
    case 'ws':
      return { waterschap: organisatiecode, naam };
    default:
      throw new TypeError(`${organisatiecode} is not a code of an organisation`);
  }
}

/** How the resources of NotuBiz are called in the feed. */
export const meetingId = (id: string): string => `meeting-${id}`;
export const agendapuntId = (id: string): string => `agendapunt-${id}`;
/** A register item that has no file. */
export const registerItemId = (id: string): string => `registerstuk-${id}`;
export const documentId = (id: string): string => `document-${id}`;

/** The page of a meeting on the organisation's portal, when that is configured. */
export function meetingPage(source: AdapterSource, id: string): string | undefined {
  return page(source, `vergadering/${id}`);
}

/** The page of a document on the organisation's portal, when that is configured. */
export function documentPage(source: AdapterSource, id: string, version: number | undefined): string | undefined {
  return page(source, version === undefined ? `document/${id}` : `document/${id}/${version}`);
}

/** The page of a register item on the organisation's portal; register 0 means any register. */
export function registerItemPage(source: AdapterSource, id: string): string | undefined {
  return page(source, `modules/0/items/${id}`);
}

function page({ portaal }: AdapterSource, path: string): string | undefined {
  return portaal === undefined ? undefined : `${portaal.replace(/\/+$/, '')}/${path}`;
}

/** The object without its members that are `undefined`: in the feed a value is there or the member is not. */
export function withoutAbsent<T extends Readonly<Record<string, unknown>>>(
  value: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const result: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const key in value) if (isPresent(value[key])) result[key] = value[key];
  return result;
}

function isPresent<T>(value: T): value is Exclude<T, undefined> {
  return value !== undefined;
}

/** Which Woo category a document gets; names are compared without regard to case. */
export interface WooCategories {
  /** By the document's own type (`Raadsvoorstel`); takes precedence over that of a register. */
  readonly byType: ReadonlyMap<string, string>;
  /** By the register that holds it, its name or its number. */
  readonly byRegister: ReadonlyMap<string, string>;
}

/**
 * Reads configured lines `name=code`.
 * @throws {TypeError} for a line of another form
 */
export function wooCategories(byType: readonly string[], byRegister: readonly string[]): WooCategories {
  return { byType: readLines(byType), byRegister: readLines(byRegister) };
}

function readLines(lines: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    lines.map((line) => {
      const [, name, code] = /^\s*(\S.*?)\s*=\s*(\S+)\s*$/.exec(line) ?? [];
      if (name === undefined || code === undefined) throw new TypeError(`not name=code: ${line}`);
      return [name.toLowerCase(), code];
    }),
  );
}

export function categoryOfType(categories: WooCategories, type: string | undefined): string | undefined {
  return type === undefined ? undefined : categories.byType.get(type.toLowerCase());
}

export function categoryOfRegister(categories: WooCategories, id: string, name: string): string | undefined {
  return categories.byRegister.get(name.toLowerCase()) ?? categories.byRegister.get(id);
}
