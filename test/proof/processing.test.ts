/** The processing proof log: a caller that may read an action may have its proof, which shows no more than reading does. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { checkpointIn } from '../../src/proof/tlog/note.ts';
import { formatProof, type Proof, parseProof } from '../../src/proof/tlog/proof-file.ts';
import { PATIENT } from '../raadsfeed/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { koppelvlak } from '../verwerkingenlog/cli.ts';
import { actie, actieIn, HEADERS, type LogServer, newPerson, ofPerson, startLog } from '../verwerkingenlog/support.ts';
import { getText, judge, stateFile } from './support.ts';

const ALL = ['create:confidential', 'update:confidential', 'delete:confidential', 'read:confidential'];
const state = stateFile();
let database: TestDatabase;
let client: pg.Client;
let log: LogServer;
let key: string;

beforeAll(async () => {
  database = await createDatabase();
  log = await startLog({ env: state.env, databaseUrl: database.url });
  client = new pg.Client(database.url);
  await client.connect();
  key = (await getText(`${log.server.url}/proof/v1/verwerkingen/key`)).text;
});
afterAll(async () => {
  await client.end();
  await log.stop();
  await database.drop();
  state.remove();
});

async function verify(): Promise<{ code: number | null; faults: unknown[]; logs: Record<string, unknown>[] }> {
  const { code, json } = await koppelvlak(database.url, ['proof', 'verify', 'verwerkingen', '--json'], {
    ...state.env,
    AREAS: 'verwerkingenlog',
  });
  const logs = isRecord(json) && Array.isArray(json.logs) ? json.logs.filter(isRecord) : [];
  return { code, logs, faults: logs.flatMap(({ faults }) => (Array.isArray(faults) ? faults : [])) };
}

/** The members of an answer, as the parts of its proof. */
function partsOf(answer: unknown): Record<string, unknown> {
  if (!isRecord(answer)) throw new Error('no answer');
  const { url: _, verwerkteObjecten, verwerkingsactie, systeem, gebruiker, gegevensbron, ...rest } = answer;
  if (isRecord(verwerkingsactie)) {
    const { url: __, verwerkteObjecten: ___, ...basis } = verwerkingsactie;
    return { basis, [`object/${String(rest.verwerktObjectId)}`]: rest };
  }
  const objects = Array.isArray(verwerkteObjecten) ? verwerkteObjecten.filter(isRecord) : [];
  return {
    basis: rest,
    ...(systeem === undefined ? {} : { aanvullend: { systeem, gebruiker, gegevensbron } }),
    ...Object.fromEntries(
      objects.map(({ url: __, ...object }) => [`object/${String(object.verwerktObjectId)}`, object]),
    ),
  };
}

async function proofOf(scopes: readonly string[], path: string): Promise<string> {
  let text = '';
  await expect
    .poll(async () => {
      const answer = await log.call(scopes, 'GET', path, undefined, HEADERS);
      text = answer.text;
      return answer.status;
    }, PATIENT)
    .toBe(200);
  return text;
}

it('proves the full view, the limited view and that of one of two persons, each as reading shows it', async () => {
  const [anna, bob] = [newPerson(), newPerson()];
  const [first] = actie(anna).verwerkteObjecten;
  const both = { verwerkteObjecten: [first, { ...first, objectId: bob, betrokkenheid: null }] };
  const kept = actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', actie(anna, both), HEADERS));
  const path = `/verwerkingsacties/${kept.actieId}`;
  const views = [
    [ALL, ''],
    [ALL, '?beperkteSet=true'],
    [['read:restricted'], `?${ofPerson(anna)}`],
    [['read:restricted'], `?${ofPerson(bob)}`],
  ] as const;
  const seen = [];
  for (const [scopes, query] of views) {
    const proof = await proofOf(scopes, `${path}/bewijs${query}`);
    const answer = await log.call(scopes, 'GET', `${path}${query}`, undefined, HEADERS);
    const parts = partsOf(answer.json);
    expect(judge(proof, parts, key), query).toMatchObject({ isProven: true });
    for (const name of Object.keys(parts)) {
      const changed = { ...parts, [name]: { ...Object(parts[name]), gebruiker: 'iemand anders' } };
      expect(judge(proof, changed, key), name).toMatchObject({ isProven: false });
    }
    seen.push({ proof, parts });
  }
  // One view's salts do not open another's parts.
  expect(judge(seen[2]?.proof ?? '', seen[3]?.parts ?? {}, key)).toMatchObject({ isProven: false });
  expect(judge(seen[1]?.proof ?? '', seen[0]?.parts ?? {}, key)).toMatchObject({ isProven: false });
  expect((await log.call(['read:restricted'], 'GET', `${path}/bewijs`, undefined, HEADERS)).status).toBe(404);
  expect((await log.call(['create:normal'], 'GET', `${path}/bewijs`, undefined, HEADERS)).status).toBe(403);
  const objects = Object.keys(seen[0]?.parts ?? {}).filter((name) => name.startsWith('object/'));
  const object = `/verwerkte-objecten/${objects[1]?.slice('object/'.length)}`;
  const proof = await proofOf(['read:restricted'], `${object}/bewijs?${ofPerson(bob)}`);
  const own = await log.call(['read:restricted'], 'GET', `${object}?${ofPerson(bob)}`, undefined, HEADERS);
  expect(judge(proof, partsOf(own.json), key)).toMatchObject({ isProven: true });
});

