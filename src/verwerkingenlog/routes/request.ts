import type { FastifyReply, FastifyRequest } from 'fastify';
import type { operations } from '../../contracts/verwerkingenlog.ts';
import { callerOf, insufficientScope } from '../../http/auth.ts';
import { requestClosedSignal } from '../../http/connections.ts';
import type { Contract, ServeOptions } from '../../http/contract.ts';
import { platformProblems } from '../../http/problems.ts';
import { MAX_FAULTS } from '../../http/request-validator.ts';
import type { Platform } from '../../kernel/platform.ts';
import { type InvalidParam, Problem } from '../../kernel/problem.ts';
import type { ProcessingContext } from '../../kernel/processing-log.ts';
import { type Categorie, functieOf, type Handeling } from '../domain/access.ts';
import type { Auteur } from '../domain/verwerkingsactie.ts';
import type { LoggedRead, Reader } from '../own-entries.ts';
import { verwerkingenlogProblems } from '../problems.ts';
import type { ActieLog } from '../processing-log.ts';

/** What the routes of this area share. */
export interface RouteNeeds {
  readonly platform: Platform;
  readonly contract: Contract<operations>;
  readonly log: ActieLog;
  readonly loggedRead: LoggedRead;
  readonly access: NonNullable<ServeOptions['authenticate']>;
  readonly headersOf: (request: FastifyRequest) => ProcessingContext;
  /** Address of the mount. */
  readonly base: () => string;
}

/** Who makes a version or an entry. */
export function auteurOf(request: FastifyRequest): Auteur {
  return { door: callerOf(request).subject, verzoekId: request.id };
}

export function readerOf(
  request: FastifyRequest,
  reply: FastifyReply,
  needs: RouteNeeds,
  handelingNaam: string,
): Reader {
  return {
    context: needs.headersOf(request),
    auteur: auteurOf(request),
    handelingNaam,
    signal: requestClosedSignal(reply),
  };
}

/** Whether the caller's scopes allow it by the matrix. */
export function may(
  request: FastifyRequest,
  handeling: Handeling,
  touched: readonly Categorie[],
  beperkteSet?: boolean,
): boolean {
  const { scopes } = callerOf(request);
  return functieOf(handeling, touched, beperkteSet)?.scopes.some((scope) => scopes.has(scope)) ?? false;
}

/**
 * Checks the caller's scopes against the matrix.
 * @throws {Problem} 403
 */
export function allow(
  request: FastifyRequest,
  handeling: Handeling,
  touched: readonly Categorie[],
  beperkteSet?: boolean,
): void {
  const functie = functieOf(handeling, touched, beperkteSet);
  const { scopes } = callerOf(request);
  if (functie === undefined) {
    throw new Problem(platformProblems.forbidden, {
      detail: 'Opgeheven kan alleen een bestaande verwerking worden (PATCH).',
    });
  }
  if (!functie.scopes.some((scope) => scopes.has(scope))) {
    throw insufficientScope(functie.scopes, `Hiervoor is nodig: ${functie.scopes.join(' of ')}.`);
  }
}

/** @throws {Problem} 400 with the faults, up to the maximum of one answer; returns when there are none */
export function refuse(found: readonly InvalidParam[]): void {
  if (found.length === 0) return;
  const faults = found.slice(0, MAX_FAULTS);
  throw new Problem(platformProblems.invalidRequest, {
    detail: faults.map(({ name, reason }) => `${name}: ${reason}`).join('; '),
    invalidParams: faults,
  });
}

/** There is nothing to change (the standard has 400 here, not 404). */
export function unknownVerwerkingsactie(name: 'actieId' | 'verwerkingId'): Problem {
  const reason = 'bestaat niet of is vervallen';
  return new Problem(verwerkingenlogProblems.onbekendeVerwerkingsactie, {
    detail: `${name}: ${reason}`,
    invalidParams: [{ name, code: 'onbekend', reason }],
  });
}
