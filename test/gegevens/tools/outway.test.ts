/** `gegevens request` through an Outway: without a token, with a new transaction for each request, and resumed after it was killed. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { outwayAddress } from '../../../src/lib/outway.ts';
import { uuidV7 } from '../../../src/lib/patterns.ts';
import { callProgram, type Ended, startProgram } from '../../support/program.ts';
import { messageFile, shvMessage } from '../support/messages.ts';
import { type StandInOutway, startOutway } from '../support/outway.ts';
import { FIXTURES, openSupplier, type Supplier } from '../support/supplier.ts';

const GRANT = '$1$4$miw9YBmmnyDVnxkDVzgooUETSlECr5GNQ1wdyeoFVevxIrMK8zfapnwZP';
const REQUESTER = '00000099000000001000';
const FSC = {
  FSC_GROUP_ID: 'fsc-test',
  FSC_PEER_ID: '00000099000000002000',
  FSC_AUDIENCE: 'https://inway.example:443',
};

let dir: string;
let supplier: Supplier;
let outway: StandInOutway;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'outway-'));
  const manager = { key: join(dir, 'manager-key.pem'), certificate: join(dir, 'manager.pem') };
  const { mintKey } = await import('../support/key-files.ts');
  const { createAuthority } = await import('../../../src/lib/authority/authority.ts');
  const authority = await createAuthority({ dir: join(dir), port: 0 });
  const minted = mintKey(authority);
  await authority.close();
  writeFileSync(manager.key, minted.keyPem);
  writeFileSync(manager.certificate, minted.chainPem);
  supplier = await openSupplier({ env: { ...FSC, FSC_TOKEN_CERTIFICATES: manager.certificate } });
  outway = await startOutway({
    service: supplier.server.url,
    grantHash: GRANT,
    manager,
    token: { groupId: FSC.FSC_GROUP_ID, peerId: FSC.FSC_PEER_ID, audience: FSC.FSC_AUDIENCE, subject: REQUESTER },
  });
  await supplier.import('vs', join(FIXTURES, 'vs-klein.json'));
});
afterAll(async () => {
  await outway.close();
  await supplier.close();
  rmSync(dir, { recursive: true });
});

/** A delivery of seven records in two leveringen. */
async function importSeven(moment = '2026-04-07T06:15:00Z'): Promise<void> {
  const message = shvMessage({
    leveringen: [
      { naam: 'Noord', records: 4 },
      { naam: 'Zuid', records: 3 },
    ],
  });
  await supplier.import('shv', messageFile({ ...message, aanleverdatumEnTijd: moment }));
}
beforeEach(async () => {
  outway.requests.length = 0;
  outway.before = async () => undefined;
  await importSeven();
});

const environment = (): Record<string, string> => ({
  GEGEVENS_TRUST_ANCHORS: supplier.authority.root,
  GEGEVENS_SIGNING_KEY: supplier.authority.requester.key,
  GEGEVENS_SIGNING_CHAIN: supplier.authority.requester.chain,
  GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'true',
});
const words = (...more: string[]): string[] => [
  ...['gegevens', 'request', '--outway', outway.url, '--grant-hash', GRANT, '--variant', 'shv', ...more],
];
const request = (...more: string[]): Promise<Ended> => callProgram(words(...more), environment());
const pagesAsked = (): (number | undefined)[] => outway.requests.map(({ body }) => JSON.parse(body).page);

