/**
 * A whole country's suppliers in one process, each in its own format; their data are generated before it reports ready.
 */
import process from 'node:process';
import { mostCallsIn, startIbabs } from '../../test/raadsfeed/aggregator/ibabs/server.ts';
import {
  expectedKeys,
  type ImitatedBody,
  ibabsBody,
  type KnownMeeting,
  notubizBody,
  startGoBody,
  startParlaeusBody,
} from '../../test/raadsfeed/aggregator/imitated-body.ts';
import { startNotubiz } from '../../test/raadsfeed/aggregator/notubiz/supplier/server.ts';
import { serveParent } from './children.ts';

/** Bodies per supplier among the 330 of today's largest harvester. */
const SHARES = { notubiz: 128, ibabs: 166, go: 33, parlaeus: 3 } as const;
const ITEMS = 5;

const meetingsEach = Number(process.env.MEETINGS ?? 40);
const ridFile = process.env.RID_FILE ?? '';
const [notubiz, ibabs] = [await startNotubiz(), await startIbabs()];
const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const bodies: readonly ImitatedBody[] = [
  ...many(SHARES.notubiz, (n) => notubizBody(notubiz, 1000 + n)),
  ...many(SHARES.ibabs, (n) => ibabsBody(ibabs, `site${n}`, false)),
  ...(await Promise.all(many(SHARES.go, (n) => startGoBody(n % 2 === 0 ? 'v1' : 'v2', 100)))),
  ...(await Promise.all(many(SHARES.parlaeus, () => startParlaeusBody(ridFile)))),
];
const hosts = [...new Map(bodies.map((body) => [body.host, body.scheme]))];

let resources = 0;
for (const [n, body] of bodies.entries()) {
  body.host.delay = Number(process.env.DELAY_MS ?? 100);
  const meetings = many(meetingsEach, (i): KnownMeeting => {
    const id = (n + 1) * 1000 + i;
    const day = new Date(Date.UTC(2026, 0, 1 + Math.floor((i * 364) / meetingsEach))).toISOString().slice(0, 10);
    return { id, day, title: `Raad ${id}`, isSecret: false, items: many(ITEMS, (k) => id * 100 + k) };
  });
  for (const meeting of meetings) body.put(meeting);
  resources += expectedKeys(body, meetings).length;
}

const list = bodies.map(({ scheme, organisationId, options }, n) => {
  const code = `gm${String(n + 1).padStart(4, '0')}`;
  const days = { from: '2026-01-01', until: '2026-12-31' };
  const key = options.ridFile === undefined ? {} : { 'rid-file': options.ridFile };
  const portaal = `https://${code}.example`;
  return {
    bron: `${scheme}:${organisationId}`,
    organisatie: code,
    naam: `Gemeente ${n + 1}`,
    portaal,
    ...days,
    ...key,
  };
});

await serveParent(
  async () => ({
    list,
    resources,
    env: { 'aggregator.notubizUrl': notubiz.base, IBABS_URL: ibabs.base },
    hosts: hosts.map(([host, scheme]) => ({ scheme, calls: host.calls.length, mostAtOnce: host.mostAtOnce() })),
    ibabsInMinute: mostCallsIn(ibabs.calls, 60_000),
  }),
  async () => void (await Promise.all(hosts.map(([host]) => host.close()))),
);
