/**
 * Sessions in encrypted cookies: each instance that has the key reads them, and nothing about a citizen is kept on the server. Only that a session
 * was ended is kept, until it would have ended by itself. See docs/decisions/0030-citizens-and-operators-pages.md.
 */
import { hkdfSync, randomUUID } from 'node:crypto';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EncryptJWT, errors, type JWTPayload, jwtDecrypt } from 'jose';
import type { Pool } from '../../database/pool.ts';
import type { Clock } from '../../lib/time.ts';
import { isBsn } from '../../verwerkingenlog/domain/read-actie.ts';
import { endSession, isEnded } from './store/ended-sessions.ts';

/** A citizen who is logged in. */
export interface Session {
  readonly id: string;
  readonly bsn: string;
  /** When it ends, whatever happens. */
  readonly until: Date;
}

/** What the browser keeps between going to the provider and coming back. */
export interface LoginAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export interface Sessions {
  /** The session of a request, renewed for another idle period; undefined when there is no session, or it has ended. */
  read(request: FastifyRequest, reply: FastifyReply): Promise<Session | undefined>;
  /** Whether the browser sent a session, whatever it is worth. */
  wasSent(request: FastifyRequest): boolean;
  /** Begins a new session, whatever the browser sent. */
  begin(reply: FastifyReply, bsn: string): Promise<void>;
  /** Ends the session of a request on every instance. */
  end(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Takes the browser's cookie of a session away. */
  forget(reply: FastifyReply): void;
  beginLogin(reply: FastifyReply, attempt: LoginAttempt): Promise<void>;
  /** The attempt of a request. The browser forgets it: it serves once. */
  takeLogin(request: FastifyRequest, reply: FastifyReply): Promise<LoginAttempt | undefined>;
}

interface SessionOptions {
  /** Base64 of 32 bytes. */
  readonly key: string;
  readonly idleMs: number;
  readonly maxMs: number;
  readonly clock: Clock;
  readonly pool: Pool;
  /** Whether the pages are served over TLS; known after listening. */
  readonly isSecure: () => boolean;
  /** Path that the cookies are sent to, where their names allow one. */
  readonly path: string;
}

/** How long a citizen may take to log in. */
const LOGIN_MS = 10 * 60_000;
const LONGEST_COOKIE = 2000;

export function createSessions(options: SessionOptions): Sessions {
  const { idleMs, maxMs, clock, pool, isSecure } = options;
  const session = sealedCookie('inzage', options);
  const login = sealedCookie('inzage-inloggen', options);

  const write = async (reply: FastifyReply, { id, bsn, until }: Session): Promise<void> => {
    const ends = new Date(Math.min(clock.now().getTime() + idleMs, until.getTime()));
    await session.set(reply, isSecure(), { jti: id, bsn, until: until.getTime() }, ends);
  };

  const open = async (request: FastifyRequest): Promise<Session | undefined> => {
    const claims = await session.get(request, isSecure());
    if (claims === undefined) return undefined;
    const { jti, bsn, until } = claims;
    // Only we can have written it, but not necessarily this release of ours.
    if (typeof jti !== 'string' || typeof bsn !== 'string' || !isBsn(bsn) || typeof until !== 'number')
      return undefined;
    return { id: jti, bsn, until: new Date(until) };
  };

  return {
    async read(request, reply) {
      const found = await open(request);
      if (found === undefined || (await isEnded(pool, found.id))) return undefined;
      await write(reply, found);
      return found;
    },
    wasSent: (request) => session.isSent(request, isSecure()),
    async begin(reply, bsn) {
      await write(reply, { id: randomUUID(), bsn, until: new Date(clock.now().getTime() + maxMs) });
    },
    async end(request, reply) {
      session.clear(reply, isSecure());
      const found = await open(request);
      if (found !== undefined) await endSession(pool, found.id, found.until, clock.now());
    },
    forget: (reply) => session.clear(reply, isSecure()),
    async beginLogin(reply, { state, nonce, codeVerifier }) {
      const ends = new Date(clock.now().getTime() + LOGIN_MS);
      await login.set(reply, isSecure(), { state, nonce, codeVerifier }, ends);
    },
    async takeLogin(request, reply) {
      const claims = await login.get(request, isSecure());
      login.clear(reply, isSecure());
      const { state, nonce, codeVerifier } = claims ?? {};
      if (typeof state !== 'string' || typeof nonce !== 'string' || typeof codeVerifier !== 'string') return undefined;
      return { state, nonce, codeVerifier };
    },
  };
}

/** A cookie that only this service reads and writes: a JWE, with a key of its own for each name. */
function sealedCookie(label: string, { key, clock, path }: SessionOptions) {
  const secret = new Uint8Array(hkdfSync('sha256', Buffer.from(key, 'base64'), '', `koppelvlak cookie ${label}`, 32));
  // A browser takes a name with this prefix only over TLS, from this very host, for every path: no neighbouring host can plant one.
  const nameOf = (secure: boolean): string => (secure ? `__Host-${label}` : label);
  const attributes = (secure: boolean): CookieSerializeOptions => ({
    httpOnly: true,
    sameSite: 'lax',
    secure,
    path: secure ? '/' : path,
  });
  const sent = (request: FastifyRequest, secure: boolean): string | undefined => request.cookies[nameOf(secure)];
  return {
    isSent: (request: FastifyRequest, secure: boolean): boolean => sent(request, secure) !== undefined,
    async set(reply: FastifyReply, secure: boolean, claims: JWTPayload, ends: Date): Promise<void> {
      const value = await new EncryptJWT(claims)
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setExpirationTime(ends)
        .encrypt(secret);
      reply.setCookie(nameOf(secure), value, attributes(secure));
    },
    clear(reply: FastifyReply, secure: boolean): void {
      reply.clearCookie(nameOf(secure), attributes(secure));
    },
    /** What it says, while it is valid. */
    async get(request: FastifyRequest, secure: boolean): Promise<JWTPayload | undefined> {
      const value = sent(request, secure);
      if (value === undefined || value.length > LONGEST_COOKIE) return undefined;
      try {
        const { payload } = await jwtDecrypt(value, secret, {
          currentDate: clock.now(),
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
          requiredClaims: ['exp'],
        });
        return payload;
      } catch (error) {
        // Changed, written with another key, or over: all are no session.
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}
