import type { AdapterSource, SourceData } from '../../aggregator/source-adapter.ts';

/**
 * The `organisatie` of a resource.
 * @throws {TypeError} for a code that is not of a municipality, province or water board
 */
export function mapOrganisatie({ organisatiecode, naam }: AdapterSource): SourceData['organisatie'] {
  switch (organisatiecode.slice(0, 2)) {
    case 'gm':
      return { gemeente: organisatiecode, naam };
    case 'pv':
      return { provincie: organisatiecode, naam };
    case 'ws':
      return { waterschap: organisatiecode, naam };
    default:
      throw new TypeError(`${organisatiecode} is not a code of an organisation`);
  }
}
