import { isRecord } from '../../../kernel/outbound/is-record.ts';
import { normaliseOrganisatiecode } from '../../domain/resource.ts';
import { SourceFault } from '../source-fault.ts';

export interface SourceOrganisation {
  readonly organisatiecode: string;
  readonly naam: string;
  readonly laatstBijgewerkt: Date | null;
}

/** What a source says of itself, as far as we need it. */
export interface SourceDocument {
  readonly rol: 'bronhouder' | 'aggregator';
  readonly feedUrl: string;
  readonly snapshotUrl: string;
  readonly streamUrl: string | null;
  readonly organisaties: readonly SourceOrganisation[];
}

const MAX_NAME = 500;

/**
 * Reads a service document.
 * @throws {SourceFault} `document`
 */
export function readServiceAnswer(json: unknown): SourceDocument {
  if (!isRecord(json)) throw new SourceFault('document', 'the service document is no object');
  const { rol, organisaties } = json;
  if (rol !== 'bronhouder' && rol !== 'aggregator') throw new SourceFault('document', 'rol is no role');
  if (!Array.isArray(organisaties)) throw new SourceFault('document', 'organisaties is no list');
  return {
    rol,
    feedUrl: address(json, 'feedUrl'),
    snapshotUrl: address(json, 'snapshotUrl'),
    streamUrl: json.streamUrl === undefined || json.streamUrl === null ? null : address(json, 'streamUrl'),
    organisaties: organisaties.map(organisation),
  };
}

function organisation(value: unknown): SourceOrganisation {
  if (!isRecord(value) || typeof value.organisatiecode !== 'string') {
    throw new SourceFault('document', 'an organisation has no code');
  }
  const organisatiecode = normaliseOrganisatiecode(value.organisatiecode);
  if (organisatiecode === undefined) throw new SourceFault('document', 'an organisation has a code that is none');
  const { naam, laatstBijgewerkt } = value;
  const time = typeof laatstBijgewerkt === 'string' ? Date.parse(laatstBijgewerkt) : Number.NaN;
  return {
    organisatiecode,
    naam: typeof naam === 'string' && naam !== '' ? naam.slice(0, MAX_NAME).replaceAll('\0', '') : organisatiecode,
    laatstBijgewerkt: Number.isNaN(time) ? null : new Date(time),
  };
}

function address(json: Record<string, unknown>, name: string): string {
  const value = json[name];
  if (typeof value !== 'string' || !URL.canParse(value) || !/^https?:/i.test(value)) {
    throw new SourceFault('document', `${name} is no address`);
  }
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') throw new SourceFault('document', `${name} holds credentials`);
  return value;
}
