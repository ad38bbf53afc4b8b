/** Outside JSON that takes many times its size in memory once parsed, at every entry point. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAIN as CONFORMANCE } from '../../conformance/test/program.ts';
import type { Pool } from '../../src/database/pool.ts';
import { createAuthority } from '../../src/lib/authority/authority.ts';
import type { NewSource } from '../../src/raadsfeed/aggregator/plan-sources.ts';
import { saveSources } from '../../src/raadsfeed/aggregator/store/sources.ts';
import { waitForText } from '../demo/support.ts';
import { FakeSource } from '../raadsfeed/aggregator/fake-source.ts';
import { AGGREGATOR_ENV, issueKinds, sourceState } from '../raadsfeed/aggregator/support.ts';
import { servicePool } from '../raadsfeed/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { HOSTILE_SHAPES, hostileJson } from '../support/hostile-json.ts';
import { createMemoryGroup, startMeasured } from '../support/measured-program.ts';
import { callProgram, type ProgramOptions } from '../support/program.ts';
import { startTokens } from '../support/tokens.ts';

/** More than before, or than the same program takes for small input. */
const MOST_MB = 150;
const MOST_MS = 200;
const ANSWER_BYTES = 33_500_000;

const dir = mkdtempSync(join(tmpdir(), 'hostile-json-'));
let database: TestDatabase;
let pool: Pool;
let server: Server;
/** Bodies served at `/<name>/…`. */
const answers = new Map<string, { readonly status?: number; readonly type?: string; readonly gzip: Buffer }>();
let base: string;

