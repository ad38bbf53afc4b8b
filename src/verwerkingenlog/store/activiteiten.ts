import type { Db } from '../../database/transaction.ts';
import { moment } from '../../lib/time.ts';
import type { Cursor } from '../domain/cursor.ts';
import type { Auteur } from '../domain/verwerkingsactie.ts';
import type { Activiteit } from '../domain/verwerkingsactiviteit.ts';

const COLUMNS = [
  ['verwerkingsactiviteitId', 'verwerkingsactiviteit_id'],
  ['versie', 'versie'],
  ['tijdstipRegistratie', 'tijdstip_registratie'],
  ['naam', 'naam'],
  ['verantwoordelijkeOrganisatie', 'verantwoordelijke_organisatie'],
  ['doel', 'doel'],
  ['grondslag', 'grondslag'],
  ['toelichtingGrondslag', 'toelichting_grondslag'],
  ['categorie', 'categorie'],
  ['verantwoordelijkeBestuursorgaan', 'verantwoordelijke_bestuursorgaan'],
  ['gebaseerdOp', 'gebaseerd_op'],
  ['bewaartermijn', 'bewaartermijn'],
  ['vertrouwelijkheid', 'vertrouwelijkheid'],
  ['herkomst', 'herkomst'],
  ['afnemendeCategorieOntvangers', 'afnemende_categorie_ontvangers'],
  ['afnemendeInternationaleDerden', 'afnemende_internationale_derden'],
  ['verwerktePersoonsgegevens', 'verwerkte_persoonsgegevens'],
] as const satisfies readonly (readonly [member: keyof Activiteit, column: string])[];
const NAMES = COLUMNS.map(([, column]) => column).join(', ');
const SELECT = COLUMNS.map(([member, column]) => `${column} as "${member}"`).join(', ');

type Row = Omit<Activiteit, 'tijdstipRegistratie'> & { readonly tijdstipRegistratie: Date };

function fromRow(row: Row): Activiteit {
  return { ...row, tijdstipRegistratie: moment(row.tijdstipRegistratie) };
}

export async function readActiviteit(db: Db, id: string): Promise<Activiteit | undefined> {
  return (await readActiviteiten(db, [id])).get(id.toLowerCase());
}

export async function readActiviteiten(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, Activiteit>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.query<Row>(
    `select ${SELECT} from verwerkingenlog.verwerkingsactiviteiten where verwerkingsactiviteit_id = any($1::uuid[])`,
    [ids],
  );
  return new Map(rows.map((row) => [row.verwerkingsactiviteitId, fromRow(row)]));
}

type Vertrouwelijkheid = Activiteit['vertrouwelijkheid'];

/** By name, in the direction of the cursor; request one more than a page. */
export async function listActiviteiten(
  db: Db,
  shown: readonly Vertrouwelijkheid[],
  cursor: Cursor | undefined,
  limit: number,
): Promise<Activiteit[]> {
  const [than, order] = cursor?.direction === 'before' ? ['<', 'desc'] : ['>', 'asc'];
  const { rows } = await db.query<Row>(
    `select ${SELECT} from verwerkingenlog.verwerkingsactiviteiten
     where (naam, verwerkingsactiviteit_id) ${than} ($1::text, $2::uuid) and vertrouwelijkheid = any($4::text[])
     order by naam ${order}, verwerkingsactiviteit_id ${order} limit $3::integer`,
    [cursor?.key[0] ?? '', cursor?.key[1] ?? '00000000-0000-0000-0000-000000000000', limit, shown],
  );
  return rows.map(fromRow);
}

