/** A log with three witnesses of ours: two are enough, one is down or lies, and one that lags behind catches up. */
import { createServer, type Server } from 'node:http';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/time.ts';
import { EMPTY_ROOT, proveConsistency } from '../../../src/proof/tlog/merkle.ts';
import {
  createSigner,
  formatCheckpoint,
  formatNote,
  openNote,
  type VerifierKey,
  WITNESS_KEY,
} from '../../../src/proof/tlog/note.ts';
import { parsePolicy } from '../../../src/proof/tlog/policy.ts';
import { createWitnessClient, type WitnessClient } from '../../../src/proof/witness/client.ts';
import { type GrownTree, growTree } from '../tlog/grown-tree.ts';
import { judgeByPolicy } from '../tlog/judge-by-policy.ts';
import { startWitness, type TestWitness } from './witness-server.ts';

const log = createSigner('log.example/proof', Buffer.alloc(32, 1));
const impostor = createSigner('liar.example', Buffer.alloc(32, 33), WITNESS_KEY);
const stopping = new AbortController().signal;
let tree: GrownTree;
let witnesses: TestWitness[];
/** Answers each request as set. */
let liar: Server;
let lie: (body: string) => { status: number; type?: string; body: string };
let liarUrl: string;
const clients: WitnessClient[] = [];

beforeAll(async () => {
  tree = await growTree(100);
  witnesses = await Promise.all(
    ['a', 'b', 'c'].map((name) => startWitness({ name: `${name}.example`, logKeys: [log.key] })),
  );
  liar = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => {
      body += piece.toString();
    });
    request.on('end', () => {
      const answer = lie(body);
      response.writeHead(answer.status, { 'content-type': answer.type ?? 'text/plain' }).end(answer.body);
    });
  });
  await new Promise<void>((listening) => liar.listen(0, '127.0.0.1', listening));
  const address = liar.address();
  liarUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});

afterAll(async () => {
  await Promise.all([...clients.map((client) => client.close()), ...witnesses.map((witness) => witness.stop())]);
  liar.close();
});

function checkpoint(size: number): string {
  const text = formatCheckpoint({ origin: log.key.name, size, root: tree.roots[size] ?? EMPTY_ROOT });
  return formatNote(text, [log.sign(text)]);
}

/** A checkpoint that the log signed for another tree. */
function fork(size: number): string {
  const other = formatCheckpoint({ origin: log.key.name, size, root: Buffer.alloc(32, 7) });
  return formatNote(other, [log.sign(other)]);
}

function policyOf(members: readonly { key: VerifierKey; prefix: string }[]) {
  const lines = members.map(({ key, prefix }, place) => `witness w${place} ${key.text} ${prefix}`);
  const group = `group all-of-us ${Math.min(2, members.length)} ${members.map((_, place) => `w${place}`).join(' ')}`;
  return [`log ${log.key.text}`, ...lines, group, 'quorum all-of-us'].join('\n');
}

function client(members: readonly { key: VerifierKey; prefix: string }[]) {
  const metrics = new Registry();
  const warnings: object[] = [];
  const made = createWitnessClient({
    policy: parsePolicy(policyOf(members)),
    proveConsistency: (_origin, oldSize, newSize) => proveConsistency(oldSize, newSize, tree.read),
    metrics,
    log: { warn: (fields: object) => void warnings.push(fields) },
    clock: systemClock,
    stopping,
  });
  clients.push(made);
  return { ...made, metrics, warnings };
}

it('gets the cosignatures of all, and again as the tree grows', async () => {
  const asked = client(witnesses);
  for (const size of [10, 10, 25, 26]) {
    const { note, isQuorum, missing } = await asked.cosign(checkpoint(size));
    expect({ isQuorum, missing }).toEqual({ isQuorum: true, missing: [] });
    expect(openNote(note, [log.key, ...witnesses.map(({ key }) => key)]).verified).toHaveLength(4);
    expect(judgeByPolicy(note, policyOf(witnesses))).toHaveProperty('cosignatures');
  }
  expect(await asked.metrics.metrics()).toContain('koppelvlak_proof_witness_quorum{origin="log.example/proof"} 1');
});

it('catches up from the size that a witness names: a new process knows nothing about earlier ones', async () => {
  const asked = client(witnesses);
  expect(await asked.cosign(checkpoint(40))).toMatchObject({ isQuorum: true, missing: [] });
  expect(asked.warnings).toEqual([]);
});

it('manages with two of three; the one that is down is asked again later, and then catches up', async () => {
  const [first, second, third] = witnesses;
  if (first === undefined || second === undefined || third === undefined) throw new Error('three witnesses');
  const away = { status: 503, body: '' };
  lie = () => away;
  // An address that forwards to the third witness only once it is back.
  const proxied = { key: third.key, prefix: liarUrl };
  const asked = client([first, second, proxied]);
  const { isQuorum, missing, note } = await asked.cosign(checkpoint(50));
  expect({ isQuorum, missing }).toEqual({ isQuorum: true, missing: ['w2'] });
  expect(openNote(note, [log.key, first.key, second.key]).verified).toHaveLength(3);
  expect(await asked.metrics.metrics()).toContain('{witness="w2",result="failed"} 1');
  const direct = client([first, second, third]);
  expect(await direct.cosign(checkpoint(50))).toMatchObject({ missing: [] });
  let calls = 0;
  lie = () => {
    calls += 1;
    return away;
  };
  await asked.cosign(checkpoint(52));
  expect(calls).toBe(1);
});

