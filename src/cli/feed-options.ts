import { InvalidArgumentError } from 'commander';
import { normaliseOrganisatiecode } from '../raadsfeed/domain/resource.ts';

/** The code of an organisation, as an option of a command. */
export function parseOrganisatie(text: string): string {
  const code = normaliseOrganisatiecode(text);
  if (code === undefined) throw new InvalidArgumentError('A code is gm and 4 digits, pv and 2, or ws and 4.');
  return code;
}
