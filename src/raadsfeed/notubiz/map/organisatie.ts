import type { AdapterSource } from '../../aggregator/source-adapter.ts';

const KINDS: Readonly<Record<string, string>> = { gm: 'gemeente', pv: 'provincie', ws: 'waterschap' };

/**
 * The `organisatie` of a resource.
 * @throws {TypeError} for a code that is not of a municipality, province or water board
 */
export function mapOrganisatie({ organisatiecode, naam }: AdapterSource): Readonly<Record<string, string>> {
  const kind = KINDS[organisatiecode.slice(0, 2)];
  if (kind === undefined) throw new TypeError(`${organisatiecode} is not a code of an organisation`);
  return { [kind]: organisatiecode, naam };
}
