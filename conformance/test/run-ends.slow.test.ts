/** A run from the command line ends at its limit and on SIGTERM, whatever it meets. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { clientCredentialsToken } from '../../src/lib/outbound/client-credentials.ts';
import { openStage, type Stage } from '../raadsfeed-consumer/played-feed.ts';
import { makeKeys, type RunKeys } from '../requester/keys.ts';
import { startConformance } from './program.ts';

/** Three seconds, in minutes. */
const LIMIT = ['--limit', '0.05'];
/** Time for undoing writes, and for a busy machine. */
const MOST_MS = 45_000;

const servers: Server[] = [];
let dir: string;
let keys: RunKeys;
let silent: string;
let trickling: string;
let stage: Stage;

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'koppelvlak-conformance-'));
  keys = await makeKeys(dir);
  silent = await listen(() => undefined);
  trickling = await listen((_, response) => void setInterval(() => response.write(' '), 200).unref());
  stage = await openStage(0);
  const client = { tokenUrl: `${trickling}/token`, clientId: 'test', clientSecret: 'geheim' };
  await writeFile(join(dir, 'tokens.json'), JSON.stringify({ 'read:normal': 'een-token', 'create:normal': client }));
  await writeFile(join(dir, 'token.txt'), 'een-token');
  await writeFile(join(dir, 'trickling.json'), JSON.stringify({ 'create:normal': client }));
});
afterAll(async () => {
  await Promise.all([stage?.close(), keys?.close()]);
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await rm(dir, { recursive: true, force: true });
});

/** A program that answers nothing, keeps its input open, does not exit, and starts another one like it. */
const STUBBORN = `sh -c "trap '' TERM; sleep 301 & sleep 301; sleep 301"`;

const signed = ['--key', 'requester-key.pem', '--chain', 'requester-chain.pem', '--trust', 'root.pem'];
const supplier = (url: string, ...more: string[]) => [
  'gegevens',
  `${url}/gegevens`,
  '--variant',
  'shv',
  ...signed,
  ...more,
];
const byToken = ['--token-file', 'token.txt'];

/** The endless things that each suite can meet. */
const MEETINGS: readonly (readonly [string, () => readonly string[]])[] = [
  ['a supplier that does not answer', () => supplier(silent, ...byToken)],
  ['a supplier that answers byte by byte', () => supplier(trickling, ...byToken)],
  ['a publisher that does not answer', () => ['raadsfeed', silent]],
  ['a publisher that answers byte by byte', () => ['raadsfeed', trickling]],
  ['a log that does not answer', () => ['verwerkingenlog', silent, '--tokens', 'tokens.json']],
  ['a log that answers byte by byte', () => ['verwerkingenlog', trickling, '--tokens', 'tokens.json']],
  ['an intake that does not answer', () => ['ldv', silent, ...byToken]],
  ['an authorization server that answers byte by byte', () => ['ldv', silent, '--token-file', 'trickling.json']],
  ['a requester that does not answer', () => ['gegevens-requester', '--variant', 'shv', '--command', STUBBORN]],
  ['a requester that sends no requests', () => ['gegevens-requester', '--variant', 'shv']],
  ['a consumer that does not exit', () => ['raadsfeed-consumer', '--state', STUBBORN]],
  ['a consumer that does not answer', () => ['raadsfeed-consumer', '--program', STUBBORN]],
  ['an aggregator that does not answer', () => ['raadsfeed-consumer', '--feed', silent]],
  [
    'an aggregator that cannot be given a feed',
    () => ['raadsfeed-consumer', '--feed', stage.open().url, '--add', STUBBORN],
  ],
  [
    'a publishing command that does not exit',
    () => ['raadsfeed', stage.open().url, '--publish', STUBBORN, '--only', 'P-NEW'],
  ],
];

const conformance = (words: readonly string[]) =>
  startConformance([...words, '--rate', '100'], { PATH: process.env.PATH ?? '' }, { cwd: dir });

describe('koppelvlak-conformance', () => {
  it.concurrent.each(MEETINGS)('ends at its limit with %s', async (_, words) => {
    const began = performance.now();
    const { status, stderr } = await conformance([...words(), ...LIMIT]).ended;
    expect([status, stderr]).toEqual([2, expect.stringContaining('the run reached its limit of 0.1 minutes')]);
    expect(performance.now() - began).toBeLessThan(MOST_MS);
  });

  it.concurrent.each(MEETINGS)('ends on SIGTERM with %s', async (_, words) => {
    const { child, output, ended } = conformance(words());
    await vi.waitFor(() => expect(output().stderr).toContain('testing'), 60_000);
    // By then it is waiting for something.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const began = performance.now();
    child.kill('SIGTERM');
    const { status, stderr } = await ended;
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^koppelvlak-conformance: interrupted$/m)]);
    expect(performance.now() - began).toBeLessThan(MOST_MS);
  });

  it('ends when a page would keep the masking of secrets busy for minutes', async () => {
    const page = JSON.stringify({ records: [], cursor: 'eyJ-'.repeat(250_000), head: 0, hasMore: true, next: null });
    const document = {
      rol: 'bronhouder',
      resourceTypes: ['Vergadering'],
      historieVanaf: '2026-01-01',
      retentie: 'permanent',
      organisaties: [{ organisatiecode: 'gm9901', naam: 'Voorbeeld', herkomstSoort: 'eigen' }],
    };
    const url = await listen((request, response) => {
      if (request.url?.includes('/feed')) response.end(page);
      else response.end(JSON.stringify({ ...document, feedUrl: `${url}/feed`, snapshotUrl: `${url}/snapshot` }));
    });
    const { status, stdout } = await conformance(['raadsfeed', url, '--json', '--limit', '0.2']).ended;
    expect([status, JSON.parse(stdout).conforms]).toEqual([1, false]);
  });

  it('is stopped when its own thread is blocked', async () => {
    const module = new URL('../commands/run-end.ts', import.meta.url);
    const blocked = `import { watchProcess } from '${module}'; watchProcess(2000); setTimeout(() => { for (;;); }, 500);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', blocked], {
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 60_000,
    });
    let stderr = '';
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    await once(child, 'close');
    expect([child.signalCode, stderr]).toEqual(['SIGKILL', expect.stringContaining('the run was blocked')]);
  });

  it.concurrent('stops waiting for a token that arrives byte by byte', async () => {
    const credentials = { tokenUrl: `${trickling}/token`, clientId: 'test', clientSecret: 'geheim', scopes: [] };
    const began = performance.now();
    await expect(clientCredentialsToken(credentials)()).rejects.toThrow('the authorization server gave no token');
    expect(performance.now() - began).toBeLessThan(MOST_MS);
  });
});
