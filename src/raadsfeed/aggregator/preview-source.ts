import { OutboundError } from '../../lib/outbound/outbound-error.ts';
import { dayAfter, dutchDay } from '../../lib/time.ts';
import type { Dependencies } from './dependencies.ts';
import type { NewSource } from './plan-sources.ts';
import { parseSourceAddress } from './source.ts';
import type { DateWindow, Preview } from './supplier/source-adapter.ts';
import { SupplierError, SupplierFault } from './supplier/supplier-client.ts';

/** The quarter that ends today, or with the period of a source: long enough to have something in summer. */
export function lastQuarter(tot: string | null | undefined, now: Date): DateWindow {
  const today = dutchDay(now);
  const to = typeof tot === 'string' && tot < today ? tot : today;
  return { from: dayAfter(to, -92), to };
}

/** The recent meetings of a supplier's source; a text when it cannot be read, `undefined` if a preview would take as long as reading. */
export async function previewSource(
  { adres, organisatiecodes, naam, portaal, tot, options = {} }: NewSource,
  { adapters, clock }: Pick<Dependencies, 'adapters' | 'clock'>,
  signal: AbortSignal,
): Promise<Preview | string | undefined> {
  const address = parseSourceAddress(adres);
  if (address?.kind !== 'leveranciers-api') return undefined;
  const adapter = adapters[address.scheme];
  const { organisationId } = address;
  const source = {
    organisationId,
    organisatiecode: organisatiecodes[0] ?? '',
    naam: naam ?? '',
    options,
    ...(typeof portaal === 'string' ? { portaal } : {}),
  };
  const request = { window: lastQuarter(tot, clock.now()), signal };
  try {
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
