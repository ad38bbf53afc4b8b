import { Ajv2020 } from 'ajv/dist/2020.js';
import { addStandardFormats } from '../../lib/json/formats.ts';
import { pointerSteps, valueAt } from '../../lib/json/json-value.ts';

export type Variant = 'shv' | 'vs';

/** The lists of a levering whose items are stored one by one. */
export type ItemList = 'records' | 'zaken';

/** The member of the request that the contract of the interface names. */
export const CONTRACT_MEMBER = 'aanleverende_organisatie';

/** The paths of what the service reads and writes itself, as steps from the message, a levering, a record or a case. */
export interface Mapping {
  readonly variant: Variant;
  readonly versie: string;
  /** Names of the request's member for the organisation: the model's own first, then others that are taken as well. */
  readonly organisatieLeden: readonly [string, ...string[]];
  readonly envelop: {
    readonly startdatum: readonly string[];
    readonly einddatum: readonly string[];
    readonly aanleverdatumEnTijd: readonly string[];
    readonly leverancierscode: readonly string[];
    readonly leveringen: readonly string[];
  };
  readonly levering: {
    readonly teller: readonly string[];
    readonly records: readonly string[];
    readonly recordId: readonly string[] | undefined;
    /** The municipality that a levering is for. */
    readonly gemeentecode: readonly string[] | undefined;
    readonly record: RecordMapping;
    readonly organisatie: {
      readonly object: readonly string[];
      readonly naam: readonly string[];
      readonly kvkNummer: readonly string[] | undefined;
      readonly gemeentecode: readonly string[] | undefined;
    };
    readonly zaken: ZakenMapping | undefined;
  };
  /** Where the rules of `check` find what they judge. */
  readonly controle: unknown;
}

/** What is read of each record: when it runs, and what makes two records the same one. */
interface RecordMapping {
  readonly begin: readonly string[] | undefined;
  readonly einde: readonly string[] | undefined;
  readonly gemeentecode: readonly string[] | undefined;
  readonly personen: PersonenMapping | undefined;
}

export interface PersonenMapping {
  readonly lijst: readonly string[];
  /** Groups of paths from a person; the first group of which all values are there identifies the person. */
  readonly kenmerken: readonly (readonly (readonly string[])[])[];
}

interface ZakenMapping {
  readonly lijst: readonly string[];
  readonly signalen: readonly string[];
  readonly signaalId: readonly string[];
}

/**
 * Reads a mapping file.
 * @param schema `mapping.schema.json`
 * @throws {TypeError} naming everything that is wrong with it
 */
export function readMapping(file: unknown, schema: object): Mapping {
  const ajv = new Ajv2020({ allErrors: true, validateSchema: false });
  addStandardFormats(ajv);
  const validate = ajv.compile(schema);
  if (!validate(file)) throw new TypeError(ajv.errorsText(validate.errors, { dataVar: 'mapping' }));
  const at = (...path: string[]): string | undefined => {
    const found = valueAt(file, path);
    return typeof found === 'string' ? found : undefined;
  };
  const required = (...path: string[]): string[] => pointerSteps(at(...path) ?? '');
  const optional = (...path: string[]): string[] | undefined => {
    const pointer = at(...path);
    return pointer === undefined ? undefined : pointerSteps(pointer);
  };
  const zaken = optional('levering', 'zaken', 'lijst');
  const personen = optional('levering', 'record', 'personen', 'lijst');
  const listAt = (...path: string[]): unknown[] => {
    const found = valueAt(file, path);
    return Array.isArray(found) ? found : [];
  };
  const kenmerken = listAt('levering', 'record', 'personen', 'kenmerken').map((group) =>
    (Array.isArray(group) ? group : []).map((pointer) => pointerSteps(String(pointer))),
  );
  const [organisatieLid = CONTRACT_MEMBER, ...otherLeden] = listAt('verzoek', 'organisatie').map(String);
  return {
    variant: at('variant') === 'vs' ? 'vs' : 'shv',
    versie: at('versie') ?? '',
    organisatieLeden: [organisatieLid, ...otherLeden],
    envelop: {
      startdatum: required('envelop', 'startdatum'),
      einddatum: required('envelop', 'einddatum'),
      aanleverdatumEnTijd: required('envelop', 'aanleverdatumEnTijd'),
      leverancierscode: required('envelop', 'leverancierscode'),
      leveringen: required('envelop', 'leveringen'),
    },
    levering: {
      teller: required('levering', 'teller'),
      records: required('levering', 'records'),
      recordId: optional('levering', 'recordId'),
      gemeentecode: optional('levering', 'gemeentecode'),
      record: {
        begin: optional('levering', 'record', 'begin'),
        einde: optional('levering', 'record', 'einde'),
        gemeentecode: optional('levering', 'record', 'gemeentecode'),
        personen:
          personen === undefined
            ? undefined
            : {
                lijst: personen,
                kenmerken,
              },
      },
      organisatie: {
        object: required('levering', 'organisatie', 'object'),
        naam: required('levering', 'organisatie', 'naam'),
        kvkNummer: optional('levering', 'organisatie', 'kvkNummer'),
        gemeentecode: optional('levering', 'organisatie', 'gemeentecode'),
      },
      zaken:
        zaken === undefined
          ? undefined
          : {
              lijst: zaken,
              signalen: required('levering', 'zaken', 'signalen'),
              signaalId: required('levering', 'zaken', 'signaalId'),
            },
    },
    controle: valueAt(file, ['controle']),
  };
}
