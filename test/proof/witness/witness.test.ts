/** The witness over HTTP: what it vouches for, what it refuses, and that it never vouches for two forks. */
import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EMPTY_ROOT, proveConsistency } from '../../../src/proof/tlog/merkle.ts';
import { createSigner, formatCheckpoint, formatNote, openNote } from '../../../src/proof/tlog/note.ts';
import { formatAddCheckpoint } from '../../../src/proof/witness/server.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { type GrownTree, growTree } from '../tlog/grown-tree.ts';
import { askGo, hasGo, WITHOUT_GO } from '../tlog/judge.ts';
import { startWitness, type TestWitness } from './witness-server.ts';

const SEED = Buffer.alloc(32, 1);
const origins = Array.from({ length: 9 }, (_, number) => `log.example/${number}`);
const logs = origins.map((origin) => createSigner(origin, SEED));

let database: TestDatabase;
let witness: TestWitness;
let twin: TestWitness;
let tree: GrownTree;
let fork: GrownTree;

beforeAll(async () => {
  database = await createDatabase();
  const logKeys = logs.map(({ key }) => key);
  witness = await startWitness({ name: 'witness.example/w', logKeys, databaseUrl: database.url });
  // Another instance of the same witness: the same database, a separate file.
  twin = await startWitness({ name: 'witness.example/w', logKeys, databaseUrl: database.url });
  tree = await growTree(64);
  fork = await growTree(64, (index) => Buffer.from(index === 10 ? 'changed' : `entry ${index}`));
});

afterAll(async () => {
  await Promise.all([witness.stop(), twin.stop()]);
  await database.drop();
});

function checkpoint(origin: string, size: number, of: GrownTree = tree): string {
  const text = formatCheckpoint({ origin, size, root: of.roots[size] ?? EMPTY_ROOT });
  return formatNote(text, [createSigner(origin, SEED).sign(text)]);
}

async function send(body: string, to = witness) {
  const answer = await fetch(`${to.prefix}/add-checkpoint`, { method: 'POST', body });
  return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await answer.text() };
}

async function add(origin: string, oldSize: number, size: number, of: GrownTree = tree, to = witness) {
  const proof = await proveConsistency(Math.min(oldSize, size), size, of.read);
  return await send(formatAddCheckpoint({ oldSize, proof, note: checkpoint(origin, size, of) }), to);
}

