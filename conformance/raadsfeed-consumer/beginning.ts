import { draft, feedRule } from '../raadsfeed/sources.ts';
import { publish, sceneChapter } from './scene.ts';

const snapshotRule = draft('Snapshot', 'the current state of all resources');

export const BEGINNING = sceneChapter('K-BEG', ['Beginnen', 'Beginning'], {
  'K-BEG-01': {
    must: snapshotRule,
    nl: 'De stand wordt overgenomen',
    en: 'The snapshot is copied',
    needs: [],
    prepare: (feed) => {
      publish(feed, 'a', 'b', 'c');
      feed.delete('b');
    },
  },
  'K-BEG-02': {
    must: draft('Snapshot', 'the feed position from which the consumer continues without a gap'),
    nl: 'Na de stand wordt de feed verder gelezen',
    en: 'After the snapshot the feed is read',
    needs: ['K-BEG-01'],
    prepare: (feed) => publish(feed, 'a'),
    changes: [(feed) => publish(feed, 'b')],
  },
  'K-BEG-03': {
    must: snapshotRule,
    nl: "Alle pagina's van de stand worden gelezen",
    en: 'All pages of the snapshot are read',
    needs: ['K-BEG-01'],
    prepare: (feed) => {
      feed.pageSize = 2;
      publish(feed, 'a', 'b', 'c', 'd', 'e');
    },
  },
  'K-BEG-04': {
    must: feedRule(8, 'so that changes during the traversal are not lost'),
    nl: 'Wijzigingen tijdens het lezen van de stand gaan niet verloren',
    en: 'Changes made while the snapshot is read are not lost',
    needs: ['K-BEG-03'],
    prepare: (feed) => {
      feed.pageSize = 2;
      publish(feed, 'a', 'b', 'c', 'd');
      feed.answerOn('/snapshot', ({ page, answer }) => {
        feed.rule = undefined;
        answer(page());
        feed.delete('a');
        feed.upsert('b', { titel: 'Gewijzigd' });
        feed.redact('c');
        publish(feed, 'e');
      });
    },
  },
  'K-BEG-05': {
    must: draft('Snapshot', 'The first page carries `feedCursor`'),
    nl: 'Een `feedCursor` op alleen de eerste pagina van de stand is genoeg',
    en: 'A `feedCursor` on the first page of the snapshot only is enough',
    needs: ['K-BEG-03'],
    prepare: (feed) => {
      feed.pageSize = 1;
      publish(feed, 'a', 'b');
      feed.answerOn('/snapshot', ({ query, page, answer }) => {
        if (query.has('cursor')) answer({ ...page(), feedCursor: undefined });
      });
    },
    changes: [(feed) => publish(feed, 'c')],
  },
  'K-BEG-06': {
    must: draft('Errors 3', 'an empty collection is not an error'),
    nl: 'Een lege feed is geen fout',
    en: 'An empty feed is not an error',
    changes: [(feed) => publish(feed, 'a')],
  },
  'K-BEG-07': {
    must: snapshotRule,
    nl: 'Een stand die halverwege afbreekt, geldt niet als volledig',
    en: 'A truncated snapshot does not count as complete',
    needs: ['K-BEG-03'],
    prepare: (feed) => {
      feed.pageSize = 2;
      publish(feed, 'a', 'b', 'c', 'd', 'e');
      feed.answerOn('/snapshot', ({ query, response }) => {
        if (!query.has('cursor')) return;
        feed.rule = undefined;
        response.destroy();
      });
    },
  },
});
