export interface Source {
  readonly id: number;
  /** Address of a service document, or `<scheme>:<organisation>` of a supplier's API. */
  readonly adres: string;
  readonly soort: 'feed' | 'leveranciers-api';
  /** Only these organisations are taken from it; empty: all that it names. */
  readonly organisatiecodes: readonly string[];
  readonly naam: string | null;
  readonly portaal: string | null;
  /** Days (`YYYY-MM-DD`) of a supplier that are read; `null`: from 2010 on, and without an end. */
  readonly vanaf: string | null;
  readonly tot: string | null;
  readonly options: SupplierOptions;
  readonly feedUrl: string | null;
  readonly snapshotUrl: string | null;
  readonly rol: 'bronhouder' | 'aggregator' | null;
  readonly documentEtag: string | null;
  readonly documentReadAt: Date | null;
  /** `history` is read for missed redactions before a new `snapshot`. */
  readonly phase: 'snapshot' | 'history' | 'feed';
  /** Resources that neither the snapshot nor the feed after it shows will be deleted. */
  readonly isComparing: boolean;
  readonly snapshotCursor: string | null;
  /** Where the feed is read from after the snapshot. */
  readonly snapshotFeedCursor: string | null;
  readonly cursor: string | null;
  readonly etag: string | null;
  /** `null` when only the cursor is known. */
  readonly lastNumber: number | null;
  readonly pageSize: number;
  /** `null`: from its beginning. */
  readonly historyCursor: string | null;
  readonly historyAfter: number | null;
  readonly historyJoins: boolean | null;
  /** It does not, so resources that disappear may have been redacted. */
  readonly historyMissed: boolean;
  readonly progress: unknown;
  /** A hash of this source equalled ours. */
  readonly hashMatches: boolean;
  readonly named: readonly string[];
  readonly allowMassDelete: boolean;
  readonly compareAgainAt: Date | null;
  readonly snapshotStartedAt: Date | null;
  readonly failures: number;
  readonly failureKind: string | null;
}

export const SUPPLIER_VERSIONS = ['v1', 'v2'] as const;
export type SupplierVersion = (typeof SUPPLIER_VERSIONS)[number];

export interface SupplierOptions {
  /** Regular expression, case ignored, for the organisation's meeting types, bodies and registers. */
  readonly bodies?: string;
  /** The same, for those of other organisations. */
  readonly notBodies?: string;
  readonly version?: SupplierVersion;
  /** Of GemeenteOplossingen v2: comma list of types of documents to publish without a meeting. */
  readonly documentTypes?: string;
  readonly ridFile?: string;
}

/** The right to read a source. A takeover raises the number, so that the previous holder can publish no more. */
export interface Lease {
  readonly source: Source;
  readonly number: number;
  readonly holder: string;
}

export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
  constructor() {
    super('another worker has the source now, or it was paused or removed');
  }
}

export type SourceAddress = { readonly adres: string } & (
  | { readonly kind: 'feed' }
  | {
      readonly kind: 'leveranciers-api';
      readonly scheme: SupplierScheme;
      /** A number, the name of a site, or a base address without a trailing slash. */
      readonly organisationId: string;
      /** Of the sources of several organisations in one site. */
      readonly organisatiecode?: string;
      readonly corrected?: string;
    }
);

/** `notubiz:281`, `ibabs:voorbeeldstad`, `go:https://raad.voorbeeldstad.example/api`. */
export type SupplierScheme = 'notubiz' | 'ibabs' | 'go' | 'parlaeus';

interface Supplier {
  readonly title: string;
  readonly name: string;
  /** Of its organisation ids; absent: they are addresses. */
  readonly form?: RegExp;
}

export const SUPPLIERS: Readonly<Record<SupplierScheme, Supplier>> = {
  notubiz: { title: 'NotuBiz', name: 'organisation id', form: /^[A-Za-z0-9_-]{1,40}$/ },
  ibabs: { title: 'iBabs', name: 'site', form: /^[A-Za-z0-9_.-]{1,60}$/ },
  go: { title: 'GemeenteOplossingen', name: 'base address' },
  parlaeus: { title: 'Parlaeus', name: 'base address' },
};

export const SOURCE_FORMS = `the address of a service document, or ${Object.entries(SUPPLIERS)
  .map(([scheme, { name }]) => `${scheme}:<${name}>`)
  .join(', ')}`;

export function isSupplierScheme(text: string): text is SupplierScheme {
  return Object.hasOwn(SUPPLIERS, text);
}

/** Whether each organisation has an address, and so numbers, of its own. */
export function hasOwnNumbers(scheme: SupplierScheme): boolean {
  return SUPPLIERS[scheme].form === undefined;
}

export const SUPPLIER_SCHEMES: readonly SupplierScheme[] = Object.keys(SUPPLIERS).filter(isSupplierScheme);

/** Reads the address of a service document, or `<supplier>:<organisation>`, with `#<organisatiecode>` where a site has several. */
export function parseSourceAddress(text: string): SourceAddress | undefined {
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(text.trim()) ?? [];
  if (isSupplierScheme(scheme)) return parseSupplierAddress(scheme, rest);
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if ((url.protocol !== 'https:' && url.protocol !== 'http:') || url.username !== '' || url.password !== '')
    return undefined;
  url.hash = '';
  return { kind: 'feed', adres: url.href.replace(/(?<!\/)\/+$/, '') };
}

function parseSupplierAddress(scheme: SupplierScheme, text: string): SourceAddress | undefined {
  const [, given = '', code] = /^(.*?)(?:#([a-z]{2}\d{2,4}))?$/s.exec(text) ?? [];
  const { form } = SUPPLIERS[scheme];
  const organisationId = form === undefined ? normaliseBase(given) : form.test(given) ? given : undefined;
  if (organisationId === undefined) return undefined;
  return {
    kind: 'leveranciers-api',
    adres: supplierAddress(scheme, organisationId, code),
    scheme,
    organisationId,
    ...(code === undefined ? {} : { organisatiecode: code }),
    ...(organisationId === given ? {} : { corrected: `${given.trim()} was read as ${organisationId}` }),
  };
}

export function supplierAddress(scheme: SupplierScheme, organisationId: string, organisatiecode?: string): string {
  return `${scheme}:${organisationId}${organisatiecode === undefined ? '' : `#${organisatiecode}`}`;
}

/** Base addresses in lists have blanks, double slashes and a slash at the end. */
function normaliseBase(given: string): string | undefined {
  const bare = given.replaceAll(/\s/g, '');
  if (!/^https?:\/\/[^/?#]/i.test(bare) || !URL.canParse(bare)) return undefined;
  const { protocol, host, pathname, username, password, search, hash } = new URL(bare);
  if (username !== '' || password !== '' || search !== '' || hash !== '') return undefined;
  return `${protocol}//${host}${pathname.replaceAll(/\/{2,}/g, '/').replace(/\/$/, '')}`;
}
