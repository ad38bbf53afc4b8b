import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { isJsonObject, pointerSteps } from './json-pointer.ts';

export type Variant = 'shv' | 'vs';

/** Where the service finds what it reads and writes itself, as steps from the message, a levering, a record or a case. */
export interface Mapping {
  readonly variant: Variant;
  readonly versie: string;
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
    readonly organisatie: {
      readonly object: readonly string[];
      readonly naam: readonly string[];
      readonly kvkNummer: readonly string[] | undefined;
      readonly gemeentecode: readonly string[] | undefined;
    };
    readonly zaken: ZakenMapping | undefined;
  };
}

export interface ZakenMapping {
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
  const ajv = new Ajv2020({ allErrors: true });
  addFormatsModule.default(ajv);
  const validate = ajv.compile(schema);
  if (!validate(file)) throw new TypeError(ajv.errorsText(validate.errors, { dataVar: 'mapping' }));
  const at = (...path: string[]): string | undefined => {
    let found: unknown = file;
    for (const step of path) found = isJsonObject(found) ? found[step] : undefined;
    return typeof found === 'string' ? found : undefined;
  };
  const place = (...path: string[]): string[] => pointerSteps(at(...path) ?? '');
  const optional = (...path: string[]): string[] | undefined => {
    const pointer = at(...path);
    return pointer === undefined ? undefined : pointerSteps(pointer);
  };
  const zaken = optional('levering', 'zaken', 'lijst');
  return {
    variant: at('variant') === 'vs' ? 'vs' : 'shv',
    versie: at('versie') ?? '',
    envelop: {
      startdatum: place('envelop', 'startdatum'),
      einddatum: place('envelop', 'einddatum'),
      aanleverdatumEnTijd: place('envelop', 'aanleverdatumEnTijd'),
      leverancierscode: place('envelop', 'leverancierscode'),
      leveringen: place('envelop', 'leveringen'),
    },
    levering: {
      teller: place('levering', 'teller'),
      records: place('levering', 'records'),
      recordId: optional('levering', 'recordId'),
      organisatie: {
        object: place('levering', 'organisatie', 'object'),
        naam: place('levering', 'organisatie', 'naam'),
        kvkNummer: optional('levering', 'organisatie', 'kvkNummer'),
        gemeentecode: optional('levering', 'organisatie', 'gemeentecode'),
      },
      zaken:
        zaken === undefined
          ? undefined
          : {
              lijst: zaken,
              signalen: place('levering', 'zaken', 'signalen'),
              signaalId: place('levering', 'zaken', 'signaalId'),
            },
    },
  };
}
