import { InvalidArgumentError } from 'commander';
import { CommandError } from '../../../lib/command-error.ts';
import type { Variant } from '../../../lib/exchange-model/mapping.ts';
import type { Model } from '../../../lib/exchange-model/model.ts';
import { readTextFile } from '../../../lib/text-file.ts';
import type { TokenOptions } from '../../../lib/token-options.ts';
import type { Config } from '../../../settings/read-config.ts';
import type { ImportFault } from '../../import/faults.ts';
import type { Period } from '../../model/selection.ts';
import { readPeriod } from '../table-period.ts';

/** The header with the access token. @throws {CommandError} {RequesterError} */
export async function authorization(options: TokenOptions): Promise<Record<string, string>> {
  const { tokenFile, tokenUrl: url, clientId, clientSecretFile } = options;
  const name = options.fsc ? 'fsc-authorization' : 'authorization';
  if (tokenFile !== undefined) return { [name]: `Bearer ${(await readTextFile(tokenFile)).trim()}` };
  if (url === undefined || clientId === undefined || clientSecretFile === undefined) {
    throw new CommandError('a token is needed: --token-file, or --token-url with --client-id and --client-secret-file');
  }
  const { fetchToken } = await import('../requester/send-request.ts');
  const clientSecret = (await readTextFile(clientSecretFile)).trim();
  return { [name]: `Bearer ${await fetchToken({ url, clientId, clientSecret })}` };
}

/** The values of an option that may be repeated. */
export function collect(text: string, before: readonly string[]): string[] {
  return [...before, text];
}

export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (number < least) throw new InvalidArgumentError(`A whole number from ${least} is expected.`);
    if (number > most) throw new InvalidArgumentError(`At most ${most}.`);
    return number;
  };
}

/** Two days of the calendar with a slash between them, as in ISO 8601. @throws {InvalidArgumentError} */
export function parsePeriod(text: string): Period {
  const period = readPeriod(text);
  if (period === undefined)
    throw new InvalidArgumentError('Two dates are expected, the first one first, such as 2026-01-01/2026-03-31.');
  return period;
}

/** A fault of a file as a line of text. */
export function faultLine({ line, pointer, message }: ImportFault): string {
  return `line ${line}  ${pointer || '/'}  ${message}`;
}

/** @param named a version or the path of a schema; absent: the configured one */
export async function chooseModel(
  gegevens: Config['gegevens'],
  variant: Variant,
  named: string | undefined,
): Promise<Model> {
  const { loadModel } = await import('../../../lib/exchange-model/model.ts');
  const { variantSettings } = await import('../../variant-settings.ts');
  return loadModel(variant, named ?? variantSettings(gegevens, variant).model);
}
