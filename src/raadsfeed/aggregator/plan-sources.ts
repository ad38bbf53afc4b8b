/** Plans which sources to add: which are new, changed or refused. */
import { hasOwnNumbers, parseSourceAddress, type Source, type SupplierOptions } from './source.ts';

export type SourceTerms = Pick<Source, 'adres' | 'soort' | 'organisatiecodes'> & {
  readonly [K in 'naam' | 'portaal' | 'vanaf' | 'tot']?: string | null | undefined;
} & { readonly options?: SupplierOptions };

export type NewSource = SourceTerms & {
  /** A removed source that is the same system at its former address, so its numbering continues. */
  readonly replaces?: string | undefined;
  readonly corrected?: string | undefined;
};

export type NumberedAddress = Pick<Source, 'adres'> & { readonly organisatiecode: string };

export interface PlannedSource {
  readonly source: NewSource;
  readonly what: 'new' | 'changed' | 'same' | 'refused';
  readonly why: string;
}

/** Checks sources against existing ones and each other: the periods of an organisation's suppliers must not overlap. */
export function planSources(
  wanted: readonly NewSource[],
  existing: readonly SourceTerms[],
  numbered: readonly NumberedAddress[],
): PlannedSource[] {
  const before = new Map(existing.map((source) => [source.adres, source]));
  const after = new Map([...existing, ...wanted].map((source) => [source.adres, source]));
  const seen = new Set<string>();
  return wanted.map((source): PlannedSource => {
    const isTwice = seen.has(source.adres);
    seen.add(source.adres);
    const known = before.get(source.adres);
    const refusal = isTwice ? `${source.adres} occurs twice` : refusalOf(source, known, [...after.values()], numbered);
    if (refusal !== undefined) return { source, what: 'refused', why: refusal };
    if (known === undefined) return { source, what: 'new', why: '' };
    const changes = known.soort === 'feed' ? [] : changesOf(known, source);
    return { source, what: changes.length === 0 ? 'same' : 'changed', why: changes.join(', ') };
  });
}

function refusalOf(
  source: NewSource,
  known: SourceTerms | undefined,
  after: readonly SourceTerms[],
  numbered: readonly NumberedAddress[],
): string | undefined {
  const { adres, soort, organisatiecodes, vanaf, tot, replaces } = source;
  if (soort === 'feed') return undefined;
  const [code = ''] = organisatiecodes;
  if (known !== undefined && known.organisatiecodes[0] !== code) {
    return `${adres} is that of ${known.organisatiecodes[0] ?? 'another organisation'}; add it as ${adres}#${code}, with --bodies`;
  }
  if (isText(vanaf) && isText(tot) && tot < vanaf) return `its period ends (${tot}) before it begins (${vanaf})`;
  const others = after.filter(
    (one) => one.adres !== adres && one.soort === 'leveranciers-api' && one.organisatiecodes[0] === code,
  );
  const sameNumbers = others.find((one) => countAlike(one.adres, adres));
  if (sameNumbers !== undefined) {
    return `${code} has ${sameNumbers.adres}: each address numbers its meetings from 1, so those of ${adres} would replace them in the feed`;
  }
  const former = numbered.find((one) => one.organisatiecode === code && countAlike(one.adres, adres))?.adres;
  if (former !== undefined && replaces !== former) {
    return (
      `the feed has resources of ${code} from the removed ${former} with numbers that ${adres} gives to others: if it is the same ` +
      `system at a new address, give --replaces ${former}; else first remove them with koppelvlak feed redact`
    );
  }
  const other = others.find((one) => overlap(one, source));
  return (
    other &&
    `${code} has a source already: ${other.adres} (${periodText(other)}), which overlaps with ${adres} ` +
      `(${periodText(source)}): end one with --until, and begin the other the day after with --from`
  );
}

/** Whether two addresses of one supplier each have numbers of their own. */
function countAlike(one: string, other: string): boolean {
  const [a, b] = [one, other].map(parseSourceAddress);
  if (a?.kind !== 'leveranciers-api' || b?.kind !== 'leveranciers-api' || a.scheme !== b.scheme) return false;
  return hasOwnNumbers(a.scheme) && a.organisationId !== b.organisationId;
}

type Days = Pick<SourceTerms, 'vanaf' | 'tot'>;

function overlap(one: Days, other: Days): boolean {
  return (one.vanaf ?? '') <= (other.tot ?? '9999') && (other.vanaf ?? '') <= (one.tot ?? '9999');
}

export function periodText({ vanaf, tot }: Days): string {
  return isText(vanaf) || isText(tot) ? `${vanaf ?? 'the first day'} to ${tot ?? 'now'}` : 'all days';
}

function isText(value: string | null | undefined): value is string {
  return typeof value === 'string';
}

function changesOf(known: SourceTerms, wanted: SourceTerms): string[] {
  const [old, next] = [termsOf(known), termsOf(wanted)];
  return Object.keys({ ...old, ...next })
    .filter((name) => (old[name] ?? '') !== (next[name] ?? ''))
    .map((name) => `${name}: ${old[name] || 'none'} → ${next[name] || 'none'}`);
}

function termsOf({ naam, portaal, vanaf, tot, options }: SourceTerms): Record<string, string | null | undefined> {
  return { name: naam, portal: portaal, from: vanaf, until: tot, ...options };
}
