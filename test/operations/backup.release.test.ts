/**
 * "Backup and restore" of docs/runbook.md: its commands, exactly as written there, between Postgres servers installed here. After a restore
 * the service answers as before; and if the dump is older than published data, everybody can notice.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { checkRecord } from '../../src/proof/check.ts';
import { checkpointIn, parseVerifierKey } from '../../src/proof/tlog/note.ts';
import { openSupplier, type Supplier } from '../gegevens/support/supplier.ts';
import { getText, hasLeaves, PROOF_KEY } from '../proof/support.ts';
import { asPage, document, PATIENT, readRecords, vergadering } from '../raadsfeed/support.ts';
import { type Answer, createApi } from '../support/api.ts';
import {
  findInstalledPostgres,
  type InstalledPostgres,
  startInstalledPostgres,
} from '../support/installed-postgres.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { actie, actieIn, HEADERS, KEY, newPerson, ofPerson } from '../verwerkingenlog/support.ts';

const ROOT = join(import.meta.dirname, '../..');
const RUNBOOK = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8');
const PASSWORDS = { OWNER_PASSWORD: 'Eigenaar1', SERVICE_PASSWORD: 'Dienst2', RETENTION_PASSWORD: 'Opschoner3' };
const ALL = ['create:normal', 'update:normal', 'read:normal'];
/** Two dozen commands, each a process, on a possibly busy machine. */
const LIMIT_MS = 300_000;
const LOGS = ['verwerkingen', 'leveringen', 'raadsfeed'];
const INVALID = { status: 400, json: { type: expect.stringMatching(/ongeldige-cursor$/) } };
/** A log whose last published checkpoint is ahead of the database, as `proof verify` reports it. */
const LOST = /^checkpoint outside the database of \S+ +has \d+ leaves and the tree only \d+$/gm;
const bin = findInstalledPostgres();

/** The command blocks below a heading of the runbook. */
function commands(heading: string): string[] {
  const [, section = ''] = new RegExp(`^### ${heading}\n([\\s\\S]*?)(?=^##)`, 'm').exec(RUNBOOK) ?? [];
  return [...section.matchAll(/^( *)```sh\n([\s\S]*?)^\1```/gm)].map(([, , block = '']) => block);
}

const [dump = ''] = commands('Back up');
const [restore = '', verify = ''] = commands('Restore');
const [newOrigin = ''] = commands('After records were lost');

/** The variables used by the runbook's commands, and the settings of the service. */
type Operator = Readonly<Record<string, string>>;

