import { Ajv2020 } from 'ajv/dist/2020.js';
import { addStandardFormats } from '../json/formats.ts';
import { isRecord, pointerSteps } from '../json/json-value.ts';

export type Variant = 'shv' | 'vs';

/** The lists of a levering whose items are stored one by one. */
export type ItemList = 'records' | 'zaken';

/** The column `kind` of a stored item: its list. */
export const KIND = { records: 0, zaken: 1 } as const satisfies Readonly<Record<ItemList, number>>;

/** The member of the request that the contract of the interface names. */
export const CONTRACT_MEMBER = 'aanleverende_organisatie';

/** Steps to a value: from the message, a levering, a record or a case. */
type Path = readonly string[];

/** The paths that the service itself reads and writes. */
export interface Mapping {
  readonly variant: Variant;
  readonly versie: string;
  /** Names of the request's member for the organisation: the model's own first, then accepted alternatives. */
  readonly organisatieLeden: readonly [string, ...string[]];
  readonly envelop: {
    readonly startdatum: Path;
    readonly einddatum: Path;
    readonly aanleverdatumEnTijd: Path;
    readonly leverancierscode: Path;
    readonly leveringen: Path;
  };
  readonly levering: {
    readonly teller: Path;
    readonly records: Path;
    readonly recordId?: Path;
    readonly gemeentecode?: Path;
    readonly record: {
      readonly begin?: Path;
      readonly einde?: Path;
      readonly gemeentecode?: Path;
      readonly personen?: PersonenMapping;
    };
    readonly organisatie: {
      readonly object: Path;
      readonly naam: Path;
      readonly kvkNummer?: Path;
      readonly gemeentecode?: Path;
    };
    readonly zaken?: {
      readonly lijst: Path;
      readonly signalen: Path;
      readonly signaalId: Path;
    };
  };
  /** The values for the rules of `check`, as in the file. */
  readonly controle?: unknown;
}

export interface PersonenMapping {
  readonly lijst: Path;
  /** Groups of paths from a person; the first group whose values are all present identifies the person. */
  readonly kenmerken: readonly (readonly Path[])[];
}

interface MappingFile {
  readonly verzoek?: { readonly organisatie?: readonly [string, ...string[]] };
  readonly envelop: object;
  readonly levering: object;
}

/** Reads a mapping file. @param schema `mapping.schema.json` @throws {TypeError} naming every fault */
export function readMapping(file: unknown, schema: object): Mapping {
  const ajv = new Ajv2020({ allErrors: true, validateSchema: false });
  addStandardFormats(ajv);
  const validate = ajv.compile<MappingFile>(schema);
  if (!validate(file)) throw new TypeError(ajv.errorsText(validate.errors, { dataVar: 'mapping' }));
  const { verzoek, envelop, levering } = file;
  const mapping = {
    ...file,
    organisatieLeden: verzoek?.organisatie ?? [CONTRACT_MEMBER],
    envelop: withSteps(envelop),
    levering: withSteps({ record: {}, ...levering }),
  };
  if (!isMapping(mapping)) throw new TypeError('the mapping has no variant');
  return mapping;
}

/** The schema has checked the members. */
function isMapping(value: object): value is Mapping {
  return 'variant' in value;
}

function withSteps(value: unknown): unknown {
  if (typeof value === 'string') return pointerSteps(value);
  if (Array.isArray(value)) return value.map(withSteps);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withSteps(part)]));
}

export function listsOf({ levering: { records, zaken } }: Mapping): ReadonlyMap<ItemList, Path> {
  return new Map<ItemList, Path>([
    ['records', records],
    ...(zaken === undefined ? [] : [['zaken', zaken.lijst] as const]),
  ]);
}
