/** Everything that usually goes wrong before the first request, each thing as a line with what to do. */
import { type Config, type ConfigFault, settingGroups } from '../../../settings/read-config.ts';
import { type DataSheet, dataSheet } from './data-sheet.ts';
import { failed, notChecked, ok, type PreflightContext, type Verdict } from './line.ts';
import { CERTIFICATE_CHECKS, checkRevocation, checkSigningKey, readOwnCertificate } from './own-certificate.ts';
import { checkSelf } from './self-request.ts';
import { checkClock, checkDatabase, checkTransport } from './surroundings.ts';
import { checkTokens } from './tokens.ts';

interface PreflightOptions extends Omit<PreflightContext, 'own'> {
  /** What is wrong with the settings together. */
  readonly faults: readonly ConfigFault[];
  readonly contacts: readonly string[];
}

export interface Preflight {
  readonly ok: boolean;
  readonly lines: readonly ({ readonly name: string } & Verdict)[];
  readonly dataSheet: DataSheet;
}

/** @throws the signal's reason; whatever `authorization` says */
export async function preflight({ faults, contacts, ...options }: PreflightOptions): Promise<Preflight> {
  const { config, now, signal } = options;
  const own = await readOwnCertificate(config, now());
  const context: PreflightContext = { ...options, own: 'leaf' in own ? own : undefined };
  const variants = (['shv', 'vs'] as const).filter((variant) => config.server.areas.includes(variant));
  const [revocation, transport, tokens, clock, database, ...self] = await Promise.all([
    checkRevocation(context),
    checkTransport(context),
    checkTokens(context),
    checkClock(context),
    checkDatabase(context),
    ...variants.map((variant) => checkSelf(variant, context)),
  ]);
  signal.throwIfAborted();
  const certificate = Object.entries(CERTIFICATE_CHECKS).map(([name, check]): [string, Verdict] => [
    name,
    'leaf' in own ? check(own, context) : notChecked('the signing key or its chain cannot be read'),
  ]);
  const verdicts: readonly (readonly [string, Verdict])[] = [
    ['settings', settingsVerdict(faults)],
    ['signing-key', 'leaf' in own ? checkSigningKey(context) : own],
    ...certificate,
    ['certificate-revocation', revocation],
    ['transport-certificate', transport.verdict],
    ...Object.entries(tokens),
    ['clock', clock],
    ...Object.entries(database),
    ...variants.flatMap((variant, index): [string, Verdict][] => {
      const verdict = self[index];
      return verdict === undefined ? [] : [[`request-${variant}`, verdict]];
    }),
  ];
  const hide = secretsHidden(config);
  const lines = verdicts.map(([name, verdict]) => ({
    name,
    ...verdict,
    detail: hide(verdict.detail).replaceAll(/\s+/g, ' '),
  }));
  return {
    ok: lines.every(({ state }) => state !== 'failed'),
    lines,
    dataSheet: dataSheet(context, { transport: transport.certificates, contacts }),
  };
}

function settingsVerdict(faults: readonly ConfigFault[]): Verdict {
  if (faults.length === 0) return ok('complete, and they agree with each other');
  const detail = faults.map(({ variable, wrong }) => `${variable} ${wrong}`).join('; ');
  return failed(detail, faults.map(({ variable, allowed }) => `${variable}: ${allowed}`).join('; '));
}

/** No message of a library that repeats a secret gets through. */
function secretsHidden(config: Config): (text: string) => string {
  const groups = new Map(Object.entries(config));
  const secrets = Object.entries(settingGroups).flatMap(([group, entries]) => {
    const values = new Map(Object.entries(groups.get(group) ?? {}));
    return Object.entries(entries)
      .filter(([, setting]) => setting.secret)
      .map(([name]) => values.get(name))
      .filter((value) => typeof value === 'string');
  });
  const passwords = secrets.flatMap((secret) => {
    const password = URL.parse(secret)?.password ?? '';
    return password === '' ? [] : [password, decodeURIComponent(password)];
  });
  const all = [...secrets, ...passwords].filter((secret) => secret.length > 3);
  return (text) => all.reduce((shown, secret) => shown.replaceAll(secret, '(secret)'), text);
}
