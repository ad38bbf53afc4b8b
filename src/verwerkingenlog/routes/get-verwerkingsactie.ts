import type { FastifyInstance } from 'fastify';
import { platformProblems } from '../../http/problems.ts';
import { type InvalidParam, Problem } from '../../kernel/problem.ts';
import { categorieOf } from '../domain/access.ts';
import { etag } from '../domain/etag.ts';
import { personText } from '../domain/person-text.ts';
import type { VerwerktObject } from '../domain/verwerkingsactie.ts';
import { readCurrentPart } from '../store/read-versie.ts';
import { revealInTurns } from '../store/stored-versie.ts';
import { actieAnswer } from './answers.ts';
import { hashesOf, namedPerson, shownObjects } from './person-query.ts';
import { allow, may, type RouteNeeds, readerOf, refuse, tagged } from './route-needs.ts';

/** One action by its identity. */
export function getVerwerkingsactie(app: FastifyInstance, needs: RouteNeeds): void {
  const { contract, access, base } = needs;
  contract.serve(app, 'getVerwerkingsactie', { authenticate: access }, async (request, reply) => {
    const reader = readerOf(request, reply, needs, 'Verwerkingsactie opvragen');
    const person = namedPerson(request.query);
    const { versie, beperkteSet } = await needs.readInLog(reader, async (db) => {
      const wanted = person === undefined ? { most: MOST_UNNAMED } : { hashes: hashesOf(person, needs.log.keys) };
      const part = await readCurrentPart(db, request.params.actieId, wanted);
      if (part === undefined) throw notFound();
      const { stored } = part;
      const categorie = categorieOf(stored);
      // Unasked, all that the caller may see: who changes an action must give every field of it back.
      const beperkteSet = request.query.beperkteSet ?? !may(request, 'opvragen', [categorie], false);
      allow(request, 'opvragen', [categorie], beperkteSet);
      const read = await revealInTurns(stored, needs.log.keys);
      // Asked last: of a confidential action nobody learns who stands in it.
      const objecten = shownObjects(request, request.query, read.objecten);
      if (objecten === undefined) throw notFound();
      if (person === undefined && part.objects > MOST_UNNAMED) refuse(nameAPerson());
      return {
        result: { versie: { ...read, objecten }, beperkteSet },
        persons: person === undefined ? differentPersons(objecten) : [person],
        confidential: categorie === 'vertrouwelijk',
      };
    });
    return tagged(request, reply, etag(versie.versie), actieAnswer(versie, base(), beperkteSet));
  });
}

/**
 * An action about more persons is read for one who is named: the entry of a reading names everybody whose data were read, and is kept for
 * ten years.
 */
const MOST_UNNAMED = 1000;

function nameAPerson(): InvalidParam[] {
  const reason = `ontbreekt: van een actie met meer dan ${MOST_UNNAMED} verwerkte objecten zijn alleen die van een genoemde persoon op te vragen`;
  return ['objecttype', 'soortObjectId', 'objectId'].map((name) => ({ name, code: 'required', reason }));
}

/** Each person once, however many of the objects are his. */
function differentPersons(objects: readonly VerwerktObject[]): VerwerktObject[] {
  return [...new Map(objects.map((object) => [personText(object), object])).values()];
}

function notFound(): Problem {
  return new Problem(platformProblems.notFound, { detail: 'De actie bestaat niet of is vervallen.' });
}
