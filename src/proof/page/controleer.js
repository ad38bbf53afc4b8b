/**
 * Checks a record with its proof in the browser: nothing leaves the page. The formats are those of `src/proof/tlog` and `src/proof/check.ts`;
 * only the hashes and signatures come from WebCrypto. What a file says reaches the page as text, never as HTML.
 */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;
const MAX_PROOF_BYTES = 12 * 1024 * 1024;
const LOG_KEY = 1;
const WITNESS_KEY = 4;
const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);
const encoder = new TextEncoder();

/** Why something is not proven, in Dutch for the reader. */
class NotProven extends Error {}

/** @returns {never} */
function refuse(reason) {
  throw new NotProven(reason);
}

const concat = async (...parts) => new Uint8Array(await new Blob(parts).arrayBuffer());
const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest('SHA-256', await concat(...parts)));

async function hmac(key, text) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, encoder.encode(text)));
}

/** Bytes of base64 that is written in the one right way; otherwise undefined. */
function base64(text) {
  try {
    const binary = atob(text);
    return btoa(binary) === text ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : undefined;
  } catch {
    return undefined;
  }
}

function parseJson(text, reason) {
  try {
    return JSON.parse(text());
  } catch {
    return refuse(reason);
  }
}

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** RFC 8785: members sorted by UTF-16 code units, no space. */
function canonical(value) {
  if (typeof value === 'string' && !value.isWellFormed()) refuse('Het gegeven bevat een teken dat niet kan bestaan.');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${canonical(name)}:${canonical(value[name])}`).join(',')}}`;
}

/** A copy of an object without some of its members. */
const without = (object, names) => Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

const FURTHER = ['systeem', 'gebruiker', 'gegevensbron'];

function objectPart(object) {
  if (!isObject(object) || typeof object.verwerktObjectId !== 'string')
    refuse('Het gegeven is geen regel van dit logboek.');
  return [`object/${object.verwerktObjectId}`, without(object, ['url'])];
}

function actieParts(actie) {
  const { verwerkteObjecten = [] } = actie;
  if (!Array.isArray(verwerkteObjecten)) refuse('Het gegeven is geen regel van dit logboek.');
  const further = Object.entries(actie).filter(([name]) => FURTHER.includes(name));
  return [
    ['basis', without(actie, ['url', 'verwerkteObjecten', ...FURTHER])],
    ...(further.length === 0 ? [] : [['aanvullend', Object.fromEntries(further)]]),
    ...verwerkteObjecten.map(objectPart),
  ];
}

/** The parts of a record, by the log that it is in. */
function partsOf(origin, record) {
  if (!isObject(record)) refuse('Het gegeven is niet het soort bestand dat in een logboek staat.');
  const log = /\/proof\/v1\/(verwerkingen|leveringen|raadsfeed)(?:\/[1-9][0-9]*)?$/.exec(origin)?.[1];
  if (log === 'leveringen') return [['levering', record]];
  if (log === 'raadsfeed') return [['record', without(record, ['resourceUrl'])]];
  if (log === undefined) refuse('Het bewijs is van een soort logboek dat deze pagina niet kent.');
  if (!isObject(record.verwerkingsactie)) return actieParts(record);
  // The action of a processed object has that object again.
  const own = objectPart(without(record, ['verwerkingsactie']));
  const others = actieParts(record.verwerkingsactie).filter(([name, part]) => {
    if (name !== own[0]) return true;
    return canonical(part) === canonical(own[1]) ? false : refuse('Het gegeven spreekt zichzelf tegen.');
  });
  return [...others, own];
}

function wholeNumber(text) {
  const number = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : refuse('Het bewijs is niet goed geschreven: een getal klopt niet.');
}

function hashOf(text) {
  const bytes = base64(text);
  return bytes?.length === 32 ? bytes : refuse('Het bewijs is niet goed geschreven: een controlegetal klopt niet.');
}

/** C2SP tlog-proof, with the checkpoint in it (tlog-checkpoint, signed-note). */
function parseProof(text) {
  const end = text.indexOf('\n\n');
  const [header, ...lines] = text.slice(0, Math.max(0, end)).split('\n');
  if (header !== 'c2sp.org/tlog-proof@v1') refuse('Het bestand met het bewijs is geen bewijs van een logboek.');
  const extra = lines[0]?.startsWith('extra ') ? base64(lines.shift().slice(6)) : undefined;
  const index = lines.shift() ?? '';
  if (!index.startsWith('index ') || lines.length > 63) refuse('Het bewijs is niet goed geschreven.');
  const note = text.slice(end + 2);
  const cut = note.lastIndexOf('\n\n');
  if (cut === -1) refuse('In het bewijs staat geen handtekening.');
  const signed = note.slice(0, cut + 1);
  const [origin = '', size = '', root = '', ...rest] = signed.split('\n');
  if (origin === '' || rest.at(-1) !== '' || rest.slice(0, -1).includes(''))
    refuse('Het bewijs is niet goed geschreven.');
  const signatures = note.slice(cut + 2).split('\n');
  if (signatures.pop() !== '' || signatures.length > 100)
    refuse('De handtekening in het bewijs is niet goed geschreven.');
  return {
    extra,
    index: wholeNumber(index.slice(6)),
    path: lines.map(hashOf),
    signed,
    origin,
    size: wholeNumber(size),
    root: hashOf(root),
    signatures: signatures.map(parseSignature),
  };
}

