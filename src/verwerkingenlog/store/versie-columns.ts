import type { StoredVersie } from './stored-versie.ts';

/** The columns of `versies` that are given (`vervalt_op` is computed): name, kind, and what a version has in it. */
export const VERSIE_COLUMNS = [
  ['actie_id', 'uuid', 'actieId'],
  ['versie', 'integer', 'versie'],
  ['tijdstip_registratie', 'timestamptz', 'tijdstipRegistratie'],
  ['door', 'text', 'door'],
  ['verzoek_id', 'text', 'verzoekId'],
  ['vervallen', 'boolean', 'vervallen'],
  ['actie_naam', 'text', 'actieNaam'],
  ['handeling_naam', 'text', 'handelingNaam'],
  ['verwerking_naam', 'text', 'verwerkingNaam'],
  ['verwerking_id', 'uuid', 'verwerkingId'],
  ['verwerkingsactiviteit_id', 'uuid', 'verwerkingsactiviteitId'],
  ['verwerkingsactiviteit_url', 'text', 'verwerkingsactiviteitUrl'],
  ['vertrouwelijkheid', 'text', 'vertrouwelijkheid'],
  ['ooit_vertrouwelijk', 'boolean', 'ooitVertrouwelijk'],
  ['bewaartermijn', 'text', 'bewaartermijn'],
  ['uitvoerder', 'text', 'uitvoerder'],
  ['systeem', 'text', 'systeem'],
  ['gebruiker', 'text', 'gebruiker'],
  ['gegevensbron', 'text', 'gegevensbron'],
  ['soort_afnemer_id', 'text', 'soortAfnemerId'],
  ['afnemer_id', 'text', 'afnemerId'],
  ['verwerkingsactiviteit_id_afnemer', 'uuid', 'verwerkingsactiviteitIdAfnemer'],
  ['verwerkingsactiviteit_url_afnemer', 'text', 'verwerkingsactiviteitUrlAfnemer'],
  ['verwerking_id_afnemer', 'uuid', 'verwerkingIdAfnemer'],
  ['tijdstip', 'timestamptz', 'tijdstip'],
  ['tijdstip_offset', 'text', 'tijdstipOffset'],
  ['sleutelnaam', 'text', 'sleutelnaam'],
] as const satisfies readonly (readonly [string, string, keyof StoredVersie])[];

/** The given columns, separated by commas; `objecten` is not among them, for it is sometimes read in part. */
export const VERSIE_NAMES = VERSIE_COLUMNS.map(([column]) => column).join(', ');

/** A row of `versies`: its columns as they are selected with `SELECT_VERSIE`. */
export interface VersieRow extends Omit<StoredVersie, 'tijdstip' | 'tijdstipRegistratie'> {
  readonly tijdstip: Date;
  readonly tijdstipRegistratie: Date;
}

/** What to select of `versies v` so that rows are `VersieRow`s, but for `objecten`. */
export const SELECT_VERSIE = VERSIE_COLUMNS.map(([column, , member]) => `v.${column} as "${member}"`).join(', ');
