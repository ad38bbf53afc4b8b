import { readFileSync } from 'node:fs';
import { daysToExpiry, loadPemKey, loadPkcs12Key, type OwnKey } from '../lib/jades/own-key.ts';
import { createSigner, type Signer } from '../lib/jades/signature.ts';
import type { Logger } from '../lib/log.ts';
import type { ReadinessCheck } from '../lib/operations.ts';
import { readTextFileSync } from '../lib/text-file.ts';
import type { Clock } from '../lib/time.ts';
import { watchFiles } from '../lib/watch-files.ts';
import type { Config } from '../settings/read-config.ts';

const WARNING_DAYS = 30;
const EXPIRY_CHECK_MS = 6 * 3_600_000;

export interface OwnSigner {
  /** The last key that could be used. */
  readonly current: { readonly key: OwnKey; readonly signer: Signer };
  readonly check: ReadinessCheck;
  readonly close: () => void;
}

interface OwnSignerOptions {
  readonly config: Pick<Config, 'gegevens'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly keyLoaded: (key: OwnKey) => void;
}

/**
 * Loads the own key, and loads it again on `SIGHUP` or when its files change. An unusable new key is reported, and the old one stays in use.
 * @throws {OwnKeyError} when the first key cannot be used
 */
export function createOwnSigner({ config, clock, log, keyLoaded }: OwnSignerOptions): OwnSigner {
  const { gegevens } = config;
  let refused: string | undefined;
  const warnOfExpiry = (key: OwnKey): void => {
    const days = daysToExpiry(key, clock.now());
    if (days <= WARNING_DAYS) log.warn({ days, notAfter: key.notAfter }, 'the signing certificate expires soon');
  };
  const use = (key: OwnKey): OwnSigner['current'] => {
    keyLoaded(key);
    warnOfExpiry(key);
    // Without a signing time a signature is not a JAdES baseline B, and `sigT` is outdated.
    return { key, signer: createSigner({ ...key, now: clock.now.bind(clock), time: 'iat' }) };
  };
  const own = { current: use(loadOwnKey(gegevens, clock.now())) };

  const reload = (): void => {
    try {
      const next = loadOwnKey(gegevens, clock.now());
      refused = undefined;
      // The whole chain, because a completed or renewed chain may begin with the same certificate.
      const [before, after] = [own.current.key, next].map(({ chain }) =>
        chain.map(({ thumbprint }) => thumbprint).join(),
      );
      if (before === after) return;
      own.current = use(next);
      log.info({ subject: next.subject, notAfter: next.notAfter }, 'a new signing key is in use');
    } catch (error) {
      refused = error instanceof Error ? error.message : String(error);
      log.error({ err: error }, 'the new signing key cannot be used; the old one stays');
    }
  };
  const files = [gegevens.signingKey, gegevens.signingChain].filter((file) => file !== undefined);
  const watcher = watchFiles(files, reload, log);
  const expiryCheck = setInterval(() => warnOfExpiry(own.current.key), EXPIRY_CHECK_MS).unref();
  return Object.assign(own, {
    check: {
      name: 'signing-key',
      runbook: 'koppelvlaksigningcertificateexpires',
      check: async () => {
        const { key } = own.current;
        const days = daysToExpiry(key, clock.now());
        const end = key.notAfter.toISOString();
        const detail = `the signing certificate expires in ${days} days, on ${end}`;
        if (days < 0) return { ok: false, detail: `the signing certificate expired on ${end}` };
        if (refused !== undefined) return { ok: true, detail, warning: `a new signing key was refused: ${refused}` };
        return days <= WARNING_DAYS ? { ok: true, warning: detail } : { ok: true, detail };
      },
    },
    close: () => {
      clearInterval(expiryCheck);
      watcher.close();
    },
  });
}

/** From the configured files, PEM or PKCS#12. @throws {OwnKeyError} when it cannot be used at that moment; errors of the file system */
export function loadOwnKey(settings: Config['gegevens'], at: Date): OwnKey {
  const { signingKey, signingChain, signingP12Passphrase: passphrase = '' } = settings;
  if (signingKey === undefined) throw new Error('GEGEVENS_SIGNING_KEY is missing');
  if (signingChain === undefined) return loadPkcs12Key({ p12: readFileSync(signingKey), passphrase }, at);
  return loadPemKey({ key: readTextFileSync(signingKey), chain: readTextFileSync(signingChain) }, at);
}