function parseSignature(line) {
  const [dash, name = '', encoded = '', ...more] = line.split(' ');
  const bytes = base64(encoded);
  if (dash !== '\u2014' || name === '' || bytes === undefined || bytes.length < 5 || more.length > 0)
    refuse('De handtekening in het bewijs is niet goed geschreven.');
  return { name, id: hex(bytes.subarray(0, 4)), signature: bytes.subarray(4) };
}

/** Verifier keys of signed-note, one a line. */
async function parseKeys(text) {
  const keys = [];
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const [name = '', id, ...rest] = line.split('+');
    const bytes = base64(rest.join('+'));
    const own = bytes === undefined ? '' : hex((await sha256(encoder.encode(`${name}\n`), bytes)).subarray(0, 4));
    if (bytes?.length !== 33 || ![LOG_KEY, WITNESS_KEY].includes(bytes[0]) || own !== id)
      refuse(`Deze sleutel is niet goed geschreven: ${line.slice(0, 100)}`);
    keys.push({ name, id, type: bytes[0], publicKey: bytes.subarray(1) });
  }
  return keys;
}

/** Whether a key made a signature over a text; with a witness's key the signature begins with its time. */
async function isSignedBy({ type, publicKey }, { signature }, text) {
  const time = type === WITNESS_KEY ? timeOf(signature) : undefined;
  const bytes = type === WITNESS_KEY ? signature.subarray(8) : signature;
  const message = time === undefined ? text : `cosignature/v1\ntime ${time}\n${text}`;
  if (bytes.length !== 64) return false;
  let key;
  try {
    key = await crypto.subtle.importKey('raw', publicKey, { name: 'Ed25519' }, false, ['verify']);
  } catch {
    return refuse('Deze browser kan de handtekening niet controleren. Gebruik een nieuwere browser.');
  }
  return await crypto.subtle.verify({ name: 'Ed25519' }, key, bytes, encoder.encode(message));
}

const timeOf = (signature) =>
  signature.length < 8 ? 0n : new DataView(signature.buffer, signature.byteOffset).getBigUint64(0);

/** The hash that a path leads to from a leaf (RFC 9162 section 2.1.3.2), or undefined when the path does not fit. */
async function rootFrom({ index, size, path }, leaf) {
  if (index >= size) return undefined;
  const half = (value) => Math.floor(value / 2);
  let [position, last, found] = [index, size - 1, leaf];
  for (const sibling of path) {
    if (last === 0) return undefined;
    if (position % 2 === 1 || position === last) {
      found = await sha256(NODE, sibling, found);
      while (position % 2 === 0 && position > 0) [position, last] = [half(position), half(last)];
    } else found = await sha256(NODE, found, sibling);
    [position, last] = [half(position), half(last)];
  }
  return last === 0 ? found : undefined;
}

const NO_DISCLOSURE = 'Bij het bewijs ontbreken de gegevens om het te controleren.';

/** Salts or commitments by the names of their parts. */
function secrets(value) {
  if (!isObject(value)) refuse(NO_DISCLOSURE);
  return new Map(Object.entries(value).map(([name, text]) => [name, hashOf(String(text))]));
}

/** The entry that belongs to a record, from what its reader sees and the commitments to the rest. */
async function entryOf(parts, extra) {
  const disclosed = parseJson(() => new TextDecoder('utf-8', { fatal: true }).decode(extra), NO_DISCLOSURE);
  const salts = secrets(disclosed?.parts);
  const commitments = secrets(disclosed?.hidden);
  const hidden = commitments.size;
  const { format = 1, members } = disclosed;
  if (!Number.isInteger(format) || format < 1 || format > 255) refuse(NO_DISCLOSURE);
  const names = new Set(parts.map(([name]) => name));
  if ([...salts.keys()].some((name) => !names.has(name)))
    refuse('In het gegeven ontbreekt een deel dat wel in het logboek staat.');
  for (const [name, json] of parts) {
    const salt = salts.get(name);
    if (salt === undefined || commitments.has(name))
      refuse('In het gegeven staat een deel waar dit bewijs niet over gaat.');
    commitments.set(name, await hmac(salt, canonical(onlyMembers(json, members?.[name]))));
  }
  const items = [...commitments].map(([name, bytes]) => ({ name: encoder.encode(name), bytes }));
  items.sort((a, b) => (hex(a.name) < hex(b.name) ? -1 : 1));
  const pieces = items.flatMap(({ name, bytes }) => [Uint8Array.of(name.length >> 8, name.length), name, bytes]);
  return { entry: await concat(Uint8Array.of(format), await sha256(...pieces)), hidden };
}

/** A part as an older format had it. A newer member says nothing: anybody could have written it. */
function onlyMembers(part, names) {
  if (!Array.isArray(names) || !isObject(part)) return part;
  const newer = Object.keys(part).filter((member) => !names.includes(member));
  if (newer.some((member) => part[member] !== null))
    refuse('In het gegeven staat iets waar dit bewijs niet over gaat.');
  return without(part, newer);
}

