/**
 * What somebody with all rights on the database may try: each in a transaction that is verified before it is rolled back. All of it must be
 * named.
 */
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { ProofLogName } from '../../src/kernel/proof-log.ts';
import type { ProofFault } from '../../src/proof/verify-tiles.ts';

/** What a try did, and the names one of which `proof verify` must give. */
interface Tampered {
  readonly names: readonly (string | RegExp)[];
}

type Try = (db: pg.PoolClient) => Promise<Tampered>;

interface Version {
  readonly actieId: string;
  readonly versie: number;
  readonly nr: number;
}

const ORIGIN = '127.0.0.1/proof/v1';

async function one<T extends pg.QueryResultRow>(db: pg.PoolClient, text: string, values: unknown[] = []): Promise<T> {
  const { rows } = await db.query<T>(text, values);
  if (rows[0] === undefined) throw new Error(`nothing found by ${text}`);
  return rows[0];
}

function version(db: pg.PoolClient): Promise<Version> {
  return one(
    db,
    `select actie_id as "actieId", versie, bewijs_nr as nr from verwerkingenlog.versies
     where bewijs_nr is not null and json_array_length(objecten) > 0 order by random() limit 1`,
  );
}

function nameOf({ actieId, versie }: Version): string {
  return `version ${versie} of ${actieId}`;
}

async function leafOf(db: pg.PoolClient, nr: number): Promise<number> {
  const { leaf } = await one<{ leaf: number }>(
    db,
    `select tegel * 256 + array_position(nrs, $1::bigint) - 1 as leaf from proof.bladen
     where log = 'verwerkingen' and nrs @> array[$1::bigint]`,
    [nr],
  );
  return Number(leaf);
}

function leafName(log: ProofLogName, leaf: number): string {
  return `leaf ${leaf} of ${ORIGIN}/${log}`;
}

async function deleteVersion(db: pg.PoolClient): Promise<{ found: Version; leaf: number; name: string }> {
  const found = await version(db);
  const leaf = await leafOf(db, found.nr);
  await db.query('delete from verwerkingenlog.versies where actie_id = $1 and versie = $2', [
    found.actieId,
    found.versie,
  ]);
  return { found, leaf, name: leafName('verwerkingen', leaf) };
}

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

