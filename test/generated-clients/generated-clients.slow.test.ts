/**
 * Clients generated from every contract: they compile, and those in Python and Java read the feed, keep the log and receive a delivery from
 * a running demo. `npm run client-generators` downloads the generators; without them this is skipped.
 */
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isReady, tools } from '../../scripts/client-generators.ts';
import { createDemoClient, type DemoFile, readDemoFile, recordsOf } from '../../src/demo/demo-client.ts';
import { signMessage } from '../../src/demo/signed-message.ts';
import { clientCredentialsToken } from '../../src/lib/outbound/client-credentials.ts';
import { freePorts, temporaryHome, waitForText } from '../demo/support.ts';
import { type Running, startProgram } from '../support/program.ts';

const ROOT = join(import.meta.dirname, '../..');
const CONTRACTS = ['raadsfeed', 'verwerkingenlog', 'gegevens', 'ldv', 'proof'];
/** Area A as it is served: with the exchange model. */
const VARIANTS = ['shv', 'vs'] as const;
const ALL = [...CONTRACTS, ...VARIANTS];
const GENERATORS = ['python', 'java', 'go', 'csharp', 'typescript-fetch'];
/** A package name without the dash. */
const packageOf = (contract: string): string => contract.replace('-', '');

const run = (command: string, args: readonly string[], options: object = {}) =>
  promisify(execFile)(command, args, {
    ...options,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });

/** The settings of openapi-generator for one client. @see docs/verwerkingenlog.md */
function settingsOf(generator: string, contract: string, folder: string, inputSpec: string): object {
  const name = packageOf(contract);
  const isPython = generator === 'python';
  const caller = isPython
    ? {
        VerwerkingsactiviteitId: 'verwerkingsactiviteit_id_aanroeper',
        Vertrouwelijkheid: 'vertrouwelijkheid_aanroeper',
      }
    : { VerwerkingsactiviteitId: 'verwerkingsactiviteitIdAanroeper', Vertrouwelijkheid: 'vertrouwelijkheidAanroeper' };
  const properties: Readonly<Record<string, object>> = {
    python: { packageName: `${name}_client` },
    java: {
      library: 'native',
      invokerPackage: `nl.${name}`,
      apiPackage: `nl.${name}.api`,
      modelPackage: `nl.${name}.model`,
    },
    go: { packageName: name, withGoMod: false, enumClassPrefix: true },
    csharp: { packageName: `Nl.${name}` },
    'typescript-fetch': { npmName: name },
  };
  return {
    generatorName: generator,
    inputSpec,
    outputDir: join(folder, generator, contract),
    additionalProperties: properties[generator],
    ...(contract === 'verwerkingenlog' ? { parameterNameMappings: caller } : {}),
    // The exchange model has both `naam` and `Naam`.
    ...(contract === 'shv' ? { nameMappings: { Naam: 'naamTweede' } } : {}),
  };
}

/** True when a compiler is on this machine. */
const isThere = (program: string, word: string): boolean => spawnSync(program, [word]).status === 0;

