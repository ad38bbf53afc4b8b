/** The calls to Parlaeus: the agendas of a window, one agenda, the names of the bodies. */
import { readFile } from 'node:fs/promises';
import { isRecord } from '../../../lib/json/json-value.ts';
import { listIn, recordIn } from '../supplier/read-answer.ts';
import { readInHalves } from '../supplier/read-in-halves.ts';
import { type Found, foundAs, keptForAnHour, type Mapping, type Reading, type Supplier } from '../supplier/supplier.ts';
import { createClientPool, orMissing, type PoolOptions, SupplierError } from '../supplier/supplier-client.ts';
import { type Agenda, mapAgenda, meetingId, namesOf, readAgenda, readListed } from './map.ts';

const PATH = '/receive/opendata';

export function createParlaeus(options: PoolOptions): Supplier {
  const clients = createClientPool(options);

  /** Errors too come under status 200. */
  const call = async ({ request }: Reading, query: Readonly<Record<string, string>>): Promise<unknown> => {
    const { organisationId: base, options: chosen = {} } = request.source;
    const rid = await readRid(chosen.ridFile);
    try {
      const answer = withoutSecret(await clients.at(base).get(PATH, { rid, ...query }, request.signal), rid);
      if (Array.isArray(answer)) return answer;
      if (!isRecord(answer)) throw new SupplierError('unreadable', 'the answer is not an object');
      const status = Number(answer.status);
      if (status < 400 || Number.isNaN(status)) return answer;
      const said = typeof answer.message === 'string' ? `: ${answer.message.slice(0, 200)}` : '';
      throw new SupplierError('status', `status ${status} in the answer${said}`, { status });
    } catch (error) {
      if (!(error instanceof SupplierError)) throw error;
      // Without its cause, whose message may repeat the key too.
      const { kind, status, retryAfter, hangs, passing } = error;
      throw new SupplierError(kind, error.message.replaceAll(rid, '…'), { status, retryAfter, hangs, passing });
    }
  };

  const fetchAgenda = async (reading: Reading, agid: string): Promise<Found<Agenda>> => {
    const agenda = recordIn(await call(reading, { fn: 'agenda_detail', agid }), 'agenda', 'agid');
    const read = readAgenda(agenda, reading.issues.at(meetingId(agid)));
    if (read === undefined) throw new SupplierError('unreadable', 'the answer has no agenda');
    if (read.agid !== agid) throw new SupplierError('unreadable', `is agenda ${read.agid}`);
    return read.confidential === true ? { kind: 'hidden' } : { kind: 'found', value: read };
  };

  const bodiesOf = keptForAnHour(async (reading: Reading): Promise<ReadonlyMap<string, string>> => {
    try {
      const list = listIn(await call(reading, { fn: 'cie_list' }), 'list');
      return namesOf({ list }, reading.issues.at('cie_list'));
    } catch (error) {
      // An organisation may not serve them; `--bodies` needs them.
      const { bodies, notBodies } = reading.request.source.options ?? {};
      const isNeeded = bodies !== undefined || notBodies !== undefined;
      if (!(error instanceof SupplierError) || !error.isMissing || isNeeded) throw error;
      reading.issues.add('unknown-gremium', 'cie_list', error.message);
      return new Map();
    }
  });

  return {
    hasRegisters: false,
    async list(reading) {
      const { request, issues } = reading;
      // Without them nothing would be mapped correctly.
      const bodies = await bodiesOf(reading);
      const toMapping = (agenda: Agenda): Mapping => {
        return () => mapAgenda(agenda, bodies, reading);
      };
      const agendas = await readInHalves({
        issues,
        request,
        path: 'agenda_list',
        isTooLarge: ({ passing, kind }) => passing || kind === 'unreadable',
        read: async ({ from, to }) => {
          const days = { since: from.replaceAll('-', ''), until: to.replaceAll('-', '') };
          const list = listIn(await call(reading, { fn: 'agenda_list', ...days }), 'list');
          if (list === undefined) throw new SupplierError('unreadable', 'the answer has no list');
          return readListed(list, issues.at('agenda_list'));
        },
      });
      return {
        listed: agendas.map((listed) => ({
          ...listed,
          read: async () => foundAs(await fetchAgenda(reading, listed.agid), toMapping),
        })),
        async find({ key, day }) {
          const agid = key.slice(meetingId('').length);
          const found = (await orMissing(() => fetchAgenda(reading, agid))) ?? ({ kind: 'missing' } as const);
          return foundAs(found, (agenda) => {
            const [listed] = readListed([{ ...agenda, last_change: undefined }], issues.at(key));
            const read = async () => foundAs(found, toMapping);
            return { ...(listed ?? { key, day, stamp: undefined, naam: key, hidden: false }), read };
          });
        },
      };
    },
    close: () => clients.close(),
  };
}

/** @throws {SupplierError} without a file that holds a rid and nothing else */
async function readRid(file: string | undefined): Promise<string> {
  if (file === undefined) throw new SupplierError('unreadable', 'the source has no --rid-file');
  const rid = await readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => '',
  );
  if (/^[\w.~-]{4,200}$/.test(rid)) return rid;
  throw new SupplierError('unreadable', `${file} cannot be read, or does not hold a rid and nothing else`);
}

const MAX_DEPTH = 100;

/** The supplier may repeat the key in an answer; it must be neither published nor reported. @throws {SupplierError} */
function withoutSecret(value: unknown, secret: string, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new SupplierError('unreadable', `the answer is nested deeper than ${MAX_DEPTH}`);
  if (typeof value === 'string') return value.replaceAll(secret, '');
  if (Array.isArray(value)) return value.map((one: unknown) => withoutSecret(one, secret, depth + 1));
  if (!isRecord(value)) return value;
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([key, member]) => [key.replaceAll(secret, ''), withoutSecret(member, secret, depth + 1)]),
  );
}
