/** `gegevens request --suppliers`: the office's quarterly run. */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { callProgram, startProgram } from '../../support/program.ts';
import { messageFile, shvMessage } from '../support/messages.ts';
import { createRequester, type Requester } from '../support/requester.ts';
import { openSupplier, type Supplier } from '../support/supplier.ts';

interface Answer {
  readonly gegevens?: unknown;
  readonly status?: number;
  readonly wait?: Promise<unknown>;
}

let dir: string;
let supplier: Supplier;
let theirs: Requester;
let others: Server;
let base: string;
/** By path of the address. */
const answers = new Map<string, Answer>();
const asked: string[] = [];
let busy = 0;
let mostBusy = 0;

beforeAll(async () => {
  supplier = await openSupplier();
  await supplier.import('shv', messageFile(shvMessage({ leveringen: [{ naam: 'Noord', records: 3 }] })));
  theirs = createRequester(supplier.authority.supplier);
  others = createServer(async (request, response) => {
    asked.push(request.url ?? '');
    busy += 1;
    mostBusy = Math.max(mostBusy, busy);
    const { gegevens, status = 200, wait } = answers.get(request.url ?? '') ?? { status: 404 };
    await (wait ?? new Promise((resolve) => setTimeout(resolve, 20)));
    busy -= 1;
    const body = JSON.stringify({ gegevens });
    response.writeHead(status, status === 200 ? await theirs.sign(body) : { 'retry-after': '0' }).end(body);
  }).listen(0, '127.0.0.1');
  await once(others, 'listening');
  const address = others.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  base = `http://127.0.0.1:${address.port}`;
});
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'leveranciers-'));
  answers.clear();
  asked.length = 0;
  mostBusy = 0;
});
afterAll(async () => {
  others.closeAllConnections();
  others.close();
  await supplier.close();
});

const message = (records: number): unknown => shvMessage({ leveringen: [{ naam: 'Zuid', kvk: '30000001', records }] });
const environment = (): Record<string, string> => ({
  GEGEVENS_TRUST_ANCHORS: supplier.authority.root,
  GEGEVENS_SIGNING_KEY: supplier.authority.requester.key,
  GEGEVENS_SIGNING_CHAIN: supplier.authority.requester.chain,
  GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'true',
});

async function wordsFor(lines: readonly string[], ...more: readonly string[]): Promise<string[]> {
  writeFileSync(join(dir, 'leveranciers.txt'), `# address variant model\n\n${lines.join('\n')}\n`);
  writeFileSync(join(dir, 'token.txt'), await supplier.tokens.token(['read']));
  const words = ['--suppliers', join(dir, 'leveranciers.txt'), '--token-file', join(dir, 'token.txt'), ...more];
  return ['gegevens', 'request', ...words];
}

it('requests from each, reports the outcomes, and can be repeated for those that failed', async () => {
  answers.set('/leeg', { gegevens: message(0) });
  answers.set('/weg', { status: 503 });
  answers.set('/nee', { status: 403 });
  const lines = [
    `${supplier.server.url}/shv/v1/gegevens shv 1.0`,
    `${base}/leeg   shv`,
    `${base}/weg shv`,
    `${base}/nee shv`,
  ];
  const keep = join(dir, 'bewijs');
  const out = join(dir, 'leveringen');
  const words = await wordsFor(lines, '--keep', keep, '--out', out);
  const first = await callProgram([...words, '--json'], environment());
  expect([first.status, first.stderr]).toEqual([1, expect.stringContaining('2 of 4 suppliers failed')]);
  expect(JSON.parse(first.stdout).suppliers).toMatchObject([
    { line: 3, variant: 'shv', model: '1.0', outcome: 'delivered', records: 3, blocking: 1 },
    { line: 4, outcome: 'empty', records: 0 },
    { line: 5, outcome: 'temporary failure', error: expect.stringContaining('status 503') },
    { line: 6, outcome: 'lasting failure', error: expect.stringContaining('status 403') },
  ]);
  expect(readdirSync(out)).toHaveLength(2);
  const { file } = JSON.parse(first.stdout).suppliers[0];
  expect(JSON.parse(readFileSync(file, 'utf8')).leveringen[0].schuldhulptrajecten).toHaveLength(3);

  answers.set('/weg', { gegevens: message(2) });
  answers.set('/nee', { gegevens: message(1) });
  asked.length = 0;
  const again = await callProgram([...words, '--resume'], environment());
  expect(again.status).toBe(0);
  // Those already present are not requested again.
  expect(asked.toSorted()).toEqual(['/nee', '/weg']);
  expect(again.stdout).toMatch(/\/weg +shv +delivered +2 +0 +\d+ +\d+\n/);
  expect(again.stdout).toMatch(/\/leeg +shv +empty +0 /);
  expect(readdirSync(out)).toHaveLength(4);
});

