import type { FastifyRequest } from 'fastify';
import type { Db } from '../../kernel/database/transaction.ts';
import type { Categorie } from '../domain/access.ts';
import { pageOf } from '../domain/page.ts';
import type { Versie } from '../domain/verwerkingsactie.ts';
import type { Reading } from '../read-in-log.ts';
import { countPlaces, findPlaces, type PersonQuestion, readPlaces } from '../store/find-by-person.ts';
import { revealInTurns } from '../store/stored-versie.ts';
import { type PersonQuery, pageLink, questionFaults, readPersonQuery } from './person-query.ts';
import { type RouteNeeds, refuse } from './route-needs.ts';

export interface PersonPage {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  /** Newest first, each with only the objects that are this person; per object: as often as he stands in it. */
  readonly versies: readonly Versie[];
}

/**
 * Prepares the reading of one page of a person's actions. The reading resolves when all of its questions have been sent.
 * @throws {Problem} 400 for what the contract could not refuse
 */
export function preparePersonPage(
  request: FastifyRequest,
  query: PersonQuery,
  needs: RouteNeeds,
  options: {
    readonly categorieen: readonly Categorie[];
    readonly address: string;
    readonly per: PersonQuestion['per'];
  },
): (db: Db) => Promise<Pick<Reading<PersonPage>, 'result' | 'confidential'>> {
  const { keys } = needs.log;
  refuse(questionFaults(query, options.per));
  const { question, cursor } = readPersonQuery(query, keys, options);
  return async (db) => {
    const found = await findPlaces(db, question, cursor, query.limit + 1);
    const page = pageOf(found, query.limit, cursor?.direction);
    const alone = !page.next && !page.previous;
    const rest = Promise.all([alone ? page.rows.length : countPlaces(db, question), readPlaces(db, page.rows)]);
    return {
      confidential: page.rows.some(({ categorie }) => categorie === 'vertrouwelijk'),
      result: rest.then(async ([count, stored]) => {
        const versies: Versie[] = [];
        for (const row of stored) versies.push(onlyPerson(await revealInTurns(row, keys), query));
        return {
          count,
          next: page.next ? pageLink(request, options.address, options.per, 'after', page.rows.at(-1)) : null,
          previous: page.previous ? pageLink(request, options.address, options.per, 'before', page.rows.at(0)) : null,
          versies,
        };
      }),
    };
  };
}

/** The index finds by a hash of 128 bits; the identity itself decides. */
function onlyPerson(versie: Versie, { soortObjectId, objectId }: PersonQuery): Versie {
  const objecten = versie.objecten.filter(
    (object) => object.soortObjectId === soortObjectId && object.objectId === objectId,
  );
  return { ...versie, objecten };
}
