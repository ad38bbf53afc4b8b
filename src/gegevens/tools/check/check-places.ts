/** Where the rules of `gegevens check` find their values: the member `controle` of a mapping. A rule is checked when its places are named. */
import { pointerSteps } from '../../../lib/json/json-value.ts';

type Path = readonly string[];

/** A begin and an end that belong together, in a record or in each item of one of its lists. */
export interface PeriodPlaces {
  readonly lijst?: Path;
  readonly begin: Path;
  readonly einde: Path;
}

/** As `mapping.schema.json` explains it, with paths in place of pointers. */
export interface CheckPlaces {
  readonly contactpersonen?: { readonly lijst: Path; readonly email: Path };
  readonly personen?: {
    readonly plaats: Path;
    readonly bsn?: Path;
    readonly geslacht?: Path;
    readonly geboortedatum?: Path;
    /** Groups of paths from a person; the first group with all values present identifies the person. */
    readonly kenmerken?: readonly (readonly Path[])[];
  };
  readonly gelijk?: readonly { readonly regel: number; readonly lijst?: Path; readonly plaatsen: readonly Path[] }[];
  readonly waarAlleenMet?: { readonly plaats: Path; readonly met: Path };
  readonly perioden?: readonly PeriodPlaces[];
  readonly stappen?: readonly Path[];
  readonly soort?: Path;
  readonly status?: Path;
  readonly zaken?: {
    readonly resultaat?: Path;
    readonly opgepakt?: Path;
    readonly pogingen?: { readonly lijst: Path; readonly datum: Path };
    readonly perioden?: readonly PeriodPlaces[];
  };
}

/** @param controle valid against `mapping.schema.json`; absent: no places */
export function readCheckPlaces(controle: unknown = {}): CheckPlaces {
  return JSON.parse(JSON.stringify(controle), (_name, value) =>
    typeof value === 'string' ? pointerSteps(value) : value,
  );
}
