/**
 * Sessions in encrypted cookies: each instance with the key can read them, and the server stores nothing about a citizen. Only the identities of
 * ended sessions are stored, until they would have expired. See docs/decisions/0030-citizens-and-operators-pages.md.
 */
import { hkdfSync, randomUUID } from 'node:crypto';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EncryptJWT, errors, type JWTPayload, jwtDecrypt } from 'jose';
import { isBsn } from '../../lib/patterns.ts';
import type { LoginAttempt } from './sign-in.ts';
import { HOME } from './site.ts';
import { endSession, isEnded } from './store/citizens.ts';

export interface Session {
  readonly id: string;
  readonly bsn: string;
  readonly until: Date;
}

const LOGIN_MS = 10 * 60_000;

export function createSessions(app: FastifyInstance) {
  const { clock } = app;
  const { logPool: pool } = app.database;
  const { idleMs, sessionMs } = app.settings.inzage;
  const session = sealedCookie(app, 'inzage');
  const login = sealedCookie(app, 'inzage-inloggen');

  const write = async (reply: FastifyReply, { id, bsn, until }: Session): Promise<void> => {
    const ends = new Date(Math.min(clock.now().getTime() + idleMs, until.getTime()));
    await session.set(reply, { jti: id, bsn, until: until.getTime() }, ends);
  };

  const open = async (request: FastifyRequest): Promise<Session | undefined> => {
    const { jti, bsn, until } = (await session.get(request)) ?? {};
    // Only this service can have written it, but perhaps another release of it.
    if (typeof jti !== 'string' || typeof bsn !== 'string' || !isBsn(bsn) || typeof until !== 'number')
      return undefined;
    return { id: jti, bsn, until: new Date(until) };
  };

  return {
    /** The session of a request, renewed for another idle period; undefined when there is no session, or it has ended. */
    async read(request: FastifyRequest, reply: FastifyReply): Promise<Session | undefined> {
      const found = await open(request);
      if (found === undefined || (await isEnded(pool, found.id))) return undefined;
      await write(reply, found);
      return found;
    },
    /** Whether the browser sent a session, valid or not. */
    wasSent: session.isSent,
    /** Begins a new session, whatever the browser sent. */
    begin: (reply: FastifyReply, bsn: string): Promise<void> =>
      write(reply, { id: randomUUID(), bsn, until: new Date(clock.now().getTime() + sessionMs) }),
    /** Ends the session of a request on every instance. */
    async end(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      session.clear(reply);
      const found = await open(request);
      if (found !== undefined) await endSession(pool, found.id, found.until, clock.now());
    },
    forget: session.clear,
    beginLogin: (reply: FastifyReply, attempt: LoginAttempt): Promise<void> =>
      login.set(reply, { ...attempt }, new Date(clock.now().getTime() + LOGIN_MS)),
    /** The login attempt of a request. The browser's cookie is deleted, because it is valid once. */
    async takeLogin(request: FastifyRequest, reply: FastifyReply): Promise<LoginAttempt | undefined> {
      const { state, nonce, codeVerifier } = (await login.get(request)) ?? {};
      login.clear(reply);
      if (typeof state !== 'string' || typeof nonce !== 'string' || typeof codeVerifier !== 'string') return undefined;
      return { state, nonce, codeVerifier };
    },
  };
}

/** A cookie that only this service reads and writes: a JWE, with a separate key for each name. */
function sealedCookie({ clock, settings, publicBaseUrl }: FastifyInstance, label: string) {
  const key = Buffer.from(settings.inzage.sessionKey ?? '', 'base64');
  const secret = new Uint8Array(hkdfSync('sha256', key, '', `koppelvlak cookie ${label}`, 32));
  // Known after listening.
  const isSecure = (): boolean => publicBaseUrl().startsWith('https:');
  // A browser accepts a name with this prefix only over TLS, from this very host, for every path: no neighbouring host can plant one.
  const nameOf = (): string => (isSecure() ? `__Host-${label}` : label);
  const attributes = (): CookieSerializeOptions => ({
    httpOnly: true,
    sameSite: 'lax',
    secure: isSecure(),
    path: isSecure() ? '/' : HOME,
  });
  return {
    isSent: (request: FastifyRequest): boolean => request.cookies[nameOf()] !== undefined,
    async set(reply: FastifyReply, claims: JWTPayload, ends: Date): Promise<void> {
      const jwt = new EncryptJWT(claims).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).setExpirationTime(ends);
      reply.setCookie(nameOf(), await jwt.encrypt(secret), attributes());
    },
    clear(reply: FastifyReply): void {
      reply.clearCookie(nameOf(), attributes());
    },
    async get(request: FastifyRequest): Promise<JWTPayload | undefined> {
      const value = request.cookies[nameOf()];
      if (value === undefined) return undefined;
      try {
        const { payload } = await jwtDecrypt(value, secret, {
          currentDate: clock.now(),
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
          requiredClaims: ['exp'],
        });
        return payload;
      } catch (error) {
        // Changed, written with another key, or expired: not a session.
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}
