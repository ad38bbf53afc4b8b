import type { Platform, ReadinessCheck } from '../kernel/platform.ts';
import { watchFiles } from '../kernel/watch-files.ts';
import { daysToExpiry, type OwnKey } from './jades/own-key.ts';
import type { Signer } from './jades/sign.ts';
import { loadOwnKey, ownKeySigner } from './own-key-files.ts';

const WARNING_DAYS = 30;
/** A certificate grows old without anything happening. */
const LOOK_AGAIN_MS = 6 * 3_600_000;

/** The own key: answers are signed with the one that was last found good. */
export interface OwnSigner {
  readonly signer: () => Signer;
  readonly key: () => OwnKey;
  readonly check: ReadinessCheck;
  readonly close: () => void;
}

export interface OwnSignerOptions {
  readonly platform: Pick<Platform, 'config' | 'clock' | 'log'>;
  /** Called with every key that is taken up. */
  readonly taken: (key: OwnKey) => void;
}

/**
 * Loads the own key and takes up a new one on `SIGHUP` or when its files change. A new one that cannot be used is reported, and the
 * old one stays.
 * @throws {OwnKeyError} when the key that it starts with cannot be used
 */
export function createOwnSigner({ platform, taken }: OwnSignerOptions): OwnSigner {
  const { clock, log } = platform;
  const { gegevens } = platform.config;
  let own = loadOwnKey(gegevens, clock.now());
  let signer = signerOf(own, platform);
  let refused: string | undefined;
  taken(own);
  warnOfExpiry(own, platform);

  const reload = (): void => {
    try {
      const next = loadOwnKey(gegevens, clock.now());
      refused = undefined;
      if (thumbprints(next) === thumbprints(own)) return;
      own = next;
      signer = signerOf(next, platform);
      taken(next);
      log.info({ subject: next.subject, notAfter: next.notAfter }, 'a new signing key was taken up');
      warnOfExpiry(next, platform);
    } catch (error) {
      refused = error instanceof Error ? error.message : String(error);
      log.error({ err: error }, 'the new signing key cannot be used; the old one stays');
    }
  };
  const files = [gegevens.signingKey, gegevens.signingChain, gegevens.signingP12].filter((file) => file !== undefined);
  const watcher = watchFiles(files, reload, log);
  const look = setInterval(() => warnOfExpiry(own, platform), LOOK_AGAIN_MS).unref();
  return {
    signer: () => signer,
    key: () => own,
    check: {
      name: 'signing-key',
      check: async () => {
        const days = daysToExpiry(own, clock.now());
        const detail = `the signing certificate expires in ${days} days, on ${own.notAfter.toISOString()}`;
        if (days < 0) return { ok: false, detail: `the signing certificate expired on ${own.notAfter.toISOString()}` };
        if (refused !== undefined) return { ok: true, detail, warning: `a new signing key was refused: ${refused}` };
        return days <= WARNING_DAYS ? { ok: true, warning: detail } : { ok: true, detail };
      },
    },
    close: () => {
      clearInterval(look);
      watcher.close();
    },
  };
}

function signerOf(own: OwnKey, { config: { gegevens }, clock }: OwnSignerOptions['platform']): Signer {
  return ownKeySigner(own, { now: () => clock.now(), signatureTime: gegevens.signatureTime });
}

function warnOfExpiry(own: OwnKey, { clock, log }: OwnSignerOptions['platform']): void {
  const days = daysToExpiry(own, clock.now());
  if (days <= WARNING_DAYS) log.warn({ days, notAfter: own.notAfter }, 'the signing certificate expires soon');
}

/** A chain that was completed or renewed is another one, also with the same certificate at its beginning. */
function thumbprints({ chain }: OwnKey): string {
  return chain.map(({ thumbprint }) => thumbprint).join(' ');
}
