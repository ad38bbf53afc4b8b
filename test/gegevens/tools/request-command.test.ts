/** The requester's tool, against the real service and against faulty suppliers. */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLAIN_STYLES } from '../../../src/lib/jades/signature.ts';
import { callProgram, type Ended, startProgram } from '../../support/program.ts';
import { messageFile, shvMessage } from '../support/messages.ts';
import { createRequester, type Requester } from '../support/requester.ts';
import { openSupplier, type Supplier } from '../support/supplier.ts';

const dir = mkdtempSync(join(tmpdir(), 'afnemer-'));
const tokenFile = join(dir, 'token.txt');

let supplier: Supplier;
let other: Server;
let otherUrl: string;
let answerOf: (page: number) => Promise<{ body: string; headers?: Record<string, string>; status?: number }>;
let theirs: Requester;

beforeAll(async () => {
  supplier = await openSupplier();
  const leveringen = [
    { naam: 'Noord', records: 3 },
    { naam: 'Zuid', records: 2 },
  ];
  await supplier.import('shv', messageFile(shvMessage({ leveringen })));
  writeFileSync(tokenFile, await supplier.tokens.token(['read']));
  theirs = createRequester(supplier.authority.supplier);
  other = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { page = 1 } = JSON.parse(Buffer.concat(chunks).toString());
    if (request.url === '/afgebroken') {
      response.writeHead(200, { 'content-length': '1000' }).write('{');
      setTimeout(() => response.destroy(), 50);
      return;
    }
    const { body, headers, status = 200 } = await answerOf(page);
    response.writeHead(status, headers ?? (await theirs.sign(body))).end(body);
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  otherUrl = `http://127.0.0.1:${address.port}/gegevens`;
});
afterAll(async () => {
  other.closeAllConnections();
  other.close();
  await supplier.close();
});

function request(url: string, ...words: string[]): Promise<Ended> {
  return callProgram(['gegevens', 'request', url, '--variant', 'shv', ...words], environment());
}

function environment(): Record<string, string> {
  return {
    GEGEVENS_TRUST_ANCHORS: supplier.authority.root,
    GEGEVENS_SIGNING_KEY: supplier.authority.requester.key,
    GEGEVENS_SIGNING_CHAIN: supplier.authority.requester.chain,
    GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'true',
  };
}

describe('against a good supplier', () => {
  it('follows the pages, checks them, and writes one file that can be imported', async () => {
    const out = join(dir, 'alles.json');
    const url = `${supplier.server.url}/shv/v1/gegevens`;
    const { status, stderr } = await request(url, '--token-file', tokenFile, '--page-size', '2', '--out', out);
    expect([status, stderr]).toEqual([
      0,
      expect.stringMatching(/page 3 of 3: 1 records, signed by 00000099000000002000/),
    ]);
    const merged = JSON.parse(readFileSync(out, 'utf8'));
    expect(merged.leveringen.map(({ teller }: { teller: number }) => teller)).toEqual([1, 2]);
    const { delivery } = await supplier.import('shv', out);
    expect(delivery.leveringen.reduce((sum, { records }) => sum + records, 0)).toBe(5);
  });

  it('does so as a separate process, which exits when it is done', async () => {
    const out = join(dir, 'proces.json');
    const url = `${supplier.server.url}/shv/v1/gegevens`;
    const words = ['gegevens', 'request', url, '--variant', 'shv', '--token-file', tokenFile, '--out', out, '--json'];
    const { status, stdout, stderr } = await startProgram(words, environment()).ended;
    expect([status, stderr]).toEqual([0, expect.stringContaining('5 records, signed by 00000099000000002000')]);
    expect(JSON.parse(stdout)).toMatchObject({ pages: [{ page: 1, records: 5, form: 'digest' }] });
    expect(JSON.parse(readFileSync(out, 'utf8')).leveringen).not.toEqual([]);
  });

  it('keeps the answers, byte for byte, with the requests', async () => {
    const keep = join(dir, 'bewaard');
    const url = `${supplier.server.url}/shv/v1/gegevens`;
    const words = ['--token-file', tokenFile, '--form', 'body', '--organisation', 'noord', '--keep', keep, '--json'];
    const { status, stdout } = await request(url, ...words);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      pages: [{ page: 1, form: 'body', signer: { oin: '00000099000000002000' } }],
    });
    expect(readdirSync(keep).toSorted()).toEqual(['page-1.exchange.json', 'page-1.json']);
    const about = JSON.parse(readFileSync(join(keep, 'page-1.exchange.json'), 'utf8'));
    expect(about.request.body).toBe('{"aanleverende_organisatie":"noord"}');
  });

  it('reports the contents of a refusal', async () => {
    const url = `${supplier.server.url}/shv/v1/gegevens`;
    const { status, stderr } = await request(url, '--token-file', tokenFile, '--organisation', 'niemand');
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/status 422: .*onbekende-organisatie - Onbekende organisatie/),
    ]);
  });

  it.each([
    [['--token-file', '/nergens'], 1, /ENOENT/],
    [[], 1, /a token is needed/],
    [['--token-file', tokenFile, '--page-size', '0'], 2, /whole number/],
  ])('explains %j', async (words, expected, text) => {
    const { status, stderr } = await request(`${supplier.server.url}/shv/v1/gegevens`, ...words);
    expect([status, stderr]).toEqual([expected, expect.stringMatching(text)]);
  });
});