describe('through an Outway', () => {
  it('needs no token, and every page has its own transaction', async () => {
    const out = join(dir, 'alles.json');
    const { status, stdout, stderr } = await request('--page-size', '2', '--out', out, '--json');
    expect([status, stderr]).toEqual([0, expect.stringContaining('page 4 of 4: 1 records')]);
    expect(pagesAsked()).toEqual([undefined, 2, 3, 4]);
    expect(new Set(outway.requests.map(({ path }) => path))).toEqual(new Set(['/shv/v1/gegevens']));
    const ids = outway.requests.map(({ transactionId }) => transactionId);
    expect(new Set(ids).size).toBe(4);
    expect(JSON.parse(stdout).pages.map(({ transactionId }: { transactionId: string }) => transactionId)).toEqual(ids);
    const { delivery } = await supplier.import('shv', out);
    expect(delivery.leveringen.reduce((sum, { records }) => sum + records, 0)).toBe(7);
  });

  it("records the same transactions in the supplier's journal", async () => {
    await request('--page-size', '4');
    const rows = await supplier.asOwner(
      'select fsc_transaction_id as id from gegevens.journal order by id desc limit 2',
    );
    const named = await supplier.asOwner('select fsc_transaction_id as id from gegevens.journal');
    expect(rows).toHaveLength(2);
    expect(named.map(({ id }) => id)).toEqual(
      expect.arrayContaining(outway.requests.map(({ transactionId }) => transactionId)),
    );
  });

  it('accepts grants in a file of suppliers', async () => {
    const file = join(dir, 'leveranciers.txt');
    writeFileSync(file, `${GRANT} shv 1.0\n`);
    const all = ['gegevens', 'request', '--suppliers', file, '--outway', outway.url, '--json'];
    const { status, stdout } = await callProgram(all, environment());
    expect([status, JSON.parse(stdout).suppliers]).toMatchObject([
      0,
      [{ supplier: GRANT, outcome: 'delivered', records: 7 }],
    ]);
  });

  it('uses a new transaction for a retried request', async () => {
    outway.before = async () => (outway.requests.length === 1 ? 502 : undefined);
    const { status, stderr } = await request();
    expect([status, stderr]).toEqual([0, expect.stringContaining('status 502: trying again')]);
    expect(new Set(outway.requests.map(({ transactionId }) => transactionId)).size).toBe(2);
  });

  it("uses the path of the supplier's address, of the Outway, or of its own mount", async () => {
    const at = async (...more: string[]): Promise<string | undefined> => {
      outway.requests.length = 0;
      await callProgram(['gegevens', 'request', ...more, '--grant-hash', GRANT, '--variant', 'vs'], environment());
      return outway.requests[0]?.path;
    };
    expect(await at('--outway', outway.url)).toBe('/vs/v1/gegevens');
    expect(await at('--outway', `${outway.url}/elders/v2/gegevens`)).toBe('/elders/v2/gegevens');
    expect(await at('https://inway.example/ander/v1/gegevens', '--outway', outway.url)).toBe('/ander/v1/gegevens');
    expect(await at('/pad/v1/gegevens', '--outway', outway.url)).toBe('/pad/v1/gegevens');
    expect(outwayAddress(new URL('http://outway:8080'), '/shv/v1/gegevens')).toBe('http://outway:8080/shv/v1/gegevens');
  });

  it("reports the code and domain of the Outway's refusal", async () => {
    const { status, stderr } = await callProgram(
      ['gegevens', 'request', '--outway', outway.url, '--grant-hash', '$1$4$other', '--variant', 'shv'],
      environment(),
    );
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/status 400: ERROR_CODE_UNKNOWN_GRANT_HASH_IN_HEADER - ERROR_DOMAIN_OUTWAY/),
    ]);
  });

  it.each<[string[], number, RegExp]>([
    [['--outway', 'http://127.0.0.1:9'], 2, /go together/],
    [['--grant-hash', GRANT], 2, /go together/],
    [['--outway', 'nergens', '--grant-hash', GRANT], 2, /not an address/],
    [[], 2, /an address is needed/],
    [['http://127.0.0.1:9/gegevens'], 1, /a token is needed/],
    [['http://127.0.0.1:9/gegevens', '--resume', '--token-file', '/nergens'], 2, /--resume needs --keep/],
  ])('explains %j', async (more, expected, text) => {
    const { status, stderr } = await callProgram(['gegevens', 'request', '--variant', 'shv', ...more], environment());
    expect([status, stderr]).toEqual([expected, expect.stringMatching(text)]);
  });

  it('makes transaction ids that are UUIDs of version 7, beginning with the time', () => {
    const id = uuidV7(new Date(0x0123456789ab));
    expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(uuidV7(new Date(0x0123456789ab))).not.toBe(id);
  });
});

