/** Rules for reading a window that every supplier shares, whatever its calls. */
import { beforeEach, describe, expect, it } from 'vitest';
import { parseSourceAddress } from '../../../src/raadsfeed/aggregator/source.ts';
import { createAdapter } from '../../../src/raadsfeed/aggregator/supplier/read-listed-window.ts';
import type {
  KnownItem,
  WindowReading,
  WindowRequest,
} from '../../../src/raadsfeed/aggregator/supplier/source-adapter.ts';
import {
  type Found,
  foundAs,
  type Listed,
  type Supplier,
} from '../../../src/raadsfeed/aggregator/supplier/supplier.ts';
import { SupplierError } from '../../../src/raadsfeed/aggregator/supplier/supplier-client.ts';
import { REGISTERS } from '../../../src/raadsfeed/aggregator/supplier/windows.ts';

const QUARTER = { from: '2025-01-01', to: '2025-03-31' };
const ORGANISATIE = { gemeente: 'gm0553', naam: 'Gemeente Lisse' };

interface Meeting extends Omit<Listed, 'read'> {
  readonly entryDay?: string;
}

const meeting = (key: string, more: Partial<Meeting> = {}): Meeting => ({
  key,
  day: '2025-02-03',
  stamp: 'a',
  naam: key,
  bodies: ['Gemeenteraad Lisse'],
  hidden: false,
  ...more,
});

const FAULT = new SupplierError('status', 'status 500', { status: 500 });

let listed: readonly Meeting[] | SupplierError;
let read: (one: Meeting) => Found<Meeting> | SupplierError;
let find: ((item: KnownItem) => Found<Meeting>) | undefined;
let known: Map<string, KnownItem>;
let onlyChanged: boolean;
let reads: string[];

beforeEach(() => {
  known = new Map();
  listed = [];
  onlyChanged = false;
  reads = [];
  find = undefined;
  read = (value) => ({ kind: 'found', value });
});

async function readWindow(more: Partial<WindowRequest> = {}): Promise<WindowReading> {
  const toListed = (one: Meeting): Listed => ({
    ...one,
    async read() {
      reads.push(one.key);
      const found = read(one);
      if (found instanceof SupplierError) throw found;
      return foundAs(found, ({ key, entryDay }) => () => {
        const data = { bronidentificatie: key, dossiertype: 'vergadering', organisatie: ORGANISATIE, naam: key };
        const records = [{ op: 'upsert', resourceType: 'Vergadering', data }] as const;
        return { records, documents: [], hidden: [], underHidden: [], readAgainAfter: null, day: entryDay };
      });
    },
  });
  const supplier: Supplier = {
    hasRegisters: true,
    async list() {
      if (listed instanceof SupplierError) throw listed;
      return {
        listed: listed.map(toListed),
        onlyChanged,
        ...(find === undefined ? {} : { find: async (item) => foundAs(find?.(item) ?? { kind: 'missing' }, toListed) }),
      };
    },
    close: async () => undefined,
  };
  const adapter = createAdapter(supplier, { now: () => new Date('2025-02-01T12:00:00Z') });
  const reading = await adapter.readWindow({
    source: { organisationId: 'site', organisatiecode: 'gm0553', naam: 'Gemeente Lisse' },
    window: QUARTER,
    depth: 'full',
    known: [...known.values()],
    signal: new AbortController().signal,
    ...more,
  });
  for (const { records: _records, ...item } of reading.items) known.set(item.key, item);
  return reading;
}

const keys = ({ items }: WindowReading): string[] => items.map(({ key }) => key);

it('shows no preview of days that cannot be read, which is a fault', async () => {
  const supplier: Supplier = {
    hasRegisters: false,
    async list({ issues }) {
      issues.add('unread-days', 'meetings', '2025-01-01 to 2025-03-31: a block page');
      return { listed: [] };
    },
    close: async () => undefined,
  };
  const adapter = createAdapter(supplier, { now: () => new Date('2025-02-01T12:00:00Z') });
  const source = { organisationId: 'site', organisatiecode: 'gm0553', naam: 'Gemeente Lisse' };
  const request = { source, window: QUARTER, signal: new AbortController().signal };
  await expect(adapter.preview?.(request)).rejects.toThrow('a block page');
});