describe('against a supplier that', () => {
  const gegevens = { ...shvMessage({ leveringen: [{ naam: 'Noord', records: 2 }] }) };
  const body = (paginering?: object): string => JSON.stringify({ gegevens, ...(paginering ? { paginering } : {}) });
  const at = (currentPage: number, totalRecords = 4) => ({ pageSize: 2, currentPage, totalPages: 2, totalRecords });

  it.each<[string, typeof answerOf, RegExp]>([
    ['does not sign', async () => ({ body: body(), headers: {} }), /digest-missing/],
    [
      'signs another body',
      async () => {
        const { 'nlgov-adr-payload-sig': signature } = await theirs.sign('{}', PLAIN_STYLES.body);
        return {
          body: body(),
          headers: { digest: (await theirs.sign(body())).digest, 'nlgov-adr-payload-sig': signature },
        };
      },
      /signature-invalid/,
    ],
    ['changes the body', async () => ({ body: `${body()} `, headers: await theirs.sign(body()) }), /digest-mismatch/],
    [
      'delivers data that do not match the model',
      async () => ({ body: JSON.stringify({ gegevens: { ...gegevens, leveringen: [] } }) }),
      /does not fit the model 1.0:\n {2}\/leveringen/,
    ],
    ['does not send JSON', async () => ({ body: 'hallo' }), /not JSON/],
    ['has an incomplete paginering', async () => ({ body: body({ pageSize: 2 }) }), /`paginering` is not what/],
    [
      'changes its state between pages',
      async (page) => ({ body: body(at(page, 3 + page)) }),
      /belongs to another delivery/,
    ],
    ['gives the same page again', async () => ({ body: body(at(1)) }), /page 2 says that it is page 1/],
    ['gives the last page at once', async () => ({ body: body(at(2)) }), /page 1 says that it is page 2/],
    ['announces more than it delivers', async (page) => ({ body: body(at(page, 9)) }), /hold 4 records/],
    [
      'answers with an HTML page',
      async () => ({ body: '<p>', status: 500, headers: {} }),
      /status 500: no explanation/,
    ],
  ])('%s', async (_what, answers, complaint) => {
    answerOf = answers;
    const { status, stderr } = await request(otherUrl, '--token-file', tokenFile);
    expect([status, stderr]).toEqual([1, expect.stringMatching(complaint)]);
  });

  it('delivers another model: it is named, with the option that requests it', async () => {
    const levering = { teller: 1, gemeentecode: '0014', aanleverendeOrganisatie: { naam: 'Stad' }, vroegsignalen: [] };
    const { leveringen: _, ...envelope } = gegevens;
    answerOf = async () => ({ body: JSON.stringify({ gegevens: { ...envelope, leveringen: [levering] } }) });
    const ask = (...words: string[]) =>
      callProgram(
        ['gegevens', 'request', otherUrl, '--variant', 'vs', '--token-file', tokenFile, ...words],
        environment(),
      );
    const { status, stderr } = await ask();
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(
        /does not fit the model 1\.1:\n[\s\S]*it is a delivery of model 1\.2: --model 1\.2 requests it as such/,
      ),
    ]);
    expect((await ask('--model', '1.2')).stdout).toContain('nothing was delivered: 1 levering(en) without records');
  });

  it('breaks off its answer, and the requester retries', async () => {
    const { status, stderr } = await request(otherUrl.replace('/gegevens', '/afgebroken'), '--token-file', tokenFile);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/the answer of \S+ broke off/)]);
  });

  it('is unavailable for a moment', async () => {
    let asked = 0;
    answerOf = async () => {
      asked += 1;
      return asked === 1 ? { body: '{}', status: 502, headers: { 'retry-after': '0' } } : { body: body() };
    };
    const { status, stderr } = await request(otherUrl, '--token-file', tokenFile);
    expect([status, stderr]).toEqual([0, expect.stringMatching(/status 502: trying again/)]);
  });
});