describe('with --resume', () => {
  /** Kills the command while page 3 is in flight. */
  async function killedOnPageThree(keep: string, out: string): Promise<void> {
    const held = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    outway.before = async () => {
      if (outway.requests.length < 3) return undefined;
      held.resolve();
      await release.promise;
      return 503;
    };
    const running = startProgram(words('--page-size', '2', '--keep', keep, '--resume', '--out', out), environment());
    await held.promise;
    running.child.kill('SIGKILL');
    await running.ended;
    outway.before = async () => undefined;
    release.resolve();
    outway.requests.length = 0;
  }

  it('continues after a kill: no page is requested twice, and the file is complete', async () => {
    const [keep, out, whole] = [join(dir, 'bewaard'), join(dir, 'hervat.json'), join(dir, 'ineens.json')];
    await request('--page-size', '2', '--out', whole);
    outway.requests.length = 0;
    await killedOnPageThree(keep, out);
    expect(readdirSync(keep).filter((name) => /^page-\d\.json$/.test(name))).toEqual(['page-1.json', 'page-2.json']);
    expect(readdirSync(dir)).not.toContain('hervat.json');
    // Imports in between do not matter: the pages come from one state.
    await importSeven('2026-05-01T08:00:00Z');
    const { status, stdout, stderr } = await request(
      '--page-size',
      '2',
      '--keep',
      keep,
      '--resume',
      '--out',
      out,
      '--json',
    );
    expect([status, stderr]).toEqual([
      0,
      expect.stringContaining('page 2 of 4: 2 records, signed by 00000099000000002000, kept by an earlier run'),
    ]);
    expect(pagesAsked()).toEqual([3, 4]);
    expect(JSON.parse(stdout).pages.map(({ kept = false }: { kept?: boolean }) => kept)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(readFileSync(out, 'utf8')).toBe(readFileSync(whole, 'utf8'));
    expect(readdirSync(keep).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('reports that the supplier has started another state', async () => {
    const [keep, out] = [join(dir, 'oud'), join(dir, 'oud.json')];
    await killedOnPageThree(keep, out);
    await importSeven('2026-06-01T08:00:00Z');
    // The same requester requests page 1 again: from now on its pages have the new state.
    await request('--page-size', '2');
    const { status, stderr } = await request('--page-size', '2', '--keep', keep, '--resume', '--out', out);
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining('page 3 belongs to a newer delivery than the pages kept'),
    ]);
    expect(readdirSync(dir)).not.toContain('oud.json');
  });

  it('requests a damaged page again, and those after it', async () => {
    const keep = join(dir, 'beschadigd');
    await request('--page-size', '2', '--keep', keep);
    writeFileSync(join(keep, 'page-2.json'), '{}');
    outway.requests.length = 0;
    const { status, stderr } = await request('--page-size', '2', '--keep', keep, '--resume');
    expect([status, stderr]).toEqual([0, expect.stringContaining('page 2 was kept but is not valid')]);
    expect(pagesAsked()).toEqual([2, 3, 4]);
  });

  it('accepts no pages of another request, and without --resume starts again', async () => {
    const keep = join(dir, 'ander');
    await request('--page-size', '4', '--keep', keep);
    outway.requests.length = 0;
    const { status, stderr } = await request('--page-size', '3', '--keep', keep, '--resume');
    expect([status, stderr]).toEqual([1, expect.stringContaining('holds pages of another request (body differs)')]);
    expect(pagesAsked()).toEqual([]);
    await request('--page-size', '4', '--keep', keep);
    expect(pagesAsked()).toEqual([undefined, 2]);
    await request('--page-size', '4', '--keep', keep, '--resume');
    expect(pagesAsked()).toEqual([undefined, 2]);
  });
});
