/** Plans which sources to add: which are new, changed or refused. */
import { hasOwnNumbers, parseSourceAddress, type Source, type SupplierOptions } from './source.ts';

export interface NewSource {
  readonly adres: string;
  readonly soort: Source['soort'];
  readonly organisatiecodes: readonly string[];
  readonly naam?: string | null | undefined;
  readonly portaal?: string | null | undefined;
  readonly vanaf?: string | null | undefined;
  readonly tot?: string | null | undefined;
  readonly options?: SupplierOptions;
  /** A removed source that is the same system at its former address, so its numbering continues. */
  readonly replaces?: string | undefined;
  /** How a malformed address was read, as shown to people. */
  readonly corrected?: string | undefined;
}

export type ExistingSource = Pick<
  Source,
  'adres' | 'soort' | 'organisatiecodes' | 'naam' | 'portaal' | 'vanaf' | 'tot' | 'options'
>;

/** The last address of a supplier that numbered the resources of an organisation. */
export interface NumberedAddress {
  readonly organisatiecode: string;
  readonly adres: string;
}

export interface PlannedSource {
  readonly source: NewSource;
  readonly what: 'new' | 'changed' | 'same' | 'refused';
  readonly why: string;
}

/** Checks sources against existing ones and each other: the periods of an organisation's suppliers must not overlap. */
export function planSources(
  wanted: readonly NewSource[],
  existing: readonly ExistingSource[],
  numbered: readonly NumberedAddress[],
): PlannedSource[] {
  const before = new Map(existing.map((source) => [source.adres, source]));
  const after = new Map(before);
  for (const source of wanted) after.set(source.adres, toExisting(source));
  const seen = new Set<string>();
  return wanted.map((source): PlannedSource => {
    const isTwice = seen.has(source.adres);
    seen.add(source.adres);
    const refusal = isTwice ? `${source.adres} occurs twice` : refusalOf(source, before, [...after.values()], numbered);
    if (refusal !== undefined) return { source, what: 'refused', why: refusal };
    const known = before.get(source.adres);
    if (known === undefined) return { source, what: 'new', why: '' };
    const changes = changesOf(known, source);
    return { source, what: changes.length === 0 ? 'same' : 'changed', why: changes.join(', ') };
  });
}

function toExisting({ options = {}, naam, portaal, vanaf, tot, ...source }: NewSource): ExistingSource {
  return { ...source, naam: naam ?? null, portaal: portaal ?? null, vanaf: vanaf ?? null, tot: tot ?? null, options };
}

function refusalOf(
  source: NewSource,
  before: ReadonlyMap<string, ExistingSource>,
  after: readonly ExistingSource[],
  numbered: readonly NumberedAddress[],
): string | undefined {
  if (source.soort === 'feed') return undefined;
  const [code = ''] = source.organisatiecodes;
  const known = before.get(source.adres);
  if (known !== undefined && known.organisatiecodes[0] !== code) {
    return `${source.adres} is that of ${known.organisatiecodes[0] ?? 'another organisation'}; add it as ${source.adres}#${code}, with --bodies`;
  }
  const { vanaf, tot } = source;
  if (typeof vanaf === 'string' && typeof tot === 'string' && tot < vanaf) {
    return `its period ends (${tot}) before it begins (${vanaf})`;
  }
  const others = after.filter(
    (one) => one.adres !== source.adres && one.soort === 'leveranciers-api' && one.organisatiecodes[0] === code,
  );
  const sameNumbers = others.find((one) => countAlike(one.adres, source.adres));
  if (sameNumbers !== undefined) {
    return (
      `${code} has ${sameNumbers.adres}: each address numbers its meetings from 1, so those of ${source.adres} would ` +
      'replace them in the feed'
    );
  }
  const former = numbered.find((one) => one.organisatiecode === code && countAlike(one.adres, source.adres))?.adres;
  if (former !== undefined && source.replaces !== former) {
    return (
      `the feed has resources of ${code} from the removed ${former} with numbers that ${source.adres} gives to others: if it is the same ` +
      `system at a new address, give --replaces ${former}; else first remove them with koppelvlak feed redact`
    );
  }
  const other = others.find((one) => overlap(one, source));
  if (other === undefined) return undefined;
  const own = toExisting(source);
  return (
    `${code} has a source already: ${other.adres} (${periodText(other)}), which overlaps with ${source.adres} ` +
    `(${periodText(own)}): end one with --until, and begin the other the day after with --from`
  );
}

/** Whether two addresses of one supplier each have numbers of their own. */
function countAlike(one: string, other: string): boolean {
  const [a, b] = [one, other].map(parseSourceAddress);
  if (a?.kind !== 'leveranciers-api' || b?.kind !== 'leveranciers-api' || a.scheme !== b.scheme) return false;
  return hasOwnNumbers(a.scheme) && a.organisationId !== b.organisationId;
}

function overlap(one: ExistingSource, other: Pick<NewSource, 'vanaf' | 'tot'>): boolean {
  return (one.vanaf ?? '') <= (other.tot ?? '9999') && (other.vanaf ?? '') <= (one.tot ?? '9999');
}

export function periodText({ vanaf, tot }: Pick<ExistingSource, 'vanaf' | 'tot'>): string {
  if (vanaf === null && tot === null) return 'all days';
  return `${vanaf ?? 'the first day'} to ${tot ?? 'now'}`;
}

function changesOf(known: ExistingSource, source: NewSource): string[] {
  if (known.soort === 'feed') return [];
  const wanted = toExisting(source);
  const texts = ({ naam, portaal, vanaf, tot, options }: ExistingSource): Record<string, string> => ({
    name: naam ?? '',
    portal: portaal ?? '',
    from: vanaf ?? '',
    until: tot ?? '',
    ...options,
  });
  const [old, next] = [texts(known), texts(wanted)];
  return [...new Set([...Object.keys(old), ...Object.keys(next)])]
    .filter((name) => (old[name] ?? '') !== (next[name] ?? ''))
    .map((name) => `${name}: ${old[name] || 'none'} → ${next[name] || 'none'}`);
}
