/** The packages as users get them: each tarball installed in an empty directory, beside a running demo. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoCalls } from '../../conformance/test/demo-calls.ts';
import { CONSUMER_MJS } from '../../conformance/test/example-consumer.ts';
import { createDemoClient, processingHeaders, readDemoFile } from '../../src/demo/demo-client.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { freePorts, temporaryHome, waitForDemo, waitForText } from '../demo/support.ts';
import { type Running, startProgram } from '../support/program.ts';

const ROOT = join(import.meta.dirname, '../..');
const LIMIT = 600_000;
const OWN_REQUESTER = join(ROOT, 'conformance/test/requester/own-requester.ts');
const run = promisify(execFile);

let work: string;
let home: Awaited<ReturnType<typeof temporaryHome>>;
let demo: Running;
let file: Record<string, unknown>;

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'koppelvlak-tarballs-'));
  home = await temporaryHome();
  demo = startProgram(['demo'], freePorts(home.path));
  file = await waitForDemo(home.path, demo);
  await waitForText(demo, 'What next');
}, LIMIT);
afterAll(async () => {
  demo.child.kill('SIGTERM');
  await demo.ended;
  await home.remove();
  await rm(work, { recursive: true, force: true });
}, LIMIT);

/**
 * Packs with the script of package.json, and installs only the tarball.
 * @returns the directory, and every package installed in it
 */
async function install(script: string): Promise<{ directory: string; names: readonly string[] }> {
  const directory = await mkdtemp(join(work, 'empty-'));
  const { stdout } = await run('npm', ['run', '--silent', script, '--', join(work, 'packed')], { cwd: ROOT });
  await writeFile(join(directory, 'package.json'), '{"private":true,"type":"module"}');
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...quiet, stdout.trim()], { cwd: directory });
  const { stdout: tree } = await run('npm', ['ls', '--all', '--json'], { cwd: directory, maxBuffer: 16 * 1024 * 1024 });
  return { directory, names: namesIn(JSON.parse(tree)) };
}

/** Of installed packages only: a missing optional one is listed without a version. */
function namesIn(tree: unknown): string[] {
  const { dependencies } = isRecord(tree) ? tree : {};
  return Object.entries(isRecord(dependencies) ? dependencies : {}).flatMap(([name, one]) =>
    isRecord(one) && one.version !== undefined ? [name, ...namesIn(one)] : [],
  );
}

describe('koppelvlak-client', { timeout: LIMIT }, () => {
  it('needs neither Fastify nor Postgres, and logs an action as its README shows', async () => {
    const { directory, names } = await install('pack:client');
    expect(names).toContain('koppelvlak-client');
    expect(names.filter((name) => /^(fastify|pg)$/.test(name))).toEqual([]);
    const readme = await readFile(join(directory, 'node_modules/koppelvlak-client/README.md'), 'utf8');
    const [, example = ''] = /```js\n(.*?)```/s.exec(readme) ?? [];
    await writeFile(join(directory, 'example.js'), example);
    const { mounts, clients, tokenUrl } = await readDemoFile(home.path);
    const { stdout } = await run(process.execPath, ['example.js'], {
      cwd: directory,
      env: {
        LOG_URL: mounts.verwerkingenlog,
        TOKEN_URL: tokenUrl,
        CLIENT_ID: 'applicatie',
        CLIENT_SECRET: clients.applicatie?.secret,
      },
    });
    expect(stdout).toMatch(/^[\da-f-]{36}\n$/);
  });
});

