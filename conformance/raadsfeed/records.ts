import { judgeHash, OPERATIONS, VERWIJDERREDENEN } from '../../src/lib/feed/record.ts';
import { isRecord, type JsonObject } from '../../src/lib/json/json-value.ts';
import { isMoment } from '../../src/lib/time.ts';
import { textAt } from '../json-members.ts';
import { CLOCK_SKEW_MS } from './service-document.ts';
import { contract, draft } from './sources.ts';
import { codesIn, eachRecord, feedChapters, isWholeAddress, keyOf, recordsOf, redactedIn, textsIn } from './subject.ts';

const record = (quote: string) => draft('Feed record', quote);
export const identity = (number: number, quote: string) => draft(`Resource identity rules ${number}`, quote);
/** True for an absent value: some publishers omit it, others write null. */
const isAbsent = (value: unknown): boolean => value === undefined || value === null;
const HASH = /^sha256:[0-9a-f]{64}$/;

const all = (): boolean => true;
export const isUpsert = ({ op }: JsonObject): boolean => op === 'upsert';
const isRemoval = ({ op }: JsonObject): boolean => op === 'delete' || op === 'redact';
const isRedaction = ({ op }: JsonObject): boolean => op === 'redact';

export const RECORDS = feedChapters('C-REC-02')('C-REC', ['Records van de feed', 'Records of the feed'], {
  'C-REC-01': {
    must: record('`sequenceNumber` Assigned by the source holder when the change is recorded'),
    nl: 'Een record heeft een volgnummer, een geheel getal',
    en: 'A record has a sequence number, a whole number',
    needs: ['C-FEED-22'],
    check: eachRecord(all, ({ sequenceNumber }) =>
      Number.isSafeInteger(sequenceNumber) ? undefined : '`sequenceNumber` is not a whole number',
    ),
  },
  'C-REC-02': {
    must: record('One of `upsert`, `delete`, `redact`'),
    nl: 'Een record is een upsert, delete of redact',
    en: 'A record is an upsert, a delete or a redact',
    needs: ['C-REC-21'],
    check: eachRecord(all, ({ op }) =>
      OPERATIONS.some((known) => known === op) ? undefined : `\`op\` is ${JSON.stringify(op)}`,
    ),
  },
  'C-REC-03': {
    must: identity(1, 'The identity of a resource is organisation code plus `bronidentificatie`'),
    nl: 'De identiteit bestaat uit organisatiecode en bronidentificatie',
    en: 'The identity consists of organisation code and `bronidentificatie`',
    needs: ['C-REC-21'],
    check: eachRecord(all, ({ resource }) =>
      textAt(resource, 'organisatiecode') && textAt(resource, 'bronidentificatie')
        ? undefined
        : '`resource` lacks one of the two',
    ),
  },
  'C-REC-04': {
    must: identity(1, 'in lower case (normative)'),
    nl: 'De organisatiecode is in kleine letters',
    en: 'The organisation code is in lower case',
    needs: ['C-REC-03'],
    check: eachRecord(all, ({ resource }) => {
      const code = textAt(resource, 'organisatiecode') ?? '';
      return code === code.toLowerCase() ? undefined : `\`organisatiecode\` is ${code}`;
    }),
  },
  'C-REC-05': {
    must: draft('Service document', 'the resource types supported'),
    nl: 'De soort resource staat in het servicedocument',
    en: 'The resource type is listed in the service document',
    needs: ['C-FEED-22', 'C-SVC-05'],
    check: (subject) => {
      const known = new Set<unknown>(textsIn(subject.service).map(([, text]) => text));
      return eachRecord(all, ({ resourceType }) =>
        known.has(resourceType) ? undefined : `\`resourceType\` is ${String(resourceType)}`,
      )(subject);
    },
  },
  'C-REC-06': {
    must: draft('Service document', 'names the organisations in the feed'),
    nl: 'De organisatie staat in het servicedocument',
    en: 'The organisation is listed in the service document',
    needs: ['C-REC-03', 'C-SVC-02'],
    check: (subject) => {
      const known = new Set(codesIn(subject.service));
      return eachRecord(isUpsert, ({ resource }) => {
        const code = textAt(resource, 'organisatiecode') ?? '';
        return known.has(code) ? undefined : `${code} is not in the service document`;
      })(subject);
    },
  },
  'C-REC-07': {
    may: contract('Moment', 'format: date-time'),
    nl: 'Het tijdstip van vastleggen heeft een tijdzone',
    en: 'The time of recording has a time zone',
    needs: ['C-FEED-22'],
    check: eachRecord(all, ({ storedAt }) =>
      isMoment(storedAt) ? undefined : `\`storedAt\` is ${JSON.stringify(storedAt)}`,
    ),
  },
  'C-REC-08': {
    should: record('`storedAt` Time of recording'),
    nl: 'Het tijdstip van vastleggen ligt niet in de toekomst',
    en: 'The time of recording is not in the future',
    needs: ['C-REC-07'],
    check: eachRecord(all, ({ storedAt }) =>
      Date.parse(String(storedAt)) <= Date.now() + CLOCK_SKEW_MS ? undefined : `\`storedAt\` is ${String(storedAt)}`,
    ),
  },
  'C-REC-09': {
    must: record('`data` The complete resource object. Present for `upsert`'),
    nl: 'Een upsert heeft de hele resource',
    en: 'An upsert has the complete resource',
    check: eachRecord(isUpsert, ({ data }) => (isRecord(data) ? undefined : '`data` is not an object')),
  },
  'C-REC-10': {
    must: record('`verwijderreden` Coded removal reason. Required for `delete`'),
    nl: 'Een delete heeft een reden',
    en: 'A delete has a reason',
    check: eachRecord(
      ({ op }) => op === 'delete',
      ({ verwijderreden }) =>
        typeof verwijderreden === 'string' && verwijderreden !== '' ? undefined : 'there is no `verwijderreden`',
    ),
  },
  'C-REC-11': {
    may: contract('Verwijderreden, ToelichtingBijOverig', 'Bij de reden `overig` hoort een toelichting.'),
    nl: 'De reden is een van de vijf, en `overig` heeft een toelichting',
    en: 'The reason is one of the five, and `overig` comes with an explanation',
    needs: ['C-REC-10'],
    check: eachRecord(isRemoval, ({ verwijderreden, toelichting }) => {
      if (!VERWIJDERREDENEN.some((known) => known === verwijderreden))
        return `\`verwijderreden\` is ${String(verwijderreden)}`;
      return verwijderreden === 'overig' && !toelichting ? 'there is no `toelichting`' : undefined;
    }),
  },
  'C-REC-12': {
    must: record('The complete resource object. Present for `upsert`'),
    nl: 'Een redact heeft geen inhoud',
    en: 'A redact has no content',
    check: eachRecord(isRedaction, ({ data }) => (isAbsent(data) ? undefined : 'it has `data`')),
  },
  'C-REC-13': {
    must: draft('Events', 'The record states which `sequenceNumber`s are affected'),
    nl: 'Een redact noemt de nummers waarvan de inhoud is weggehaald',
    en: 'A redact names the numbers whose content was removed',
    check: eachRecord(isRedaction, (one) => {
      const numbers = redactedIn(one);
      if (numbers.length === 0) return 'it has no list of numbers';
      const later = numbers.find((number) => Number(number) > Number(one.sequenceNumber));
      return later === undefined ? undefined : `it names ${String(later)}, which comes after it`;
    }),
  },
  'C-REC-14': {
    must: draft('Events', 'A `redact` fills the place of a removed sequence number'),
    nl: 'De inhoud van elk nummer in een redact is weg',
    en: 'The content of every number in a redact is gone',
    needs: ['C-REC-13'],
    check: (subject) => {
      const named = new Set(recordsOf(subject.history, isRedaction).flatMap((seen) => redactedIn(seen.record)));
      return eachRecord(
        ({ sequenceNumber }) => named.has(sequenceNumber),
        ({ data, op }) =>
          isAbsent(data) && op === 'redact' ? undefined : 'a redaction names it, but it still has its content',
      )(subject);
    },
  },
  'C-REC-15': {
    should: draft(
      'Events',
      'the `contentHash` of an upsert lets a consumer and a source detect records that change nothing',
    ),
    nl: 'Een upsert heeft een hash van de inhoud',
    en: 'An upsert has a hash of its content',
    check: eachRecord(isUpsert, ({ contentHash: hash }) =>
      typeof hash === 'string' && hash !== '' ? undefined : 'there is no `contentHash`',
    ),
  },
  'C-REC-16': {
    may: contract('ContentHash', HASH.source),
    nl: 'De hash is `sha256:` met 64 tekens',
    en: 'The hash is `sha256:` and 64 characters',
    needs: ['C-REC-15'],
    check: eachRecord(isUpsert, ({ contentHash: hash }) =>
      HASH.test(String(hash)) ? undefined : `\`contentHash\` is ${String(hash)}`,
    ),
  },
  'C-REC-17': {
    may: contract('ContentHash', 'SHA-256 over de canonieke JSON (RFC 8785) van `data`.'),
    nl: 'De hash klopt met de inhoud in de canonieke vorm van RFC 8785',
    en: 'The hash matches the content in the canonical form of RFC 8785',
    needs: ['C-REC-16'],
    check: eachRecord(isUpsert, (one) =>
      judgeHash(one) === 'differs' ? '`contentHash` is not that of `data`' : undefined,
    ),
  },
  'C-REC-18': {
    must: record('suppresses no-op records'),
    nl: 'Een upsert die niets verandert, komt niet in de feed',
    en: 'An upsert that changes nothing is not added to the feed',
    needs: ['C-REC-15', 'C-REC-03'],
    check: (subject) => {
      const current = new Map<string, unknown>();
      return eachRecord(all, (one) => {
        const key = keyOf(one);
        const hash = isUpsert(one) ? one.contentHash : undefined;
        const isSame = hash !== undefined && current.get(key) === hash;
        current.set(key, hash);
        return isSame ? `the previous record of ${key} has the same \`contentHash\`` : undefined;
      })(subject);
    },
  },
  'C-REC-19': {
    may: contract('FeedRecord', 'Adres van de resource bij deze dienst; geen identiteit.'),
    nl: '`resourceUrl` leidt naar de resource',
    en: '`resourceUrl` leads to the resource',
    needs: ['C-REC-03'],
    check: async ({ snapshot }, { ask }) => {
      const [first] = recordsOf(snapshot, (one) => typeof one.resourceUrl === 'string');
      const { resourceUrl, resource } = first.record;
      if (!isWholeAddress(resourceUrl)) return { failed: '`resourceUrl` is not an address', at: first.at };
      const { json, status } = await ask({ to: resourceUrl });
      return status === 200 && textAt(json, 'bronidentificatie') === textAt(resource, 'bronidentificatie')
        ? undefined
        : `its answer, with status ${status}, is not the resource`;
    },
  },
  'C-REC-20': {
    may: contract('Herkomst', 'Waar een aggregator het record vandaan heeft.'),
    nl: 'Een aggregator die de herkomst van een record noemt, geeft de feed en het nummer',
    en: "An aggregator that names a record's origin gives its feed and number",
    needs: ['C-SVC-07'],
    check: (subject) => {
      if (subject.service.rol !== 'aggregator') return { skipped: 'the feed is not that of an aggregator' };
      return eachRecord(
        ({ herkomst }) => herkomst !== undefined,
        ({ herkomst }) =>
          isRecord(herkomst) && isWholeAddress(herkomst.feedUrl) && Number.isSafeInteger(herkomst.sequenceNumber)
            ? undefined
            : '`herkomst` does not have `feedUrl` and `sequenceNumber`',
      )(subject);
    },
  },
  'C-REC-21': {
    may: contract('FeedRecord, ResourceIdentiteit', 'required: - organisatiecode … required: - sequenceNumber - op'),
    nl: 'De bewerking staat in `op`, en de organisatie in `resource.organisatiecode`',
    en: 'The operation is in `op`, and the organisation in `resource.organisatiecode`',
    needs: ['C-FEED-22'],
    check: eachRecord(all, ({ op, resource }) => {
      if (op === undefined) return 'there is no `op`';
      return isRecord(resource) && resource.organisatiecode === undefined
        ? '`resource` has no `organisatiecode`'
        : undefined;
    }),
  },
  'C-REC-22': {
    may: contract('FeedRecord', 'required: - sequenceNumber - op - resourceType - resource - storedAt'),
    nl: 'Een record voldoet aan het contract',
    en: 'A record matches the contract',
    needs: ['C-REC-07', 'C-REC-17', 'C-DATA-07'],
    check: eachRecord(all, (one, { fault }) => fault('FeedRecord', one)),
  },
});
