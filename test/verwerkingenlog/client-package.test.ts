/** The client as another application uses it: installed in a separate project. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildPackage } from '../../scripts/pack.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const TSC = join(ROOT, 'node_modules/.bin/tsc');
/** Checked together, because each alone would check the shared files again. */
const ONE_CHECKER = ['--checkers', '1'];
/** For Node, without browser types. */
const STRICT = { strict: true, types: ['node'] };

const APPLICATION = `
import Fastify from 'fastify';
import {
  clientCredentials, createVerwerkingenlogClient, processingHeaders, verwerkingsheaders, VerwerkingenlogError,
  type NieuweVerwerkingsactie, type Verwerkingsactie,
} from 'koppelvlak-client';

const token = clientCredentials({ tokenUrl: 'http://127.0.0.1:1/token', clientId: 'a', clientSecret: 'b', scopes: ['create:normal'] });
const client = createVerwerkingenlogClient({ url: 'http://127.0.0.1:1/v1', token, attempts: 1 });
const app = Fastify();
await app.register(verwerkingsheaders, { client, required: true, callerOin: (request) => request.headers['x-oin']?.toString() });
app.get('/x', async (request) => {
  const kept: Verwerkingsactie = await request.logVerwerking({ tijdstip: '2026-01-01T00:00:00Z', verwerkteObjecten: [] });
  return { actieId: kept.actieId, oin: request.verwerking.oin };
});
const actie: NieuweVerwerkingsactie = { vertrouwelijkheid: 'normaal', tijdstip: '2026-01-01T00:00:00Z', verwerkteObjecten: [] };
const error: unknown = await client.log(actie).catch((reason: unknown) => reason);
const refused = await app.inject('/x');
process.stdout.write(JSON.stringify([error instanceof VerwerkingenlogError, refused.statusCode, processingHeaders({ oin: '1' })]));
await client.close();
`;

const WRONG = `
import type { NieuweVerwerkingsactie } from 'koppelvlak-client';
export const actie: NieuweVerwerkingsactie = { vertrouwelijkheid: 'geheim', tijdstip: '2026-01-01T00:00:00Z', verwerkteObjecten: [] };
`;

/** The same from CommonJS, which many applications still use. */
const COMMONJS = `
import Fastify from 'fastify';
import { createVerwerkingenlogClient, verwerkingsheaders, VerwerkingenlogError, type Verwerkingsactie } from 'koppelvlak-client';
import required = require('koppelvlak-client');

async function main(): Promise<void> {
  const client = createVerwerkingenlogClient({ url: 'http://127.0.0.1:1/v1', token: 'x', attempts: 1 });
  const app = Fastify();
  await app.register(verwerkingsheaders, { client, required: true });
  app.get('/x', async (request) => {
    const kept: Verwerkingsactie = await request.logVerwerking({ tijdstip: '2026-01-01T00:00:00Z', verwerkteObjecten: [] });
    return { actieId: kept.actieId, oin: request.verwerking.oin };
  });
  const error: unknown = await client
    .log({ vertrouwelijkheid: 'normaal', tijdstip: '2026-01-01T00:00:00Z', verwerkteObjecten: [] })
    .catch((reason: unknown) => reason);
  const refused = await app.inject('/x');
  const isSame = required.VerwerkingenlogError === VerwerkingenlogError;
  process.stdout.write(JSON.stringify([error instanceof VerwerkingenlogError, refused.statusCode, isSame]));
  await client.close();
}
void main();
`;

let project: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'koppelvlak-application-'));
  await mkdir(join(project, 'node_modules/@types'), { recursive: true });
  buildPackage('koppelvlak-client', join(project, 'node_modules/koppelvlak-client'));
  for (const one of ['fastify', 'fastify-plugin', 'undici', '@types/node']) {
    await symlink(await realpath(join(ROOT, 'node_modules', one)), join(project, 'node_modules', one));
  }
  const compilerOptions = { ...STRICT, module: 'nodenext', target: 'es2024', lib: ['es2024'], skipLibCheck: true };
  const files = ['application.ts', 'wrong.ts'];
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...compilerOptions, noEmit: true }, files }),
  );
  await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(join(project, 'application.ts'), APPLICATION);
  await writeFile(join(project, 'wrong.ts'), WRONG);
});
afterAll(() => rm(project, { recursive: true, force: true }));

it('has types that a strict project accepts, and that find mistakes', async () => {
  const said = await run(TSC, [...ONE_CHECKER, '-p', project]).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
  expect(said.trim().split('\n')).toEqual([expect.stringMatching(/wrong\.ts.*geheim.*vertrouwelijk/)]);
});

it('runs under node_modules, where Node runs JavaScript only', async () => {
  const { stdout } = await run(process.execPath, [join(project, 'application.ts')]);
  expect(JSON.parse(stdout)).toEqual([true, 400, { OIN: '1' }]);
});

it.each(['node16', 'node20', 'nodenext'])(
  'compiles in a CommonJS project with `module: %s`, and runs',
  async (module) => {
    const directory = join(project, `commonjs-${module}`);
    await mkdir(directory);
    const compilerOptions = { ...STRICT, module, target: 'es2023', lib: ['es2023'], skipLibCheck: false };
    await writeFile(join(directory, 'package.json'), '{"type":"commonjs"}');
    await writeFile(join(directory, 'application.ts'), COMMONJS);
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['application.ts'] }));
    const said = await run(TSC, [...ONE_CHECKER, '-p', directory]).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
    expect(said).toBe('');
    const { stdout, stderr } = await run(process.execPath, [join(directory, 'application.js')]);
    expect([JSON.parse(stdout), stderr]).toEqual([[true, 400, true], '']);
  },
);
