/** The page of one resource, and the pages below it: its whole text, its history, and the lists that are longer than the page. */

import { heading, type Page } from '../../html/page.ts';
import type { NamedResource, ResourceType } from '../../lib/feed/resource.ts';
import { Problem } from '../../lib/problem.ts';
import { shorten } from '../../lib/template.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { readOrganisation } from '../store/state.ts';
import { fromPath, linkedPath, type PagesContext, pagePath, trail, typeOf, withQuery } from './context.ts';
import { documentPage } from './document.ts';
import { type History, historyList, readHistory, removedPage } from './history.ts';
import { itemPage } from './item.ts';
import { meetingPage } from './meeting.ts';
import { listRow, pager, readWindow, textIn, windowList } from './rows.ts';
import { listItems, listLinked } from './search/lists.ts';
import { paragraph, textPieces } from './texts.ts';
import { type ResourceView, readData } from './view.ts';

export interface Made {
  readonly page: Page;
  readonly status?: number;
}

interface Asked extends NamedResource {
  /** The pages below that of a resource. */
  readonly below?: string | undefined;
  readonly part: number;
  readonly from: number;
  readonly before?: number | undefined;
}

const PAGES = { Vergadering: meetingPage, Agendapunt: itemPage, Informatieobject: documentPage } as const;

/** Answers 410 for what the feed no longer has. @throws {Problem} 404 when it never had it, or has nothing there */
export async function resourcePage(context: PagesContext, asked: Asked): Promise<Made> {
  const { resourceType, resource, below, before } = asked;
  const { pool } = context;
  const [data, organisation, history] = await Promise.all([
    readData(context, resourceType, resource),
    readOrganisation(pool, resource.organisatiecode),
    readHistory(pool, resourceType, resource),
  ]);
  if (history.entries.length === 0 || organisation === undefined) throw new Problem(platformProblems.notFound);
  if (data === undefined) return { page: removedPage(resourceType, organisation, history), status: 410 };
  const view = { ...asked, context, organisation, data, history };
  if (below === 'tekst') return { page: textPage(view) };
  if (below !== 'geschiedenis') {
    await context.requireIndex();
    return { page: await (below === undefined ? PAGES[resourceType](view) : linkedPage(view, typeOf(below))) };
  }
  const older = before === undefined ? history : await readHistory(pool, resourceType, resource, before);
  if (older.entries.length === 0) throw new Problem(platformProblems.notFound);
  return { page: historyPage(view, older) };
}

type View = ResourceView & Pick<Asked, 'resourceType'>;

function pageBelow(
  { context, organisation, resource, resourceType, data }: View,
  what: string,
  path: string,
  body: Page['body'],
): Page {
  const name = textIn(data, NAMES[resourceType]) ?? resource.bronidentificatie;
  return {
    title: `${what}: ${shorten(name, 150)}`,
    description: `${what} van ${organisation.naam}: ${shorten(name, 100)}.`,
    canonical: `${context.baseUrl()}${path}`,
    path: trail(organisation, { href: pagePath(resourceType, resource), text: name }),
    body: [heading(1, `${what}: ${shorten(name, 200)}`), body],
  };
}

const NAMES = { Vergadering: 'naam', Agendapunt: 'agendapuntnaam', Informatieobject: 'titel' } as const;

function textPage(view: View): Page {
  const { resourceType, resource, data, part } = view;
  const pieces = textPieces(resourceType, data);
  const piece = pieces[part - 1];
  if (piece === undefined) throw new Problem(platformProblems.notFound);
  const at = (deel: number): string =>
    withQuery(`${pagePath(resourceType, resource)}/tekst`, { deel: deel === 1 ? undefined : deel });
  return pageBelow(view, 'Tekst', at(part), [
    paragraph(piece),
    pager('Delen van de tekst', part, pieces.length, at, 'Deel'),
  ]);
}

function historyPage(view: View, history: History): Page {
  const address = pagePath(view.resourceType, view.resource);
  return pageBelow(view, 'Geschiedenis', `${address}/geschiedenis`, historyList(history, address));
}

/** The lists of a resource that may not fit on its page: the direction of their references, and their names. */
const LISTS: Readonly<Record<ResourceType, Partial<Record<ResourceType, readonly ['from' | 'to', string]>>>> = {
  Vergadering: {
    Vergadering: ['to', 'Delen van de vergadering'],
    Agendapunt: ['to', 'Agendapunten van de vergadering'],
    Informatieobject: ['to', 'Documenten bij de vergadering'],
  },
  Agendapunt: {},
  Informatieobject: {
    Vergadering: ['from', 'Besproken in vergaderingen'],
    Agendapunt: ['from', 'Besproken bij agendapunten'],
    Informatieobject: ['to', 'Documenten die erbij horen'],
  },
};

async function linkedPage(view: View, wanted: ResourceType | undefined): Promise<Page> {
  const { context, resource, resourceType, from } = view;
  const list = wanted && LISTS[resourceType][wanted];
  if (wanted === undefined || list === undefined) throw new Problem(platformProblems.notFound);
  const [direction, what] = list;
  const address = linkedPath({ ...resource, resourceType }, wanted);
  const now = context.clock.now();
  const { organisatiecode, bronidentificatie: vergadering } = resource;
  const found = await readWindow(
    from,
    (slice) =>
      // An item names its meeting.
      resourceType === 'Vergadering' && wanted === 'Agendapunt'
        ? listItems(context.pool, { organisatiecode, vergadering, resourceType: wanted, order: 'oldest', ...slice })
        : listLinked(context.pool, direction, { ...resource, resourceType }, wanted, slice),
    (one) => listRow(one, { now }),
  );
  const at = (vanaf: number): string => fromPath(address, vanaf);
  return pageBelow(view, what, at(from), windowList(found, 'Er is niets.', at));
}