/** @returns what is proven @throws {NotProven} */
async function check(recordText, proofText, keysText) {
  const record = parseJson(() => recordText, 'Het bestand met het gegeven is geen JSON.');
  const proof = parseProof(proofText);
  const keys = await parseKeys(keysText);
  const logKeys = keys.filter(({ type, name }) => type === LOG_KEY && name === proof.origin);
  if (logKeys.length === 0)
    refuse(`Het bewijs is van het logboek ${proof.origin}. Daarvan is hier geen sleutel. Vul die in bij Sleutels.`);
  const known = [...logKeys, ...keys.filter(({ type }) => type === WITNESS_KEY)];
  let isSigned = false;
  const witnesses = [];
  for (const signature of proof.signatures) {
    const key = known.find(({ name, id }) => name === signature.name && id === signature.id);
    if (key === undefined) continue;
    if (!(await isSignedBy(key, signature, proof.signed))) refuse('Een handtekening onder het bewijs klopt niet.');
    if (key.type === LOG_KEY) isSigned = true;
    else witnesses.push({ name: key.name, seconds: Number(timeOf(signature.signature)) });
  }
  if (!isSigned) refuse('Het bewijs is niet getekend door het logboek.');
  const { entry, hidden } = await entryOf(partsOf(proof.origin, record), proof.extra);
  const root = await rootFrom(proof, await sha256(LEAF, entry));
  if (root === undefined || hex(root) !== hex(proof.root))
    refuse('Het gegeven is veranderd, of dit bewijs hoort bij een ander gegeven.');
  return { origin: proof.origin, size: proof.size, index: proof.index, hidden, witnesses };
}

const element = (id) => document.getElementById(id);
const files = { gegeven: undefined, bewijs: undefined };

function choose(kind, file) {
  files[kind] = file;
  element(`${kind}-gekozen`).textContent = file === undefined ? '' : `Gekozen: ${file.name}`;
}

function show(outcome, title, text, rows = []) {
  const section = element('uitslag');
  section.dataset.uitslag = outcome;
  element('uitslag-titel').textContent = title;
  element('uitslag-tekst').textContent = text;
  const cell = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  element('uitslag-lijst').replaceChildren(...rows.flatMap(([dt, dd]) => [cell('dt', dt), cell('dd', dd)]));
  section.hidden = false;
  section.focus();
}

function showProven({ origin, size, index, hidden, witnesses }) {
  const dutch = { timeZone: 'Europe/Amsterdam', dateStyle: 'long', timeStyle: 'short' };
  const timeIn = (seconds) => new Date(seconds * 1000).toLocaleString('nl-NL', dutch);
  const some = `${hidden} delen zijn voor u verborgen. Daarover zegt deze controle niets.`;
  show('bewezen', 'Het klopt', 'Dit gegeven staat in het logboek en is daarna niet veranderd.', [
    ['Logboek', origin],
    ['Plaats in het logboek', `${index + 1} van ${size}`],
    ...witnesses.map(({ name, seconds }) => ['Gezien door een getuige', `${name}, ${timeIn(seconds)}`]),
    ['Wat u niet ziet', hidden === 0 ? 'Niets: het bewijs gaat over het hele gegeven.' : some],
  ]);
}

async function submit() {
  const { gegeven, bewijs } = files;
  if (gegeven === undefined || bewijs === undefined) {
    const missing = gegeven === undefined ? 'het gegeven' : 'het bewijs';
    return show('onbekend', 'Er ontbreekt een bestand', `Kies ook het bestand met ${missing}.`);
  }
  try {
    if (globalThis.crypto?.subtle === undefined)
      refuse('Open deze pagina met https. Anders mag de browser niet rekenen met sleutels.');
    if (gegeven.size > MAX_RECORD_BYTES || bewijs.size > MAX_PROOF_BYTES) refuse('Een van de bestanden is te groot.');
    showProven(await check(await gegeven.text(), await bewijs.text(), element('sleutels').value));
  } catch (error) {
    // Other errors come of files that no log makes: nested too deep, or gone since they were chosen.
    const reason = error instanceof NotProven ? error.message : 'Een van de bestanden kan niet worden gelezen.';
    show('niet-bewezen', 'Niet bewezen', reason);
  }
}

for (const kind of Object.keys(files)) {
  element(kind).addEventListener('change', ({ target }) => choose(kind, target.files[0]));
  // What a browser kept from before the page was loaded again.
  choose(kind, element(kind).files[0]);
}
const form = element('formulier');
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void submit();
});
for (const name of ['dragenter', 'dragover', 'dragleave', 'drop']) {
  document.addEventListener(name, (event) => {
    event.preventDefault();
    form.classList.toggle('sleept', name === 'dragenter' || name === 'dragover');
  });
}
document.addEventListener('drop', ({ dataTransfer }) => {
  for (const file of dataTransfer?.files ?? []) choose(file.name.endsWith('.tlog-proof') ? 'bewijs' : 'gegeven', file);
});