describe('a window of a supplier', () => {
  it('holds the listed items; those missing from a later list were withdrawn', async () => {
    listed = [meeting('x-1'), meeting('x-2')];
    expect(keys(await readWindow())).toEqual(['x-1', 'x-2']);
    listed = [meeting('x-1')];
    const second = await readWindow();
    expect(second).toMatchObject({ complete: true, removed: [{ key: 'x-2', verwijderreden: 'ingetrokken' }] });
  });

  it('that cannot be listed is not complete, and removes nothing', async () => {
    listed = [meeting('x-1')];
    await readWindow();
    listed = FAULT;
    expect(await readWindow()).toMatchObject({
      complete: false,
      removed: [],
      issues: [{ what: 'call-failed', where: 'list', detail: 'status 500', blocking: true }],
    });
  });

  it('with a meeting that fails is not complete, and looks for no missing ones', async () => {
    listed = [meeting('x-1'), meeting('x-2')];
    await readWindow();
    listed = [meeting('x-1', { stamp: 'b' })];
    read = () => FAULT;
    const reading = await readWindow();
    expect(reading).toMatchObject({ complete: false, removed: [], items: [] });
    expect(reading.unread).toEqual([{ month: '2025-02', count: 1 }]);
  });

  it('is read in a quick round for changes only', async () => {
    listed = [meeting('x-1'), meeting('x-2', { stamp: undefined })];
    await readWindow();
    reads = [];
    expect((await readWindow({ depth: 'quick' })).unchanged).toEqual(['x-1']);
    expect(reads).toEqual(['x-2']);
    listed = [meeting('x-1', { stamp: 'b' })];
    reads = [];
    await readWindow({ depth: 'quick' });
    expect(reads).toEqual(['x-1']);
  });

  it('omits items that are not public or belong to another organisation, counts them separately, and withdraws them', async () => {
    listed = [meeting('x-1'), meeting('x-2'), meeting('x-3')];
    await readWindow();
    listed = [meeting('x-1'), meeting('x-2', { hidden: true }), meeting('x-3', { bodies: ['Raad Hillegom'] })];
    const source = {
      organisationId: 'site',
      organisatiecode: 'gm0553',
      naam: 'Gemeente Lisse',
      options: { bodies: 'LISSE', notBodies: 'oud' },
    };
    reads = [];
    const reading = await readWindow({ source });
    expect(reads).toEqual(['x-1']);
    expect(reading).toMatchObject({
      complete: true,
      leftOut: { confidential: 1, bodies: 1, period: 0 },
      removed: [
        { key: 'x-2', verwijderreden: 'niet_langer_openbaar' },
        { key: 'x-3', verwijderreden: 'ingetrokken' },
      ],
      hidden: [{ resourceType: 'Vergadering', bronidentificatie: 'x-2' }],
    });
  });

  it('looks for items missing from its list, if the supplier can say what became of them', async () => {
    listed = ['x-1', 'x-2', 'x-3', 'x-4'].map((key) => meeting(key));
    await readWindow();
    listed = [];
    find = ({ key }) => {
      if (key === 'x-1') return { kind: 'found', value: meeting(key, { day: '2025-05-01' }) };
      if (key === 'x-2') return { kind: 'hidden' };
      return key === 'x-3' ? { kind: 'missing' } : { kind: 'found', value: meeting(key) };
    };
    const reading = await readWindow();
    expect(reading.items).toMatchObject([{ key: 'x-1', day: '2025-05-01' }]);
    expect(reading.removed.toSorted((a, b) => a.key.localeCompare(b.key))).toEqual([
      { key: 'x-2', verwijderreden: 'niet_langer_openbaar' },
      { key: 'x-3', verwijderreden: 'ingetrokken' },
      { key: 'x-4', verwijderreden: 'ingetrokken' },
    ]);
  });

  it('reports items listed twice, or outside it, and uses neither', async () => {
    listed = [meeting('x-1'), meeting('x-1', { stamp: 'b' }), meeting('x-2', { day: '2024-12-31' })];
    const reading = await readWindow();
    expect(keys(reading)).toEqual(['x-1']);
    expect(reading.issues.map(({ what, where }) => [what, where])).toEqual([
      ['unusable-value', 'x-1'],
      ['unusable-value', 'x-2'],
    ]);
  });
});

describe('the registers of a supplier', () => {
  it('are read as a whole; in a quick round unlisted entries are unchanged', async () => {
    listed = [meeting('x-r1', { day: undefined }), meeting('x-r2', { day: undefined })];
    expect((await readWindow({ window: REGISTERS })).items.map(({ day }) => day)).toEqual(['0001-01-01', '0001-01-01']);
    listed = [meeting('x-r2', { day: undefined, stamp: 'b' })];
    onlyChanged = true;
    const quick = await readWindow({ window: REGISTERS, depth: 'quick' });
    expect(quick).toMatchObject({ complete: true, removed: [], unchanged: ['x-r1'], items: [{ key: 'x-r2' }] });
  });

  it('apply to an organisation within the period of its source', async () => {
    listed = [
      meeting('x-r1', { entryDay: '2023-06-01' }),
      meeting('x-r2', { entryDay: '2024-06-01' }),
      meeting('x-r3'),
    ];
    listed = listed.map((one) => ({ ...one, day: undefined }));
    const source = {
      organisationId: 'site',
      organisatiecode: 'gm0553',
      naam: 'Gemeente Lisse',
      period: { from: '2024-01-01' },
    };
    const reading = await readWindow({ window: REGISTERS, source });
    expect(keys(reading)).toEqual(['x-r2', 'x-r3']);
    expect(reading.leftOut).toEqual({ confidential: 0, bodies: 0, period: 1 });
  });
});

describe('the address of a source', () => {
  it.each([
    ['notubiz:281', 'notubiz:281', '281'],
    ['ibabs:voorbeeldstad', 'ibabs:voorbeeldstad', 'voorbeeldstad'],
    ['ibabs:bollenstreek#gm0553', 'ibabs:bollenstreek#gm0553', 'bollenstreek'],
    ['go: https://raad.x.example//api/ ', 'go:https://raad.x.example/api', 'https://raad.x.example/api'],
    ['parlaeus:https://x.parlaeus.example', 'parlaeus:https://x.parlaeus.example', 'https://x.parlaeus.example'],
  ])('%s is read as %s', (text, adres, organisationId) => {
    expect(parseSourceAddress(text)).toMatchObject({ kind: 'leveranciers-api', adres, organisationId });
  });

  it('reports the corrections', () => {
    expect(parseSourceAddress('go:https://raad.x.example//api/')).toMatchObject({
      corrected: 'https://raad.x.example//api/ was read as https://raad.x.example/api',
    });
    expect(parseSourceAddress('ibabs:voorbeeldstad')).not.toHaveProperty('corrected');
  });

  it.each([
    'ibabs:',
    'ibabs:a b',
    'go:voorbeeldstad',
    'go:ftp://x.example',
    'go:https://u:p@x.example',
    'go:https://x.example?rid=1',
  ])('%s is refused', (text) => expect(parseSourceAddress(text)).toBeUndefined());
});
