/** A feed with some of everything that the suites look at. */
import {
  agendapunt,
  document,
  type FeedServer,
  removal,
  startFeed,
  vergadering,
} from '../../test/raadsfeed/support.ts';

const ANOTHER = { waterschap: 'ws0655', naam: 'Waterschap Voorbeeld' };

export const EXAMPLE_LINES: readonly object[] = [
  vergadering('v-1', { aanvang: '2026-01-15T19:30:00+01:00', agendapunten: [{ bronidentificatie: 'a-1' }] }),
  agendapunt('a-1'),
  document('d-1', { agendapunten: [{ bronidentificatie: 'a-1' }] }),
  document('d-weg'),
  document('d-geheim'),
  vergadering('v-2'),
  vergadering('v/3'),
  agendapunt('a-2'),
  document('d-1', { titel: 'Gewijzigd' }),
  removal('delete', 'Informatieobject', 'd-weg', { verwijderreden: 'overig', toelichting: 'dubbel ingevoerd' }),
  removal('redact', 'Informatieobject', 'd-geheim'),
  document('d-2', {}, ANOTHER),
  vergadering('v-1', {}, ANOTHER),
  document('d-3', { bestandsurl: 'https://raad.example/bestand.pdf' }),
];

export async function startExampleFeed(): Promise<FeedServer> {
  const feed = await startFeed();
  await feed.publish(EXAMPLE_LINES);
  return feed;
}
