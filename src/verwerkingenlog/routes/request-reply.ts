/**
 * The shared parts of the routes: the caller, the access rules (the twelve functions of the standard and their scopes), and the form of actions and
 * activities in answers.
 */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { components, operations } from '../../contracts/verwerkingenlog.ts';
import { Problem } from '../../lib/problem.ts';
import { withOffset } from '../../lib/time.ts';
import { callerOf, insufficientScope } from '../../plugins/auth.ts';
import { requestClosedSignal } from '../../plugins/connections.ts';
import type { Contract, ServeOptions } from '../../plugins/contract.ts';
import { fscTransaction, isKnown, traceOf } from '../../plugins/headers.ts';
import { platformProblems } from '../../plugins/problems.ts';
import type { ProcessingContext } from '../../plugins/processing-headers.ts';
import { CATEGORIEEN, type Categorie } from '../domain/categories.ts';
import { ANSWERED_NAMES, BASIS_NAMES } from '../domain/members.ts';
import { type Auteur, type GenummerdObject, pick, type Versie, verwerktObjectId } from '../domain/verwerkingsactie.ts';
import type { Activiteit } from '../domain/verwerkingsactiviteit.ts';
import type { LoggedRead, Reader } from '../logged-read.ts';
import { verwerkingenlogProblems } from '../problems.ts';

/** The dependencies that the routes of this area share. */
export interface LogInterface {
  readonly contract: Contract<operations>;
  readonly loggedRead: LoggedRead;
  readonly access: NonNullable<ServeOptions['authenticate']>;
  readonly consumerOf: (request: FastifyRequest) => ProcessingContext;
  readonly base: () => string;
}

/** The author of a version or an entry. */
export function auteurOf(request: FastifyRequest): Auteur {
  return { door: callerOf(request).subject, verzoekId: request.id };
}

export function readerOf(request: FastifyRequest, reply: FastifyReply, handelingNaam: string): Reader {
  return {
    context: request.server.verwerkingenlog.consumerOf(request),
    author: {
      subject: callerOf(request).subject,
      requestId: request.id,
      trace: traceOf(request),
      ...fscTransaction(request),
    },
    handelingNaam,
    signal: requestClosedSignal(reply),
  };
}

type Handeling = 'vastleggen' | 'opvragen' | 'wijzigen' | 'bewaartermijn' | 'vertrouwelijkheid' | 'verwijderen';

interface Functie {
  /** Identifier in the standard; absent: not covered by the standard's functions. */
  readonly functie?: string;
  readonly handeling: Handeling;
  /** Querying: with or without the fields that the limited set leaves out. */
  readonly beperkteSet?: boolean;
  /** Categories that the function may touch. A change touches the old and the new one. */
  readonly categorieen: readonly Categorie[];
  /** A caller needs one of these. */
  readonly scopes: readonly string[];
}

const NORMAAL: readonly Categorie[] = ['normaal'];
const VERTROUWELIJK: readonly Categorie[] = ['vertrouwelijk'];
const OPGEHEVEN: readonly Categorie[] = ['opgeheven'];
const NOT_NORMAAL: readonly Categorie[] = ['vertrouwelijk', 'opgeheven'];
const ANY_READ = ['read:restricted', 'read:normal', 'read:confidential'];
const FULL_READ = ['read:normal', 'read:confidential'];
/** The scope for normal actions; the one for confidential actions includes it. */
const normal = (verb: string): string[] => [`${verb}:normal`, `${verb}:confidential`];

/** The matrix. The first row of a `handeling` whose categories include all that a call touches decides. */
const FUNCTIES: readonly Functie[] = [
  { functie: 'F7446', handeling: 'vastleggen', categorieen: NORMAAL, scopes: normal('create') },
  { functie: 'F6624', handeling: 'vastleggen', categorieen: VERTROUWELIJK, scopes: ['create:confidential'] },
  { functie: 'F4086', handeling: 'opvragen', beperkteSet: true, categorieen: NORMAAL, scopes: ANY_READ },
  { functie: 'F2525', handeling: 'opvragen', beperkteSet: true, categorieen: OPGEHEVEN, scopes: ANY_READ },
  { functie: 'F9787', handeling: 'opvragen', beperkteSet: false, categorieen: NORMAAL, scopes: FULL_READ },
  {
    functie: 'F0143',
    handeling: 'opvragen',
    beperkteSet: false,
    categorieen: NOT_NORMAAL,
    scopes: ['read:confidential'],
  },
  { handeling: 'opvragen', categorieen: CATEGORIEEN, scopes: ['read:confidential'] },
  { functie: 'F8316', handeling: 'wijzigen', categorieen: NORMAAL, scopes: normal('update') },
  { functie: 'F3835', handeling: 'wijzigen', categorieen: CATEGORIEEN, scopes: ['update:confidential'] },
  { functie: 'F4415', handeling: 'bewaartermijn', categorieen: NORMAAL, scopes: normal('update') },
  { functie: 'F4415', handeling: 'bewaartermijn', categorieen: CATEGORIEEN, scopes: ['update:confidential'] },
  { functie: 'F2969', handeling: 'vertrouwelijkheid', categorieen: CATEGORIEEN, scopes: ['update:confidential'] },
  { functie: 'F9906', handeling: 'verwijderen', categorieen: NORMAAL, scopes: normal('delete') },
  { functie: 'F2265', handeling: 'verwijderen', categorieen: CATEGORIEEN, scopes: ['delete:confidential'] },
];

