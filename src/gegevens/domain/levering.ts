/** One levering as it is stored, without its records. */
export interface Levering {
  readonly id: number;
  readonly invoerId: number;
  /** Place in its file, from 0. */
  readonly nummer: number;
  readonly organisatieSleutel: string;
  readonly periodeStart: string;
  readonly periodeEinde: string;
  readonly aangeleverdOp: Date;
  /** JSON text with the lists left empty. */
  readonly kop: string;
  readonly records: number;
  readonly zaken: number;
  readonly bytes: number;
}
