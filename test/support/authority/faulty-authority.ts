import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Authority, type AuthorityOptions, createAuthority } from '../../../src/lib/authority/authority.ts';
import { type Answers, createAnswerer } from './answers.ts';
import type { Behaviour } from './behaviour.ts';
import { answerDates, lazyStranger, ocspAnswer, revocationList, signerFor } from './faulty-answers.ts';
import { misbehave } from './misbehave.ts';
import { emptyAnswer } from './revocation.ts';

/** Signs OCSP answers for both issuers. */
const responder = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

export interface FaultyAuthority extends Authority {
  /** Changing it changes the answers at once. */
  readonly behaviour: Behaviour;
  /** The calls, in order: `POST /ocsp`. */
  readonly calls: string[];
}

/** The demo's authority, which behaves as a test requires. */
export async function createFaultyAuthority(options: AuthorityOptions): Promise<FaultyAuthority> {
  const behaviour: Behaviour = { ocsp: 'honest', crl: 'honest', ocspDelayMs: 0, lifeSeconds: 2 };
  const calls: string[] = [];
  const stranger = lazyStranger();
  const answers: Answers = {
    async intercept(kind, request, response) {
      calls.push(`${request.method} ${request.url?.startsWith('/ocsp/') ? '/ocsp' : request.url}`);
      if (kind === 'ocsp' && behaviour.ocspDelayMs > 0) await delay(behaviour.ocspDelayMs);
      return misbehave(behaviour[kind], request, response);
    },
    ocsp(question, issuer, { now, revoked }) {
      if (behaviour.ocsp === 'try-later') return emptyAnswer(3);
      return ocspAnswer({
        question,
        responder: signerFor(behaviour.ocsp, issuer, { key: responder, stranger, now }),
        revoked: revoked().includes(question.serial),
        dates: answerDates(behaviour.ocsp, now(), behaviour.lifeSeconds),
        now: now(),
        behaviour: behaviour.ocsp,
      });
    },
    list(issuer, { now, revoked }) {
      const dates = answerDates(behaviour.crl, now(), behaviour.lifeSeconds);
      const key = ['forged', 'foreign'].includes(behaviour.crl) ? stranger().key : issuer.key;
      const name = behaviour.crl === 'foreign' ? stranger().name : issuer.name;
      return revocationList({ issuer: { name, key }, serials: revoked(), dates, behaviour: behaviour.crl });
    },
  };
  const authority = await createAuthority({ ...options, respond: createAnswerer(answers) });
  return { ...authority, behaviour, calls };
}