beforeAll(async () => {
  database = await createDatabase();
  pool = servicePool(database.url, 2);
  writeFileSync(join(dir, 'rid'), 'rid-voor-de-proef\n');
  server = createServer((request, response) => {
    const {
      status = 200,
      type = 'application/json',
      gzip,
    } = answers.get(request.url?.split('/')[1] ?? '') ?? {
      status: 404,
      gzip: Buffer.alloc(0),
    };
    response.writeHead(status, { 'content-type': type, 'content-encoding': 'gzip' }).end(gzip);
    request.resume();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  base = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await pool.end();
  await database.drop();
  rmSync(dir, { recursive: true });
});

function serve(name: string, body: Buffer, more: { status?: number; type?: string } = {}): string {
  answers.set(name, { gzip: gzipSync(body), ...more });
  return `${base}/${name}`;
}

async function issuesOf(adres: string): Promise<string> {
  return (await callProgram(['bron', 'issues', adres], { DATABASE_URL: database.url, ...AGGREGATOR_ENV })).stdout;
}

/** Runs a program to completion. */
async function measure(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  options: ProgramOptions = {},
) {
  const program = startMeasured(args, env, options);
  const { status, stdout, stderr } = await program.ended;
  return { status, said: stdout + stderr, peakMb: program.peakMb(), longestMs: program.longestMs() };
}

/** By way in: small input has no shape. */
const smallRuns = new Map<string, Awaited<ReturnType<typeof measure>>>();

/** A program with hostile input took little more memory than one with small input, and its event loop kept turning. */
async function expectUnharmed(way: string, run: (isHostile: boolean) => ReturnType<typeof measure>): Promise<string> {
  const small = smallRuns.get(way) ?? (await run(false));
  smallRuns.set(way, small);
  const moreMb = (one: typeof small) => one.peakMb - small.peakMb;
  // Starting a program takes longer than `MOST_MS`.
  const moreMs = (one: typeof small) => one.longestMs - small.longestMs;
  let hostile = await run(true);
  // A busy machine collects garbage late, and stops a program for a while.
  for (let again = 0; again < 2 && (moreMb(hostile) >= MOST_MB || moreMs(hostile) >= MOST_MS); again += 1) {
    hostile = await run(true);
  }
  expect(moreMb(hostile)).toBeLessThan(MOST_MB);
  expect(moreMs(hostile)).toBeLessThan(MOST_MS);
  return `${hostile.status} ${hostile.said}`;
}

describe('a service in 512 MiB', () => {
  it('sets sources of each shape aside, continues with the others, and survives', async ({ annotate }) => {
    const group = createMemoryGroup(512);
    if (group === undefined) await annotate('this user may not create process groups: only the peak was measured');
    const sources = await Promise.all(HOSTILE_SHAPES.map((_shape, n) => new FakeSource(`gm990${n}`).listen()));
    const good = await new FakeSource('gm9909').listen();
    good.document('d-1');
    const program = startMeasured(['serve'], {
      ...AGGREGATOR_ENV,
      AREAS: 'raadsfeed',
      DATABASE_URL: database.url,
      PORT: '0',
      MANAGEMENT_PORT: '0',
      SHUTDOWN_DRAIN_MS: '0',
    });
    try {
      group?.add(program.child.pid);
      await saveSources(pool, [{ adres: good.url, soort: 'feed', organisatiecodes: [] }]);
      await waitForText(program, '"msg":"listening"');
      await expect.poll(async () => (await sourceState(pool, good.url)).behind).toBe(0);
      const before = program.begin();
      for (const [n, source] of sources.entries()) {
        const body = gzipSync(hostileJson(HOSTILE_SHAPES[n] ?? 'nested lists', ANSWER_BYTES));
        source.rule = ({ path, response }) => {
          if (path === '/') return false;
          response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(body);
          return true;
        };
        await saveSources(pool, [{ adres: source.url, soort: 'feed', organisatiecodes: [] }]);
      }
      for (const source of sources) {
        // Repeatedly, as a failing source is read.
        await expect.poll(async () => (await sourceState(pool, source.url)).mislukt).toBeGreaterThan(3);
        const state = await sourceState(pool, source.url);
        expect(state.foutSoort).toBe('too-large');
        expect(await issueKinds(pool, state.id)).toContain('too-large');
      }
      good.document('d-2');
      const held = "select from raadsfeed.current_records where bronidentificatie = 'd-2'";
      await expect.poll(async () => (await pool.query(held)).rowCount).toBe(1);
      expect(program.child.exitCode ?? program.child.signalCode).toBeNull();
      expect(program.peakMb() - before).toBeLessThan(MOST_MB);
      expect(program.longestMs()).toBeLessThan(MOST_MS);
    } finally {
      program.child.kill('SIGKILL');
      await program.ended;
      group?.remove();
      for (const source of [...sources, good]) await source.close();
    }
  });
});

describe('a body', () => {
  const MIB = 1_048_576;

  it('of each shape, as large as allowed, is refused by the log and by the intake of lines', async () => {
    const tokens = await startTokens();
    const program = startMeasured(['serve'], {
      ...tokens.env,
      AREAS: 'verwerkingenlog',
      DATABASE_URL: database.url,
      VERWERKINGENLOG_KEY: `proef:${Buffer.alloc(32, 1).toString('base64')}`,
      PORT: '0',
      MANAGEMENT_PORT: '0',
      SHUTDOWN_DRAIN_MS: '0',
    });
    try {
      await waitForText(program, '"msg":"listening"');
      const { url } = JSON.parse(
        program
          .output()
          .stdout.split('\n')
          .find((line) => line.includes('"msg":"listening"')) ?? '',
      );
      const headers = { ...(await tokens.bearer(['create:normal'])), 'content-type': 'application/json' };
      const post = async (path: string, body: Buffer): Promise<number> => {
        const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: new Uint8Array(body) });
        await response.arrayBuffer();
        return response.status;
      };
      const ways = [
        ['/verwerkingenlog/v1/verwerkingsacties', MIB, [400]],
        ['/ldv/v1/traces', 16 * MIB, [400, 413]],
      ] as const;
      for (const [path] of ways) expect(await post(path, Buffer.from('{}'))).toBeLessThan(500);
      const before = program.begin();
      for (const [path, bytes, statuses] of ways) {
        for (const shape of HOSTILE_SHAPES) expect(statuses).toContain(await post(path, hostileJson(shape, bytes)));
      }
      expect(program.peakMb() - before).toBeLessThan(MOST_MB);
      expect(program.longestMs()).toBeLessThan(MOST_MS);
    } finally {
      program.child.kill('SIGKILL');
      await program.ended;
      await tokens.close();
    }
  });
});

