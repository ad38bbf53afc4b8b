/** Checks for the usual problems before the first request; each line says what to do. */
import querystring from 'node:querystring';
import { type Config, type ConfigFault, settingGroups } from '../../../settings/read-config.ts';
import { type DataSheet, dataSheet } from './data-sheet.ts';
import { failed, ok, type PreflightContext, type Verdict } from './line.ts';
import { checkOwnCertificate, checkRevocation, checkTransport } from './own-certificate.ts';
import { type Authorization, checkSelf } from './self-request.ts';
import { checkClock, checkDatabase, checkTokens } from './surroundings.ts';

interface PreflightOptions extends Omit<PreflightContext, 'own' | 'path'> {
  readonly authorization: Authorization;
  readonly faults: readonly ConfigFault[];
  readonly contacts: readonly string[];
  /** PEM file of the certificate of the connection. */
  readonly transportCertificate: string | undefined;
}

export interface Preflight {
  readonly ok: boolean;
  readonly lines: readonly ({ readonly name: string } & Verdict)[];
  readonly dataSheet: DataSheet;
}

/** @throws the signal's reason; any error of `authorization` */
export async function preflight(options: PreflightOptions): Promise<Preflight> {
  const { config, now, signal, faults, contacts, authorization } = options;
  const { verdicts, own, path } = checkOwnCertificate(config, now());
  const context: PreflightContext = { ...options, own, path };
  const variants = (['shv', 'vs'] as const).filter((variant) => config.server.areas.includes(variant));
  const [revocation, tokens, clock, database, ...self] = await Promise.all([
    checkRevocation(context),
    checkTokens(context),
    checkClock(context),
    checkDatabase(context),
    ...variants.map(
      async (variant) => [`request-${variant}`, await checkSelf(variant, context, authorization)] as const,
    ),
  ]);
  signal.throwIfAborted();
  const transport = checkTransport(options.transportCertificate, own);
  const all = {
    settings: settingsVerdict(faults),
    ...verdicts,
    'certificate-revocation': revocation,
    'transport-certificate': transport.verdict,
    ...tokens,
    clock,
    ...database,
    ...Object.fromEntries(self),
  };
  const hide = secretsHidden(config);
  const lines = Object.entries(all).map(([name, verdict]) => ({
    name,
    ...verdict,
    detail: hide(verdict.detail).replaceAll(/\s+/g, ' '),
  }));
  return {
    ok: lines.every(({ state }) => state !== 'failed'),
    lines,
    dataSheet: dataSheet(context, { transport: transport.certificate, contacts }),
  };
}

function settingsVerdict(faults: readonly ConfigFault[]): Verdict {
  if (faults.length === 0) return ok('complete, and they agree with each other');
  const detail = faults.map(({ variable, wrong }) => `${variable} ${wrong}`).join('; ');
  return failed(detail, faults.map(({ variable, allowed }) => `${variable}: ${allowed}`).join('; '));
}

function secretsHidden(config: Config): (text: string) => string {
  const groups = new Map(Object.entries(config));
  const secrets = Object.entries(settingGroups).flatMap(([group, entries]) => {
    const values = new Map(Object.entries(groups.get(group) ?? {}));
    const names = Object.keys(entries).filter((name) => entries[name]?.secret);
    return names.map((name) => values.get(name)).filter((value) => typeof value === 'string');
  });
  // The address of a database at a socket has no host, and a URL with a login needs one.
  const passwords = secrets.map((secret) => URL.parse(secret.replace('@/', '@host/'))?.password ?? '');
  // Unlike `decodeURIComponent`, it leaves a bare % as it is, as the client of Postgres does.
  const decoded = passwords.map((password) => querystring.unescape(password));
  // The longest first: a secret that another begins with would leave the rest of it.
  const all = [...secrets, ...passwords, ...decoded]
    .filter((secret) => secret.length > 3)
    .toSorted((a, b) => b.length - a.length);
  return (text) => all.reduce((shown, secret) => shown.replaceAll(secret, '(secret)'), text);
}
