import { OutboundError } from '../../lib/outbound/outbound-error.ts';
import type { SupplierDependencies } from './dependencies.ts';
import { parseSourceAddress } from './source.ts';
import type { NewSource } from './store/sources.ts';
import type { Preview } from './supplier/source-adapter.ts';
import { SupplierError, SupplierFault } from './supplier/supplier-client.ts';
import { dutchDay } from './supplier/values.ts';

/** Days that are read for it: a quarter, so that there is something in summer too. */
const PREVIEW_DAYS = 92;

/**
 * What a source of a supplier shows of late, or at the end of its period; why it cannot be read, as text; `undefined` where the supplier
 * shows nothing of itself without reading everything.
 */
export async function previewSource(
  { adres, organisatiecodes, naam = '', portaal, tot, options = {} }: NewSource,
  { adapters, clock }: Pick<SupplierDependencies, 'adapters' | 'clock'>,
  signal: AbortSignal,
): Promise<Preview | string | undefined> {
  const address = parseSourceAddress(adres);
  if (address?.kind !== 'leveranciers-api') return undefined;
  const adapter = adapters[address.scheme];
  const today = dutchDay(clock.now());
  const to = tot !== undefined && tot < today ? tot : today;
  const from = new Date(Date.parse(to) - PREVIEW_DAYS * 86_400_000).toISOString().slice(0, 10);
  const { organisationId } = address;
  const source = {
    organisationId,
    organisatiecode: organisatiecodes[0] ?? '',
    naam,
    options,
    ...(portaal === undefined ? {} : { portaal }),
  };
  const request = { window: { from, to }, signal };
  try {
    // A version that was found once is kept.
    const found = options.version === undefined ? await adapter.prepare?.({ source, ...request }) : {};
    const prepared = { ...options, ...found };
    const preview = await adapter.preview?.({ source: { ...source, options: prepared }, ...request });
    return preview && { ...preview, options: prepared };
  } catch (error) {
    if (error instanceof SupplierError || error instanceof SupplierFault || error instanceof OutboundError) {
      return error.message;
    }
    throw error;
  }
}
