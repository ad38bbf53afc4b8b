/** Reading lines back: the read extension, whose texts still change. A logbook need not offer it. */
import { isRecord, type JsonObject } from '../../lib/json/json-value.ts';
import type { Chapter } from '../case.ts';
import { readContract } from '../contract.ts';
import { contract } from './sources.ts';
import { DPL, type Intake, type LdvSubject, ldvCases, READS } from './subject.ts';

const fits = readContract('ldv-lezen.yaml');
const NEXT_LOGBOOK = ['externalReadAPI_id', 'nextLogbook', 'nextLogbookId'];

/** The lines that fit; undefined when reading is not offered. */
async function read(intake: Intake, body: unknown, path = '') {
  const at = await intake.ask({ to: `{base}/data-processing-operations${path}`, method: 'POST', as: READS, body });
  return [404, 405, 501].includes(at.status) ? undefined : at;
}
const NOT_OFFERED = { skipped: 'reading is not offered' };

function linesIn(json: unknown, member = 'dataProcessingOperations'): readonly JsonObject[] {
  const lines: unknown = isRecord(json) ? json[member] : undefined;
  return (Array.isArray(lines) ? lines : []).filter(isRecord);
}

async function stored(intake: Intake, attributes: Readonly<Record<string, string>> = {}): Promise<JsonObject> {
  const line = intake.line({}, attributes);
  await intake.send([line]);
  return line;
}

export const READING: Chapter<LdvSubject> = {
  id: 'L-READ',
  title: { nl: 'Lezen (werkversie 0.9)', en: 'Reading (work version 0.9)' },
  cases: ldvCases({
    'L-READ-01': {
      level: 'may',
      source: contract('ldv-lezen, Vraag', 'traceId: De trace, als UUID of als 32 hexadecimale cijfers'),
      nl: 'Een regel die is bevestigd, wordt gevonden met haar trace, zoals zij is gestuurd',
      en: 'A line that was confirmed is found by its trace, as it was sent',
      test: async (intake) => {
        const line = await stored(intake);
        const at = await read(intake, { traceId: line.traceId });
        if (at === undefined) return NOT_OFFERED;
        const wrong = fits('Antwoord', at.json);
        if (wrong !== undefined) return `status ${at.status}: ${wrong}`;
        const [found] = linesIn(at.json);
        return found !== undefined && found.spanId === line.spanId && found.name === line.name && found.status === 'Ok'
          ? undefined
          : 'it is not the line that was sent';
      },
    },
    'L-READ-02': {
      level: 'may',
      source: contract('ldv-lezen, info', 'Van een persoon worden alleen de eigen regels getoond'),
      nl: 'Een regel wordt gevonden met haar betrokkene, en die van een ander niet',
      en: 'A line is found by its data subject, and that of another is not',
      needs: ['L-READ-01'],
      test: async (intake) => {
        const person = `cf-${intake.subject.run}-lezen`;
        const line = await stored(intake, { [DPL.subject]: person });
        const find = async (dataSubjectId: string) =>
          linesIn((await read(intake, { dataSubjectId, dataSubjectIdType: 'conformance' }))?.json);
        if (!(await find(person)).some(({ spanId }) => spanId === line.spanId)) return 'it is not found';
        return (await find(`${person}-ander`)).length === 0 ? undefined : 'lines of another are found';
      },
    },
    'L-READ-03': {
      level: 'may',
      source: contract('ldv-lezen, Antwoorden', 'Per vraag, in dezelfde volgorde.'),
      nl: 'Verscheidene vragen krijgen hun antwoorden in dezelfde volgorde',
      en: 'Several queries get their answers in the same order',
      needs: ['L-READ-01'],
      test: async (intake) => {
        const lines = [await stored(intake), await stored(intake)];
        const requests = lines.map(({ traceId }) => ({ filter: { traceId } }));
        const at = await read(intake, { requests }, '/_batch');
        if (at === undefined) return NOT_OFFERED;
        const found = linesIn(at.json, 'results').map((one) => linesIn(one, 'items')[0]?.spanId);
        return found.join() === lines.map(({ spanId }) => spanId).join() ? undefined : 'they are not';
      },
    },
    'L-READ-04': {
      level: 'may',
      source: contract('ldv-lezen, requestBody', 'minstens `traceId`, `processingActivityId` of `dataSubjectId`'),
      nl: 'Een vraag zonder selector geeft 400',
      en: 'A query without a selector gives 400',
      needs: ['L-READ-01'],
      test: async (intake) => {
        const at = await read(intake, {});
        return at?.status === 400 ? undefined : `the answer has status ${at?.status ?? 404}`;
      },
    },
    'L-READ-05': {
      level: 'open',
      source: contract('ldv-lezen, Regel', NEXT_LOGBOOK.join(', ')),
      nl: 'Onder welke naam een regel het volgende logboek noemt; de teksten hebben er drie',
      en: 'Under which name a line names the next logbook; the texts have three',
      needs: ['L-READ-01'],
      test: async (intake) => {
        const attribute = { 'dpl.core.foreign_operation.processor': 'https://conformance.example/app' };
        const { traceId } = await stored(intake, attribute);
        const text = JSON.stringify(linesIn((await read(intake, { traceId }))?.json));
        return { seen: NEXT_LOGBOOK.filter((name) => text.includes(name)).join(', ') || 'under none of the three' };
      },
    },
  }),
};
