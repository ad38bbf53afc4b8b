/** One levering as it is stored, without its records. */
export interface Levering {
  readonly id: number;
  readonly invoerId: number;
  /** Place in its file, from 0. */
  readonly nummer: number;
  readonly organisatieSleutel: string;
  readonly naam: string | undefined;
  /** `undefined`: for no municipality in particular. */
  readonly gemeenteSleutel: string | undefined;
  readonly periodeStart: string;
  readonly periodeEinde: string;
  readonly aangeleverdOp: Date;
  /** JSON text with the lists left empty. */
  readonly kop: string;
  readonly records: number;
  readonly zaken: number;
  readonly bytes: number;
}

/** First and last day, as `YYYY-MM-DD`. */
export interface Period {
  readonly start: string;
  readonly end: string;
}

/** A levering as a part of an answer. */
export interface ChosenLevering {
  readonly levering: Levering;
  /** Absent: all of its records are given. */
  readonly selection: Selection | undefined;
}

/** Which records of a levering are given: those that overlap a period and do not stand in a newer delivery of the same group. */
export interface Selection {
  /** Leveringen of one organisation and municipality have the same number. */
  readonly group: number;
  /** Higher is newer; parts of one delivery have the same. */
  readonly rank: number;
  readonly period: Period;
}
