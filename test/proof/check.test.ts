/** `koppelvlak proof`: checking a record offline, and following other parties' logs. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveSeed } from '../../src/proof/keys.ts';
import { EMPTY_ROOT } from '../../src/proof/tlog/merkle.ts';
import { createSigner, formatCheckpoint, formatNote, WITNESS_KEY } from '../../src/proof/tlog/note.ts';
import { parseTilePath } from '../../src/proof/tlog/tiles.ts';
import { callProgram } from '../support/program.ts';
import { ACTIE, logKey, type Proven, proveRecord } from './proven-record.ts';
import { type GrownTree, growTree } from './tlog/grown-tree.ts';

let directory: string;
const witness = createSigner('buurgemeente.example/w', Buffer.alloc(32, 3), WITNESS_KEY);
let whole: Proven;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'proof-'));
  whole = await proveRecord(ACTIE, () => true, [witness]);
});
afterAll(() => rm(directory, { recursive: true }));

/** Checks texts as files. */
async function check(proof: string, record: unknown, ...more: string[]) {
  const [proofPath, recordPath] = [join(directory, 'a.tlog-proof'), join(directory, 'a.json')];
  await writeFile(proofPath, proof);
  await writeFile(recordPath, typeof record === 'string' ? record : JSON.stringify(record));
  return await callProgram(['proof', 'check', proofPath, recordPath, ...more], {});
}

describe('proof check', () => {
  const key = ['--key', logKey.key.text];

  it('reports what is proven, and what is not', async () => {
    const { status, stdout } = await check(whole.proof, whole.record, ...key);
    expect(status).toBe(0);
    expect(stdout).toContain(`proven: this record is in ${logKey.key.name}`);
    expect(stdout).toContain('not proven: that nothing was left out');
    expect(stdout).toContain('2 parts of the record');
  });

  it('accepts any order and spelling of JSON', async () => {
    const turned = Object.fromEntries(Object.entries(ACTIE).toReversed());
    expect((await check(whole.proof, JSON.stringify(turned, undefined, 3), ...key)).status).toBe(0);
  });

  it('checks a partial view', async () => {
    const { systeem, gebruiker, gegevensbron, ...limited } = ACTIE;
    expect([systeem, gebruiker, gegevensbron]).toHaveLength(3);
    const { proof } = await proveRecord(ACTIE, (name) => name === 'basis' || name.endsWith('2'));
    const record = { ...limited, verwerkteObjecten: ACTIE.verwerkteObjecten.slice(1, 2) };
    expect(await check(proof, record, ...key)).toMatchObject({ status: 0 });
    const [, own] = ACTIE.verwerkteObjecten;
    const { verwerkteObjecten, ...actie } = limited;
    expect(verwerkteObjecten).toHaveLength(3);
    expect(await check(proof, { ...own, verwerkingsactie: actie }, ...key)).toMatchObject({ status: 0 });
    // As the answer for an object: its action contains it again.
    const within = (object: unknown) => ({ ...own, verwerkingsactie: { ...actie, verwerkteObjecten: [object] } });
    expect(await check(proof, within(own), ...key)).toMatchObject({ status: 0 });
    expect(await check(proof, within({ ...own, objectId: '1' }), ...key)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('not the one that its action has'),
    });
    expect(await check(proof, ACTIE, ...key)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('does not cover'),
    });
  });

  it.each<[string, unknown, string]>([
    ['a member was changed', { ...ACTIE, actieNaam: 'Iets anders' }, 'not in the tree'],
    ['a member was added', { ...ACTIE, toelichting: 'x' }, 'not in the tree'],
    ['a member was left out', { ...ACTIE, bewaartermijn: undefined }, 'not in the tree'],
    ['an object was left out', { ...ACTIE, verwerkteObjecten: ACTIE.verwerkteObjecten.slice(1) }, 'lacks the part'],
    ['it is not JSON', '{', 'is not JSON'],
    ['it is not an object', '[]', 'not a JSON object'],
    ['it is another kind of record', { a: 1 }, 'lacks the part'],
  ])('refuses a record when %s', async (_what, record, reason) => {
    const { status, stdout, stderr } = await check(whole.proof, record, ...key);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(reason);
  });

  it('refuses a modified proof, one of another record, or of another log', async () => {
    const other = await proveRecord({ ...ACTIE, actieNaam: 'Andere' }, () => true);
    expect((await check(other.proof, ACTIE, ...key)).stderr).toContain('not in the tree');
    const impostor = createSigner(logKey.key.name, Buffer.alloc(32, 9));
    expect((await check(whole.proof, ACTIE, '--key', impostor.key.text)).stderr).toContain('no known key');
    expect((await check(whole.proof.replace('index 123', 'index 124'), ACTIE, ...key)).stderr).toContain(
      'not in the tree',
    );
    expect((await check('nothing', ACTIE, ...key)).stderr).toContain('no empty line');
  });

  it('requires the witnesses whose keys are given', async () => {
    const keys = [...key, '--key', witness.key.text];
    const { status, stdout } = await check(whole.proof, ACTIE, ...keys);
    expect(status).toBe(0);
    expect(stdout).toContain('witness: buurgemeente.example/w, 2025-06-15');
    expect(JSON.parse((await check(whole.proof, ACTIE, ...keys, '--json')).stdout)).toMatchObject({
      log: logKey.key.name,
      size: 300,
      hiddenParts: 2,
      witnesses: [{ name: 'buurgemeente.example/w' }],
    });
    const unwitnessed = await proveRecord(ACTIE, () => true);
    expect(await check(unwitnessed.proof, ACTIE, ...keys)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('buurgemeente.example/w did not cosign'),
    });
  });

  it('requires a key from somewhere', async () => {
    expect(await check(whole.proof, ACTIE)).toMatchObject({ status: 2, stderr: expect.stringContaining('--key') });
    expect(await check(whole.proof, ACTIE, '--key', 'a+b')).toMatchObject({ status: 2 });
    expect(await check(whole.proof, ACTIE, '--key', witness.key.text)).toMatchObject({ status: 1 });
  });
});

