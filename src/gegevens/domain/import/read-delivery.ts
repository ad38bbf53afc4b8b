import type { JsonObject } from '../model/json-pointer.ts';
import type { Organisation } from '../organisation.ts';
import type { ZaakLinks } from './zaak-places.ts';

/** What a file says about one levering. */
export interface ReadLevering {
  /** Place in the file, from 0. */
  readonly nummer: number;
  readonly organisatie: Organisation;
  /** The levering with its lists left empty. */
  readonly kop: JsonObject;
  readonly records: number;
  readonly zaken: number;
  readonly bytes: number;
  /** SHA-256 over the texts of records and cases, base64. */
  readonly vingerafdruk: string;
  /** Absent for a model without cases. */
  readonly zaakLinks: ZaakLinks | undefined;
}

export interface ReadDelivery {
  readonly periodeStart: string;
  readonly periodeEinde: string;
  readonly aangeleverdOp: Date;
  readonly leveringen: readonly ReadLevering[];
}
