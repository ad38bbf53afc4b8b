/** The clock of this machine against those of others, and the database. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { databaseChecks } from '../../../database/checks.ts';
import { MigrationError } from '../../../database/migrate.ts';
import { type Database, openDatabase } from '../../../database/open-database.ts';
import { ocspAddresses } from '../../../lib/jades/certificate.ts';
import { createLogger, reasonOf } from '../../../lib/log.ts';
import { createGuardedConnections } from '../../../lib/outbound/guarded-fetch.ts';
import { systemClock } from '../../../lib/time.ts';
import type { Config } from '../../../settings/read-config.ts';
import { failed, notChecked, ok, type PreflightLine, shownAddress, warning, within } from './line.ts';
import type { OwnCertificate } from './own-certificate.ts';

interface ClockNeeds {
  readonly own: OwnCertificate | undefined;
  readonly now: () => Date;
  readonly timeoutMs: number;
}

/** The leeway that `exp` and `nbf` of tokens have. */
const MAX_DIFFERENCE_MS = 30_000;
/** A `Date` is in whole seconds. */
const RESOLUTION_MS = 1000;

/** Compares with the `Date` of the issuers of tokens and of the responders of the certificates. */
export async function checkClock(config: Config, { own, now, timeoutMs }: ClockNeeds): Promise<PreflightLine> {
  const name = 'clock';
  const { oauthIssuer, oauthJwksUrl, fscCertificates = '' } = config.tokens;
  const issuers = [oauthJwksUrl ?? oauthIssuer, /^https?:/i.test(fscCertificates) ? fscCertificates : undefined];
  const named = issuers.filter((address) => address !== undefined);
  // As with their answers, only what a certificate whose chain holds names is called.
  const responders = [...new Set((own?.path ?? []).slice(0, -1).flatMap(ocspAddresses))];
  const readings = await Promise.all([
    ...named.map((address) => readClock(config, address, { allowPrivate: true, now, timeoutMs })),
    ...responders.map((address) =>
      readClock(config, address, { allowPrivate: config.gegevens.revocationAllowPrivate, now, timeoutMs }),
    ),
  ]);
  const known = readings.filter((reading) => reading !== undefined);
  if (known.length === 0) {
    return notChecked(
      name,
      'no issuer or responder answered with a `Date`',
      'see the lines of the issuer and the revocation',
    );
  }
  const odd = known.filter(({ aheadMs }) => Math.abs(aheadMs) > MAX_DIFFERENCE_MS);
  if (odd.length === 0) return ok(name, `as that of ${known.map(({ address }) => address).join(', ')}`);
  const told = odd.map(({ address, aheadMs }) => {
    return `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ${address}`;
  });
  return failed(
    name,
    `this machine is ${told.join(', ')}`,
    'keep the clock right with NTP (`timedatectl`): tokens, signatures and revocation answers are refused otherwise',
  );
}

interface ClockReading {
  readonly address: string;
  /** How far this machine is ahead. */
  readonly aheadMs: number;
}

async function readClock(
  { server }: Config,
  address: string,
  { allowPrivate, now, timeoutMs }: { allowPrivate: boolean; now: () => Date; timeoutMs: number },
): Promise<ClockReading | undefined> {
  const connections = createGuardedConnections({
    rules: { allowPrivate },
    proxy: server,
    maxRedirects: 0,
    connectTimeoutMs: timeoutMs,
    agent: {},
  });
  try {
    const asked = now().getTime();
    const { answer } = await connections.request(
      address,
      { method: 'GET', signal: AbortSignal.timeout(timeoutMs) },
      'none',
    );
    const answered = now().getTime();
    // Whatever it says, only when.
    answer.body.on('error', () => undefined).destroy();
    const date = Date.parse(String(answer.headers.date));
    if (Number.isNaN(date)) return undefined;
    // Written somewhere between the two, and cut to a second.
    const aheadMs = date + RESOLUTION_MS < asked ? asked - date - RESOLUTION_MS : Math.min(0, answered - date);
    return { address: shownAddress(address), aheadMs };
  } catch {
    // That it cannot be reached has a line of its own.
    return undefined;
  } finally {
    await connections.close();
  }
}

/** Connects as a command does. */
export async function checkDatabase(config: Config, timeoutMs: number): Promise<PreflightLine[]> {
  const [name, migrations] = ['database', 'migrations'];
  const todo = 'correct DATABASE_URL, or let this machine reach the server';
  if (config.database.url === undefined && !(await hasEmbedded(config.server.home))) {
    return [failed(name, 'DATABASE_URL is not set, and there is no embedded Postgres here', 'set DATABASE_URL')];
  }
  const connectTimeoutMs = Math.min(config.database.connectTimeoutMs, timeoutMs);
  const bounded = { ...config, database: { ...config.database, connectTimeoutMs } };
  const opening = openDatabase({ config: bounded, log: createLogger('silent'), purpose: 'command' });
  let database: Database;
  try {
    database = await within(timeoutMs, opening, (late) => void late.close());
  } catch (error) {
    if (!(error instanceof MigrationError)) return [failed(name, reasonOf(error), todo)];
    return [
      ok(name, 'reached'),
      failed(migrations, error.message, 'run `koppelvlak migrate` of this version with the login of the owner'),
    ];
  }
  try {
    const { areas } = config.server;
    const checks = databaseChecks({ database, clock: systemClock, areas });
    const lines = [ok(migrations, 'all that this version needs')];
    for (const check of checks.filter((each) => ['database-writable', 'clock'].includes(each.name))) {
      const result = await within(timeoutMs, check.check());
      if (check.name === 'clock' && result.warning !== undefined) {
        lines.push(warning('database-clock', result.warning, 'keep both clocks right with NTP'));
      }
      if (check.name === 'database-writable' && (!result.ok || result.warning !== undefined)) {
        const detail = result.detail ?? result.warning ?? 'it takes no changes';
        return [failed(name, detail, 'name the primary in DATABASE_URL'), ...lines];
      }
    }
    return [ok(name, 'reached, and it takes changes'), ...lines];
  } catch (error) {
    return [failed(name, reasonOf(error), todo)];
  } finally {
    await database.close();
  }
}

async function hasEmbedded(home: string): Promise<boolean> {
  return await stat(join(home, 'postgres')).then(
    () => true,
    () => false,
  );
}
