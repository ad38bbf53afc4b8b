/** An organisation's interface in the form of Parlaeus. */
import { type Imitation, startImitation } from '../imitation.ts';

export type Raw = Record<string, unknown>;

/** The key of the interface, never published, stored or logged. */
export const RID = 'geheim-rid-4711';

export interface ParlaeusServer extends Imitation {
  /** By `agid`, as `agenda_detail` answers them, with `last_change` for the list. */
  readonly agendas: Map<string, Raw>;
  /** By `cmid`. */
  readonly bodies: Map<string, string>;
  /** Additional entries of the list. */
  readonly strays: Raw[];
}

export async function startParlaeus(): Promise<ParlaeusServer> {
  const agendas = new Map<string, Raw>();
  const bodies = new Map([['c1', 'Gemeenteraad']]);
  const strays: Raw[] = [];
  const ok = (body: Raw) => ({ status: 200, body: { status: 200, ...body } });
  const says = (status: number, message: string) => ({ status: 200, body: { status, message } });
  const imitation = await startImitation(({ path, query }) => {
    if (path !== '/receive/opendata') return { status: 404 };
    if (query.rid !== RID) return says(501, `unknown rid ${query.rid}`);
    if (query.fn === 'cie_list') {
      return ok({ list: [...bodies].map(([cmid, committeename]) => ({ cmid, committeename, committeecode: cmid })) });
    }
    if (query.fn === 'agenda_detail') {
      const agenda = agendas.get(query.agid ?? '');
      if (agenda === undefined) return says(404, 'no such agenda');
      const { last_change: _change, ...detail } = agenda;
      return ok({ agenda: detail });
    }
    if (query.fn !== 'agenda_list') return says(501, 'unknown function');
    const { since = '', until = '' } = query;
    if (!/^\d{8}$/.test(since) || !/^\d{8}$/.test(until)) throw new Error('not days of the supplier');
    const dayOf = ({ date }: Raw): string => String(date).replaceAll('-', '');
    const listed = [...agendas.values()].filter((agenda) => dayOf(agenda) >= since && dayOf(agenda) <= until);
    const entries = listed.map(({ agid, date, time, last_change }) => ({ agid, date, time, last_change }));
    return ok({ list: [...entries, ...strays] });
  });
  return Object.assign(imitation, { agendas, bodies, strays });
}

export function pointOf(apid: string, more: Raw = {}): Raw {
  return { apid, number: apid, title: `Punt ${apid}`, text: '', level: 0, decision: '', documents: [], ...more };
}

export function documentOf(dcid: string, more: Raw = {}): Raw {
  return { dcid, link: `https://x.parlaeus.nl/document/${dcid}`, title: `Stuk ${dcid}`, type: 'pdf', ...more };
}

export function agendaOf(agid: string, more: Raw = {}): Raw {
  return {
    agid,
    cmid: 'c1',
    title: `Raad ${agid}`,
    description: '',
    location: 'Raadzaal',
    date: '20250114',
    time: '19:30',
    endtime: '0',
    cancelled: 0,
    last_change: '20250109100000',
    points: [],
    ...more,
  };
}