it('continues after it was killed, without repeating requests', async () => {
  const held = Promise.withResolvers<void>();
  answers.set('/een', { gegevens: message(1) });
  answers.set('/twee', { gegevens: message(2), wait: held.promise });
  const words = await wordsFor(
    [`${base}/een shv`, `${base}/twee shv`],
    '--keep',
    join(dir, 'bewijs'),
    '--at-once',
    '1',
  );
  const run = startProgram(words, environment());
  await expect.poll(() => asked).toContain('/twee');
  run.child.kill('SIGKILL');
  await run.ended;
  held.resolve();
  asked.length = 0;
  const again = await callProgram([...words, '--resume', '--json'], environment());
  expect(again.status).toBe(0);
  expect(asked).toEqual(['/twee']);
  expect(JSON.parse(again.stdout).suppliers).toMatchObject([{ records: 1 }, { records: 2 }]);
});

it('makes no more concurrent requests than allowed', async () => {
  const paths = Array.from({ length: 8 }, (_, n) => `/v${n}`);
  for (const path of paths) answers.set(path, { gegevens: message(1) });
  const words = await wordsFor(
    paths.map((path) => `${base}${path} shv`),
    '--at-once',
    '3',
  );
  expect((await callProgram(words, environment())).status).toBe(0);
  expect(asked.toSorted()).toEqual(paths);
  expect(mostBusy).toBe(3);
});

it('lists every unusable line of the file, and sends no request', async () => {
  const words = await wordsFor([
    `${base}/goed shv`,
    `${base}/x`,
    `${base}/x sv`,
    'geen-adres shv',
    '$1$4$abc shv',
    `${base}/x vs 9.9`,
    `${base}/x shv 1.0 more`,
    `${base}/goed shv 1.0`,
  ]);
  const { status, stderr } = await callProgram(words, environment());
  expect(status).toBe(1);
  expect([...stderr.matchAll(/^ {2}line (\d+): (.*)$/gm)].map(([, line, what]) => [Number(line), what])).toEqual([
    [4, 'after the address or grant comes the variant, shv or vs'],
    [5, 'after the address or grant comes the variant, shv or vs'],
    [6, 'neither an address nor a grant'],
    [7, 'a grant needs --outway'],
    [8, 'no model 9.9: 1.0, 1.1, 1.1-draft, 1.2'],
    [9, 'more than an address or grant, a variant and a model'],
    [10, 'the same as line 3'],
  ]);
  expect(asked).toEqual([]);
});

it.each([
  [['--variant', 'shv'], /variant, model and grant hash come from the file/],
  [['--resume'], /--resume needs --keep/],
  [['--at-once', '33'], /At most 32/],
  [[`http://127.0.0.1:1/`], /give an address or --suppliers/],
])('cannot be combined with %j', async (more, text) => {
  const { status, stderr } = await callProgram(await wordsFor([`${base}/x shv`], ...more), environment());
  expect([status, stderr]).toEqual([2, expect.stringMatching(text)]);
});