describe.skipIf(!isReady())(
  `generated clients (${isReady() ? 'generators are installed' : 'run `npm run client-generators`'})`,
  () => {
    let home: Awaited<ReturnType<typeof temporaryHome>>;
    let folder: string;
    let running: Running | undefined;
    let demo: DemoFile;
    let made: string;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'koppelvlak-clients-'));
      home = await temporaryHome();
      running = startProgram(['demo'], freePorts(home.path));
      await waitForText(running, 'What next');
      demo = await readDemoFile(home.path);
      for (const contract of CONTRACTS)
        cpSync(join(ROOT, 'openapi', `${contract}.yaml`), join(folder, `${contract}.yaml`));
      for (const variant of VARIANTS) {
        const served = await fetch(`${demo.mounts[variant]}/openapi.json`);
        writeFileSync(join(folder, `${variant}.yaml`), await served.text());
      }
      mkdirSync(join(folder, 'settings'));
      const settings = ALL.flatMap((contract) =>
        GENERATORS.map((generator) => {
          const file = join(folder, 'settings', `${generator}-${contract}.json`);
          writeFileSync(
            file,
            JSON.stringify(settingsOf(generator, contract, folder, join(folder, `${contract}.yaml`))),
          );
          return file;
        }),
      );
      // One process for all: starting Java takes longer than generating a client.
      const { stdout, stderr } = await run('java', [
        '-jar',
        tools.jar,
        'batch',
        '--timeout',
        '10',
        '-r',
        '2',
        ...settings,
      ]);
      made = stdout + stderr;
    });

    afterAll(async () => {
      running?.child.kill('SIGTERM');
      await running?.ended;
      await home?.remove();
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    });

    /** The demo's details for a client. */
    async function told(): Promise<string> {
      const token = (client: 'privacy-officer' | 'statistiek'): Promise<string> => {
        const known = demo.clients[client];
        if (known === undefined) throw new Error(`the demo has no client ${client}`);
        const { id: clientId, secret: clientSecret, scopes } = known;
        return clientCredentialsToken({ tokenUrl: demo.tokenUrl, clientId, clientSecret, scopes })();
      };
      const { key, chain, oin } = demo.requester;
      const pem = { key: readFileSync(key, 'utf8'), chain: readFileSync(chain, 'utf8') };
      const headers = await signMessage(Buffer.from('{}'), pem, 'body');
      return JSON.stringify({
        mounts: demo.mounts,
        oin,
        digest: headers.digest,
        signature: headers['nlgov-adr-payload-sig'],
        logToken: await token('privacy-officer'),
        deliveryToken: await token('statistiek'),
      });
    }

    /** Runs a client, and compares what it read with the same over plain HTTP. */
    async function expectWorking(command: string, args: readonly string[]): Promise<void> {
      const played = run(command, args);
      played.child.stdin?.end(await told());
      const read = JSON.parse((await played).stdout);
      const call = createDemoClient(demo).call;
      const list = async (path: string, member = 'results') =>
        recordsOf((await call('GET', `${demo.mounts.raadsfeed}${path}`)).body[member]);
      const records = await list('/feed?limit=100&organisatiecode=gm9901', 'records');
      const collections = await Promise.all(
        ['vergaderingen', 'agendapunten', 'informatieobjecten'].map((name) => list(`/organisaties/gm9901/${name}`)),
      );
      expect(records.length).toBeGreaterThan(10);
      expect(read.feed).toEqual({
        role: 'aggregator',
        feed: records.map(({ sequenceNumber, op }) => [sequenceNumber, op]),
        snapshot: ['Gemeente Voorbeeldstad'],
        organisations: ['Gemeente Voorbeeldstad'],
        collections: collections.map(({ length }) => length),
        one: collections[0]?.[0]?.naam,
      });
      const reading = 'Raadplegen verwerkingenlog';
      expect(read.log).toEqual({
        found: [['Zoeken persoon', 'normaal']],
        changed: ['Zoeken adres', 'Balie 3'],
        objects: [reading, 'Zoeken adres'],
        after: [reading, reading],
      });
      expect(read.delivery).toEqual({ supplier: expect.any(String), deliveries: 3 });
    }

    it('are made of every contract without a fault', () => {
      expect(made).toContain(`${ALL.length * GENERATORS.length} generators successfully`);
      expect(made.split('\n').filter((line) => / (WARN|ERROR) /.test(line))).toEqual([]);
      for (const generator of GENERATORS)
        for (const contract of ALL)
          expect(globSync(`${generator}/${contract}/**/*`, { cwd: folder }).length, contract).toBeGreaterThan(10);
    });

    it('in Python, from openapi-generator, work', async () => {
      const program = join(import.meta.dirname, 'openapi_generator_client.py');
      await expectWorking(tools.python, [program, join(folder, 'python')]);
    });

    it('in Python, from openapi-python-client, work', async () => {
      const clients = join(folder, 'openapi-python-client');
      mkdirSync(clients);
      const warnings: string[] = [];
      for (const contract of ALL) {
        const words = ['generate', '--path', join(folder, `${contract}.yaml`), '--meta', 'none', '--output-path'];
        const { stdout, stderr } = await run(tools.pythonClient, [...words, join(clients, packageOf(contract))], {
          env: { ...process.env, PATH: `${dirname(tools.python)}${delimiter}${process.env.PATH}` },
        });
        warnings.push(...(stdout + stderr).split('\n').filter((line) => /WARNING|Unable|rror/.test(line)));
      }
      // It sends no protobuf and no plain text.
      expect(warnings).toEqual([
        'WARNING parsing POST /traces within traces.',
        'WARNING parsing POST /witness/add-checkpoint within getuige. Endpoint will not be generated.',
      ]);
      await expectWorking(tools.python, [join(import.meta.dirname, 'openapi_python_client.py'), clients]);
    });

    it.skipIf(!isThere('javac', '-version'))('in Java compile and work', async () => {
      const classes = join(folder, 'classes');
      const sources = globSync('java/*/src/main/java/**/*.java', { cwd: folder }).map((file) => join(folder, file));
      const libraries = join(tools.javaLibraries, '*');
      await run('javac', [
        ...['-nowarn', '-encoding', 'UTF-8'],
        '-d',
        classes,
        '-cp',
        libraries,
        join(import.meta.dirname, 'Client.java'),
        ...sources,
      ]);
      await expectWorking('java', ['-cp', `${classes}${delimiter}${libraries}`, 'Client']);
    });

    it.skipIf(!isThere('go', 'version'))('in Go compile', async () => {
      const module = join(folder, 'go');
      for (const name of ['go.mod', 'go.sum']) cpSync(join(tools.goModule, name), join(module, name));
      for (const tests of globSync('*/test', { cwd: module })) await rm(join(module, tests), { recursive: true });
      const env = { ...process.env, GOMODCACHE: tools.goModules, GOPROXY: 'off', GOFLAGS: '-mod=mod' };
      await run('go', ['build', './...'], { cwd: module, env });
    });

    it('in TypeScript compile', async () => {
      for (const contract of ALL)
        await run(join(ROOT, 'node_modules/.bin/tsc'), ['--noEmit', '-p', join(folder, 'typescript-fetch', contract)]);
      const organisation = readFileSync(join(folder, 'typescript-fetch/raadsfeed/src/models/Organisatie.ts'), 'utf8');
      expect(organisation).toContain('    naam: string;');
      expect(existsSync(join(folder, 'csharp/raadsfeed/src/Nl.raadsfeed/Model/Organisatie.cs'))).toBe(true);
    });
  },
);