/** In the log of processing. */
const PROCESSING: Readonly<Record<string, Try>> = {
  async update(db) {
    const found = await version(db);
    await db.query(
      `update verwerkingenlog.versies set ${UPDATES[randomInt(UPDATES.length)]} where actie_id = $1 and versie = $2`,
      [found.actieId, found.versie],
    );
    return { names: [nameOf(found)] };
  },
  async delete(db) {
    return { names: [(await deleteVersion(db)).name] };
  },
  async insert(db) {
    const found = await version(db);
    const actieId = `${found.actieId.slice(0, 15)}${randomUUID().slice(15, 32)}0000`;
    const proven = randomInt(2) === 0;
    await db.query(
      `create temp table kopie on commit drop as select * from verwerkingenlog.versies where actie_id = $1 and versie = $2`,
      [found.actieId, found.versie],
    );
    await db.query(`update kopie set actie_id = $1, versie = 1${proven ? '' : ', bewijs_nr = null, zaad = null'}`, [
      actieId,
    ]);
    await db.query('insert into verwerkingenlog.versies select * from kopie');
    return { names: [`version 1 of ${actieId}`, nameOf(found)] };
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
    return { names: [nameOf(a), nameOf(b)] };
  },
  async 'another seed'(db) {
    const [a, b] = [await version(db), await version(db)];
    await db.query(
      `update verwerkingenlog.versies set zaad = case when $3::boolean
         then (select left(zaad, 40) || 'AAAA' || substr(zaad, 45) from verwerkingenlog.versies where actie_id = $4 and versie = $5) else null end
       where actie_id = $1 and versie = $2`,
      [a.actieId, a.versie, randomInt(2) === 0, b.actieId, b.versie],
    );
    return { names: [nameOf(a)] };
  },
  async 'another number'(db) {
    const [a, b] = [await version(db), await version(db)];
    const same = a.nr === b.nr;
    await db.query('update verwerkingenlog.versies set bewijs_nr = $3 where actie_id = $1 and versie = $2', [
      a.actieId,
      a.versie,
      same ? 999_999_999 : b.nr,
    ]);
    return { names: [nameOf(a), nameOf(b)] };
  },
  async 'from before the log'(db) {
    const found = await version(db);
    const leaf = await leafOf(db, found.nr);
    await db.query(
      `update verwerkingenlog.versies set bewijs_nr = null, zaad = null, tijdstip_registratie = '2020-01-01Z'
       where actie_id = $1 and versie = $2`,
      [found.actieId, found.versie],
    );
    return { names: [leafName('verwerkingen', leaf)] };
  },
  async 'a tile'(db) {
    const { niveau, tegel } = await one<{ niveau: number; tegel: number }>(
      db,
      `update proof.tegels set hashes = set_byte(hashes, 5, (get_byte(hashes, 5) + 1) % 256)
       where ctid = (select ctid from proof.tegels where log = 'verwerkingen' order by random() limit 1) returning niveau, tegel`,
    );
    return { names: [`tile ${niveau}/${tegel} of ${ORIGIN}/verwerkingen`] };
  },
  async 'a leaf'(db) {
    const found = await version(db);
    const leaf = await leafOf(db, found.nr);
    await db.query(
      `update proof.bladen set vermeldingen = set_byte(vermeldingen, $2, (get_byte(vermeldingen, $2) + 1) % 256)
       where log = 'verwerkingen' and tegel = $1`,
      [Math.floor(leaf / 256), (leaf % 256) * 33 + 7],
    );
    return { names: [nameOf(found)] };
  },
  async 'the head back'(db) {
    const { size } = await one<{ size: number }>(
      db,
      `select grootte as size from proof.logs where log = 'verwerkingen'`,
    );
    const back = Math.max(1, Number(size) - 1 - randomInt(5));
    await db.query(`update proof.logs set grootte = $1, checkpoint = null where log = 'verwerkingen'`, [back]);
    return { names: [/^checkpoint outside/] };
  },
  async 'a day removed'(db) {
    const found = await version(db);
    const leaf = await leafOf(db, found.nr);
    await db.query(
      `delete from verwerkingenlog.versies where tijdstip_registratie::date =
         (select tijdstip_registratie::date from verwerkingenlog.versies where actie_id = $1 and versie = $2)`,
      [found.actieId, found.versie],
    );
    return { names: [leafName('verwerkingen', leaf)] };
  },
  async 'disguised as retention'(db) {
    const { leaf, name } = await deleteVersion(db);
    const { nr } = await one<{ nr: number }>(db, `select nextval('proof.nummers') as nr`);
    const content = `{"bladen":[[1,${leaf},${leaf}]],"door":"opschoning 1","op":"2026-01-01T00:00:00.000Z","soort":"bewaartermijn","wachtend":[]}`;
    const entry = Buffer.concat([Uint8Array.of(1), randomBytes(32)]);
    await db.query(
      `insert into proof.verwijderingen (nr, log, inhoud, vermelding) values ($1, 'verwerkingen', $2, $3)`,
      [nr, content, entry],
    );
    await db.query(`insert into proof.queue (log, nr, vermelding) values ('verwerkingen', $1, $2)`, [nr, entry]);
    return { names: [name] };
  },
  async 'disguised as padding'(db) {
    const { leaf, name } = await deleteVersion(db);
    await db.query(`update proof.bladen set nrs[$2] = 0 where log = 'verwerkingen' and tegel = $1`, [
      Math.floor(leaf / 256),
      (leaf % 256) + 1,
    ]);
    return { names: [name] };
  },
};

function feedRecord(db: pg.PoolClient): Promise<{ n: number }> {
  return one(
    db,
    `select sequence_number as n from raadsfeed.record where op = 'upsert' and zaad is not null order by random() limit 1`,
  );
}

async function deleteRecord(db: pg.PoolClient): Promise<number> {
  const n = Number((await feedRecord(db)).n);
  for (const table of ['stand', 'tekst', 'record'])
    await db.query(`delete from raadsfeed.${table} where sequence_number = $1`, [n]);
  return n;
}