describe.each(HOSTILE_SHAPES)('%s', (shape) => {
  const small = Buffer.from('[]');
  const bodyOf = (isHostile: boolean, bytes = ANSWER_BYTES): Buffer => (isHostile ? hostileJson(shape, bytes) : small);

  it.each([
    ['go', 'gm0406'],
    ['parlaeus', 'gm0402'],
    ['notubiz', 'gm0363'],
  ])('from a supplier: %s', async (scheme, code) => {
    const adres = scheme === 'notubiz' ? 'notubiz:281' : `${scheme}:${base}/${scheme}#${code}`;
    const run = async (isHostile: boolean) => {
      const address = serve(scheme, bodyOf(isHostile));
      const options: NewSource['options'] = scheme === 'parlaeus' ? { ridFile: join(dir, 'rid') } : { version: 'v2' };
      await saveSources(pool, [{ adres, soort: 'leveranciers-api', organisatiecodes: [code], options }]);
      return await measure(['bron', 'sync', adres, '--from', '2025-01-01', '--to', '2025-03-31'], {
        ...AGGREGATOR_ENV,
        DATABASE_URL: database.url,
        'aggregator.notubizUrl': address,
      });
    };
    expect(await expectUnharmed(scheme, run)).toMatch(/^1 .*not complete/);
    expect(await issuesOf(adres)).toMatch(/the answer has more than (25000 levels|300000 objects and lists)/);
  });

  it.each([
    ['an unsigned 400', 400, 60_000_000, /status 400/],
    ['an unsigned 200', 200, 60_000_000, /has more than/],
  ])('as the answer to a request for a delivery: %s', async (way, status, bytes, message) => {
    const authority = await createAuthority({ dir: join(dir, 'pki'), port: 0, lifeSeconds: 3600 });
    try {
      writeFileSync(join(dir, 'token'), 'abc');
      // It does not send Accept-Encoding.
      const plain = createServer((request, response) => {
        request.resume();
        response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      }).listen(0, '127.0.0.1');
      let body: Buffer = small;
      await once(plain, 'listening');
      const address = plain.address();
      const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/gegevens`;
      const run = async (isHostile: boolean) => {
        body = bodyOf(isHostile, bytes);
        const words = ['gegevens', 'request', url, '--variant', 'shv', '--token-file', join(dir, 'token')];
        return await measure(words, {
          GEGEVENS_TRUST_ANCHORS: authority.root,
          GEGEVENS_SIGNING_KEY: authority.requester.key,
          GEGEVENS_SIGNING_CHAIN: authority.requester.chain,
          GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'true',
        });
      };
      try {
        expect(await expectUnharmed(way, run)).toMatch(message);
      } finally {
        plain.closeAllConnections();
        plain.close();
      }
    } finally {
      await authority.close();
    }
  });

  it('from a tested service', async () => {
    const run = (isHostile: boolean) =>
      measure(
        ['raadsfeed', serve('tested', bodyOf(isHostile, 33_000_000)), '--rate', '100'],
        {},
        { main: CONFORMANCE },
      );
    expect(await expectUnharmed('tested', run)).toMatch(/^[12] /);
  });

  it.each([
    ['conformance compare', (file: string) => ['compare', file, file], 60_000_000, CONFORMANCE],
    ['bron import', (file: string) => ['bron', 'import', file, '--dry-run'], 10_000_000],
    ['feed publish', (file: string) => ['feed', 'publish', '--dry-run', file], 4_000_000],
    ['proof check', (file: string) => ['proof', 'check', join(dir, 'empty'), file], 60_000_000],
  ])('in a file: %s', async (way, wordsOf, bytes, main?: string) => {
    const file = join(dir, 'file.json');
    writeFileSync(join(dir, 'empty'), '');
    const run = async (isHostile: boolean) => {
      writeFileSync(file, bodyOf(isHostile, bytes));
      const env = {
        DATABASE_URL: database.url,
        RAADSFEED_ROL: 'aggregator',
        PROOF_KEY: Buffer.alloc(32, 7).toString('base64'),
      };
      return await measure(wordsOf(file), env, main === undefined ? {} : { main });
    };
    expect(await expectUnharmed(way, run)).toMatch(/^[12] /);
  });
});

it.each([
  ['elements', `<a>${'<b/>'.repeat(6_000_000)}</a>`],
  ['nested elements', '<a>'.repeat(10_000_000)],
])('XML of %s from a supplier', async (_what, text) => {
  const adres = 'ibabs:voorbeeld';
  await saveSources(pool, [{ adres, soort: 'leveranciers-api', organisatiecodes: ['gm0553'] }]);
  const run = (isHostile: boolean) =>
    measure(['bron', 'sync', adres, '--from', '2025-01-01', '--to', '2025-03-31'], {
      ...AGGREGATOR_ENV,
      DATABASE_URL: database.url,
      IBABS_URL: serve('ibabs', Buffer.from(isHostile ? text : '<a/>'), { type: 'text/xml' }),
    });
  expect(await expectUnharmed('ibabs', run)).toMatch(/^1 .*not complete/);
  expect(await issuesOf(adres)).toMatch(/more than 300000 elements|nested deeper than 50/);
});