/** Counts no further than `max`. */
export async function countActiviteiten(db: Db, shown: readonly Vertrouwelijkheid[], max: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) as count from (
       select 1 from verwerkingenlog.verwerkingsactiviteiten where vertrouwelijkheid = any($2::text[]) limit $1::integer
     ) as a`,
    [max, shown],
  );
  return rows[0]?.count ?? 0;
}

/** The caller holds the lock of the activity. */
export async function writeActiviteit(db: Db, activiteit: Activiteit, auteur: Auteur): Promise<void> {
  const { verwerkingsactiviteitId: id, tijdstipRegistratie: at } = activiteit;
  const row = Object.fromEntries(COLUMNS.map(([member, column]) => [column, activiteit[member]]));
  await db.query('delete from verwerkingenlog.verwerkingsactiviteiten where verwerkingsactiviteit_id = $1::uuid', [id]);
  await db.query(
    `insert into verwerkingenlog.verwerkingsactiviteiten (${NAMES}, door, verzoek_id)
     select ${NAMES}, $2::text, $3::text from json_populate_record(null::verwerkingenlog.verwerkingsactiviteiten, $1::json)`,
    [JSON.stringify(row), auteur.door, auteur.verzoekId],
  );
  await recordTerm(db, id, activiteit.bewaartermijn, at, auteur);
  await recordVersie(db, id, at, { ...activiteit, verwijderd: false });
}

export async function deleteActiviteit(db: Db, id: string, at: string, auteur: Auteur): Promise<void> {
  const { rows } = await db.query<ActiviteitStand>(
    `delete from verwerkingenlog.verwerkingsactiviteiten where verwerkingsactiviteit_id = $1::uuid
     returning naam, vertrouwelijkheid, bewaartermijn, true as verwijderd`,
    [id],
  );
  for (const stand of rows) await recordVersie(db, id, at, stand);
  await recordTerm(db, id, null, at, auteur);
}

/** Retention asks whether a term was shortened. It never begins before its predecessor, even if a machine with another clock recorded that one. */
async function recordTerm(db: Db, id: string, term: string | null, at: string, auteur: Auteur): Promise<void> {
  await db.query(
    `insert into verwerkingenlog.activiteit_termijnen (verwerkingsactiviteit_id, valid_from, bewaartermijn, door, verzoek_id)
     select $1::uuid, greatest($2::timestamptz, (
       select max(valid_from) from verwerkingenlog.activiteit_termijnen where verwerkingsactiviteit_id = $1::uuid
     )), $3::text, $4::text, $5::text
     where $3::text is distinct from (
       select bewaartermijn from verwerkingenlog.activiteit_termijnen
       where verwerkingsactiviteit_id = $1::uuid order by valid_from desc, number desc limit 1)`,
    [id, at, term, auteur.door, auteur.verzoekId],
  );
}

interface ActiviteitStand {
  readonly naam: string;
  readonly vertrouwelijkheid: 'normaal' | 'vertrouwelijk';
  readonly bewaartermijn: string | null;
  readonly verwijderd: boolean;
}

export interface ActiviteitVersie extends ActiviteitStand {
  readonly vanaf: Date;
}

/** Like a term, a version never begins before its predecessor. */
async function recordVersie(db: Db, id: string, at: string, stand: ActiviteitStand): Promise<void> {
  await db.query(
    `insert into verwerkingenlog.activiteit_versies
       (verwerkingsactiviteit_id, valid_from, naam, vertrouwelijkheid, bewaartermijn, deleted)
     select $1::uuid, greatest($2::timestamptz, (
       select max(valid_from) from verwerkingenlog.activiteit_versies where verwerkingsactiviteit_id = $1::uuid
     )), $3::text, $4::text, $5::text, $6::boolean`,
    [id, at, stand.naam, stand.vertrouwelijkheid, stand.bewaartermijn, stand.verwijderd],
  );
}

/** The oldest first. */
export async function readActiviteitVersies(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly ActiviteitVersie[]>> {
  const { rows } = await db.query<ActiviteitVersie & { id: string }>({
    name: 'verwerkingenlog-ldv-read-activities',
    text: `select verwerkingsactiviteit_id as id, valid_from as vanaf, naam, vertrouwelijkheid, bewaartermijn, deleted as verwijderd
      from verwerkingenlog.activiteit_versies where verwerkingsactiviteit_id = any($1::uuid[]) order by valid_from, number`,
    values: [ids],
  });
  return Map.groupBy(rows, ({ id }) => id);
}