describe.skipIf(bin === undefined)(
  'the runbook (needs initdb and pg_dump of Postgres 15 or newer)',
  { timeout: LIMIT_MS },
  () => {
    const person = newPerson();
    const ids: string[] = [];
    const servers: InstalledPostgres[] = [];
    const services: TestServer[] = [];
    let dir: string;
    let old: Operator;
    let supplier: Supplier;
    /** Everything published when the old server was lost. */
    let seen: Awaited<ReturnType<typeof answers>>;
    let delivered: unknown;
    let proven: Awaited<ReturnType<typeof proofs>>;
    let keys: Readonly<Record<string, string>>;
    let checkpoints: Readonly<Record<string, string>>;
    let lostCursor: string;

    beforeAll(async () => {
      dir = await mkdtemp(join(inject('databaseHomes'), 'koppelvlak-backup-'));
      await chmod(dir, 0o755);
      await mkdir(join(dir, 'bin'));
      const program = `#!/bin/sh\nexec node ${join(ROOT, 'src/main.ts')} "$@"\n`;
      await writeFile(join(dir, 'bin/koppelvlak'), program, { mode: 0o755 });
      old = await freshServer('old');
      const [roles = ''] = restore.split('pg_restore');
      await works(`${roles}DATABASE_MIGRATION_URL="$OWNER_URL" koppelvlak migrate`, old);
      supplier = await openSupplier({ databaseUrl: old.DATABASE_URL ?? '', env: serviceOf(old) });
      services.push(supplier.server);
    });
    afterAll(async () => {
      for (const service of services) await service.stop();
      await supplier?.close();
      for (const server of servers) await server.stop();
      await rm(dir, { recursive: true, force: true });
    });

    async function freshServer(name: string): Promise<Operator> {
      const server = await startInstalledPostgres(bin ?? '', join(dir, name));
      servers.push(server);
      return {
        ...PASSWORDS,
        ADMIN_URL: server.url,
        OWNER_URL: server.address('koppelvlak_eigenaar', PASSWORDS.OWNER_PASSWORD),
        DATABASE_URL: server.address('koppelvlak_service', PASSWORDS.SERVICE_PASSWORD),
        DATABASE_PRUNE_URL: server.address('koppelvlak_retentie', PASSWORDS.RETENTION_PASSWORD),
        PROOF_STATE: join(dir, `state-of-${name}.json`),
      };
    }

    /** A fresh server after the commands of the runbook, with a copy of one of the `PROOF_STATE` files. */
    async function restored(from: 'older' | 'newest'): Promise<Operator> {
      const operator = { ...(await freshServer(from)), DUMP: join(dir, `${from}.dump`) };
      await works(restore, operator);
      copyFileSync(join(dir, 'newest.json'), join(dir, `state-of-${from}.json`));
      return operator;
    }

    function serviceOf({ DATABASE_PRUNE_URL = '', PROOF_STATE = '' }: Operator): Record<string, string> {
      return {
        AREAS: 'shv,vs,verwerkingenlog,raadsfeed',
        // Answers contain it, and so does the origin of each proof log.
        PUBLIC_BASE_URL: 'https://koppelvlak.example',
        DATABASE_MIGRATE: 'false',
        RAADSFEED_RATE_LIMIT: '0',
        VERWERKINGENLOG_KEY: KEY,
        PROOF_KEY,
        'proof.intervalSeconds': '1',
        DATABASE_PRUNE_URL,
        PROOF_STATE,
      };
    }

    /** The service on a restored database, with the previous keys and issuer. */
    async function serveOn(operator: Operator): Promise<TestServer> {
      const env = { ...supplier.env, ...serviceOf(operator) };
      const service = await startServer({ env, databaseUrl: operator.DATABASE_URL ?? '' });
      services.push(service);
      return service;
    }

    /** Runs commands as an operator does, in the program's folder, with the settings of the service. */
    async function shell(script: string, operator: Operator): Promise<{ status: number | null; said: string }> {
      const PATH = [join(dir, 'bin'), bin, dirname(process.execPath), process.env.PATH].join(delimiter);
      const child = spawn('sh', ['-eu', '-c', `exec 2>&1\n${script}`], {
        cwd: ROOT,
        env: { PATH, NO_COLOR: '1', NODE_ENV: 'test', ...operator, ...serviceOf(operator) },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const said = text(child.stdout);
      await once(child, 'close');
      return { status: child.exitCode, said: await said };
    }

    async function works(script: string, operator: Operator): Promise<string> {
      const { status, said } = await shell(script, operator);
      expect(status, said).toBe(0);
      return said;
    }

    async function publish(operator: Operator, ...lines: object[]): Promise<void> {
      const path = join(dir, 'lines.ndjson');
      await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      await works(`koppelvlak feed publish ${path}`, operator);
    }

    const redact = (operator: Operator, id: string): Promise<string> =>
      works(`koppelvlak feed redact --reden persoonsgegevens --resource gm9901/Informatieobject/${id}`, operator);
    const feedOf = ({ url }: TestServer) => createApi(`${url}/ori/v1`, 'raadsfeed.yaml');
    const afterLost = (service: TestServer) => feedOf(service).call('GET', `/feed?cursor=${lostCursor}`);
    const ready = async ({ managementUrl }: TestServer) => (await getText(`${managementUrl}/health/ready`)).text;
    const ofEachLog = async ({ url }: TestServer, what: 'key' | 'checkpoint') => {
      const texts = LOGS.map(async (log) => [log, (await getText(`${url}/proof/v1/${log}/${what}`)).text]);
      return Object.fromEntries(await Promise.all(texts));
    };

    async function logCall({ url }: TestServer, method: string, path: string, body?: unknown): Promise<Answer> {
      const headers = { ...(await supplier.tokens.bearer(ALL)), ...HEADERS };
      return createApi(`${url}/verwerkingenlog/v1`, 'verwerkingenlog.yaml').call(method, path, { headers, body });
    }

    /** An action and its correction. */
    async function post(service: TestServer): Promise<void> {
      const body = actie(person);
      const { actieId } = actieIn(await logCall(service, 'POST', '/verwerkingsacties', body));
      await logCall(service, 'PUT', `/verwerkingsacties/${actieId}`, { ...body, actieNaam: 'Verbeterd' });
      ids.push(actieId);
    }

    /** Waits until every log has a signed leaf for every entry. */
    async function allProven(service: TestServer, operator: Operator): Promise<void> {
      await expect.poll(() => works('koppelvlak proof verify', operator), PATIENT).toMatch(/(.* 0 pending.*\n){3}$/);
      const { rows } = await supplier.pool.query<{ log: string; size: string }>('select log, size from proof.logs');
      for (const { log, size } of rows) await hasLeaves(`${service.url}/proof/v1/${log}`, Number(size));
    }

    const deliver = async (server: TestServer) => (await supplier.get({}, { server })).gegevens;

    /** The answers of each area. */
    async function answers(service: TestServer, operator: Operator) {
      const { json: list } = await logCall(service, 'GET', `/verwerkingsacties?${ofPerson(person)}&beperkteSet=false`);
      const found: unknown[] = isRecord(list) && Array.isArray(list.results) ? list.results : [];
      const journal = await works('koppelvlak gegevens journal --json', operator);
      return {
        feed: await readRecords(feedOf(service), '/feed?limit=2'),
        snapshot: await readRecords(feedOf(service), '/snapshot?limit=2'),
        // Reading them was logged too.
        actions: found.filter((one) => isRecord(one) && ids.includes(String(one.actieId))),
        history: await works(ids.map((id) => `koppelvlak log history ${id} --json`).join('\n'), operator),
        deliveries: await works('koppelvlak gegevens list --json', operator),
        journal,
      };
    }

    /** A record of each log, with its proof. */
    async function proofs(service: TestServer, operator: Operator) {
      const [id = ''] = ids;
      const path = `/verwerkingsacties/${id}`;
      const feed = await readRecords(feedOf(service), '/feed');
      const delivery: unknown = JSON.parse(await works('koppelvlak gegevens journal 2 --proof --json', operator));
      const { proof, levering } = isRecord(delivery) ? delivery : {};
      return {
        verwerkingen: {
          proof: (await logCall(service, 'GET', `${path}/bewijs`)).text,
          record: (await logCall(service, 'GET', `${path}?beperkteSet=false`)).json,
        },
        leveringen: { proof: String(proof), record: levering },
        raadsfeed: {
          proof: (await getText(`${service.url}/proof/v1/raadsfeed/record/${feed.length}`)).text,
          record: feed.at(-1),
        },
      };
    }

    /** Checks earlier proofs, for someone who kept the keys of the logs and the records. */
    function hold(of: Readonly<Record<string, { readonly proof: string }>>): boolean[] {
      return Object.entries(proven).map(([log, { record }]) => {
        const key = parseVerifierKey((keys[log] ?? '').trim());
        return checkRecord(of[log]?.proof ?? '', record, () => [key]).isProven;
      });
    }

    it('dumps the database while the service runs, and after it', async () => {
      const service = supplier.server;
      await works('koppelvlak gegevens import --variant shv examples/demo/shv-levering.json', old);
      await publish(
        old,
        vergadering('v-1'),
        document('d-1'),
        document('d-2'),
        document('d-geheim', { titel: 'Geheim' }),
      );
      await redact(old, 'd-1');
      await post(service);
      await supplier.get({ page: 1, pageSize: 2 });
      await allProven(service, old);
      await works(dump, { ...old, DUMP: join(dir, 'older.dump') });
      copyFileSync(old.PROOF_STATE ?? '', join(dir, 'older.json'));

      await publish(old, vergadering('v-2'), vergadering('v-3'));
      await redact(old, 'd-geheim');
      await post(service);
      await supplier.get({ page: 2, pageSize: 2 });
      delivered = await deliver(service);
      await allProven(service, old);
      seen = await answers(service, old);
      proven = await proofs(service, old);
      keys = await ofEachLog(service, 'key');
      checkpoints = await ofEachLog(service, 'checkpoint');
      lostCursor = asPage((await feedOf(service).call('GET', '/feed')).json).cursor ?? '';
      await service.stop();
      await works(dump, { ...old, DUMP: join(dir, 'newest.dump') });
      copyFileSync(old.PROOF_STATE ?? '', join(dir, 'newest.json'));
      for (const name of ['older', 'newest'])
        expect((await stat(join(dir, `${name}.dump`))).size).toBeGreaterThan(10_000);
    });

    it('restores a complete dump: each area answers as before, and the proof logs continue', async () => {
      const operator = await restored('newest');
      await works(verify, operator);
      const older = join(dir, 'older.json');
      expect(await works('koppelvlak proof verify', { ...operator, PROOF_STATE: older })).toMatch(/ 0 faults/);
      const missing = { ...operator, PROOF_STATE: join(dir, 'missing.json') };
      expect(await shell('koppelvlak proof verify', missing)).toMatchObject({
        status: 1,
        said: expect.stringContaining('there is no checkpoint of it outside the database'),
      });

      const service = await serveOn(operator);
      expect(await answers(service, operator)).toEqual(seen);
      expect(await deliver(service)).toEqual(delivered);
      expect(hold(await proofs(service, operator))).toEqual([true, true, true]);
      expect((await afterLost(service)).json).toMatchObject({ records: [], hasMore: false });
      // A dump contains no database privileges: they come from the roles file.
      await works('koppelvlak gegevens import --variant vs examples/demo/vs-levering.json', operator);
      const { verwerkingen = '' } = await ofEachLog(service, 'checkpoint');
      await post(service);
      await hasLeaves(`${service.url}/proof/v1/verwerkingen`, checkpointIn(verwerkingen).size + 2);
      expect(await ready(service)).not.toContain('nothing is signed');
    });

    it('restores an older dump: losses are refused or named, and nothing is signed until a new origin binds the old', async () => {
      const operator = await restored('older');
      const lines = verify.trim().split('\n');
      await works(lines.slice(0, -1).join('\n'), operator);
      const verified = await shell(lines.at(-1) ?? '', operator);
      expect(verified.status).toBe(1);
      expect(verified.said.match(LOST)).toHaveLength(3);
      // That file must not come from the same backup, or nothing here would notice.
      expect(
        (await shell('koppelvlak proof verify', { ...operator, PROOF_STATE: join(dir, 'older.json') })).status,
      ).toBe(0);

      // The dump contains it; without this the service would serve it again.
      expect(await redact(operator, 'd-geheim')).toContain('content gone from 4');
      const service = await serveOn(operator);
      expect(JSON.stringify(await readRecords(feedOf(service), '/feed'))).not.toContain('Geheim');
      expect(await afterLost(service)).toMatchObject(INVALID);
      const { feed } = seen;
      await publish(operator, ...feed.map(({ sequenceNumber }) => vergadering(`opnieuw-${sequenceNumber}`)));
      const head = async () => (await readRecords(feedOf(service))).length;
      await expect.poll(head, PATIENT).toBeGreaterThan(feed.length);
      // Its number was reused.
      expect(await afterLost(service)).toMatchObject(INVALID);
      expect(asPage((await feedOf(service).call('GET', '/snapshot')).json).records.length).toBeGreaterThan(feed.length);

      await expect.poll(() => ready(service), PATIENT).toMatch(/(nothing is signed[^}]*}[^}]*){3}/);
      expect(await ofEachLog(service, 'checkpoint')).toEqual(checkpoints);
      const begun = await works(newOrigin, operator);
      expect(begun.match(/\/2 continues; of the old origin \d+ of \d+ leaves are here\./g)).toHaveLength(3);
      for (const log of LOGS) await hasLeaves(`${service.url}/proof/v1/${log}/2`, 1);
      expect(await ready(service)).not.toContain('nothing is signed');
      const { said } = await shell('koppelvlak proof verify', operator);
      expect(said.match(LOST), 'the loss stays known').toHaveLength(3);
      // Proofs given out earlier stay valid, including those of lost records.
      expect(hold(proven)).toEqual([true, true, true]);
    });
  },
);
