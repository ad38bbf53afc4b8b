/** Changes to the log of processing. */
import { randomInt, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { type Chosen, type LogRecords, leafName, leafOf, one, type Try } from './common.ts';

interface Version extends Chosen {
  readonly actieId: string;
  readonly versie: number;
  readonly nr: number;
}

async function version(db: pg.PoolClient): Promise<Version> {
  const found = await one<{ actieId: string; versie: number; nr: number }>(
    db,
    `select actie_id as "actieId", versie, proof_number as nr from verwerkingenlog.versies
     where proof_number is not null and json_array_length(objecten) > 0 order by random() limit 1`,
  );
  return {
    ...found,
    name: `version ${found.versie} of ${found.actieId}`,
    leaf: await leafOf(db, 'verwerkingen', found.nr),
  };
}

/** Its records. */
export const PROCESSING: LogRecords<Version> = {
  log: 'verwerkingen',
  choose: version,
  async remove(db, { actieId, versie }) {
    await db.query('delete from verwerkingenlog.versies where actie_id = $1 and versie = $2', [actieId, versie]);
  },
  async removeDay(db, { actieId, versie }) {
    await db.query(
      `delete from verwerkingenlog.versies where tijdstip_registratie::date =
         (select tijdstip_registratie::date from verwerkingenlog.versies where actie_id = $1 and versie = $2)`,
      [actieId, versie],
    );
  },
};

const UPDATES = [
  `door = 'niemand'`,
  `gebruiker = 'niemand'`,
  `tijdstip = tijdstip - interval '1 day'`,
  `tijdstip_registratie = tijdstip_registratie - interval '1 millisecond'`,
  `vervallen = not vervallen`,
  `bewaartermijn = 'P99Y'`,
  `objecten = (objecten::jsonb #- '{0}')::json`,
  `objecten = jsonb_set(objecten::jsonb, '{0,betrokkenheid}', '"Iemand anders"')::json`,
  `verzoek_id = 'x'`,
];

export const PROCESSING_TRIES: Readonly<Record<string, Try>> = {
  async update(db) {
    const found = await version(db);
    await db.query(
      `update verwerkingenlog.versies set ${UPDATES[randomInt(UPDATES.length)]} where actie_id = $1 and versie = $2`,
      [found.actieId, found.versie],
    );
    return { names: [found.name], forged: [found.name] };
  },
  async insert(db) {
    const found = await version(db);
    const actieId = `${found.actieId.slice(0, 15)}${randomUUID().slice(15, 32)}0000`;
    const proven = randomInt(2) === 0;
    await db.query(
      `create temp table kopie on commit drop as select * from verwerkingenlog.versies where actie_id = $1 and versie = $2`,
      [found.actieId, found.versie],
    );
    await db.query(`update kopie set actie_id = $1, versie = 1${proven ? '' : ', proof_number = null, seed = null'}`, [
      actieId,
    ]);
    await db.query('insert into verwerkingenlog.versies select * from kopie');
    return { names: [`version 1 of ${actieId}`, found.name], forged: [`version 1 of ${actieId}`] };
  },
  async swap(db) {
    const [a, b] = [await version(db), await version(db)];
    const columns = 'objecten, gebruiker, tijdstip, actie_naam, verwerking_id, door, verzoek_id';
    await db.query(
      `create temp table wissel on commit drop as select actie_id, versie, ${columns} from verwerkingenlog.versies
       where (actie_id, versie) in (($1, $2::int), ($3, $4::int))`,
      [a.actieId, a.versie, b.actieId, b.versie],
    );
    await db.query(
      `update verwerkingenlog.versies v set (${columns}) = (select ${columns} from wissel w where w.actie_id <> v.actie_id or w.versie <> v.versie)
       where (v.actie_id, v.versie) in (select actie_id, versie from wissel) and (select count(*) from wissel) = 2`,
    );
    if (a.actieId === b.actieId && a.versie === b.versie)
      await db.query(`update verwerkingenlog.versies set door = 'x' where actie_id = $1 and versie = $2`, [
        a.actieId,
        a.versie,
      ]);
    return { names: [a.name, b.name], forged: [a.name, b.name] };
  },
  async 'another seed'(db) {
    const [a, b] = [await version(db), await version(db)];
    await db.query(
      `update verwerkingenlog.versies set seed = case when $3::boolean
         then (select left(seed, 40) || 'AAAA' || substr(seed, 45) from verwerkingenlog.versies where actie_id = $4 and versie = $5) else null end
       where actie_id = $1 and versie = $2`,
      [a.actieId, a.versie, randomInt(2) === 0, b.actieId, b.versie],
    );
    return { names: [a.name], forged: [a.name] };
  },
  async 'another number'(db) {
    const [a, b] = [await version(db), await version(db)];
    const same = a.nr === b.nr;
    await db.query('update verwerkingenlog.versies set proof_number = $3 where actie_id = $1 and versie = $2', [
      a.actieId,
      a.versie,
      same ? 999_999_999 : b.nr,
    ]);
    return { names: [a.name, b.name], forged: same ? [] : [a.name] };
  },
  async 'from before the log'(db) {
    const found = await version(db);
    await db.query(
      `update verwerkingenlog.versies set proof_number = null, seed = null, tijdstip_registratie = '2020-01-01Z'
       where actie_id = $1 and versie = $2`,
      [found.actieId, found.versie],
    );
    return { names: [leafName('verwerkingen', found.leaf)], forged: [found.name] };
  },
  async 'a removal that names extra records'(db) {
    const found = await version(db);
    await PROCESSING.remove(db, found);
    const { number } = await one<{ number: number }>(
      db,
      `update proof.removals set content = replace(content, '"bladen":[', '"bladen":[[1,${found.leaf},${found.leaf}],')
       where log = 'verwerkingen' returning number`,
    );
    return { names: [`verwijdering ${number}`] };
  },
};
