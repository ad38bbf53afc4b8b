/** The logins of deploy/sql/roles.sql, each with only its role: everything that the program can do runs with them. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../src/embedded-postgres/start.ts';
import { createLogger } from '../../src/lib/log.ts';
import { readSourceStates, removeSource, saveSources } from '../../src/raadsfeed/aggregator/store/sources.ts';
import { run as runStatements } from '../embedded-postgres/support.ts';
import { messageFile, shvMessage } from '../gegevens/support/messages.ts';
import { openSupplier } from '../gegevens/support/supplier.ts';
import { FakeSource } from '../raadsfeed/aggregator/fake-source.ts';
import { documentOf, meetingOf } from '../raadsfeed/aggregator/notubiz/supplier/answers.ts';
import { type NotubizServer, startNotubiz } from '../raadsfeed/aggregator/notubiz/supplier/server.ts';
import { SOON_PRUNED } from '../raadsfeed/cli.ts';
import { document, vergadering } from '../raadsfeed/support.ts';
import { createApi } from '../support/api.ts';
import { databaseHome } from '../support/database-home.ts';
import { callProgram, type Ended } from '../support/program.ts';
import { startServer } from '../support/server.ts';
import { withDatabase } from '../support/with-database.ts';
import { encodeRequest } from '../verwerkingenlog/ldv/otlp-forms.ts';
import { startReceiver } from '../verwerkingenlog/ldv/receiver.ts';
import { line } from '../verwerkingenlog/ldv/support.ts';
import { actie, actieIn, HEADERS, KEY, newPerson, ofPerson } from '../verwerkingenlog/support.ts';

const TABLES = join(import.meta.dirname, '../../examples/tables/gegevens');
const ROLES = join(import.meta.dirname, '../../deploy/sql/roles.sql');
const ALL = ['create:confidential', 'update:confidential', 'delete:confidential', 'read:confidential'];
/** Left over by `log rotate-key`. */
const ROTATED = `tweede:${Buffer.alloc(32, 9).toString('base64')},${KEY}`;
/** These commands need no database. */
const WITHOUT_DATABASE = [
  ...['gegevens request', 'gegevens convert', 'gegevens generate', 'feed follow'],
  ...['proof key', 'proof check', 'proof monitor', 'conformance'],
];
const isWithoutDatabase = (name: string): boolean => WITHOUT_DATABASE.includes(name);

let dir: string;
let server: EmbeddedPostgres;
let supplier: NotubizServer;
let source: FakeSource;
const ran = new Set<string>();
const as = (login: string): string =>
  withDatabase(server.url, 'koppelvlak').replace('user=koppelvlak', `user=${login}`);