describe('a witness', () => {
  it('cosigns a continuation of the last checkpoint, and shows it with both signatures', async () => {
    const [origin = '', log] = [origins[0], logs[0]];
    const before = Math.floor(Date.now() / 1000);
    for (const [oldSize, size] of [
      [0, 0],
      [0, 5],
      [5, 5],
      [5, 64],
    ] as const) {
      const { status, text, type } = await add(origin, oldSize, size);
      expect([status, type]).toEqual([200, 'text/plain; charset=utf-8']);
      const note = checkpoint(origin, size);
      const opened = openNote(note + text, [witness.key]);
      expect(opened.verified[0]?.time).toBeGreaterThanOrEqual(before);
    }
    const shown = await fetch(`${witness.prefix}/${hash('sha256', origin, 'hex')}/checkpoint`);
    expect(shown.status).toBe(200);
    const note = await shown.text();
    if (log === undefined) throw new Error('no log');
    expect(openNote(note, [log.key, witness.key]).verified).toHaveLength(2);
    expect(note).toContain('\n64\n');
    expect(witness.outside.get(origin)).toBe(note);
    expect((await fetch(`${witness.prefix}/key`).then((answer) => answer.text())).trim()).toBe(witness.key.text);
  });

  it('answers 409 with the size that it knows', async () => {
    const origin = origins[1] ?? '';
    await add(origin, 0, 20);
    for (const [oldSize, size] of [
      [0, 30],
      [19, 30],
      [21, 30],
    ] as const) {
      expect(await add(origin, oldSize, size)).toEqual({ status: 409, type: 'text/x.tlog.size', text: '20\n' });
    }
    // Smaller than what it cosigned: also a conflict, never a step back.
    expect((await add(origin, 10, 15)).status).toBe(409);
  });

  it('answers 422 to a different history, a wrong proof, and an unexpected proof', async () => {
    const origin = origins[2] ?? '';
    await add(origin, 0, 20);
    expect((await add(origin, 20, 30, fork)).status).toBe(422);
    expect((await add(origin, 20, 20, fork)).status).toBe(422);
    const proof = await proveConsistency(20, 30, tree.read);
    const note = checkpoint(origin, 30);
    expect((await send(formatAddCheckpoint({ oldSize: 20, proof: proof.slice(1), note }))).status).toBe(422);
    const other = origins[3] ?? '';
    expect((await send(formatAddCheckpoint({ oldSize: 0, proof, note: checkpoint(other, 30) }))).status).toBe(422);
    const text = formatCheckpoint({ origin: other, size: 0, root: tree.roots[1] ?? EMPTY_ROOT });
    const empty = formatNote(text, [createSigner(other, SEED).sign(text)]);
    expect((await send(formatAddCheckpoint({ oldSize: 0, proof: [], note: empty }))).status).toBe(422);
    expect((await add(origin, 20, 30)).status).toBe(200);
  });

  it('answers 403 to a checkpoint that the log did not sign, 404 to an unknown log', async () => {
    const origin = origins[3] ?? '';
    const text = formatCheckpoint({ origin, size: 5, root: tree.roots[5] ?? EMPTY_ROOT });
    const impostor = createSigner(origin, Buffer.alloc(32, 7));
    const right = createSigner(origin, SEED);
    for (const lines of [
      [impostor.sign(text)],
      [right.sign(`${text}x\n`)],
      // One good signature beside one of the same key that does not verify.
      [right.sign(`${text}x\n`), right.sign(text)],
    ]) {
      expect((await send(formatAddCheckpoint({ oldSize: 0, proof: [], note: formatNote(text, lines) }))).status).toBe(
        403,
      );
    }
    expect((await add('unknown.example/log', 0, 5)).status).toBe(404);
    expect((await fetch(`${witness.prefix}/${hash('sha256', 'unknown.example/log', 'hex')}/checkpoint`)).status).toBe(
      404,
    );
    expect((await fetch(`${witness.prefix}/${hash('sha256', origins[8] ?? '', 'hex')}/checkpoint`)).status).toBe(404);
  });

  it('answers 400 to malformed requests, and 413 to large ones', async () => {
    const note = checkpoint(origins[3] ?? '', 5);
    for (const body of [
      'old 0\n',
      note,
      `old 00\n\n${note}`,
      `old -1\n\n${note}`,
      `old 0\nAAAA\n\n${note}`,
      `old 6\n\n${note}`,
      `old 0\n${'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n'.repeat(64)}\n${note}`,
      `old 0\n\n${note.replace('\n5\n', '\n05\n')}`,
    ]) {
      expect((await send(body)).status).toBe(400);
    }
    expect((await send('a'.repeat(400_000))).status).toBe(413);
    expect((await fetch(`${witness.prefix}/add-checkpoint`)).status).toBe(405);
    const bytes = await fetch(`${witness.prefix}/add-checkpoint`, { method: 'POST', body: Buffer.from([0xff, 0xfe]) });
    expect(bytes.status).toBe(400);
  });

  it('never vouches for two forks, even over two instances asked at once', async () => {
    const origin = origins[4] ?? '';
    await add(origin, 0, 8);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, turn) =>
        add(origin, 8, 30, turn % 2 === 0 ? tree : fork, turn % 4 < 2 ? witness : twin),
      ),
    );
    const cosigned = new Set(answers.flatMap(({ status }, turn) => (status === 200 ? [turn % 2] : [])));
    expect(cosigned.size).toBe(1);
    expect(answers.filter(({ status }) => status !== 200).every(({ status }) => status === 409)).toBe(true);
  });

  it('does not go back when its database does', async () => {
    const origin = origins[5] ?? '';
    await add(origin, 0, 20);
    await add(origin, 20, 40);
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('update proof.witnessed set size = 20, checkpoint = $2 where origin = $1', [
      origin,
      checkpoint(origin, 20),
    ]);
    await client.end();
    expect(await add(origin, 20, 30, fork)).toMatchObject({ status: 409, text: '40\n' });
    expect((await add(origin, 40, 41)).status).toBe(200);
  });

  it('does not answer before its state is outside the database', async () => {
    const origin = origins[6] ?? '';
    const { set } = witness.outside;
    witness.outside.set = () => {
      throw new Error('the disk is full');
    };
    try {
      expect((await add(origin, 0, 5)).status).toBe(500);
    } finally {
      witness.outside.set = set;
    }
    expect((await add(origin, 0, 6)).status).toBe(200);
  });
});

describe(`another implementation${WITHOUT_GO}`, () => {
  it.runIf(hasGo)('signs a checkpoint that our witness accepts, with its proof', async () => {
    const origin = origins[7] ?? '';
    const roots = [20, 50].map((size) => formatCheckpoint({ origin, size, root: tree.roots[size] ?? EMPTY_ROOT }));
    const { signed, consistency } = askGo({
      size: 64,
      seeds: { [origin]: SEED.toString('hex') },
      sign: roots,
      consistency: [[20, 50]],
    });
    const [first = '', second = ''] = signed.map((notes) => notes[origin]);
    expect((await send(`old 0\n\n${first}`)).status).toBe(200);
    const { status, text } = await send(['old 20', ...(consistency[0] ?? []), '', second].join('\n'));
    expect(status).toBe(200);
    expect(openNote(second + text, [witness.key]).verified).toHaveLength(1);
  });
});
