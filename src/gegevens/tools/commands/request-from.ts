import type { ToolContext } from '../../../commands/run-command.ts';
import { CommandError, UsageError } from '../../../lib/command-error.ts';
import type { Variant } from '../../../lib/exchange-model/mapping.ts';
import { hasToken, type TokenOptions } from '../../../lib/token-options.ts';
import type { Config } from '../../../settings/read-config.ts';
import type { DeliveredPage, Requester } from '../requester/request-delivery.ts';
import { authorization, chooseModel } from './options.ts';

export interface RequestOptions extends TokenOptions {
  readonly variant?: Variant;
  readonly model?: string | undefined;
  readonly suppliers?: string;
  readonly atOnce: number;
  readonly start?: string;
  readonly end?: string;
  readonly organisation?: string;
  readonly pageSize?: number;
  readonly form: 'digest' | 'body';
  readonly outway?: string | undefined;
  readonly grantHash?: string | undefined;
  readonly out?: string | undefined;
  readonly keep?: string | undefined;
  readonly resume?: boolean;
  readonly json?: boolean;
}

interface RequestFromOptions {
  readonly context: ToolContext;
  readonly requester: Requester;
  readonly options: RequestOptions & { readonly variant: Variant };
  readonly tell: (text: string) => void;
  readonly onPage?: (page: DeliveredPage) => void;
}

/** Requests a delivery from one supplier. @param named its address, where it has one @throws {UsageError} {CommandError} {RequesterError} */
export async function requestFrom(named: string | undefined, { context, options, ...more }: RequestFromOptions) {
  const { config, interrupted: signal } = context;
  const { collectDelivery } = await import('../requester/collect-delivery.ts');
  const target = await destination(named, options, config.gegevens);
  const model = await chooseModel(config.gegevens, options.variant, options.model);
  // An Outway adds the token itself.
  const needsToken = options.outway === undefined || hasToken(options);
  const { form, resume = false, keep, out, start, end, organisation, pageSize } = options;
  const [lid] = model.mapping.organisatieLeden;
  const body = { aanleverperiodeStartdatum: start, aanleverperiodeEinddatum: end, [lid]: organisation, pageSize };
  const collected = await collectDelivery({
    ...target,
    ...more,
    model,
    signal,
    form,
    resume,
    keep,
    out,
    body: Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)),
    headers: needsToken ? await authorization(options) : {},
  });
  return { ...collected, url: target.url };
}

/** The destination, and the headers of each request. @throws {UsageError} {CommandError} */
async function destination(
  named: string | undefined,
  { outway, grantHash, variant }: RequestFromOptions['options'],
  gegevens: Config['gegevens'],
) {
  if ((outway === undefined) !== (grantHash === undefined)) {
    throw new UsageError('--outway and --grant-hash go together: the Outway finds the service by the grant');
  }
  if (outway === undefined || grantHash === undefined) {
    if (named === undefined) throw new UsageError('an address is needed, or --outway');
    if (!URL.canParse(named)) throw new CommandError(`${named} is not an address`);
    return { url: named, freshHeaders: undefined };
  }
  const base = URL.parse(outway);
  if (base === null || !/^https?:$/.test(base.protocol)) throw new UsageError('--outway is not an address');
  if (!/^[\x21-\x7e]+$/.test(grantHash)) throw new UsageError('--grant-hash is not the hash of a grant');
  const { outwayAddress, outwayHeaders } = await import('../../../lib/outway.ts');
  const { variantSettings } = await import('../../variant-settings.ts');
  const path = named ?? `${variantSettings(gegevens, variant).prefix}/gegevens`;
  return { url: outwayAddress(base, path), freshHeaders: outwayHeaders(grantHash) };
}
