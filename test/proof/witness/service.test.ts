/** Services that vouch for each other: a feed whose checkpoints two others cosign, checked as an outsider would. */
import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isRecord } from '../../../src/lib/json/json-value.ts';
import { deriveSeed } from '../../../src/proof/keys.ts';
import { createSigner } from '../../../src/proof/tlog/note.ts';
import { vergadering } from '../../raadsfeed/support.ts';
import { callProgram } from '../../support/program.ts';
import { getText, hasLeaves, PROOF_KEY, type ProofFeed, startProofFeed } from '../support.ts';
import { judgeByPolicy } from '../tlog/judge-by-policy.ts';

const ORIGIN = '127.0.0.1/proof/v1/raadsfeed';
const logKey = createSigner(ORIGIN, deriveSeed(Buffer.from(PROOF_KEY, 'base64'), ORIGIN)).key.text;
let directory: string;
let neighbours: ProofFeed[];
let feed: ProofFeed;
let log: string;
let policy: string;
let witnessKeys: string[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'witness-'));
  const logs = join(directory, 'logs');
  await writeFile(logs, `# the neighbours\n\n${logKey}\n`);
  const startNeighbour = (byte: number) =>
    startProofFeed({ PROOF_KEY: Buffer.alloc(32, byte).toString('base64'), PROOF_WITNESS_FOR: logs });
  neighbours = await Promise.all([21, 22].map(startNeighbour));
  const lines = await Promise.all(
    neighbours.map(async ({ server }, place) => {
      const prefix = `${server.url}/proof/v1/witness`;
      return `witness w${place} ${(await getText(`${prefix}/key`)).text.trim()} ${prefix}`;
    }),
  );
  witnessKeys = lines.map((line) => line.split(' ')[2] ?? '');
  policy = [`log ${logKey}`, ...lines, 'group both all w0 w1', 'quorum both', ''].join('\n');
  await writeFile(join(directory, 'policy'), policy);
  feed = await startProofFeed({ PROOF_WITNESSES: join(directory, 'policy') });
  log = `${feed.server.url}/proof/v1/raadsfeed`;
});
afterAll(async () => {
  await Promise.all([feed, ...neighbours].map((service) => service.stop()));
  await rm(directory, { recursive: true });
});

/** The checkpoint once the policy's quorum has cosigned it. */
async function cosigned(size: number): Promise<string> {
  await hasLeaves(log, size);
  let note = '';
  await expect
    .poll(
      async () => {
        note = (await getText(`${log}/checkpoint`)).text;
        return judgeByPolicy(note, policy);
      },
      { interval: 100 },
    )
    .toMatchObject({ cosignatures: [{}, {}] });
  return note;
}

it("publishes checkpoints with its neighbours' cosignatures, which they show too", async () => {
  await feed.prove([vergadering('een'), vergadering('twee')]);
  await cosigned(2);
  await feed.prove([vergadering('drie')]);
  const note = await cosigned(3);
  for (const { server } of neighbours) {
    const { text } = await getText(`${server.url}/proof/v1/witness/${hash('sha256', ORIGIN, 'hex')}/checkpoint`);
    expect(text.split('\n\n')[0]).toBe(note.split('\n\n')[0]);
  }
  const ready = await fetch(`${feed.server.managementUrl}/health/ready`).then((answer) => answer.text());
  expect(ready).not.toContain('too few witnesses');
});

it('gives proofs that the command line accepts with the cosignatures of witnesses, and a log that can be followed', async () => {
  await cosigned(3);
  const proof = await feed.get('/raadsfeed/record/2');
  const { json } = await feed.api.call('GET', '/feed?limit=1000');
  const records = isRecord(json) && Array.isArray(json.records) ? json.records.filter(isRecord) : [];
  const record = records.find(({ sequenceNumber }) => sequenceNumber === 2);
  await writeFile(join(directory, 'a.tlog-proof'), proof.text);
  await writeFile(join(directory, 'a.json'), JSON.stringify(record));
  const files = [join(directory, 'a.tlog-proof'), join(directory, 'a.json')];
  const keys = [logKey, ...witnessKeys].flatMap((key) => ['--key', key]);
  const checked = await callProgram(['proof', 'check', ...files, ...keys], {});
  expect(checked).toMatchObject({ status: 0, stderr: '' });
  expect(checked.stdout.match(/^witness: /gm)).toHaveLength(2);
  // A service's own data, by its own secret.
  expect(await callProgram(['proof', 'check', ...files], { PROOF_KEY })).toMatchObject({ status: 0 });
  const followed = await callProgram(['proof', 'monitor', log, '--once', '--state', join(directory, 'seen.json')], {});
  expect(followed).toMatchObject({ status: 0, stdout: expect.stringContaining('3 leaves, seen for the first time') });
});

it('offers its keys and those of its witnesses on the checking page', async () => {
  const { status, text } = await feed.get('/controleer');
  expect(status).toBe(200);
  expect(text).toContain(logKey);
  expect(text.match(/proof\/v1\/witness\+/g)).toHaveLength(2);
});
