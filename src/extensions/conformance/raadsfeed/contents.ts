import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import type { Chapter } from '../case.ts';
import { eachRecord, identity, isUpsert, isWholeAddress, MOMENT } from './records.ts';
import { contract, rfc } from './sources.ts';
import { type FeedSubject, textAt } from './subject.ts';

const KINDS: Readonly<Record<string, string>> = {
  vergadering: 'Vergadering',
  agendapunt: 'Agendapunt',
  informatieobject: 'Informatieobject',
};
const SCHEMAS: Readonly<Record<string, string>> = {
  Vergadering: 'Vergadering',
  Agendapunt: 'Agendapunt',
  Informatieobject: 'InformatieObject',
};

function dataOf({ data }: JsonObject): JsonObject {
  return isRecord(data) ? data : {};
}

/** Every reference in a resource: objects under the members that hold references. */
function referencesOf(data: JsonObject): readonly (readonly [name: string, value: unknown])[] {
  const names = [
    'hoofdvergadering',
    'deelvergaderingen',
    'agendapunten',
    'vergadering',
    'vergaderingen',
    'hoofdagendapunt',
    'subagendapunten',
  ];
  return names.flatMap((name) => {
    const value = data[name];
    if (value === undefined) return [];
    return (Array.isArray(value) ? value : [value]).map((one: unknown) => [name, one] as const);
  });
}

/** The resource in an upsert. */
export const CONTENTS: Chapter<FeedSubject> = {
  id: 'C-DATA',
  title: { nl: 'Inhoud van een record', en: 'Content of a record' },
  cases: [
    {
      id: 'C-DATA-01',
      title: {
        nl: 'De inhoud is die van de genoemde resource',
        en: 'The content is that of the resource that is named',
      },
      level: 'must',
      source: identity(1, 'The identity of a resource'),
      dependsOn: ['C-REC-09', 'C-REC-03'],
      check: (subject) =>
        eachRecord(subject, isUpsert, (one) => {
          const data = dataOf(one);
          if (data.bronidentificatie !== textAt(one.resource, 'bronidentificatie'))
            return '`data` has another `bronidentificatie` than `resource`';
          const { gemeente, provincie, waterschap } = isRecord(data.organisatie) ? data.organisatie : {};
          const code = gemeente ?? provincie ?? waterschap;
          return code === undefined || code === textAt(one.resource, 'organisatiecode')
            ? undefined
            : '`data` is of another organisation than `resource`';
        }),
    },
    {
      id: 'C-DATA-02',
      title: {
        nl: '`dossiertype` zegt welke soort de inhoud is',
        en: '`dossiertype` says of which kind the content is',
      },
      level: 'must',
      source: identity(6, '`dossiertype` is the discriminator of the `data` alternatives'),
      dependsOn: ['C-REC-09'],
      check: (subject) =>
        eachRecord(subject, isUpsert, (one) => {
          const { dossiertype } = dataOf(one);
          return KINDS[String(dossiertype)] === one.resourceType
            ? undefined
            : `\`dossiertype\` is ${String(dossiertype)} for a ${String(one.resourceType)}`;
        }),
    },
    {
      id: 'C-DATA-03',
      title: { nl: 'Een verwijzing noemt de bronidentificatie', en: 'A reference names the `bronidentificatie`' },
      level: 'must',
      source: identity(3, 'A reference to another resource … uses `bronidentificatie`'),
      dependsOn: ['C-REC-09'],
      check: (subject) =>
        eachRecord(subject, isUpsert, (one) => {
          const wrong = referencesOf(dataOf(one)).find(([, reference]) => !textAt(reference, 'bronidentificatie'));
          return wrong === undefined ? undefined : `a reference in \`${wrong[0]}\` has none`;
        }),
    },
    {
      id: 'C-DATA-04',
      title: {
        nl: 'Een document heeft een webpagina, en het bestand staat op een adres',
        en: 'A document has a web page, and its file is at an address',
      },
      level: 'must',
      source: identity(6, '`InformatieObject` has a web page link, plus `bestandsurl`'),
      dependsOn: ['C-REC-09'],
      check: (subject) =>
        eachRecord(
          subject,
          (one) => isUpsert(one) && one.resourceType === 'Informatieobject',
          (one) => {
            const { webpaginalink, bestandsurl } = dataOf(one);
            if (!isWholeAddress(webpaginalink)) return '`webpaginalink` is not an address';
            return bestandsurl === undefined || isWholeAddress(bestandsurl)
              ? undefined
              : '`bestandsurl` is not an address';
          },
        ),
    },
    {
      id: 'C-DATA-05',
      title: { nl: 'In een record staat nooit het bestand zelf', en: 'A record never has the file itself' },
      level: 'must',
      source: identity(6, 'never attachment content'),
      dependsOn: ['C-REC-09'],
      check: (subject) =>
        eachRecord(subject, isUpsert, (one) => {
          const inline = Object.entries(dataOf(one)).find(
            ([, value]) => typeof value === 'string' && /^(data:|JVBERi0|UEsDB)/.test(value),
          );
          return inline === undefined ? undefined : `\`${inline[0]}\` holds the content of a file`;
        }),
    },
    {
      id: 'C-DATA-06',
      title: { nl: 'Een tijdstip in de inhoud heeft een zone', en: 'A moment in the content has an offset' },
      level: 'should',
      source: rfc(3339, '5.6', 'date-time = full-date "T" full-time'),
      dependsOn: ['C-REC-09'],
      check: (subject) =>
        eachRecord(subject, isUpsert, (one) => {
          const names = [
            'aanvang',
            'einde',
            'geplandeaanvang',
            'geplandeeinde',
            'starttijd',
            'eindtijd',
            'geplandestarttijd',
            'geplandeeindtijd',
            'gewijzigdop',
          ];
          const data = dataOf(one);
          const wrong = names.find((name) => data[name] !== undefined && !MOMENT.test(String(data[name])));
          return wrong === undefined ? undefined : `\`${wrong}\` is ${String(data[wrong])}`;
        }),
    },
    {
      id: 'C-DATA-07',
      title: { nl: 'De inhoud past bij het contract', en: 'The content fits the contract' },
      level: 'should',
      source: contract('Vergadering, Agendapunt, InformatieObject', 'required'),
      dependsOn: ['C-DATA-01', 'C-DATA-02', 'C-DATA-03', 'C-DATA-04'],
      check: (subject) =>
        eachRecord(subject, isUpsert, ({ resourceType, data }) => {
          const schema = SCHEMAS[String(resourceType)];
          return schema === undefined ? undefined : subject.fault(schema, data);
        }),
    },
  ],
};