it("shows the log's operator all parts of every version with their proofs", async () => {
  const kept = actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', actie(newPerson()), HEADERS));
  await proofOf(ALL, `/verwerkingsacties/${kept.actieId}/bewijs`);
  const { json } = await koppelvlak(database.url, ['log', 'history', kept.actieId, '--proof', '--json'], {
    ...state.env,
    AREAS: 'verwerkingenlog',
  });
  const [shown] = Array.isArray(json) ? json.filter(isRecord) : [];
  const parts = isRecord(shown?.parts) ? shown.parts : {};
  expect(parts.intern).toMatchObject({ versie: 1, vervallen: false });
  expect(judge(String(shown?.bewijs), parts, key)).toMatchObject({ isProven: true });
  const changed = { ...parts, intern: { ...Object(parts.intern), door: 'x' } };
  expect(judge(String(shown?.bewijs), changed, key)).toMatchObject({ isProven: false });
});

it('answers 404 with a time to wait while the entry has no position, and 410 for deleted ones', async () => {
  const kept = actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', actie(newPerson()), HEADERS));
  const soon = await log.call(ALL, 'GET', `/verwerkingsacties/${kept.actieId}/bewijs`, undefined, HEADERS);
  if (soon.status !== 200) {
    expect(soon.json).toMatchObject({ status: 404, code: 'bewijs-volgt' });
    expect(soon.headers.get('retry-after')).toBe('1');
  }
  await log.call(ALL, 'DELETE', `/verwerkingsacties/${kept.actieId}`, undefined, HEADERS);
  const gone = await log.call(ALL, 'GET', `/verwerkingsacties/${kept.actieId}/bewijs`, undefined, HEADERS);
  expect(gone.json).toMatchObject({ status: 410, code: 'bewijs-verwijderd' });
  const [object] = Array.isArray(kept.verwerkteObjecten) ? kept.verwerkteObjecten.filter(isRecord) : [];
  const path = `/verwerkte-objecten/${object?.verwerktObjectId}/bewijs`;
  expect((await log.call(ALL, 'GET', path, undefined, HEADERS)).json).toMatchObject({ status: 410 });
});

it('has an entry for every version: of a change, of a change to a whole processing, with unusual values, and of an LDV line', async () => {
  const odd = {
    verwerkingId: '48086BF2-11B7-4603-9526-67D7C3BB6587',
    tijdstip: '2026-01-15T13:35:42.123+01:00',
    actieNaam: 'Één “naam” \u{1f600} \u2028',
    verwerkteObjecten: [],
    systeem: null,
    soortAfnemerId: 'BSN',
    afnemerId: newPerson(),
  };
  const kept = actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', actie('x', odd), HEADERS));
  const path = `/verwerkingsacties/${kept.actieId}`;
  expect((await log.call(ALL, 'PUT', path, actie(newPerson(), { ...odd, systeem: 'Balie' }), HEADERS)).status).toBe(
    200,
  );
  for (const change of [{ bewaartermijn: 'P2Y' }, { vertrouwelijkheid: 'vertrouwelijk' }]) {
    const processing = `/verwerkingsacties?verwerkingId=${odd.verwerkingId.toLowerCase()}`;
    expect((await log.call(ALL, 'PATCH', processing, change, HEADERS)).status).toBe(204);
  }
  await proofOf(ALL, `${path}/bewijs`);
  const { rows } = await client.query(
    'select versie from verwerkingenlog.versies where proof_number is null or seed is null',
  );
  expect(rows).toEqual([]);
  expect(await verify()).toMatchObject({ code: 0, faults: [], logs: [{ unproven: 0 }] });
});

it('reports changes by someone with all database privileges', async () => {
  const kept = actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', actie(newPerson()), HEADERS));
  await proofOf(ALL, `/verwerkingsacties/${kept.actieId}/bewijs`);
  const change = (text: string) => client.query(text, [kept.actieId]);
  await change(`update verwerkingenlog.versies set gebruiker = 'niemand' where actie_id = $1`);
  const changed = await verify();
  expect(changed).toMatchObject({
    code: 1,
    faults: [{ name: `version 1 of ${kept.actieId}`, fault: 'is not what was logged' }],
  });
  await change(`update verwerkingenlog.versies set gebruiker = '1234' where actie_id = $1`);
  expect(await verify()).toMatchObject({ code: 0, faults: [] });
});

it('proves nothing by an older checkpoint, a truncated path, or swapped salts', async () => {
  const post = async () => actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', actie(newPerson()), HEADERS));
  const first = await proofOf(ALL, `/verwerkingsacties/${(await post()).actieId}/bewijs`);
  const { actieId } = await post();
  const proof = parseProof(await proofOf(ALL, `/verwerkingsacties/${actieId}/bewijs`));
  const read = await log.call(ALL, 'GET', `/verwerkingsacties/${actieId}`, undefined, HEADERS);
  const parts = partsOf(read.json);
  const verdict = (change: Partial<Proof>) => judge(formatProof({ ...proof, ...change }), parts, key);
  expect(verdict({})).toMatchObject({ isProven: true });
  // Also signed, but for a tree that did not have this leaf yet.
  const older = parseProof(first).checkpoint;
  expect(checkpointIn(older).size).toBeLessThanOrEqual(proof.index);
  expect(verdict({ checkpoint: older })).toMatchObject({ isProven: false });
  expect(verdict({ checkpoint: older, index: parseProof(first).index })).toMatchObject({ isProven: false });
  for (const hashes of [proof.hashes.slice(0, -1), proof.hashes.slice(1), []])
    expect(verdict({ hashes }), `${hashes.length} hashes`).toMatchObject({ isProven: false });
  const extra: unknown = JSON.parse(Buffer.from(proof.extra ?? []).toString());
  const disclosed = isRecord(extra) && isRecord(extra.parts) ? extra.parts : {};
  const swapped = { ...disclosed, basis: disclosed.aanvullend, aanvullend: disclosed.basis };
  expect(verdict({ extra: Buffer.from(JSON.stringify({ ...Object(extra), parts: swapped })) })).toMatchObject({
    isProven: false,
  });
});
