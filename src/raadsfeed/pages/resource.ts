/** The page of one resource, and the pages below it: its whole text, its history, and the lists that are longer than the page. */
import { heading, type Page } from '../../html/page.ts';
import { type ResourceType, resourcePath } from '../../lib/feed/resource.ts';
import { Problem } from '../../lib/problem.ts';
import { type HtmlValue, shorten } from '../../lib/template.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { readOrganisation } from '../store/state.ts';
import { fromPath, linkedPath, type PagesContext, pagePath, partPath, type Subject, trail, typeOf } from './context.ts';
import { documentPage } from './document.ts';
import { type History, historyList, readHistory, removedPage } from './history.ts';
import { itemPage } from './item.ts';
import { meetingPage } from './meeting.ts';
import { listRow, pager, readWindow, textIn, windowList } from './rows.ts';
import { listItems, listLinked } from './search/lists.ts';
import { type ResourceView, readData, textParagraph, textPieces } from './view.ts';

/** For each type: the member with its name, its page, and what longer lists there are: the direction of their references, and their titles. */
const KINDS: Readonly<Record<ResourceType, Kind>> = {
  Vergadering: {
    name: 'naam',
    page: meetingPage,
    lists: {
      Vergadering: ['to', 'Delen van de vergadering'],
      Agendapunt: ['to', 'Agendapunten van de vergadering'],
      Informatieobject: ['to', 'Documenten bij de vergadering'],
    },
  },
  Agendapunt: { name: 'agendapuntnaam', page: itemPage, lists: {} },
  Informatieobject: {
    name: 'titel',
    page: documentPage,
    lists: {
      Vergadering: ['from', 'Besproken in vergaderingen'],
      Agendapunt: ['from', 'Besproken bij agendapunten'],
      Informatieobject: ['to', 'Documenten die erbij horen'],
    },
  },
};

interface Kind {
  readonly name: string;
  readonly page: (view: ResourceView) => Promise<Page>;
  readonly lists: Readonly<Partial<Record<ResourceType, readonly ['from' | 'to', string]>>>;
}

type Position = Pick<ResourceView, 'part' | 'from'> & { readonly before: number | undefined };

/**
 * Answers 410 for what the feed no longer has.
 * @param below of the pages below that of the resource
 * @throws {Problem} 404 when it never had it, or has nothing there
 */
export async function resourcePage(
  context: PagesContext,
  self: Subject,
  below: string | undefined,
  { before, ...position }: Position,
): Promise<{ readonly page: Page; readonly status?: number }> {
  const { pool } = context;
  const [data, organisation, history] = await Promise.all([
    readData(context, self),
    readOrganisation(pool, self.organisatiecode),
    readHistory(pool, self),
  ]);
  if (history.entries.length === 0 || organisation === undefined) throw new Problem(platformProblems.notFound);
  if (data === undefined) return { page: removedPage(self.resourceType, organisation, history), status: 410 };
  const view = { ...position, context, organisation, self, data, history };
  if (below === 'tekst') return { page: textPage(view) };
  if (below === 'geschiedenis') {
    const older = before === undefined ? history : await readHistory(pool, self, before);
    return { page: historyPage(view, older) };
  }
  await context.requireIndex();
  if (below !== undefined) return { page: await linkedPage(view, typeOf(below)) };
  const json = `${context.apiUrl()}${resourcePath(self.resourceType, self)}`;
  return { page: { json, ...(await KINDS[self.resourceType].page(view)) } };
}

function pageBelow(
  { context, organisation, self, data }: ResourceView,
  what: string,
  path: string,
  body: HtmlValue,
): Page {
  const name = textIn(data, KINDS[self.resourceType].name) ?? self.bronidentificatie;
  return {
    title: `${what}: ${shorten(name, 150)}`,
    description: `${what} van ${organisation.naam}: ${shorten(name, 100)}.`,
    canonical: `${context.baseUrl()}${path}`,
    path: trail(organisation, { href: pagePath(self), text: name }),
    body: [heading(1, `${what}: ${shorten(name, 200)}`), body],
  };
}

function textPage(view: ResourceView): Page {
  const { self, part } = view;
  const pieces = textPieces(view);
  const piece = pieces[part - 1];
  if (piece === undefined) throw new Problem(platformProblems.notFound);
  const at = (deel: number): string => partPath(`${pagePath(self)}/tekst`, deel);
  return pageBelow(view, 'Tekst', at(part), [
    textParagraph(piece),
    pager('Delen van de tekst', part, pieces.length, at),
  ]);
}

function historyPage(view: ResourceView, history: History): Page {
  if (history.entries.length === 0) throw new Problem(platformProblems.notFound);
  const address = pagePath(view.self);
  return pageBelow(view, 'Geschiedenis', `${address}/geschiedenis`, historyList(history, address));
}

async function linkedPage(view: ResourceView, wanted: ResourceType | undefined): Promise<Page> {
  const { context, self, from } = view;
  const list = wanted && KINDS[self.resourceType].lists[wanted];
  if (wanted === undefined || list === undefined) throw new Problem(platformProblems.notFound);
  const [direction, what] = list;
  const now = context.clock.now();
  const { organisatiecode, bronidentificatie: vergadering } = self;
  const found = await readWindow(
    from,
    (slice) =>
      // An item names its meeting.
      self.resourceType === 'Vergadering' && wanted === 'Agendapunt'
        ? listItems(context.pool, { organisatiecode, vergadering, resourceType: wanted, order: 'oldest', ...slice })
        : listLinked(context.pool, direction, self, wanted, slice),
    (one) => listRow(one, { now }),
  );
  const at = (vanaf: number): string => fromPath(linkedPath(self, wanted), vanaf);
  return pageBelow(view, what, at(from), windowList(found, 'Er is niets.', at));
}
