import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createVerifier } from '../../src/lib/jades/verify.ts';
import { startOutway } from '../../test/gegevens/support/outway.ts';
import { FSC_ERROR, faultOf } from '../gegevens/fsc-error.ts';
import { DESCRIPTION, type ExampleSupplier, NOT_OFFERED, PERSON, startExampleSupplier } from './example-supplier.ts';
import { GEGEVENS_MUTANTS } from './mutants/gegevens.ts';
import { startOtherSupplier } from './other/gegevens.ts';
import { callConformance } from './program.ts';
import { type BreakingProxy, startProxy } from './proxy.ts';

const FAST = ['--rate', '100'];
/** Required records of every request, and the paging state of each requester. */
const RECORDED = /^(gegevens\.(journal|pinned_states)$|verwerkingenlog\.)/;

let supplier: ExampleSupplier;
let proxy: BreakingProxy;
beforeAll(async () => {
  supplier = await startExampleSupplier();
  proxy = await startProxy(`${supplier.server.url}/shv/v1`);
});
afterAll(async () => {
  await proxy?.stop();
  await supplier?.close();
});

function conformance(url: string, ...words: readonly string[]) {
  const { requester, root } = supplier.authority;
  const signed = ['--key', requester.key, '--chain', requester.chain, '--trust', root];
  const all = ['gegevens', url, '--variant', 'shv', ...signed, ...FAST, ...words];
  return callConformance(all, {}, { cwd: supplier.dir });
}
const withToken = ['--token-file', 'token.txt'];
const mutate = (kills: string): void => {
  const mutation = GEGEVENS_MUTANTS.find((mutant) => mutant.kills === kills)?.mutation(supplier) ?? {};
  const { answer } = mutation;
  proxy.mutate({
    ...mutation,
    answer: async (received, request) => {
      received.json = undefined;
      await answer?.(received, request);
    },
  });
};

/** Every table with its contents, except records of requests. */
async function contents(): Promise<Record<string, unknown>> {
  const tables = await supplier.asOwner(
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
  );
  const names = tables.map(({ name }) => String(name)).filter((name) => !RECORDED.test(name));
  const queries = names.map(
    (name) => `select '${name}' as name, (select md5(string_agg(t::text, '|' order by t::text)) from ${name} t) as sum`,
  );
  const rows = await supplier.asOwner(queries.join(' union all '));
  return Object.fromEntries(rows.map(({ name, sum }) => [String(name), sum]));
}

describe('the suite for a supplier of data', () => {
  it('finds no fault in our own service, and changes nothing in it', async () => {
    const before = await contents();
    const results = await supplier.run(supplier.url('shv'));
    expect(results.filter(({ outcome, id }) => outcome !== 'passed' && !NOT_OFFERED.includes(id))).toEqual([]);
    expect(await contents()).toEqual(before);
  });
});

describe('the suite for a supplier of data, on a second implementation', () => {
  it('finds no fault, and skips features that it does not offer: FSC tokens, and revocation', async () => {
    const { authority, tokens, file } = supplier;
    const other = await startOtherSupplier({
      file,
      key: authority.supplier.key,
      chain: authority.supplier.chain,
      anchors: authority.root,
      signers: [authority.requester.oin],
      issuer: tokens.env.OAUTH_ISSUER,
      audience: tokens.env.OAUTH_AUDIENCE,
      keysUrl: tokens.env.OAUTH_JWKS_URL,
    });
    const results = await supplier.run(other.url, { without: ['revoked', 'other-group', 'other-service'] });
    await other.stop();
    const skipped = results.filter(({ outcome }) => outcome === 'skipped');
    expect(skipped.map(({ id }) => id)).toEqual(['A-ACC-15', 'A-ACC-16', 'A-SIG-18', ...NOT_OFFERED]);
    expect(results.filter((one) => one.outcome !== 'passed' && !skipped.includes(one))).toEqual([]);
  });
});

describe('the suite for a supplier of data, for errors of FSC', () => {
  it('requires no more than the interface description does', () => {
    const error = { code: 'ERROR_CODE_ACCESS_DENIED', domain: 'ERROR_DOMAIN_INWAY', status: 0, more: 'x' };
    expect(faultOf(FSC_ERROR, error)).toBeUndefined();
    expect(faultOf(FSC_ERROR, { ...error, domain: 'ERROR_DOMAIN_ELSEWHERE' })).toMatch(/^\/domain /);
    expect(faultOf(FSC_ERROR, { ...error, code: 401 })).toMatch(/^\/code /);
    expect(faultOf(FSC_ERROR, { code: error.code })).toMatch(/^\/ .*domain/);
  });
});

