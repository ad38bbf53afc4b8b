import type { Source } from '../source.ts';
import type { AdapterSource, SourceAdapter } from '../source-adapter.ts';
import { parseSourceAddress } from '../source-address.ts';

/** A source of a supplier with the adapter that reads it. */
export interface SupplierSource {
  readonly adapter: SourceAdapter;
  readonly source: AdapterSource;
  /** First day that is read. */
  readonly from: string;
}

/** Council information of before is hardly anywhere in digital form. */
const DEFAULT_FROM = '2010-01-01';

/** @throws {Error} when no adapter of this service reads it */
export function supplierSource(source: Source, adapters: readonly SourceAdapter[]): SupplierSource {
  const address = parseSourceAddress(source.adres);
  const [organisatiecode] = source.organisatiecodes;
  const scheme = address?.kind === 'leveranciers-api' ? address.scheme : undefined;
  const adapter = adapters.find((one) => one.scheme === scheme);
  if (address?.kind !== 'leveranciers-api' || adapter === undefined || organisatiecode === undefined) {
    throw new Error(`no adapter reads ${source.adres}`);
  }
  return {
    adapter,
    from: source.vanaf ?? DEFAULT_FROM,
    source: {
      organisationId: address.organisationId,
      organisatiecode,
      naam: source.naam ?? organisatiecode,
      ...(source.portaal === null ? {} : { portaal: source.portaal }),
    },
  };
}
