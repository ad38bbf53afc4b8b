/** The proof of an entry for the citizen that it is about: a page that explains it, and two files to check it with. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { heading, link, type Page, paragraph } from '../../html/page.ts';
import { UUID_DIGITS } from '../../lib/patterns.ts';
import { html } from '../../lib/template.ts';
import type { ProofWriter } from '../../proof/proof-log.ts';
import { categorieOf } from '../domain/categories.ts';
import { reveal } from '../domain/encryption.ts';
import { BASIS, objectPart, proofRecordOf } from '../domain/proof-parts.ts';
import { isSamePerson, type Versie } from '../domain/verwerkingsactie.ts';
import { proveVersion, type VersionProof } from '../store/proof.ts';
import { readCurrent } from '../store/versions.ts';
import { namesAnother, readerOf } from './read-overview.ts';
import type { Session } from './sessions.ts';
import { HOME, OVERVIEW, type SendPage } from './site.ts';
import { OWN_PROOF } from './store/citizens.ts';

export const PROOFS = `${HOME}/bewijs`;
const CHECKER = '/proof/v1/controleer';
const FILE = new RegExp(`^(${UUID_DIGITS})(\\.json|\\.tlog-proof)?$`);

export const proofAddress = (actieId: string): string => `${PROOFS}/${actieId}`;

/** Answers with the page about a proof, or one of its two files. Entries that the overview leaves out get the same answer as unknown ones. */
export async function answerProof(
  request: FastifyRequest,
  reply: FastifyReply,
  session: Session,
  writer: ProofWriter,
  send: SendPage,
): Promise<FastifyReply> {
  const [, actieId, kind] = FILE.exec(Object(request.params).file) ?? [];
  if (actieId === undefined) return send(reply, absentPage('unknown'), 404);
  if (kind === undefined) return send(reply, proofPage(actieId));
  const found = await readProof(request, reply, session, writer, actieId);
  if (found === undefined) return send(reply, absentPage('unknown'), 404);
  const { record, proof } = found;
  if (kind === '.json')
    return asFile(reply, `gegeven-${actieId}.json`, 'application/json', `${JSON.stringify(record, null, 2)}\n`);
  if ('proof' in proof) return asFile(reply, `bewijs-${actieId}.tlog-proof`, 'text/plain', proof.proof);
  if (proof.none === 'pending') reply.header('retry-after', String(writer.intervalSeconds));
  return send(reply, absentPage(proof.none), 404);
}

function asFile(reply: FastifyReply, name: string, type: string, text: string): FastifyReply {
  return reply
    .header('content-disposition', `attachment; filename="${name}"`)
    .type(`${type}; charset=utf-8`)
    .send(text);
}

/** `record` is the action in the limited set, with this person's objects only; as the API answers it, without addresses. */
async function readProof(
  request: FastifyRequest,
  reply: FastifyReply,
  { bsn }: Session,
  writer: ProofWriter,
  actieId: string,
): Promise<{ readonly record: object; readonly proof: VersionProof } | undefined> {
  const { actieLog, verwerkingenlog } = request.server;
  return await verwerkingenlog.loggedRead(readerOf(request, reply, OWN_PROOF), async (db) => {
    const stored = await readCurrent(db, actieId);
    const persons = [{ soortObjectId: 'BSN', objectId: bsn }];
    const nothing = { result: undefined, persons, confidential: false };
    if (stored === undefined || categorieOf(stored) !== 'normaal') return nothing;
    const versie = await reveal(stored, actieLog.keys);
    const own = ownObjects(versie, bsn);
    if (own.length === 0) return nothing;
    const parts = new Map(proofRecordOf(versie).parts);
    const proof = await proveVersion(db, writer, { stored, versie, shown: [BASIS, ...own] }, actieLog.keys);
    const record = { ...Object(parts.get(BASIS)), verwerkteObjecten: own.map((name) => parts.get(name)) };
    return { ...nothing, result: { record, proof } };
  });
}

/** The parts of this person's objects; none when the action names another person as receiver of the data. */
function ownObjects(versie: Versie, bsn: string): string[] {
  if (namesAnother(versie, bsn)) return [];
  const own = versie.objecten.filter((object) => isSamePerson(object, { soortObjectId: 'BSN', objectId: bsn }));
  return own.map(({ nummer }) => objectPart(versie.actieId, nummer));
}

const PATH = [
  { href: HOME, text: 'Begin' },
  { href: OVERVIEW, text: 'Uw overzicht' },
];

function proofPage(actieId: string): Page {
  const address = proofAddress(actieId);
  return {
    title: 'Bewijs dat dit niet is veranderd',
    description: 'Het bewijs van een regel in het overzicht.',
    path: PATH,
    body: [
      heading(1, 'Bewijs dat dit niet is veranderd'),
      paragraph(
        'Met deze twee bestanden kan iedereen nagaan dat deze regel zo is opgeschreven, en daarna niet is veranderd.',
      ),
      html`<ol>
<li><a class="utrecht-link utrecht-link--html-a" href="${address}.json" download>Download het gegeven</a>. Dat is de regel zoals u hem ziet.</li>
<li><a class="utrecht-link utrecht-link--html-a" href="${address}.tlog-proof" download>Download het bewijs</a>.</li>
<li>Kies allebei de bestanden op de pagina ${link(CHECKER, 'Controleer een gegeven uit het logboek')}. Die rekent op uw eigen computer en stuurt niets weg.</li>
</ol>`,
      paragraph(
        'Bewaar de bestanden als u later wilt kunnen laten zien wat er stond. In het gegeven staat uw burgerservicenummer.',
      ),
      html`<p class="utrecht-paragraph">Nummer: <span class="kv-code">${actieId}</span></p>`,
    ],
  };
}

const ABSENT = {
  unknown: 'Van dit nummer staat in uw overzicht niets waar een bewijs van is.',
  removed: 'Deze regel is verwijderd. Daarmee is ook weg wat voor een bewijs nodig is.',
  'without-entry': 'Deze regel is opgeschreven voordat wij bewijzen gingen bijhouden. Er is geen bewijs van.',
  pending: 'Het bewijs is er nog niet. Probeer het over een paar minuten opnieuw.',
} as const;

function absentPage(why: keyof typeof ABSENT): Page {
  const title = why === 'pending' ? 'Het bewijs volgt' : 'Er is geen bewijs';
  return { title, description: title, path: PATH, body: [heading(1, title), paragraph(ABSENT[why])] };
}