describe('koppelvlak-conformance gegevens', () => {
  it('exits with 0 when no must case failed, and signs a statement of its report', async () => {
    const { requester } = supplier.authority;
    const ended = await conformance(
      ...[supplier.url('shv'), ...withToken, '--only', 'A-REQ-01', 'A-ANS-02', 'A-JWS-25', '--report', 'goed'],
      ...['--sign', requester.key, requester.chain],
    );
    expect(ended.status, ended.stderr).toBe(0);
    expect(ended.stdout).toContain('No must case failed.');
    const [head = '', body = ''] = readFileSync(join(supplier.dir, 'goed/statement.http'), 'utf8').split('\r\n\r\n');
    const header = (name: string): string => new RegExp(`^${name}: (.+)$`, 'm').exec(head)?.[1]?.trim() ?? '';
    const verifier = createVerifier({
      anchors: readFileSync(supplier.authority.root, 'utf8'),
      revocation: 'soft',
      now: () => new Date(),
      fetch: async () => new Uint8Array(),
    });
    await verifier.verify({
      digestHeader: header('Digest'),
      signatureHeader: header('nlgov-adr-payload-sig'),
      body: Buffer.from(body),
    });
    await verifier.close();
    expect(JSON.parse(body)).toMatchObject({
      suite: 'gegevens',
      conforms: true,
      counts: { failed: 0 },
      options: { variant: 'shv', only: 'A-REQ-01 A-ANS-02 A-JWS-25' },
    });
  });

  it('shows neither tokens nor persons, whatever goes wrong, and how to reproduce it', async () => {
    mutate('A-ANS-03');
    const ended = await conformance(
      ...[`${proxy.url}/gegevens`, ...withToken, '--only', 'A-ANS', 'A-ACC-06', 'A-REQ-12', '--report', 'fout'],
    );
    expect(ended.status).toBe(1);
    expect(ended.stdout).toContain('FAILED A-ANS-03 (must): `gegevens` matches the exchange model');
    expect(ended.stdout).toContain('leveringen/0/teller must be integer');
    expect(ended.stdout).toMatch(
      /koppelvlak-conformance gegevens http\S+ --variant shv .* --only A-ANS-03 --save berichten\//,
    );
    const files = readdirSync(join(supplier.dir, 'fout')).map((name) =>
      readFileSync(join(supplier.dir, 'fout', name), 'utf8'),
    );
    const all = [ended.stdout, ended.stderr, ...files].join('\n');
    const { read = '' } = supplier.accessTokens;
    for (const secret of [PERSON, DESCRIPTION, ...read.split('.')]) expect(all).not.toContain(secret);
    expect(all).not.toContain('PRIVATE KEY');
  });

  it('saves complete messages, except for the token', async () => {
    const ended = await conformance(supplier.url('shv'), ...withToken, '--only', 'A-REQ-01', '--save', 'berichten');
    expect(ended.status, ended.stderr).toBe(0);
    const [request, response] = ['request', 'response'].map((what) =>
      readFileSync(join(supplier.dir, `berichten/0001-${what}.http`), 'utf8'),
    );
    expect(request).toMatch(/^POST http\S+ HTTP\/1\.1\r\n/);
    expect(request).toContain('authorization: (masked)');
    expect(request).toMatch(/nlgov-adr-payload-sig: \S+\.\.\S+\r\n\r\n\{"page":1,"pageSize":1\}$/);
    expect(response).toMatch(/^HTTP\/1\.1 200\r\n[\s\S]*\r\n\r\n\{"gegevens":/);
  });

  it('goes through an Outway, which adds the token', async () => {
    const requester = supplier.authority.requester.oin;
    const outway = await startOutway({
      service: supplier.server.url,
      grantHash: '$1$4$hash',
      manager: supplier.manager,
      token: { ...supplier.group, subject: requester },
    });
    const ended = await conformance(
      ...['/shv/v1/gegevens', '--outway', outway.url, '--grant-hash', '$1$4$hash'],
      ...['--only', 'A-ACC-01', 'A-REQ-01', 'A-SIG-04', 'A-JWS-25', '--json'],
    );
    await outway.close();
    const outcomes = JSON.parse(ended.stdout).cases.map(
      ({ id, outcome }: Record<string, string>) => `${id} ${outcome}`,
    );
    expect(outcomes).toEqual(['A-ACC-01 skipped', 'A-REQ-01 passed', 'A-SIG-04 passed', 'A-JWS-25 passed']);
  });

  it('authenticates to the authorization server with a key', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeFileSync(join(supplier.dir, 'client.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const asked: unknown[] = [];
    const server = createServer(async (request, response) => {
      const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
      asked.push((await jwtVerify(form.get('client_assertion') ?? '', publicKey)).payload);
      response.end(JSON.stringify({ access_token: supplier.accessTokens.read, expires_in: 600 }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/token`;
    const client = ['--token-url', url, '--client-id', 'statistiek', '--client-key', 'client.pem'];
    const ended = await conformance(supplier.url('shv'), ...client, '--only', 'A-REQ-01');
    server.close();
    expect(ended.status, ended.stderr).toBe(0);
    expect(asked).toMatchObject([{ iss: 'statistiek', sub: 'statistiek', aud: url }]);
  });

  it('exits with 2 when it cannot run, and says why', async () => {
    const url = supplier.url('shv');
    writeFileSync(join(supplier.dir, 'verlopen.txt'), supplier.accessTokens.expired ?? '');
    const ended = await Promise.all([
      conformance(url),
      conformance(url, '--token-file', 'verlopen.txt'),
      conformance(url, ...withToken, '--tokens', 'token.txt'),
      conformance(url, ...withToken, '--sign', 'token.txt'),
      conformance(url, '--outway', url),
    ]);
    expect(ended.map(({ status, stderr }) => `${status} ${stderr.split('\n').at(-2)}`)).toEqual([
      '2 koppelvlak-conformance: a token is needed: --token-file, --token-url, or --outway',
      '2 koppelvlak-conformance: the token or the signer was refused with status 401: nothing can be tested',
      '2 koppelvlak-conformance: token.txt is not a JSON object of tokens',
      '2 koppelvlak-conformance: --sign needs --report: the statement is written beside the report',
      '2 koppelvlak-conformance: --outway and --grant-hash go together: the Outway finds the service by the grant',
    ]);
  });
});
