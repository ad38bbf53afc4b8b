import { draft } from '../raadsfeed/sources.ts';
import { publish, sceneChapter } from './scene.ts';

const feedRule = (number: number, quote: string) => draft(`Feed rules ${number}`, quote);
const snapshotRule = draft('Snapshot', 'the current state of all resources');

export const BEGINNING = sceneChapter({
  id: 'K-BEG',
  title: { nl: 'Beginnen', en: 'Beginning' },
  cases: [
    {
      id: 'K-BEG-01',
      title: { nl: 'De stand wordt overgenomen', en: 'The snapshot is taken over' },
      level: 'must',
      source: snapshotRule,
      prepare: (feed) => {
        publish(feed, 'a', 'b', 'c');
        feed.remove('delete', 'b');
      },
    },
    {
      id: 'K-BEG-02',
      title: { nl: 'Daarna gaat het verder met de feed', en: 'The feed is read from there on' },
      level: 'must',
      source: draft('Snapshot', 'the feed position from which the consumer continues without a gap'),
      dependsOn: ['K-BEG-01'],
      prepare: (feed) => publish(feed, 'a'),
      play: async ({ feed, look }) => {
        await look();
        publish(feed, 'b');
        await look();
      },
    },
    {
      id: 'K-BEG-03',
      title: { nl: "De stand heeft meer pagina's", en: 'The snapshot has more pages' },
      level: 'must',
      source: snapshotRule,
      dependsOn: ['K-BEG-01'],
      prepare: (feed) => {
        feed.pageSize = 2;
        publish(feed, 'a', 'b', 'c', 'd', 'e');
      },
    },
    {
      id: 'K-BEG-04',
      title: {
        nl: 'Wat verandert terwijl de stand gelezen wordt, gaat niet verloren',
        en: 'What changes while the snapshot is read is not lost',
      },
      level: 'must',
      source: feedRule(8, 'so that changes during the traversal are not lost'),
      dependsOn: ['K-BEG-03'],
      prepare: (feed) => {
        feed.pageSize = 2;
        publish(feed, 'a', 'b', 'c', 'd');
        feed.rule = ({ path, count, page, answer }) => {
          if (path !== '/snapshot' || count !== 1) return false;
          answer(page());
          feed.remove('delete', 'a');
          feed.upsert('b', { titel: 'Gewijzigd' });
          feed.remove('redact', 'c');
          publish(feed, 'e');
          return true;
        };
      },
    },
    {
      id: 'K-BEG-05',
      title: {
        nl: 'Alleen de eerste pagina van de stand heeft `feedCursor`',
        en: 'Only the first page of the snapshot has `feedCursor`',
      },
      level: 'must',
      source: draft('Snapshot', 'The first page carries `feedCursor`'),
      dependsOn: ['K-BEG-03'],
      prepare: (feed) => {
        feed.pageSize = 1;
        publish(feed, 'a', 'b');
        feed.rule = ({ path, query, page, answer }) => {
          if (path !== '/snapshot' || !query.has('cursor')) return false;
          const { feedCursor: _, ...rest } = page();
          answer(rest);
          return true;
        };
      },
      play: async ({ feed, look }) => {
        await look();
        publish(feed, 'c');
        await look();
      },
    },
    {
      id: 'K-BEG-06',
      title: { nl: 'Een lege feed is geen fout', en: 'An empty feed is not an error' },
      level: 'must',
      source: draft('Errors 3', 'an empty collection is not an error'),
      dependsOn: ['K-BEG-02'],
      play: async ({ feed, look }) => {
        await look();
        publish(feed, 'a');
        await look();
      },
    },
    {
      id: 'K-BEG-07',
      title: { nl: 'Een stand die halverwege afbreekt, is niet af', en: 'A snapshot that breaks off is not finished' },
      level: 'must',
      source: snapshotRule,
      dependsOn: ['K-BEG-03'],
      prepare: (feed) => {
        feed.pageSize = 2;
        publish(feed, 'a', 'b', 'c', 'd', 'e');
        let broken = false;
        feed.rule = ({ path, query, response }) => {
          if (broken || path !== '/snapshot' || !query.has('cursor')) return false;
          broken = true;
          response.destroy();
          return true;
        };
      },
    },
  ],
});