beforeAll(async () => {
  dir = await databaseHome();
  server = await startEmbedded({ dir, log: createLogger('silent'), settings: { fsync: 'off' } });
  supplier = await startNotubiz();
  supplier.organisation.addMeeting(meetingOf(11, { documents: [documentOf(1)] }));
  source = await new FakeSource('gm0002').listen();
  source.document('d-1');
});
afterAll(async () => {
  await source?.close();
  await supplier?.close();
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** All three logs have proof logs. */
const proof = (): Record<string, string> => ({
  PROOF_KEY: Buffer.alloc(32, 7).toString('base64'),
  PROOF_STATE: join(dir, 'proof-state.json'),
  'proof.intervalSeconds': '1',
});

/** Runs a command with the addresses that docs/operations.md gives it; a refusal by the database is shown. */
async function koppelvlak(words: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  ran.add(words.slice(0, 2).join(' '));
  const ended = await callProgram(words, {
    DATABASE_URL: as('koppelvlak_service'),
    DATABASE_PRUNE_URL: as('koppelvlak_retentie'),
    'database.connectTimeoutMs': '30000',
    VERWERKINGENLOG_KEY: KEY,
    ...proof(),
    RAADSFEED_ROL: 'aggregator',
    AGGREGATOR_ALLOW_PRIVATE: 'true',
    'aggregator.notubizUrl': supplier.base,
    ...env,
  });
  expect(`${ended.stdout} ${ended.stderr}`, words.join(' ')).not.toMatch(/permission denied|42501|must be owner/i);
  return ended;
}

async function works(words: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { status, stdout, stderr } = await koppelvlak(words, env);
  expect(status, `${words.join(' ')}: ${stderr}`).toBe(0);
  return stdout;
}

/** A file of lines for `feed publish`. */
async function linesFile(name: string, lines: readonly object[]): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return path;
}

function namesOf(group: Command): string[] {
  return group.commands.map((command) => `${group.name()} ${command.name()}`);
}

describe('with the documented logins', { timeout: 600_000 }, () => {
  it('the administrator creates the database, and only its owner migrates it', async () => {
    const text = await readFile(ROLES, 'utf8');
    const statements = text
      .replaceAll(/^--.*$/gm, '')
      .replaceAll(/:'(\w+)'/g, "'$1'")
      .split(';');
    // The embedded Postgres has created a database of that name for itself.
    const administrator = withDatabase(server.url, 'postgres');
    await runStatements(administrator, 'drop database koppelvlak');
    await runStatements(administrator, ...statements.filter((one) => one.trim() !== ''));
    const refused = await koppelvlak(['gegevens', 'list']);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/Run `koppelvlak migrate` first/);
    const migrated = await callProgram(['migrate'], { DATABASE_URL: as('koppelvlak_eigenaar') });
    expect(migrated).toMatchObject({ status: 0 });
  });

  it('the service serves, and logs no refusals by the database', async () => {
    const logbook = await startReceiver();
    const service = await openSupplier({
      databaseUrl: as('koppelvlak_service'),
      env: {
        AREAS: 'shv,vs,verwerkingenlog,raadsfeed',
        VERWERKINGENLOG_KEY: KEY,
        DATABASE_MIGRATE: 'false',
        DATABASE_PRUNE_URL: as('koppelvlak_retentie'),
        RAADSFEED_REGISTER: 'true',
        RAADSFEED_ROL: 'aggregator',
        AGGREGATOR_ALLOW_PRIVATE: 'true',
        'aggregator.notubizUrl': supplier.base,
        LDV_UNKNOWN_ACTIVITY: 'normaal',
        LDV_FORWARD_URL: logbook.url,
        RAADSFEED_PAGES: 'true',
        RAADSFEED_DIWOO: 'true',
        ...proof(),
      },
    });
    try {
      const log = createApi(`${service.server.url}/verwerkingenlog/v1`, 'verwerkingenlog.yaml');
      const call = async (method: string, path: string, body?: unknown): Promise<number> => {
        const headers = { ...(await service.tokens.bearer(ALL)), ...HEADERS };
        return (await log.call(method, path, { headers, body })).status;
      };
      const body = actie(newPerson());
      const posted = await log.call('POST', '/verwerkingsacties', { headers: await service.tokens.bearer(ALL), body });
      const { actieId } = actieIn(posted);
      expect(await call('PUT', `/verwerkingsacties/${actieId}`, { ...body, actieNaam: 'Anders' })).toBe(200);
      expect(await call('GET', `/verwerkingsacties?${ofPerson(body.verwerkteObjecten[0]?.objectId ?? '')}`)).toBe(200);
      const patch = { vertrouwelijkheid: 'vertrouwelijk' };
      expect(await call('PATCH', `/verwerkingsacties?verwerkingId=${body.verwerkingId}`, patch)).toBe(204);
      expect(await call('DELETE', `/verwerkingsacties/${actieId}`)).toBe(204);
      expect((await service.ask({})).status).toBe(200);
      for (const path of ['feed', 'snapshot', 'register']) {
        expect((await fetch(`${service.server.url}/ori/v1/${path}`)).status, path).toBe(200);
      }
      const lines = await fetch(`${service.server.url}/ldv/v1/traces`, {
        method: 'POST',
        headers: { ...(await service.tokens.bearer(ALL)), 'content-type': 'application/json' },
        body: Buffer.from(encodeRequest([line()], 'json')),
      });
      expect(lines.status, await lines.text()).toBe(200);
      // Scheduled work: forwarding to another logbook.
      await expect.poll(() => logbook.taken.length).toBeGreaterThan(0);
      // The aggregator follows sources added meanwhile, of both kinds, and the operator's page shows their state.
      await saveSources(service.pool, [{ adres: source.url, soort: 'feed', organisatiecodes: [] }]);
      const notubiz = { adres: 'notubiz:281', soort: 'leveranciers-api' } as const;
      await saveSources(service.pool, [{ ...notubiz, organisatiecodes: ['gm0363'], vanaf: '2025-01-01' }]);
      const served = async (): Promise<string> => (await fetch(`${service.server.url}/ori/v1/snapshot`)).text();
      await expect.poll(served).toMatch(/gm0002[\s\S]*gm0363|gm0363[\s\S]*gm0002/);
      const operator = await (await fetch(`${service.server.managementUrl}/`)).text();
      expect(operator).toContain('<h2>Sources</h2>');
      expect(operator).not.toContain('Not known now');
      for (const { id } of await readSourceStates(service.pool)) await removeSource(service.pool, id);
      for (const path of ['/raad', '/raad/gm0002', '/raad/zoeken?q=brief']) {
        expect((await fetch(`${service.server.url}${path}`)).status, path).toBe(200);
      }
      const sizeOf = async (name: string): Promise<number> => {
        const checkpoint = await (await fetch(`${service.server.url}/proof/v1/${name}/checkpoint`)).text();
        return Number(checkpoint.split('\n')[1]);
      };
      for (const name of ['verwerkingen', 'leveringen']) await expect.poll(() => sizeOf(name)).toBeGreaterThan(0);
      const ready = await fetch(`${service.server.managementUrl}/health/ready`);
      expect(ready.status, await ready.text()).toBe(200);
      const refused = service.server.logged.filter((line) => /permission denied|42501/.test(JSON.stringify(line)));
      expect(refused).toEqual([]);
      await works(['log', 'history', actieId]);
    } finally {
      await service.close();
      await logbook.close();
    }
  });

  it('the processing log is pruned, checked and re-encrypted', async () => {
    await works(['log', 'prune', '--dry-run']);
    await works(['log', 'prune']);
    await works(['log', 'verify']);
    await works(['log', 'export', '--from', '2026-01-01', '--to', '2026-02-01']);
    await works(['log', 'forward-issues']);
    await works(['log', 'rotate-key'], { VERWERKINGENLOG_KEY: ROTATED });
  });

  it('deliveries are imported and removed', async () => {
    const file = messageFile(shvMessage({ leveringen: [{ naam: 'Noord', kvk: '30000001', records: 3 }] }));
    await works(['gegevens', 'import', '--variant', 'shv', file]);
    const listed: unknown = JSON.parse(await works(['gegevens', 'list', '--json']));
    const id = /"id":(\d+)/.exec(JSON.stringify(listed))?.[1] ?? '';
    await works(['gegevens', 'show', id]);
    await works(['gegevens', 'check', '--variant', 'shv']);
    await works(['gegevens', 'journal']);
    await works(['gegevens', 'remove', id]);
    const mapped = ['--mapping', join(TABLES, 'shv-trajecten.mapping.yaml')];
    await works(['gegevens', 'import', '--variant', 'shv', ...mapped, join(TABLES, 'shv-trajecten.csv')]);
    await works(['gegevens', 'prune', '--older-than', '0']);
    // There is no certificate to check here.
    const { stdout } = await koppelvlak(['gegevens', 'preflight']);
    expect(stdout).toMatch(/^ok +database .*\nok +migrations /m);
  });

  it('the feed is published, synchronised, redacted, pruned and checked', async () => {
    const state = [vergadering('v-1'), document('d-1'), document('d-2')];
    await works(['feed', 'publish', await linesFile('state.ndjson', state)]);
    await works(['feed', 'sync', '--organisatie', 'gm9901', await linesFile('same.ndjson', state)]);
    const resource = 'gm9901/Informatieobject/d-2';
    // The command waits for a service that follows the feed, and then rewrites the tables of its features.
    const following = { AREAS: 'raadsfeed', RAADSFEED_PAGES: 'true', RAADSFEED_DIWOO: 'true', ...proof() };
    const env = { ...following, DATABASE_MIGRATE: 'false' };
    const service = await startServer({ databaseUrl: as('koppelvlak_service'), env });
    try {
      const redacted = await works(['feed', 'redact', '--resource', resource, '--reden', 'persoonsgegevens']);
      expect(redacted).toContain('No table or index holds the content any more.');
    } finally {
      await service.stop();
    }
    await works(['feed', 'prune', '--before', new Date().toISOString()], SOON_PRUNED);
    await works(['feed', 'verify']);
  });

  it('derived data are rebuilt and reported, and the proof logs are verified', async () => {
    await works(['diwoo', 'report'], { RAADSFEED_DIWOO: 'true' });
    await works(['diwoo', 'robots'], { RAADSFEED_DIWOO: 'true' });
    await works(['proof', 'verify'], { VERWERKINGENLOG_KEY: ROTATED });
    // Without a conflict there is nothing to restart.
    await koppelvlak(['proof', 'new-origin', 'raadsfeed']);
  });

  it('sources are followed, inspected and removed', async () => {
    const notubiz = ['notubiz:281', '--organisatie', 'gm0363', '--naam', 'Gemeente Amsterdam', '--from', '2025-01-01'];
    await works(['bron', 'add', source.url]);
    await works(['bron', 'sync', source.url]);
    await works(['bron', 'list']);
    await works(['bron', 'issues', source.url]);
    await works(['bron', 'pause', source.url]);
    await works(['bron', 'resume', source.url]);
    await works(['bron', 'add', ...notubiz]);
    const list = join(dir, 'bronnen.csv');
    await writeFile(list, 'bron,organisatie,naam,from\nnotubiz:281,gm0363,Gemeente Amsterdam,2025-01-01\n');
    await works(['bron', 'import', list, '--yes']);
    await works(['bron', 'sync', 'notubiz:281', '--from', '2025-01-01', '--to', '2025-03-31']);
    // The findings do not matter here.
    await koppelvlak(['bron', 'check', 'notubiz:281', '--from', '2025-01-01', '--to', '2025-03-31']);
    await koppelvlak(['bron', 'switch', 'notubiz:281', source.url, '--dry-run']);
    await works(['bron', 'remove', source.url]);
    await works(['register', 'add', source.url]);
    await works(['register', 'list']);
    await works(['register', 'remove', source.url]);
  });

  it('no command was left out', async () => {
    const program = createProgram(process);
    expect([...ran].sort()).toEqual(
      program.commands
        .flatMap(namesOf)
        .filter((name) => !isWithoutDatabase(name))
        .sort(),
    );
  });

  it('the service cannot change or remove log entries, nor act as the retention role', async () => {
    const url = as('koppelvlak_service');
    for (const statement of [
      'delete from verwerkingenlog.versies',
      'set role koppelvlak_opschoner',
      'create table public.x ()',
    ]) {
      await expect(runStatements(url, statement), statement).rejects.toMatchObject({ code: '42501' });
    }
    await expect(runStatements(as('koppelvlak_retentie'), 'select from gegevens.records')).rejects.toMatchObject({
      code: '42501',
    });
  });
});
