/** Everything that usually goes wrong before the first request, each thing as a line with what to do. */

import type { Variant } from '../../../gegevens/model/mapping.ts';
import { type Config, type ConfigFault, settingGroups } from '../../../settings/read-config.ts';
import { type DataSheet, dataSheet } from './data-sheet.ts';
import { failed, ok, type PreflightLine } from './line.ts';
import { checkOwnCertificate, checkRevocation } from './own-certificate.ts';
import { checkSelf } from './self-request.ts';
import { checkClock, checkDatabase } from './surroundings.ts';
import { checkTokens } from './tokens.ts';
import { checkTransport } from './transport.ts';

interface PreflightOptions {
  readonly config: Config;
  /** What is wrong with the settings together. */
  readonly faults: readonly ConfigFault[];
  readonly now: () => Date;
  /** Of each call. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly contacts: readonly string[];
  /** The header with an access token for a request to the own service; none when there is no token. */
  readonly authorization: (variant: Variant) => Promise<Readonly<Record<string, string>>>;
}

export interface Preflight {
  readonly ok: boolean;
  readonly lines: readonly PreflightLine[];
  readonly dataSheet: DataSheet;
}

/** @throws the signal's reason; whatever `authorization` says */
export async function preflight(options: PreflightOptions): Promise<Preflight> {
  const { config, faults, now, timeoutMs, signal } = options;
  const { lines: certificate, own } = await checkOwnCertificate(config, now());
  const variants = (['shv', 'vs'] as const).filter((variant) => config.server.areas.includes(variant));
  const needs = { own, now, timeoutMs, signal, authorization: options.authorization };
  const [revocation, transport, tokens, clock, database, ...self] = await Promise.all([
    checkRevocation(config, needs),
    checkTransport(config, needs),
    checkTokens(config, { now, timeoutMs, oin: own?.oin }),
    checkClock(config, needs),
    checkDatabase(config, timeoutMs),
    ...variants.map((variant) => checkSelf(config, variant, needs)),
  ]);
  signal.throwIfAborted();
  const hide = secretsHidden(config);
  const lines = [
    settingsLine(faults),
    ...certificate,
    revocation,
    transport.line,
    ...tokens,
    clock,
    ...database,
    ...self,
  ].map((line) => ({ ...line, detail: hide(line.detail).replaceAll(/\s+/g, ' ') }));
  return {
    ok: lines.every(({ state }) => state !== 'failed'),
    lines,
    dataSheet: dataSheet(config, { own, transport: transport.certificates, contacts: options.contacts }),
  };
}

function settingsLine(faults: readonly ConfigFault[]): PreflightLine {
  if (faults.length === 0) return ok('settings', 'complete, and they agree with each other');
  const detail = faults.map(({ variable, wrong }) => `${variable} ${wrong}`).join('; ');
  return failed('settings', detail, faults.map(({ variable, allowed }) => `${variable}: ${allowed}`).join('; '));
}

/** No message of a library that repeats a secret gets through. */
function secretsHidden(config: Config): (text: string) => string {
  const secrets = Object.entries(settingGroups).flatMap(([group, entries]) => {
    const values = Object.entries(Object.entries(config).find(([name]) => name === group)?.[1] ?? {});
    return Object.entries(entries)
      .filter(([, setting]) => setting.secret)
      .map(([name]) => values.find(([key]) => key === name)?.[1])
      .filter((value) => typeof value === 'string');
  });
  const passwords = secrets.flatMap((secret) => {
    const password = URL.parse(secret)?.password ?? '';
    return password === '' ? [] : [password, decodeURIComponent(password)];
  });
  const all = [...secrets, ...passwords].filter((secret) => secret.length > 3);
  return (text) => all.reduce((shown, secret) => shown.replaceAll(secret, '(secret)'), text);
}