it('proof key makes 32 bytes, different each time', async () => {
  const [first, second] = await Promise.all([callProgram(['proof', 'key'], {}), callProgram(['proof', 'key'], {})]);
  expect(Buffer.from(first.stdout.trim(), 'base64')).toHaveLength(32);
  expect(first.stdout).not.toBe(second.stdout);
  expect(deriveSeed(Buffer.from(first.stdout.trim(), 'base64'), 'a')).toHaveLength(32);
});

describe('proof monitor', () => {
  let server: Server;
  let url: string;
  let tree: GrownTree;
  let fork: GrownTree;
  let served: { tree: GrownTree; checkpoint: string };
  let state = 0;

  const signed = (of: GrownTree, size: number): string => {
    const text = formatCheckpoint({ origin: logKey.key.name, size, root: of.roots[size] ?? EMPTY_ROOT });
    return formatNote(text, [logKey.sign(text)]);
  };

  beforeAll(async () => {
    tree = await growTree(700);
    fork = await growTree(700, (index) => Buffer.from(index === 10 ? 'changed' : `entry ${index}`));
    server = createServer(async (request, response) => {
      const path = (request.url ?? '').slice('/proof/v1/verwerkingen/'.length);
      const tile = parseTilePath(path);
      if (path === 'checkpoint') response.end(served.checkpoint);
      else if (path === 'key') response.end(`${logKey.key.text}\n`);
      else if (tile !== undefined) response.end((await served.tree.readTiles([tile]))[0]);
      else response.writeHead(404).end();
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/proof/v1/verwerkingen`;
  });
  afterAll(() => server.close());

  const watch = (path: string, ...more: string[]) =>
    callProgram(['proof', 'monitor', url, '--once', '--state', path, ...more], {});
  const newState = (): string => {
    state += 1;
    return join(directory, `state-${state}.json`);
  };

  it('follows a growing log, and keeps what it saw', async () => {
    const path = newState();
    for (const [size, said] of [
      [5, 'first time'],
      [5, 'as before'],
      [300, 'continue the 5'],
      [700, 'continue the 300'],
      [300, 'older'],
    ] as const) {
      served = { tree, checkpoint: signed(tree, size) };
      const { status, stdout, stderr } = await watch(path);
      expect([status, stderr]).toEqual([0, '']);
      expect(stdout).toContain(said);
    }
    expect(JSON.parse(await readFile(path, 'utf8'))[url].checkpoint).toBe(signed(tree, 700));
    expect(JSON.parse((await watch(path, '--json')).stdout)).toMatchObject({ logs: [{ url, kind: 'older' }] });
    expect(await watch(path, '--key', 'a+b')).toMatchObject({ status: 2, stderr: expect.stringContaining('--key') });
  });

  it.each([
    ['larger', 600],
    ['as large', 300],
    ['smaller', 200],
  ])('reports a fork that is %s, and keeps both checkpoints', async (_what, size) => {
    const path = newState();
    served = { tree, checkpoint: signed(tree, 300) };
    expect((await watch(path)).status).toBe(0);
    served = { tree: size < 300 ? tree : fork, checkpoint: signed(fork, size) };
    const { status, stderr } = await watch(path);
    expect(status).toBe(1);
    expect(stderr).toContain('contradicts itself');
    expect(JSON.parse(await readFile(path, 'utf8'))[url].conflict).toEqual([signed(tree, 300), signed(fork, size)]);
    expect((await watch(path)).stderr).toContain('contradicted itself before');
  });

  it('reports tiles that do not match the signed tree', async () => {
    served = { tree: fork, checkpoint: signed(tree, 300) };
    expect(await watch(newState())).toMatchObject({ status: 1, stdout: expect.stringContaining('tiles') });
  });

  it('refuses a key other than the given one, or the one of the first time', async () => {
    served = { tree, checkpoint: signed(tree, 300) };
    const impostor = createSigner(logKey.key.name, Buffer.alloc(32, 9));
    expect(await watch(newState(), '--key', impostor.key.text)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('not one of those given'),
    });
    expect((await watch(newState(), '--key', logKey.key.text)).status).toBe(0);
    const text = formatCheckpoint({ origin: logKey.key.name, size: 5, root: tree.roots[5] ?? EMPTY_ROOT });
    served = { tree, checkpoint: formatNote(text, [impostor.sign(text)]) };
    expect(await watch(newState())).toMatchObject({ status: 1, stdout: expect.stringContaining('no known key') });
  });
});
