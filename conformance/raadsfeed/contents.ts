import { isRecord, type JsonObject, valueAt } from '../../src/lib/json/json-value.ts';
import { isMoment } from '../../src/lib/time.ts';
import { textAt } from '../json-members.ts';
import { identity, isUpsert } from './records.ts';
import { contract } from './sources.ts';
import { eachRecord, feedChapters, isWholeAddress, textsIn } from './subject.ts';

const SCHEMAS: Readonly<Record<string, string>> = {
  Vergadering: 'Vergadering',
  Agendapunt: 'Agendapunt',
  Informatieobject: 'InformatieObject',
};

function dataOf({ data }: JsonObject): JsonObject {
  return isRecord(data) ? data : {};
}

/** Members that hold references. */
const REFERENCES = /^((hoofd)?vergadering|(deel)?vergaderingen|hoofdagendapunt|(sub)?agendapunten)$/;
const MOMENTS = /^((geplande)?(aanvang|einde|starttijd|eindtijd)|gewijzigdop)$/;

/** Every reference in a resource. */
function referencesOf(data: JsonObject): readonly (readonly [name: string, value: unknown])[] {
  const direct = Object.entries(data).filter(([name]) => REFERENCES.test(name));
  const related = 'gerelateerdinformatieobject';
  const nested = [related, valueAt(data, [related, 'informatieobject'])] as const;
  return [...direct, nested].flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one] as const));
}

export const CONTENTS = feedChapters('C-REC-09')('C-DATA', ['Inhoud van een record', 'Content of a record'], {
  'C-DATA-01': {
    must: identity(1, 'The identity of a resource is organisation code plus `bronidentificatie`'),
    nl: 'De inhoud hoort bij de genoemde resource',
    en: 'The content belongs to the named resource',
    needs: ['C-REC-09', 'C-REC-03'],
    check: eachRecord(isUpsert, (one) => {
      const { bronidentificatie } = dataOf(one);
      return bronidentificatie === undefined || bronidentificatie === textAt(one.resource, 'bronidentificatie')
        ? undefined
        : '`data` and `resource` have different `bronidentificatie`s';
    }),
  },
  'C-DATA-02': {
    must: identity(6, '`dossiertype` is the discriminator of the `data` alternatives'),
    nl: '`dossiertype` bepaalt de soort resource van de inhoud',
    en: '`dossiertype` identifies the resource type of the content',
    check: (subject) => {
      // The contract determines how types are spelled; the draft only requires one type per kind.
      const kinds = new Map<string, unknown>();
      return eachRecord(isUpsert, (one) => {
        const dossiertype = textAt(dataOf(one), 'dossiertype');
        if (dossiertype === undefined) return '`dossiertype` is not a text';
        const kind = kinds.get(dossiertype) ?? one.resourceType;
        kinds.set(dossiertype, kind);
        if (kind === one.resourceType) return undefined;
        return `\`dossiertype\` is ${dossiertype} for a ${String(one.resourceType)} and for a ${String(kind)}`;
      })(subject);
    },
  },
  'C-DATA-03': {
    must: identity(3, 'A reference to another resource … uses `bronidentificatie`'),
    nl: 'Een verwijzing noemt de bronidentificatie',
    en: 'A reference names the `bronidentificatie`',
    check: eachRecord(isUpsert, (one) => {
      const wrong = referencesOf(dataOf(one)).find(([, reference]) => !textAt(reference, 'bronidentificatie'));
      return wrong === undefined ? undefined : `a reference in \`${wrong[0]}\` has none`;
    }),
  },
  'C-DATA-04': {
    must: identity(6, '`InformatieObject` has a web page link, plus `bestandsurl`'),
    nl: 'Een document heeft een webpagina, en het bestand staat op een adres',
    en: 'A document has a web page, and its file is at an address',
    check: eachRecord(
      (one) => isUpsert(one) && /^informatieobject$/i.test(String(one.resourceType)),
      (one) => {
        const { bestandsurl, url: _, ...others } = dataOf(one);
        if (!textsIn(others).some(([, text]) => /^https?:/i.test(text))) return 'it has no address of a web page';
        if (bestandsurl === undefined || bestandsurl === null || isWholeAddress(bestandsurl)) return undefined;
        return '`bestandsurl` is not an address';
      },
    ),
  },
  'C-DATA-05': {
    must: identity(6, 'Feed records carry metadata and references, never attachment content'),
    nl: 'In een record staat nooit het bestand zelf',
    en: 'A record never contains the file itself',
    check: eachRecord(isUpsert, (one) => {
      const inline = Object.entries(dataOf(one)).find(
        ([, value]) => typeof value === 'string' && /^(data:|JVBERi0|UEsDB)/.test(value),
      );
      return inline === undefined ? undefined : `\`${inline[0]}\` contains the content of a file`;
    }),
  },
  'C-DATA-06': {
    may: contract('Moment', 'Tijdstip met tijdzone (RFC 3339).'),
    nl: 'Een tijdstip in de inhoud heeft een tijdzone',
    en: 'A time in the content has a time zone',
    check: eachRecord(isUpsert, (one) => {
      const wrong = Object.entries(dataOf(one)).find(([name, value]) => MOMENTS.test(name) && !isMoment(value));
      return wrong && `\`${wrong[0]}\` is ${String(wrong[1])}`;
    }),
  },
  'C-DATA-07': {
    may: contract('DataPastBijResourceType', 'De vorm van `data` volgt uit `resourceType`'),
    nl: 'De inhoud voldoet aan het contract',
    en: 'The content matches the contract',
    needs: ['C-DATA-01', 'C-DATA-02', 'C-DATA-03', 'C-DATA-04', 'C-DATA-06', 'C-DATA-08'],
    check: eachRecord(isUpsert, ({ resourceType, data }, { fault }) => {
      const schema = SCHEMAS[String(resourceType)];
      return schema && fault(schema, data);
    }),
  },
  'C-DATA-08': {
    may: contract('header of the file', 'the code in `organisatie` equals `resource.organisatiecode`'),
    nl: 'De organisatie in de inhoud is die van de resource',
    en: 'The organisation in the content is that of the resource',
    needs: ['C-REC-09', 'C-REC-03'],
    check: eachRecord(isUpsert, (one) => {
      const { organisatie } = dataOf(one);
      const { gemeente, provincie, waterschap } = isRecord(organisatie) ? organisatie : {};
      const code = gemeente ?? provincie ?? waterschap;
      if (code === undefined || code === textAt(one.resource, 'organisatiecode')) return undefined;
      return '`data` and `resource` belong to different organisations';
    }),
  },
});