/** The row of the matrix for a call; undefined when no function covers it, whatever the scope. @param touched categories that the call touches */
function functieOf(handeling: Handeling, touched: readonly Categorie[], beperkteSet?: boolean): Functie | undefined {
  return FUNCTIES.find(
    (row) =>
      row.handeling === handeling &&
      (row.beperkteSet === undefined || row.beperkteSet === beperkteSet) &&
      touched.every((categorie) => row.categorieen.includes(categorie)),
  );
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

/** Checks the caller's scopes against the matrix. @throws {Problem} 403 */
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

/** There is nothing to change (the standard has 400 here, not 404). */
export function unknownVerwerkingsactie(name: 'actieId' | 'verwerkingId'): Problem {
  const reason = 'bestaat niet of is vervallen';
  return new Problem(verwerkingenlogProblems.onbekendeVerwerkingsactie, {
    detail: `${name}: ${reason}`,
    invalidParams: [{ name, code: 'onbekend', reason }],
  });
}

type Answers = components['schemas'];

/** The members of an action, without its objects. */
function fields(versie: Versie, base: string, beperkteSet: boolean) {
  const shown: Pick<Versie, (typeof BASIS_NAMES)[number]> = pick(versie, beperkteSet ? BASIS_NAMES : ANSWERED_NAMES);
  const tijdstip = withOffset(versie.tijdstip, versie.tijdstipOffset);
  return { url: `${base}/verwerkingsacties/${versie.actieId}`, ...shown, tijdstip };
}

export function actieAnswer(versie: Versie, base: string, beperkteSet: boolean): Answers['Verwerkingsactie'] {
  return {
    ...fields(versie, base, beperkteSet),
    verwerkteObjecten: versie.objecten.map((object) => objectFields(object, versie.actieId, base)),
  };
}

function objectFields(object: GenummerdObject, actieId: string, base: string): Answers['VerwerktObject'] {
  const id = verwerktObjectId(actieId, object.nummer);
  return {
    url: `${base}/verwerkte-objecten/${id}`,
    verwerktObjectId: id,
    objecttype: 'persoon',
    soortObjectId: object.soortObjectId,
    objectId: object.objectId,
    betrokkenheid: object.betrokkenheid,
    verwerkteSoortenGegevens: object.soortenGegevens?.map((soortGegeven) => ({ soortGegeven })) ?? null,
  };
}

/** A processed object with its action in the limited set, for the person concerned: with this one of the objects only. */
export function objectAnswer(
  object: GenummerdObject,
  versie: Versie,
  base: string,
): Answers['VerwerktObjectUitgebreid'] {
  const shown = objectFields(object, versie.actieId, base);
  return { ...shown, verwerkingsactie: { ...fields(versie, base, true), verwerkteObjecten: [shown] } };
}

/** The `ETag` of a version of an action. */
export function etag(versie: number): string {
  return `"${versie}"`;
}

/** The `ETag` of an activity. Its version numbers restart when it is removed and added again, and an old tag must not match the new one. */
export function activiteitEtag({ versie, tijdstipRegistratie }: Activiteit): string {
  return `"${versie}-${Date.parse(tijdstipRegistratie).toString(36)}"`;
}

/** Answers with a tagged representation, or 304 to a client that has it already (RFC 9110 section 13.1.2, weak comparison). */
export function sendWithETag<Answer>(
  request: FastifyRequest,
  reply: FastifyReply,
  tag: string,
  answer: Answer,
): Answer | FastifyReply {
  reply.header('etag', tag);
  return isKnown(request, tag) ? reply.code(304).send() : answer;
}

/**
 * Checks `If-Match` before a change (RFC 9110 section 13.1.1, strong comparison); without it any version may be changed.
 * @param current tag of the target; undefined when it does not exist, which matches no condition
 * @throws {Problem} 412
 */
export function requireMatch(request: FastifyRequest, current: string | undefined): void {
  const condition = request.headers['if-match'];
  if (condition === undefined) return;
  const isMatch =
    current !== undefined && (condition.trim() === '*' || condition.split(',').some((tag) => tag.trim() === current));
  if (!isMatch) throw new Problem(verwerkingenlogProblems.nieuwereVersie);
}
