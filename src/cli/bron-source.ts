import { parseSourceAddress, type Source, type SourceAddress } from '../aggregator/source.ts';
import type { Pool } from '../kernel/database/pool.ts';
import { CommandError, UsageError } from './run-command.ts';

/** The address of a source as a word of a command. @throws {UsageError} */
export function readSourceAddress(text: string): SourceAddress {
  const address = parseSourceAddress(text);
  if (address === undefined) {
    throw new UsageError(`${text} is no source: give the address of a service document, or notubiz:<organisation id>`);
  }
  return address;
}

/** The source that a command names. @throws {UsageError} {CommandError} */
export async function requireSource(pool: Pool, text: string): Promise<Source> {
  const { findSource } = await import('../aggregator/store/sources.ts');
  const { adres } = readSourceAddress(text);
  const source = await findSource(pool, adres);
  if (source === undefined) throw new CommandError(`${adres} is not among the sources; see koppelvlak bron list`);
  return source;
}
