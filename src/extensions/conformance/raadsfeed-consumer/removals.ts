import { draft } from '../raadsfeed/sources.ts';
import { sceneChapter } from './scene.ts';

const everywhere = draft('Events', 'Remove the affected content everywhere');

export const REDACTIONS = sceneChapter({
  id: 'K-RED',
  title: { nl: 'Weggehaalde inhoud', en: 'Redactions' },
  cases: [
    {
      id: 'K-RED-01',
      title: { nl: 'Wat weggehaald is, verdwijnt', en: 'What is redacted disappears' },
      level: 'must',
      source: everywhere,
      dependsOn: ['K-BEG-02'],
      prepare: (feed) => {
        feed.upsert('a');
        feed.upsert('b');
      },
      play: async ({ feed, look }) => {
        await look();
        feed.remove('redact', 'a');
        await look();
      },
    },
    {
      id: 'K-RED-02',
      title: {
        nl: 'Ook als de resource ondertussen veranderd was',
        en: 'Also when the resource had changed meanwhile',
      },
      level: 'must',
      source: draft('Events', 'The record states which `sequenceNumber`s are affected.'),
      dependsOn: ['K-RED-01'],
      prepare: (feed) => {
        feed.upsert('a');
        feed.upsert('b');
      },
      play: async ({ feed, look }) => {
        await look();
        feed.upsert('a', { titel: 'Tweede' });
        feed.remove('redact', 'a');
        feed.upsert('c');
        await look();
      },
    },
    {
      id: 'K-RED-03',
      title: {
        nl: 'Wat daarna opnieuw gepubliceerd wordt, blijft',
        en: 'What is published again afterwards stays',
      },
      level: 'must',
      source: draft('Events', 'Earlier content was removed from the feed history'),
      dependsOn: ['K-RED-01'],
      prepare: (feed) => {
        feed.upsert('a', { auteur: 'Jansen' });
        feed.upsert('b');
      },
      play: async ({ feed, look }) => {
        await look();
        feed.remove('redact', 'a');
        feed.upsert('a', { titel: 'Zonder naam' });
        await look();
      },
    },
    {
      id: 'K-RED-04',
      title: {
        nl: 'Van wat al verwijderd was, of nooit gelezen, is het geen fout',
        en: 'Of what was deleted already, or never read, it is not an error',
      },
      level: 'must',
      source: everywhere,
      dependsOn: ['K-RED-01', 'K-FEED-02'],
      prepare: (feed) => {
        feed.upsert('a');
        feed.upsert('b');
      },
      play: async ({ feed, look }) => {
        await look();
        feed.remove('delete', 'a');
        await look();
        feed.remove('redact', 'a');
        feed.upsert('even');
        feed.remove('redact', 'even');
        feed.upsert('c');
        await look();
      },
    },
    {
      id: 'K-RED-05',
      title: {
        nl: 'Ook wie zijn plaats kwijtraakt en de stand opnieuw leest, verwijdert het',
        en: 'A consumer that loses its place and reads the snapshot anew removes it too',
      },
      level: 'must',
      source: everywhere,
      dependsOn: ['K-RED-01'],
      prepare: (feed) => {
        for (let i = 0; i < 12; i += 1) feed.upsert(`a-${i}`);
      },
      play: async ({ feed, look }) => {
        await look();
        feed.remove('redact', 'a-3');
        feed.forgetCursors();
        await look();
      },
    },
    {
      id: 'K-RED-06',
      title: {
        nl: 'Een record dat niet deugt, houdt een redactie op dezelfde pagina niet tegen',
        en: 'A record that is wrong does not hold up a redaction on the same page',
      },
      level: 'should',
      source: everywhere,
      dependsOn: ['K-RED-01'],
      prepare: (feed) => {
        feed.upsert('a');
        feed.upsert('b');
      },
      play: async ({ feed, look }) => {
        await look();
        feed.add({ op: 'upsert' }, 'c');
        feed.remove('redact', 'a');
        await look(['a']);
      },
    },
    {
      id: 'K-RED-07',
      title: {
        nl: 'Als alleen een eerdere versie weggehaald is: of de huidige blijft',
        en: 'When only an earlier version is redacted: whether the present one stays',
      },
      level: 'open',
      source: draft('Events', 'The record states which `sequenceNumber`s are affected.'),
      dependsOn: ['K-RED-01'],
      prepare: (feed) => {
        feed.upsert('a', { auteur: 'Jansen' });
        feed.upsert('a', { titel: 'Zonder naam' });
      },
      play: async ({ feed, look, read }) => {
        await look();
        feed.add({ op: 'redact', verwijderreden: 'persoonsgegevens', geredigeerdeSequenceNumbers: [1] }, 'a');
        const found = (await read()).some(({ bronidentificatie }) => bronidentificatie === 'a');
        return { seen: found ? 'it stays' : 'it is removed' };
      },
    },
  ],
});
