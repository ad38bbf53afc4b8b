/** The clock of this machine against those of others, and the database. */

import { hash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { databaseChecks } from '../../../database/checks.ts';
import { MigrationError } from '../../../database/migrate.ts';
import { type Database, openDatabase } from '../../../database/open-database.ts';
import { ocspAddresses } from '../../../lib/jades/certificate.ts';
import { createLogger, reasonOf } from '../../../lib/log.ts';
import { createGuardedConnections } from '../../../lib/outbound/guarded-fetch.ts';
import { systemClock } from '../../../lib/time.ts';
import type { Config } from '../../../settings/read-config.ts';
import { failed, notChecked, ok, type PreflightContext, shownAddress, type Verdict, warning, within } from './line.ts';
import type { OwnCertificate } from './own-certificate.ts';

/** The leeway that `exp` and `nbf` of tokens have. */
const MAX_DIFFERENCE_MS = 30_000;
/** A `Date` is in whole seconds. */
const RESOLUTION_MS = 1000;

/** Compares with the `Date` of the issuers of tokens and of the responders of the certificates. */
export async function checkClock(context: PreflightContext): Promise<Verdict> {
  const { tokens, gegevens } = context.config;
  const { oauthIssuer, oauthJwksUrl, fscCertificates = '' } = tokens;
  const issuers = [oauthJwksUrl ?? oauthIssuer, /^https?:/i.test(fscCertificates) ? fscCertificates : undefined];
  const named = issuers.filter((address) => address !== undefined);
  // As with their answers, only what a certificate whose chain holds names is called.
  const responders = [...new Set((context.own?.path ?? []).slice(0, -1).flatMap(ocspAddresses))];
  const readings = await Promise.all([
    ...named.map((address) => readClock(context, address, true)),
    ...responders.map((address) => readClock(context, address, gegevens.revocationAllowPrivate)),
  ]);
  const known = readings.filter((reading) => reading !== undefined);
  if (known.length === 0) {
    const todo = 'see the lines of the issuer and the revocation';
    return notChecked('no issuer or responder answered with a `Date`', todo);
  }
  const odd = known.filter(({ aheadMs }) => Math.abs(aheadMs) > MAX_DIFFERENCE_MS);
  if (odd.length === 0) return ok(`as that of ${known.map(({ address }) => address).join(', ')}`);
  const differences = odd.map(({ address, aheadMs }) => {
    return `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ${address}`;
  });
  return failed(
    `this machine is ${differences.join(', ')}`,
    'keep the clock right with NTP (`timedatectl`): tokens, signatures and revocation answers are refused otherwise',
  );
}

interface ClockReading {
  readonly address: string;
  /** How far this machine is ahead. */
  readonly aheadMs: number;
}

async function readClock(
  { config, now, timeoutMs }: PreflightContext,
  address: string,
  allowPrivate: boolean,
): Promise<ClockReading | undefined> {
  const connections = createGuardedConnections({
    ...{ rules: { allowPrivate }, proxy: config.server, maxRedirects: 0, connectTimeoutMs: timeoutMs, agent: {} },
  });
  try {
    const asked = now().getTime();
    const request = { method: 'GET', signal: AbortSignal.timeout(timeoutMs) } as const;
    const { answer } = await connections.request(address, request, 'none');
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

/** Connects as a command does. @returns the verdicts by the names of their lines */
export async function checkDatabase({ config, timeoutMs }: PreflightContext): Promise<Record<string, Verdict>> {
  const todo = 'correct DATABASE_URL, or let this machine reach the server';
  if (config.database.url === undefined && !(await hasEmbedded(config.server.home))) {
    const detail = 'DATABASE_URL is not set, and there is no embedded Postgres here';
    return { database: failed(detail, 'set DATABASE_URL') };
  }
  const connectTimeoutMs = Math.min(config.database.connectTimeoutMs, timeoutMs);
  const bounded = { ...config, database: { ...config.database, connectTimeoutMs } };
  const opening = openDatabase({ config: bounded, log: createLogger('silent'), purpose: 'command' });
  let database: Database;
  try {
    database = await within(timeoutMs, opening, (late) => void late.close());
  } catch (error) {
    if (!(error instanceof MigrationError)) return { database: failed(reasonOf(error), todo) };
    const migrate = 'run `koppelvlak migrate` of this version with the login of the owner';
    return { database: ok('reached'), migrations: failed(error.message, migrate) };
  }
  try {
    const checks = databaseChecks({ database, clock: systemClock, areas: config.server.areas });
    const results = new Map<string, Awaited<ReturnType<(typeof checks)[number]['check']>>>();
    for (const { name, check } of checks) {
      if (name === 'database-writable' || name === 'clock') results.set(name, await within(timeoutMs, check()));
    }
    const writable = results.get('database-writable');
    const isWritable = writable === undefined || (writable.ok && writable.warning === undefined);
    const refusal = writable?.detail ?? writable?.warning ?? 'it takes no changes';
    const clock = results.get('clock')?.warning;
    return {
      database: isWritable ? ok('reached, and it takes changes') : failed(refusal, 'name the primary in DATABASE_URL'),
      migrations: ok('all that this version needs'),
      ...(clock !== undefined && { 'database-clock': warning(clock, 'keep both clocks right with NTP') }),
    };
  } catch (error) {
    return { database: failed(reasonOf(error), todo) };
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

interface TransportCheck {
  readonly verdict: Verdict;
  readonly certificates: readonly X509Certificate[];
}

const FILE_TODO = 'name the certificate of your Inway: --transport-certificate FILE';

/** Without a file the own Inways and `PUBLIC_BASE_URL` are asked for the certificate. */
export async function checkTransport({ config, own, timeoutMs }: PreflightContext): Promise<TransportCheck> {
  const { transportCertificate: file } = config.gegevens;
  const certificates: X509Certificate[] = [];
  if (file !== undefined) {
    try {
      certificates.push(new X509Certificate(readFileSync(file)));
    } catch (error) {
      const verdict = failed(`${file} holds no certificate: ${reasonOf(error)}`, 'name a PEM file of a certificate');
      return { verdict, certificates };
    }
  } else {
    const addresses = tlsAddresses(config);
    const shown = await Promise.allSettled(addresses.map((address) => certificateOf(new URL(address), timeoutMs)));
    for (const each of shown) if (each.status === 'fulfilled') certificates.push(each.value);
    if (certificates.length === 0) {
      const reasons = shown.flatMap((each) => (each.status === 'rejected' ? [tlsReason(each.reason)] : []));
      const detail = `${addresses.map(shownAddress).join(', ')}: ${[...new Set(reasons)].join('; ')}`;
      const verdict = notChecked(addresses.length === 0 ? 'no address with TLS is configured' : detail, FILE_TODO);
      return { verdict, certificates };
    }
  }
  const verdict =
    own === undefined ? notChecked('there is no signing certificate to compare with') : compare(certificates, own);
  return { verdict, certificates };
}

function compare(certificates: readonly X509Certificate[], { leaf }: OwnCertificate): Verdict {
  const todo =
    'request a certificate of its own for the signatures, with a key of its own: the interface asks for two, and who holds the Inway must not be able to sign';
  if (certificates.some(({ raw }) => raw.equals(leaf.der))) {
    return failed('the signing certificate is that of the connection', todo);
  }
  if (certificates.some((certificate) => publicKeyHash(certificate) === publicKeyHash(leaf.x509))) {
    return failed('the signing certificate has the key of that of the connection', todo);
  }
  return ok('another certificate and key than those of the signatures');
}

/** Messages of OpenSSL name its source files; the code says as much. */
function tlsReason(error: unknown): string {
  const isTls = error instanceof Error && 'code' in error && /^ERR_(SSL|TLS)_/.test(String(error.code));
  return isTls ? String(error.code) : reasonOf(error);
}

function publicKeyHash({ publicKey }: X509Certificate): string {
  return hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'base64url');
}

/** The own addresses that a TLS connection can be made to. */
function tlsAddresses({ tokens, server }: Config): string[] {
  const all = [...tokens.fscAudience, ...(server.publicBaseUrl === undefined ? [] : [server.publicBaseUrl])];
  return [...new Set(all.filter((address) => URL.parse(address)?.protocol === 'https:'))];
}

/** The certificate that a server shows, whoever issued it: it is only compared. */
function certificateOf({ hostname, port }: URL, timeoutMs: number): Promise<X509Certificate> {
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port || 443),
      servername: /[a-z]/i.test(host) ? host : '',
      rejectUnauthorized: false,
    });
    const timer = setTimeout(() => socket.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate();
      if (certificate === undefined) reject(new Error('no certificate was shown'));
      else resolve(certificate);
      socket.destroy();
    });
    socket.once('error', reject);
    socket.once('close', () => {
      clearTimeout(timer);
      reject(new Error('the connection was closed'));
    });
  });
}
