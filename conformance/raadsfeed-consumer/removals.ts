import { draft } from '../raadsfeed/sources.ts';
import { MANY, publish, sceneChapter } from './scene.ts';

const everywhere = draft('Events', 'Remove the affected content everywhere');

export const REDACTIONS = sceneChapter('K-RED', ['Weggehaalde inhoud', 'Redactions'], {
  'K-RED-01': {
    must: everywhere,
    nl: 'Weggehaalde inhoud verdwijnt',
    en: 'Redacted content disappears',
    prepare: (feed) => publish(feed, 'a', 'b'),
    changes: [(feed) => feed.redact('a')],
  },
  'K-RED-02': {
    must: draft('Events', 'The record states which `sequenceNumber`s are affected.'),
    nl: 'Weggehaalde inhoud verdwijnt ook als de resource ondertussen veranderd was',
    en: 'Redacted content disappears even if the resource has changed since',
    needs: ['K-RED-01'],
    prepare: (feed) => publish(feed, 'a', 'b'),
    changes: [
      (feed) => {
        feed.upsert('a', { titel: 'Tweede' });
        feed.redact('a');
        feed.upsert('c');
      },
    ],
  },
  'K-RED-03': {
    must: draft('Events', 'Earlier content was removed from the feed history'),
    nl: 'Een resource die na een redactie opnieuw wordt gepubliceerd, blijft bestaan',
    en: 'A resource that is published again after a redaction stays',
    needs: ['K-RED-01'],
    prepare: (feed) => {
      feed.upsert('a', { auteur: 'Jansen' });
      feed.upsert('b');
    },
    changes: [
      (feed) => {
        feed.redact('a');
        feed.upsert('a', { titel: 'Zonder naam' });
      },
    ],
  },
  'K-RED-04': {
    must: everywhere,
    nl: 'Een redactie van een al verwijderde of nooit gelezen resource is geen fout',
    en: 'Redacting a resource that was already deleted or never read is not an error',
    needs: ['K-RED-01', 'K-FEED-02'],
    prepare: (feed) => publish(feed, 'a', 'b'),
    changes: [
      (feed) => feed.delete('a'),
      (feed) => {
        feed.redact('a');
        feed.upsert('even');
        feed.redact('even');
        feed.upsert('c');
      },
    ],
  },
  'K-RED-05': {
    must: everywhere,
    nl: 'Een afnemer die zijn cursor kwijtraakt en de stand opnieuw leest, verwijdert weggehaalde inhoud ook',
    en: 'A consumer that loses its cursor and rereads the snapshot removes redacted content too',
    needs: ['K-RED-01'],
    prepare: (feed) => publish(feed, ...MANY),
    changes: [
      (feed) => {
        feed.redact('a-3');
        feed.forgetCursors();
      },
    ],
  },
  'K-RED-06': {
    should: everywhere,
    nl: 'Een ongeldig record houdt een redactie op dezelfde pagina niet tegen',
    en: 'An invalid record does not prevent a redaction on the same page',
    needs: ['K-RED-01'],
    prepare: (feed) => publish(feed, 'a', 'b'),
    play: async ({ feed, look }) => {
      feed.add({ op: 'upsert' }, 'c');
      feed.redact('a');
      await look(['a']);
    },
  },
  'K-RED-07': {
    open: draft('Events', 'The record states which `sequenceNumber`s are affected.'),
    nl: 'Of de huidige versie blijft als alleen een eerdere is weggehaald',
    en: 'Whether the current version stays when only an earlier one is redacted',
    needs: ['K-RED-01'],
    prepare: (feed) => {
      feed.upsert('a', { auteur: 'Jansen' });
      feed.upsert('a', { titel: 'Zonder naam' });
    },
    play: async ({ feed, read }) => {
      feed.add({ op: 'redact', verwijderreden: 'persoonsgegevens', geredigeerdeSequenceNumbers: [1] }, 'a');
      const found = (await read()).includes('a');
      return { seen: found ? 'it stays' : 'it is removed' };
    },
  },
});
