import type { Raw } from './answers.ts';
import type { NotubizOrganisation } from './organisation.ts';
import type { NotubizCall } from './server.ts';

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

type Organisations = ReadonlyMap<string, NotubizOrganisation>;

const MISSING: Answer = { status: 404, body: { message: 'Not found' } };

/** The supplier's answer to a call when it behaves. */
export function answer(call: NotubizCall, organisations: Organisations, perPage: number): Answer {
  const { path, query } = call;
  if (path.startsWith('/document/')) return documentAnswer(path, organisations);
  if (query.format !== 'json' || query.version !== '1.17.0') return { status: 400, body: { message: 'wrong version' } };
  if (path === '/organisations') return { status: 200, body: listOrganisations(organisations) };
  if (path === '/events') return eventsAnswer(call, organisations, perPage);
  const all = [...organisations.values()];
  const [, first = '', second = '', third = '', fourth = '', fifth = ''] = path.split('/');
  if (first === 'events' && second === 'meetings')
    return found(
      'meeting',
      all.map((one) => one.meetings.get(third)),
    );
  if (first === 'events' && second === 'assemblies')
    return found(
      'assembly',
      all.map((one) => one.assemblies.get(third)),
    );
  if (first === 'modules' && third === 'items')
    return found(
      'item',
      all.map((one) => one.registerItem(fourth)),
    );
  const organisation = organisations.get(second);
  if (first !== 'organisations' || organisation === undefined) return MISSING;
  if (third === '') return organisation.direct ? ok({ organisation: organisationRaw(organisation) }) : MISSING;
  if (third === 'gremia') return ok({ gremia: organisation.gremia });
  if (third !== 'modules') return MISSING;
  if (fourth === '') return ok({ modules: organisation.modules });
  if (fifth !== 'items') return MISSING;
  const items = organisation.registers.get(fourth) ?? [];
  return ok(
    paged(
      'items',
      items.filter((item) => isWithin(dateOf(item), query)),
      query,
      perPage,
    ),
  );
}

function ok(body: unknown): Answer {
  return { status: 200, body };
}

function found(member: string, candidates: readonly (Raw | undefined)[]): Answer {
  const raw = candidates.find((candidate) => candidate !== undefined);
  return raw === undefined ? MISSING : ok({ [member]: raw });
}

function eventsAnswer({ query }: NotubizCall, organisations: Organisations, perPage: number): Answer {
  const organisation = organisations.get(query.organisation_id ?? '');
  if (organisation === undefined) return MISSING;
  const events = organisation
    .events()
    .filter(({ plannings }) => startsOf(plannings).some((day) => isWithin(day, query)));
  return ok(paged('events', events, query, perPage));
}

function startsOf(plannings: unknown): string[] {
  return Array.isArray(plannings) ? plannings.map(({ start_date }: Raw) => String(start_date).slice(0, 10)) : [];
}

function dateOf({ attributes }: Raw): string {
  const date: Raw | undefined = Array.isArray(attributes) ? attributes.find(({ id }: Raw) => id === 15) : undefined;
  const value: Raw | undefined = Array.isArray(date?.values) ? date.values[0] : undefined;
  return String(value?.content ?? '').slice(0, 10);
}

/** Only windows in the supplier's own form are accepted. */
function isWithin(day: string, { date_from = '', date_to = '' }: NotubizCall['query']): boolean {
  for (const date of [date_from, date_to]) {
    if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(date)) throw new Error(`not a date of the supplier: ${date}`);
  }
  return day >= date_from.slice(0, 10) && day <= date_to.slice(0, 10);
}

function paged(member: string, all: readonly Raw[], query: NotubizCall['query'], perPage: number): Raw {
  const page = Number(query.page ?? '1');
  const totalPages = Math.max(1, Math.ceil(all.length / perPage));
  return {
    [member]: all.slice((page - 1) * perPage, page * perPage),
    pagination: {
      page,
      per_page: perPage,
      total_pages: totalPages,
      total_items: all.length,
      has_more_pages: page < totalPages,
    },
  };
}

function listOrganisations(organisations: Organisations): Raw {
  const listed = [...organisations.values()].filter((organisation) => organisation.listed);
  return { organisations: { organisation: listed.map(organisationRaw) } };
}

function organisationRaw({ id, labels }: NotubizOrganisation): Raw {
  const field = Object.entries(labels).map(([attribute, label]) => ({
    '@attributes': { id: Number(attribute) },
    label,
  }));
  return { '@attributes': { id }, name: `Organisatie ${id}`, settings: { folder: { fields: { field } } } };
}

/** The current version of a document exists; a replaced one gets 400. */
function documentAnswer(path: string, organisations: Organisations): Answer {
  const [, , id, version] = path.split('/');
  const text = JSON.stringify(
    [...organisations.values()].map(({ meetings, registers }) => [[...meetings], [...registers]]),
  );
  const current = text.includes(`"url":"https://api.notubiz.nl/document/${id}/${version}"`);
  return current ? { status: 200, body: 'file' } : { status: 400, body: { message: 'Bad request' } };
}