describe('koppelvlak-jades', { timeout: LIMIT }, () => {
  let directory: string;
  let names: readonly string[];
  const runs = async (script: string, env: NodeJS.ProcessEnv = {}): Promise<string> => {
    await writeFile(join(directory, 'script.js'), script);
    return (await run(process.execPath, ['script.js'], { cwd: directory, env })).stdout;
  };
  beforeAll(async () => {
    ({ directory, names } = await install('pack:jades'));
  }, LIMIT);

  it('needs neither Fastify nor Postgres', () => {
    expect(names).toContain('koppelvlak-jades');
    expect(names.filter((name) => /^(fastify|pg)$/.test(name))).toEqual([]);
  });

  it('signs and verifies as its README shows, and the service accepts what it signed', async () => {
    const readme = await readFile(join(directory, 'node_modules/koppelvlak-jades/README.md'), 'utf8');
    const [, example = ''] = /```js\n(.*?)```/s.exec(readme) ?? [];
    const demoFile = await readDemoFile(home.path);
    const { requester, mounts } = demoFile;
    const stdout = await runs(example, {
      KEY: requester.key,
      CHAIN: requester.chain,
      ANCHORS: join(home.path, 'pki/root.pem'),
    });
    const [line = '', verdict] = stdout.split('\n');
    expect(verdict).toBe(`signed by ${requester.oin}`);
    const headers = {
      'content-type': 'application/json',
      ...processingHeaders(requester.oin),
      ...Object(JSON.parse(line)),
    };
    const body = Buffer.from('{"page":1}');
    const call = { as: 'statistiek', headers, body };
    expect(await createDemoClient(demoFile).call('POST', `${mounts.shv}/gegevens`, call)).toMatchObject({
      status: 200,
    });
  });

  it('verifies a recorded message of the DSS of the EU', async () => {
    const path = join(ROOT, 'test/fixtures/jades/dss-requests.json');
    const { requests } = JSON.parse(await readFile(path, 'utf8'));
    const stdout = await runs(`
      import { createHash } from 'node:crypto';
      import { readFileSync } from 'node:fs';
      import { createVerifier } from 'koppelvlak-jades';
      const { body, root, madeAt, requests } = JSON.parse(readFileSync(${JSON.stringify(path)}, 'utf8'));
      const verifier = createVerifier({
        anchors: root,
        revocation: 'soft',
        now: () => new Date(Date.parse(madeAt) + 60_000),
        fetch: () => Promise.reject(new Error('no authority')),
      });
      const digestHeader = 'SHA-256=' + createHash('sha256').update(body).digest('base64');
      for (const signatureHeader of Object.values(requests)) {
        await verifier.verify({ body: Buffer.from(body), digestHeader, signatureHeader });
        console.log('accepted');
      }
      await verifier.close();`);
    expect(stdout).toBe('accepted\n'.repeat(Object.keys(requests).length));
  });
});

describe('koppelvlak-conformance', { timeout: LIMIT }, () => {
  it('needs neither Fastify nor Postgres, and judges the demo in every suite', async () => {
    const { directory, names } = await install('pack:conformance');
    expect(names).toContain('koppelvlak-conformance');
    expect(names.filter((name) => /^(fastify|pg)$/.test(name))).toEqual([]);
    const bin = join(directory, 'node_modules/.bin/koppelvlak-conformance');
    const suites = new Set<string>();
    const test = async (suite: string, words: readonly string[]): Promise<void> => {
      const { stdout } = await run(bin, [...words], {
        cwd: directory,
        env: { PATH: process.env.PATH, GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'true' },
        maxBuffer: 64 * 1024 * 1024,
      });
      const { suite: name, counts } = JSON.parse(stdout);
      expect(counts, suite).toMatchObject({ failed: 0, inconclusive: 0 });
      suites.add(name);
    };
    await mkdir(join(directory, 'berichten'));
    for (const { suite, words } of await demoCalls(file, home.path))
      await test(suite, suite === 'gegevens' ? [...words, '--save', 'berichten'] : words);
    const kept = (await readdir(join(directory, 'berichten'))).map((name) => join('berichten', name));
    await test('signature', ['signature', ...kept.slice(0, 1), '--trust', join(home.path, 'pki/root.pem'), '--json']);
    const consumer = ['--program', `${process.execPath} ${CONSUMER_MJS}`, '--only', 'K-BEG', '--json'];
    await test('raadsfeed-consumer', ['raadsfeed-consumer', ...consumer]);
    const asker = [
      '--variant',
      'shv',
      '--command',
      `${process.execPath} ${OWN_REQUESTER}`,
      '--only',
      'R-ACC',
      '--json',
    ];
    await test('gegevens-requester', ['gegevens-requester', ...asker]);
    const { stdout } = await run(bin, ['--help'], { cwd: directory });
    const commands = [...stdout.matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, name = '']) => name);
    const others = ['badge', 'compare', 'help'];
    expect([...suites].toSorted()).toEqual(commands.filter((name) => !others.includes(name)).toSorted());
  });
});