/** In the feed. */
const FEED: Readonly<Record<string, Try>> = {
  async 'feed: update'(db) {
    const n = Number((await feedRecord(db)).n);
    await db.query(
      `update raadsfeed.tekst set rest = replace(rest, 'Vergadering', 'Bijeenkomst') where sequence_number = $1`,
      [n],
    );
    return { names: [`record ${n}`] };
  },
  async 'feed: delete'(db) {
    const n = await deleteRecord(db);
    return { names: [leafName('raadsfeed', n - 1)] };
  },
  async 'feed: insert'(db) {
    const n = Number((await feedRecord(db)).n);
    const { head } = await one<{ head: number }>(db, 'update raadsfeed.feed set head = head + 1 returning head');
    await db.query(
      `insert into raadsfeed.record (sequence_number, op, resource_type, organisatiecode, bronidentificatie, opgeslagen, zaad)
       select $2, op, resource_type, organisatiecode, bronidentificatie, opgeslagen, zaad from raadsfeed.record where sequence_number = $1`,
      [n, head],
    );
    await db.query(
      `insert into raadsfeed.tekst (sequence_number, merk, kop, rest) select $2, merk, kop, rest from raadsfeed.tekst where sequence_number = $1`,
      [n, head],
    );
    return { names: [`record ${head}`] };
  },
  async 'feed: swap'(db) {
    const a = Number((await feedRecord(db)).n);
    const { n } = await one<{ n: number }>(
      db,
      `select sequence_number as n from raadsfeed.record where op = 'upsert' and sequence_number <> $1 order by random() limit 1`,
      [a],
    );
    await db.query(
      `update raadsfeed.tekst t set (kop, rest) = (select kop, rest from raadsfeed.tekst o where o.sequence_number = case t.sequence_number when $1 then $2::bigint else $1::bigint end)
       where sequence_number in ($1, $2)`,
      [a, n],
    );
    return { names: [`record ${a}`, `record ${n}`] };
  },
  async 'feed: disguised as redaction'(db) {
    const n = Number((await feedRecord(db)).n);
    const text = JSON.stringify({
      ...{ sequenceNumber: n, op: 'redact', resourceType: 'Vergadering' },
      resource: { organisatiecode: 'gm9901', bronidentificatie: 'x' },
      ...{ storedAt: '2026-01-01T00:00:00.000Z', verwijderreden: 'overig', geredigeerdeSequenceNumbers: [n] },
    });
    await db.query('update raadsfeed.tekst set kop = $2, rest = null where sequence_number = $1', [n, text]);
    await db.query(`update raadsfeed.record set op = 'redact', zaad = null where sequence_number = $1`, [n]);
    await db.query('delete from raadsfeed.stand where sequence_number = $1', [n]);
    return { names: [`record ${n}`] };
  },
  async 'feed: disguised as pruning'(db) {
    const n = await deleteRecord(db);
    await db.query('update raadsfeed.feed set historie_na = greatest(historie_na, $1)', [n]);
    await db.query(
      `insert into proof.verwijderingen (nr, log, inhoud, vermelding) values (nextval('proof.nummers'), 'raadsfeed', $1, $2)`,
      [
        `{"bladen":[[1,${n - 1},${n - 1}]],"door":"feed prune","op":"2026-01-01T00:00:00.000Z","soort":"opschoning","wachtend":[]}`,
        Buffer.concat([Uint8Array.of(1), randomBytes(32)]),
      ],
    );
    return { names: [leafName('raadsfeed', n - 1)] };
  },
};

/** Verifies a log in the transaction of a try. */
export type Verify = (db: pg.PoolClient, log: ProofLogName) => Promise<readonly ProofFault[]>;

/**
 * Makes so many changes, one after another, each undone after it was judged.
 * @param db a connection of the owner of the database
 * @returns what was not named
 */
export async function runTampering(
  db: pg.PoolClient,
  changes: number,
  verify: Verify,
  report: (line: string) => void = () => undefined,
): Promise<string[]> {
  const tries = [
    ...Object.entries(PROCESSING).map(([name, act]) => ({ log: 'verwerkingen' as const, name, act })),
    ...Object.entries(FEED).map(([name, act]) => ({ log: 'raadsfeed' as const, name, act })),
  ];
  const missed: string[] = [];
  for (let i = 0; i < changes; i += 1) {
    const chosen = tries[i % tries.length];
    if (chosen === undefined) continue;
    await db.query('begin');
    try {
      const { names } = await chosen.act(db);
      const faults = await verify(db, chosen.log);
      const isNamed = faults.some(({ name }) =>
        names.some((wanted) => (typeof wanted === 'string' ? wanted === name : wanted.test(name))),
      );
      if (!isNamed)
        missed.push(`${chosen.name}: ${names.join(' or ')} is not in ${faults.map(({ name }) => name).join(', ')}`);
      report(`${i + 1} ${chosen.name}: ${faults.length} faults${isNamed ? '' : ', NOT NAMED'}`);
    } finally {
      await db.query('rollback');
    }
  }
  return missed;
}