it('asks what witnesses have cosigned without showing them anything new, and learns when that is not continued', async () => {
  const members = witnesses.slice(0, 2);
  const [first] = members;
  if (first === undefined) throw new Error('no witness');
  await client(members).cosign(checkpoint(55));
  const asked = client(witnesses);
  expect(await asked.confirm(checkpoint(56))).toMatchObject({ answered: 3, confirmed: 3, contradiction: undefined });
  // One that does not know a log is not given its checkpoint: later it would confirm what it got from here.
  const other = await startWitness({ name: 'new.example', logKeys: [log.key] });
  for (const _ of [1, 2])
    expect(await client([first, other]).confirm(checkpoint(56))).toMatchObject({ answered: 2, confirmed: 1 });
  expect(other.outside.size).toBe(0);
  await other.stop();
  // Fewer leaves than it has cosigned, and as many different ones.
  expect(await asked.confirm(checkpoint(54))).toMatchObject({ contradiction: { known: 56 } });
  expect((await client([first]).confirm(fork(56))).contradiction).toEqual({ witness: 'w0' });
  expect((await client([first]).confirm(fork(58))).contradiction).toEqual({ witness: 'w0' });
  expect((await client([first]).cosign(fork(58))).contradiction).toEqual({ witness: 'w0' });
});

it('remembers a contradiction while the witness is down, until it confirms', async () => {
  lie = () => ({ status: 409, type: 'text/x.tlog.size', body: '90\n' });
  const asked = client([{ key: impostor.key, prefix: liarUrl }]);
  expect(await asked.confirm(checkpoint(70))).toMatchObject({ contradiction: { known: 90 } });
  lie = () => ({ status: 503, body: '' });
  for (const _ of [1, 2]) expect(await asked.confirm(checkpoint(70))).toMatchObject({ contradiction: { known: 90 } });
  lie = (body) => ({ status: 200, body: impostor.sign(text(body), seconds()) });
  expect(await asked.confirm(checkpoint(70))).toMatchObject({ confirmed: 1, contradiction: undefined });
});

it('does not ask again for cosignatures that the checkpoint already has', async () => {
  const { note } = await client(witnesses).cosign(checkpoint(57));
  const other = client(witnesses);
  expect(await other.cosign(note)).toMatchObject({ note, isQuorum: true, missing: [] });
  expect(await other.metrics.metrics()).not.toContain('result="cosigned"');
});

it('reports a missing quorum, and continues', async () => {
  const [first] = witnesses;
  if (first === undefined) throw new Error('no witness');
  const nobody = [8, 9].map((byte) => ({
    key: createSigner(`n${byte}`, Buffer.alloc(32, byte), WITNESS_KEY).key,
    prefix: 'http://127.0.0.1:1',
  }));
  const asked = client([first, ...nobody]);
  expect(await asked.cosign(checkpoint(60))).toMatchObject({ isQuorum: false, missing: ['w1', 'w2'] });
  expect(await asked.metrics.metrics()).toContain('koppelvlak_proof_witness_quorum{origin="log.example/proof"} 0');
});

const text = (body: string): string => `${body.slice(body.indexOf('\n\n') + 2).split('\n\n')[0]}\n`;
const seconds = (): number => Math.floor(Date.now() / 1000);

it.each<[string, typeof lie]>([
  ['a cosignature over another text', () => ({ status: 200, body: impostor.sign('x\n1\nx\n', seconds()) })],
  [
    'a cosignature of another key',
    (body) => ({
      status: 200,
      body: createSigner('liar.example', Buffer.alloc(32, 34), WITNESS_KEY).sign(text(body), seconds()),
    }),
  ],
  ['a cosignature from the future', (body) => ({ status: 200, body: impostor.sign(text(body), seconds() + 86_400) })],
  ['a cosignature without a time', (body) => ({ status: 200, body: impostor.sign(text(body), 0) })],
  [
    'another text before the signature',
    (body) => ({ status: 200, body: `x\n\n${impostor.sign(text(body), seconds())}` }),
  ],
  ['nothing', () => ({ status: 200, body: '' })],
  ['too much', () => ({ status: 200, body: 'a'.repeat(100_000) })],
  [
    'a different size each time',
    () => ({ status: 409, type: 'text/x.tlog.size', body: `${1 + Math.floor(Math.random() * 60)}\n` }),
  ],
  ['a size over ours', () => ({ status: 409, type: 'text/x.tlog.size', body: '100000\n' })],
  ['no size', () => ({ status: 409, type: 'text/x.tlog.size', body: 'many\n' })],
  ['a redirect', () => ({ status: 302, body: '' })],
])('accepts nothing from a witness that answers with %s', async (_what, answer) => {
  lie = answer;
  const asked = client([...witnesses.slice(0, 2), { key: impostor.key, prefix: liarUrl }]);
  const { note, isQuorum, missing } = await asked.cosign(checkpoint(70));
  expect({ isQuorum, missing }).toEqual({ isQuorum: true, missing: ['w2'] });
  expect(note).not.toContain('liar.example');
  expect(openNote(note, [log.key, ...witnesses.map(({ key }) => key)]).verified).toHaveLength(3);
  expect(asked.warnings).toHaveLength(1);
});
